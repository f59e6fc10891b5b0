//! Claim: the exact projection equals a dense null-space solve for any mechanism: all joint kinds, loops,
//! several effectors, effectors inside loops, passive freedoms, couplings.

mod common;
#[path = "common/dense.rs"]
mod dense;

use dense::Dense;
use pliant_core::gallery::{self, Passive, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{BodyId, Joint, JointId, Mechanism};
use pliant_core::nalgebra::DMatrix;
use pliant_core::reduced::{Reduction, ReductionError};
use pliant_core::spatial::Pose;

/// Translations over the radius, so that a matrix of compliances has one unit.
fn scaled(C: &DMatrix<f64>, radius: f64) -> DMatrix<f64> {
    let unit = |i: usize| if i % 6 < 3 { radius } else { 1.0 };
    DMatrix::from_fn(C.nrows(), C.ncols(), |i, j| C[(i, j)] / (unit(i) * unit(j)))
}

/// The largest compliance of a freedom, translations in radii.
fn softest(mechanism: &Mechanism) -> f64 {
    let r = mechanism.radius();
    let of = |joint: &Joint| {
        let unit = |k: usize| if k < joint.kind.translations() { r * r } else { 1.0 };
        let sprung = joint.freedoms.iter().enumerate().filter(|(_, f)| f.is_sprung());
        sprung.map(|(k, f)| 1.0 / (f.stiffness * unit(k))).fold(0.0, f64::max)
    };
    mechanism.joints().iter().map(of).fold(0.0, f64::max)
}

/// Largest difference between the projection and the dense solve, of compliance, twists and coordinates,
/// relative to the largest number of each; `None` if the dense solve says that nothing holds a motion.
fn difference(mechanism: &Mechanism) -> Option<f64> {
    let reduction = Reduction::at_rest(mechanism);
    let dense = Dense::new(mechanism);
    let frames: Vec<(BodyId, Pose)> = mechanism.effectors().iter().map(|e| (e.body, e.frame)).collect();
    let expected = dense.compliance(&frames)?;
    let r = mechanism.radius();
    let softest = softest(mechanism);
    let projection = match reduction.project() {
        Ok(projection) => projection,
        Err(ReductionError::Immovable { .. }) => {
            let still =
                (0..frames.len()).any(|e| scaled(&expected, r).columns(6 * e, 6).amax() < 1e-11 * softest);
            assert!(still, "called immovable, but it moves");
            return Some(0.0);
        }
        Err(error) => panic!("{}: {error}", mechanism.name()),
    };
    let relative = |a: &DMatrix<f64>, b: &DMatrix<f64>| (a - b).amax() / b.amax().max(1e-6 * softest);
    let mut worst = relative(&scaled(projection.compliance(), r), &scaled(&expected, r));
    let theta = dense.coordinates(&dense.stack(&frames).transpose())?;
    let columns = |M: &DMatrix<f64>| {
        DMatrix::from_fn(M.nrows(), M.ncols(), |i, j| M[(i, j)] / if j % 6 < 3 { r } else { 1.0 })
    };
    let unit =
        |joint: JointId, k: usize| if k < mechanism.joint(joint).kind.translations() { r } else { 1.0 };
    let mut all = DMatrix::zeros(theta.nrows(), theta.ncols());
    let mut wanted = all.clone();
    for j in 0..mechanism.joints().len() {
        let joint = JointId::from_index(j);
        let range = mechanism.coordinates_of(joint);
        let map = projection.coordinate_map(reduction.reference(), joint);
        for k in 0..range.len() {
            for c in 0..theta.ncols() {
                all[(range.start + k, c)] = map[(k, c)] / unit(joint, k);
                wanted[(range.start + k, c)] = theta[(range.start + k, c)] / unit(joint, k);
            }
        }
    }
    worst = worst.max(relative(&columns(&all), &columns(&wanted)));
    let mut twists = DMatrix::zeros(6 * mechanism.bodies().len(), theta.ncols());
    let mut wanted = twists.clone();
    for b in 0..mechanism.bodies().len() {
        let body = BodyId::from_index(b);
        twists.rows_mut(6 * b, 6).copy_from(&projection.twist_map(reduction.reference(), body));
        wanted.rows_mut(6 * b, 6).copy_from(&(&dense.bodies[b] * &theta));
    }
    Some(worst.max(relative(&scaled(&twists, r), &scaled(&wanted, r))))
}

#[test]
fn equals_the_dense_solve_on_the_gallery() {
    for entry in gallery::entries() {
        let mechanism = gallery::build(entry.name).unwrap();
        let off = difference(&mechanism).unwrap();
        println!("{} {off:.1e}", entry.name);
        assert!(off < 1e-9, "{}: {off:e}", entry.name);
    }
}

#[test]
fn equals_the_dense_solve_on_random_mechanisms() {
    let mut worst: f64 = 0.0;
    let mut loose = 0;
    for seed in 0..500 {
        let passive = [Passive::Never, Passive::InLoops, Passive::Anywhere][seed as usize % 3];
        let options = RandomOptions {
            bodies: 6 + seed as usize % 20,
            loops: [0.0, 0.2, 0.5][(seed / 3) as usize % 3],
            passive,
            kinds: JointKind::ALL.to_vec(),
            loop_kinds: JointKind::ALL.to_vec(),
            effectors: 1 + seed as usize % 4,
            free_bases: seed % 7 == 0,
            ..RandomOptions::default()
        };
        let mechanism = gallery::random(seed, &options);
        match difference(&mechanism) {
            Some(off) => worst = worst.max(off),
            None => loose += 1,
        }
    }
    println!("worst {worst:e}, {loose} with a motion that nothing holds");
    assert!(worst < 1e-9, "{worst:e}");
}
