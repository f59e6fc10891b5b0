//! Surfaces of simple shapes about the origin. Round ones are polyhedra with corners on the shape.

use std::f64::consts::{FRAC_PI_2, TAU};

use nalgebra::Vector3;

use super::Surface;
use crate::ElasticError;

/// Sides of round shapes: a chord stays within 0.03 % of the radius of its arc.
const SIDES: usize = 128;

impl Surface {
    /// A box with half its edges along x, y and z, m.
    pub fn cuboid(half_extents: Vector3<f64>) -> Result<Self, ElasticError> {
        for (i, what) in
            ["half the box along x", "half the box along y", "half the box along z"].into_iter().enumerate()
        {
            positive(what, half_extents[i])?;
        }
        let points = (0..8)
            .map(|k| {
                let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                half_extents.component_mul(&Vector3::new(sign(0), sign(1), sign(2)))
            })
            .collect();
        // Each side as two triangles, seen from outside.
        let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        Self::new(points, triangles)
    }

    /// A ball, m.
    pub fn ball(radius: f64) -> Result<Self, ElasticError> {
        positive("the radius", radius)?;
        revolved(&arc(radius, 0.0, -FRAC_PI_2, FRAC_PI_2))
    }

    /// A capsule along z: the points within `radius` of a segment of twice `half_length`, m.
    pub fn capsule(half_length: f64, radius: f64) -> Result<Self, ElasticError> {
        positive("half the length", half_length)?;
        positive("the radius", radius)?;
        let mut profile = arc(radius, -half_length, -FRAC_PI_2, 0.0);
        profile.extend(arc(radius, half_length, 0.0, FRAC_PI_2));
        revolved(&profile)
    }

    /// A cylinder along z of twice `half_length`, m.
    pub fn cylinder(half_length: f64, radius: f64) -> Result<Self, ElasticError> {
        positive("half the length", half_length)?;
        positive("the radius", radius)?;
        revolved(&[(0.0, -half_length), (radius, -half_length), (radius, half_length), (0.0, half_length)])
    }
}

pub(crate) fn positive(what: &'static str, value: f64) -> Result<(), ElasticError> {
    if value.is_finite() && value > 0.0 && value < 1e9 {
        Ok(())
    } else {
        Err(ElasticError::Size { what, value, hint: ", in m".into() })
    }
}

/// (distance from z, z) along an arc about (0, z) from one latitude to another.
fn arc(radius: f64, z: f64, from: f64, to: f64) -> Vec<(f64, f64)> {
    let steps = ((to - from) / TAU * SIDES as f64).round() as usize;
    (0..=steps)
        .map(|k| {
            let angle = from + (to - from) * k as f64 / steps as f64;
            let pole = (angle.abs() - FRAC_PI_2).abs() < 1e-12;
            (if pole { 0.0 } else { radius * angle.cos() }, z + radius * angle.sin())
        })
        .collect()
}

/// The solid of revolution about z of a profile that starts and ends on the axis and rises.
fn revolved(profile: &[(f64, f64)]) -> Result<Surface, ElasticError> {
    let rings = &profile[1..profile.len() - 1];
    let mut points = vec![Vector3::new(0.0, 0.0, profile[0].1)];
    for &(r, z) in rings {
        points.extend((0..SIDES).map(|k| {
            let (sin, cos) = (TAU * k as f64 / SIDES as f64).sin_cos();
            Vector3::new(r * cos, r * sin, z)
        }));
    }
    points.push(Vector3::new(0.0, 0.0, profile[profile.len() - 1].1));
    let top = points.len() as u32 - 1;
    let on = |ring: usize, k: usize| (1 + ring * SIDES + k % SIDES) as u32;
    let mut triangles = Vec::new();
    for k in 0..SIDES {
        triangles.push([0, on(0, k + 1), on(0, k)]);
        for ring in 1..rings.len() {
            let (a, b, c, d) = (on(ring - 1, k), on(ring - 1, k + 1), on(ring, k + 1), on(ring, k));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([on(rings.len() - 1, k), on(rings.len() - 1, k + 1), top]);
    }
    Surface::new(points, triangles)
}
