//! Shapes as lines: what can be touched, for the player.

use std::f64::consts::{PI, TAU};

use pliant::contact::Surfaces;
use pliant::mechanism::{Geometry, Shape};
use pliant::nalgebra::Vector3;
use pliant::spatial::Pose;

/// Lines, each through some points.
pub type Lines = Vec<Vec<Vector3<f64>>>;

/// Points of a circle.
const CIRCLE: usize = 16;

/// Lines across a height field each way, and points of each, about.
const ACROSS: usize = 14;

/// The lines of a shape, in the frame of what carries it.
pub fn of_shape(shape: &Shape, surfaces: &Surfaces) -> Lines {
    let lines = match &shape.geometry {
        Geometry::Box { size } => of_box(&(size * -0.5), &(size * 0.5)),
        &Geometry::Ball { radius } => (0..3).map(|axis| circle(radius, axis, Vector3::zeros())).collect(),
        &Geometry::Capsule { radius, half_length } => {
            let end = Vector3::z() * half_length;
            let rims = [circle(radius, 2, end), circle(radius, 2, -end)];
            rims.into_iter().chain([0, 1].map(|axis| stadium(radius, half_length, axis))).collect()
        }
        &Geometry::Cylinder { radius, half_length } => {
            let end = Vector3::z() * half_length;
            let rims = [circle(radius, 2, end), circle(radius, 2, -end)];
            let sides = (0..4).map(|k| {
                let at = turned(radius, 2, TAU * k as f64 / 4.0);
                vec![at - end, at + end]
            });
            rims.into_iter().chain(sides).collect()
        }
        // A surface may have millions of triangles: its box has twelve edges.
        Geometry::Mesh { file, scale } | Geometry::Convex { file, scale } => {
            let Some(surface) = surfaces.get(file) else { return Lines::new() };
            let points = surface.points.iter().map(|p| Vector3::from(*p).component_mul(scale));
            let none = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
            let (low, high) = points.fold(none, |(low, high), p| (low.inf(&p), high.sup(&p)));
            of_box(&low, &high)
        }
        Geometry::Heightfield { size, heights } => of_field(*size, heights, &|_, _| true),
        // Without an end: drawn about where the mechanism is, by `of_world`.
        Geometry::Plane => Lines::new(),
    };
    moved(lines, &shape.pose)
}

/// The same of a shape of the world, but for what lies further from a point than a distance: floors go on for ever.
pub fn of_world(shape: &Shape, surfaces: &Surfaces, center: &Vector3<f64>, reach: f64) -> Lines {
    let middle = shape.pose.inverse_times(&Pose::translation((*center).into())).position;
    match &shape.geometry {
        Geometry::Box { size } => {
            let near = |x: Vector3<f64>| {
                x.sup(&(middle - Vector3::repeat(reach))).inf(&(middle + Vector3::repeat(reach)))
            };
            return moved(of_box(&near(size * -0.5), &near(size * 0.5)), &shape.pose);
        }
        Geometry::Heightfield { size, heights } => {
            // And the next line, so that a coarse field is there too.
            let spaces = [heights.first().map_or(0, Vec::len), heights.len()].map(|lines| lines.max(2) - 1);
            let near = |axis: usize, at: f64| {
                (at - middle[axis]).abs() <= 2.0 * reach + size[axis] / spaces[axis] as f64
            };
            return moved(of_field(*size, heights, &near), &shape.pose);
        }
        Geometry::Plane => {
            let line = |axis: usize, k: i32| {
                let mut ends = [Vector3::new(middle.x, middle.y, 0.0); 2];
                for (end, side) in ends.iter_mut().zip([-reach, reach]) {
                    end[axis] += side;
                    end[1 - axis] += f64::from(k) * 0.25 * reach;
                }
                ends.to_vec()
            };
            let lines = (0..2).flat_map(|axis| (-4..=4).map(move |k| line(axis, k)));
            return moved(lines.collect(), &shape.pose);
        }
        _ => {}
    }
    let mut lines = of_shape(shape, surfaces);
    for line in &mut lines {
        line.retain(|p| (p - center).amax() <= 2.0 * reach);
    }
    lines.retain(|line| line.len() > 1);
    lines
}

fn moved(lines: Lines, pose: &Pose) -> Lines {
    lines.into_iter().map(|line| line.iter().map(|p| pose.transform_point(p)).collect()).collect()
}

/// The twelve edges between two corners.
fn of_box(low: &Vector3<f64>, high: &Vector3<f64>) -> Lines {
    let corner = |k: usize, z: f64| {
        let [right, back] = [[false, false], [true, false], [true, true], [false, true]][k % 4];
        Vector3::new(if right { high.x } else { low.x }, if back { high.y } else { low.y }, z)
    };
    let mut lines: Lines = [low.z, high.z].map(|z| (0..5).map(|k| corner(k, z)).collect()).into();
    lines.extend((0..4).map(|k| vec![corner(k, low.z), corner(k, high.z)]));
    lines
}

/// A point of a circle about an axis.
fn turned(radius: f64, axis: usize, angle: f64) -> Vector3<f64> {
    let mut at = Vector3::zeros();
    at[(axis + 1) % 3] = radius * angle.cos();
    at[(axis + 2) % 3] = radius * angle.sin();
    at
}

fn circle(radius: f64, axis: usize, center: Vector3<f64>) -> Vec<Vector3<f64>> {
    (0..=CIRCLE).map(|k| center + turned(radius, axis, TAU * k as f64 / CIRCLE as f64)).collect()
}

/// The outline of a capsule seen along x or y.
fn stadium(radius: f64, half_length: f64, axis: usize) -> Vec<Vector3<f64>> {
    let half = |end: f64| {
        (0..=CIRCLE / 2).map(move |k| {
            let angle = PI * k as f64 / (CIRCLE / 2) as f64;
            let mut at = Vector3::new(0.0, 0.0, end * (half_length + radius * angle.sin()));
            at[1 - axis] = end * radius * angle.cos();
            at
        })
    };
    let mut line: Vec<_> = half(1.0).chain(half(-1.0)).collect();
    line.push(line[0]);
    line
}

/// Some rows and columns of heights, of those that are near along x (0) and y (1).
fn of_field(size: [f64; 2], heights: &[Vec<f64>], near: &dyn Fn(usize, f64) -> bool) -> Lines {
    let (rows, columns) = (heights.len(), heights.first().map_or(0, Vec::len));
    let along = |i: usize, n: usize, length: f64| length * (i as f64 / (n - 1) as f64 - 0.5);
    let rows_near: Vec<usize> = (0..rows).filter(|r| near(1, along(*r, rows, size[1]))).collect();
    let columns_near: Vec<usize> = (0..columns).filter(|c| near(0, along(*c, columns, size[0]))).collect();
    if rows_near.len() < 2 || columns_near.len() < 2 {
        return Lines::new();
    }
    let at = |row: usize, column: usize| {
        Vector3::new(along(column, columns, size[0]), along(row, rows, size[1]), heights[row][column])
    };
    // The first, the last and some between.
    let some = |of: &[usize], many: usize| -> Vec<usize> {
        let many = many.min(of.len() - 1);
        (0..=many).map(|k| of[k * (of.len() - 1) / many]).collect()
    };
    let fine = 3 * ACROSS;
    let along_x = (some(&rows_near, ACROSS).into_iter())
        .map(|r| some(&columns_near, fine).into_iter().map(|c| at(r, c)).collect());
    let along_y = (some(&columns_near, ACROSS).into_iter())
        .map(|c| some(&rows_near, fine).into_iter().map(|r| at(r, c)).collect());
    along_x.chain(along_y).collect()
}
