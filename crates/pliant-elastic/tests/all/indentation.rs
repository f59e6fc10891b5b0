//! A rigid ball pressed on a bonded block without friction: force over depth against Hertz with the bonded-layer factor of
//! Dimitriadis et al. (2002), converging with the mesh; and a flat punch on a thick block.

use pliant_elastic::nalgebra::{DMatrix, DVector, Vector3};
use pliant_elastic::{Mesh, Solid};

use crate::common::material;

/// Forces downward ≥ 0 on the nodes of the top such that none of them moves less than `depth(x, y)`: an active set from all
/// that would be passed. Returns the nodes, their forces and how often the set changed.
pub fn press(solid: &Solid, depth: impl Fn(&Vector3<f64>) -> f64) -> (Vec<usize>, Vec<f64>, usize) {
    let top = solid.points().iter().map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
    let nodes: Vec<usize> = (0..solid.nodes()).filter(|&i| solid.points()[i].z > top - 1e-9).collect();
    let depths: Vec<f64> = nodes.iter().map(|&i| depth(&solid.points()[i])).collect();
    let mut active: Vec<usize> = (0..nodes.len()).filter(|&k| depths[k] > 0.0).collect();
    for round in 0..60 {
        let n = active.len();
        let Ξ = DMatrix::from_fn(n, n, |i, j| solid.block(nodes[active[i]], nodes[active[j]])[(2, 2)]);
        let d = DVector::from_fn(n, |i, _| depths[active[i]]);
        let f = Ξ.cholesky().unwrap().solve(&d);
        let kept: Vec<usize> = (0..n).filter(|&k| f[k] >= 0.0).map(|k| active[k]).collect();
        let passed = |k: usize| {
            let moved: f64 = (0..n).map(|j| solid.block(nodes[k], nodes[active[j]])[(2, 2)] * f[j]).sum();
            moved < depths[k] - 1e-12
        };
        let mut next: Vec<usize> = kept;
        next.extend((0..nodes.len()).filter(|k| !active.contains(k) && passed(*k)));
        next.sort_unstable();
        if next == active {
            return (active.iter().map(|&k| nodes[k]).collect(), f.iter().copied().collect(), round);
        }
        active = next;
    }
    panic!("the active set cycles");
}

/// Dimitriadis et al. 2002, eqs 5–8: force of a ball on a layer bonded to a rigid floor.
fn layer(young: f64, nu: f64, radius: f64, thickness: f64, depth: f64) -> f64 {
    let alpha = -(1.2876 - 1.4678 * nu + 1.3442 * nu * nu) / (1.0 - nu);
    let beta = (0.6387 - 1.0277 * nu + 1.5164 * nu * nu) / (1.0 - nu);
    let χ = (radius * depth).sqrt() / thickness;
    let π = std::f64::consts::PI;
    let factor = 1.0 - 2.0 * alpha / π * χ + 4.0 * alpha * alpha / (π * π) * χ * χ
        - 8.0 / π.powi(3) * (alpha.powi(3) + 4.0 * π * π / 15.0 * beta) * χ.powi(3)
        + 16.0 * alpha / π.powi(4) * (alpha.powi(3) + 3.0 * π * π / 5.0 * beta) * χ.powi(4);
    4.0 / 3.0 * young / (1.0 - nu * nu) * radius.sqrt() * depth.powf(1.5) * factor
}

/// Coordinates from −end to end: `spacing` within `fine` of the middle, then each cell `growth` times the last.
fn graded(fine: f64, end: f64, spacing: f64, growth: f64) -> Vec<f64> {
    let mut half = vec![0.0];
    let mut step = spacing;
    loop {
        let last = half[half.len() - 1];
        if last >= fine - 1e-9 {
            step *= growth;
        }
        if last + 1.5 * step > end {
            half.push(end);
            break;
        }
        half.push(last + step);
    }
    half.iter().rev().map(|x| -x).chain(half[1..].iter().copied()).collect()
}

/// A block under z = 0 that is bonded below, fine within `fine` of the origin.
fn block(fine: f64, [side, thickness]: [f64; 2], spacing: f64, growth: f64, poisson: f64) -> Solid {
    let x = graded(fine, side, spacing, growth);
    let z: Vec<f64> =
        graded(fine / 2.0, thickness, spacing, growth).into_iter().filter(|z| *z <= 0.0).collect();
    let mesh = Mesh::grid(&x, &x, &z).unwrap();
    Solid::new(&mesh, &material(poisson), |p| p.z <= -thickness + 1e-9, |_| {}).unwrap()
}

#[test]
fn ball_on_a_bonded_layer() {
    let (radius, thickness) = (0.010, 0.012);
    for poisson in [0.3, 0.49] {
        let mut errors = Vec::new();
        for spacing in [0.002, 0.0014, 0.001] {
            let solid = block(0.004, [0.036, thickness], spacing, 1.5, poisson);
            let error = |depth: f64| {
                let (nodes, forces, rounds) =
                    press(&solid, |p| depth - (p.x * p.x + p.y * p.y) / (2.0 * radius));
                assert!(rounds <= 4, "{rounds} rounds");
                let force: f64 = forces.iter().sum();
                let area: f64 = nodes.iter().map(|&i| solid.area(i)).sum();
                let ratio = force / layer(1e6, poisson, radius, thickness, depth);
                let loads: Vec<_> =
                    nodes.iter().zip(&forces).map(|(&i, f)| (i, Vector3::new(0.0, 0.0, -f))).collect();
                let mut u = vec![Vector3::zeros(); solid.points().len()];
                solid.displacement(&loads, &mut u);
                println!(
                    "ν {poisson}, {:.1} mm, {} nodes, depth {:.1} mm: force {ratio:.4} of the layer's, {} nodes touch, radius {:.2} of √(Rδ), gradient {:.2}",
                    1e3 * spacing,
                    solid.nodes(),
                    1e3 * depth,
                    nodes.len(),
                    (area / std::f64::consts::PI / (radius * depth)).sqrt(),
                    solid.largest_gradient(&u).0
                );
                ratio - 1.0
            };
            errors.push([error(0.0005), error(0.001)]);
            if spacing == 0.0014 {
                // Up to a third of the thickness, where the layer's formula itself is of few terms.
                assert!([0.0015, 0.002, 0.003, 0.004].map(error).iter().all(|e| e.abs() < 0.1));
            }
        }
        // Too soft by less than (spacing over contact radius)², falling with it.
        for (k, spacing) in [0.002, 0.0014, 0.001].into_iter().enumerate() {
            for (j, depth) in [0.0005, 0.001].into_iter().enumerate() {
                let bound = 0.3 * spacing * spacing / (radius * depth);
                assert!(errors[k][j].abs() < bound, "{} at {spacing}, bound {bound}", errors[k][j]);
                assert!(k == 0 || errors[k][j].abs() < errors[k - 1][j].abs());
            }
        }
    }
}

#[test]
fn square_flat_punch() {
    // A square punch on a half-space: F = 1.012 · 2/√π · E* √A δ (King 1987, flat punches); the block is a hundred times larger.
    let (half, poisson, depth) = (0.004, 0.3, 1e-4);
    let exact =
        1.012 * 2.0 / std::f64::consts::PI.sqrt() * 1e6 / (1.0 - poisson * poisson) * 2.0 * half * depth;
    let errors: Vec<f64> = [0.002, 0.004 / 3.0]
        .into_iter()
        .map(|spacing| {
            let solid = block(half, [0.3, 0.3], spacing, 2.0, poisson);
            let under = |p: &Vector3<f64>| p.x.abs() < half + 1e-9 && p.y.abs() < half + 1e-9;
            // Beyond the edge the surface may bulge freely.
            let (nodes, forces, _) = press(&solid, |p| if under(p) { depth } else { -1.0 });
            let cells = 2.0 * half / spacing;
            assert_eq!(nodes.len(), ((cells + 1.0) * (cells + 1.0)).round() as usize);
            let ratio = forces.iter().sum::<f64>() / exact;
            println!("{:.1} mm: {ratio:.4}", 1e3 * spacing);
            ratio - 1.0
        })
        .collect();
    // The pressure is singular at the edge: first order in the spacing. Extrapolated, the rest is the block's size.
    assert!(errors[0] > errors[1] && errors[1] > 0.0, "{errors:?}");
    let limit = 3.0 * errors[1] - 2.0 * errors[0];
    assert!(limit.abs() < 0.03, "{limit}: {errors:?}");
}
