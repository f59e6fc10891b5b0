//! A cantilever under a tip load against Timoshenko's beam. The surface of a [`Solid`] is one of flat triangles, which makes slender
//! parts too stiff: the error falls as the square of the spacing, at ν 0.49 as at ν 0.

use pliant_elastic::nalgebra::Vector3;
use pliant_elastic::{Mesh, Solid};

use crate::common::material;

/// Mean deflection of the tip over the beam's, with this many cells across.
fn tip(across: usize, poisson: f64) -> f64 {
    let (length, width) = (0.1, 0.01);
    let axis = |n: usize, to: f64| -> Vec<f64> { (0..=n).map(|k| to * k as f64 / n as f64).collect() };
    let mesh = Mesh::grid(&axis(5 * across, length), &axis(across, width), &axis(across, width)).unwrap();
    let m = material(poisson);
    let solid = Solid::new(&mesh, &m, |p| p.x == 0.0, |_| {}).unwrap();
    let tip: Vec<usize> = (0..solid.nodes()).filter(|&i| solid.points()[i].x == length).collect();
    let f = Vector3::new(0.0, 0.0, 1.0 / tip.len() as f64);
    let forces: Vec<_> = tip.iter().map(|&i| (i, f)).collect();
    let mut u = vec![Vector3::zeros(); solid.points().len()];
    solid.displacement(&forces, &mut u);
    let mean = tip.iter().map(|&i| u[i].z).sum::<f64>() / tip.len() as f64;
    let second_moment = width.powi(4) / 12.0;
    let shear = m.young() / (2.0 * (1.0 + poisson));
    let beam =
        length.powi(3) / (3.0 * m.young() * second_moment) + length / (5.0 / 6.0 * shear * width * width);
    mean / beam
}

#[test]
fn converges_with_the_square_of_the_spacing() {
    for poisson in [0.0, 0.3, 0.49] {
        let ratios: Vec<f64> = [2, 4, 6].map(|n| tip(n, poisson)).to_vec();
        println!("ν {poisson}: {ratios:.4?} with 2, 4, 6 cells across");
        let error: Vec<f64> = ratios.iter().map(|r| 1.0 - r).collect();
        // Twice as fine: a quarter of the error; half as fine again: 4/9 of it; a fifth less in sight of the beam's own error.
        assert!(error[1] < error[0] / 3.0 && error[2] < error[1] / 1.9, "{error:?}");
        assert!(error[2] > 0.0 && error[2] < 0.07, "{error:?}");
    }
}
