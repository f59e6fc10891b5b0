//! Where the paper's incremental projection is wrong: branches that merge at a body.
//!
//! Andrews 2015, eqs 13–14: stiffnesses of branches add, K = C₁⁺ + C₂⁺ and C = K⁺. A branch of hinges has a compliance of
//! low rank, and its pseudo-inverse has no stiffness where the branch does not give at all. Right is the least energy of
//! both branches that end at the same place: w₁ = I − (C₁ + C₂)⁺C₁, w₂ = I − w₁, C = C₁ w₁.

use pliant::gallery;
use pliant::joints::JointKind;
use pliant::linear::{Linearisation, Method};
use pliant::mechanism::{Body, EffectorDescription, JointDescription, Mechanism, MechanismBuilder, WORLD};
use pliant::nalgebra::{DMatrix, SymmetricEigen, Vector3};
use pliant::spatial::{Pose, SpatialInertia};

use crate::section::Finding;
use pliant_cli::failure::Failure;
use pliant_cli::page::text::{percent, significant};

/// Length of rails and rung, m, and stiffness of hinges, N·m/rad: as in the gallery's `rungs`.
const LENGTH: f64 = 0.15;
const STIFFNESS: f64 = 1000.0;

/// What is cut from a compliance, relative to its largest eigenvalue.
const TOLERANCE: f64 = 1e-9;

/// A rung that stands on rails, all about z: one stage of `rungs` with some of its rails.
fn stage(rails: &[(&str, f64)]) -> Result<Mechanism, Failure> {
    let inertia = SpatialInertia::of_box(0.2, [LENGTH, 0.02, 0.02]);
    let mut builder = MechanismBuilder::new("stage");
    let body = |name: &str, x: f64, y: f64| Body::new(name, Pose::translation([x, y, 0.0])).inertia(inertia);
    builder.body(body("rung", 0.5 * LENGTH, LENGTH));
    for &(name, x) in rails {
        builder.body(body(name, x, 0.5 * LENGTH));
        for (end, parent, child, y) in [("foot", WORLD, name, 0.0), ("head", name, "rung", LENGTH)] {
            let joint = JointDescription::new(format!("{name} {end}"), JointKind::Hinge, parent, child);
            builder.joint(joint.axis(Vector3::new(x, y, 0.0), Vector3::z()).stiffness(STIFFNESS));
        }
    }
    let frame = Pose::identity();
    builder.effector(EffectorDescription { name: "tip".into(), body: "rung".into(), frame });
    builder.build().map_err(Failure::job)
}

/// The compliance of the rung, or of all effectors, translations over a length so that its numbers are alike.
fn compliance(mechanism: &Mechanism) -> Result<DMatrix<f64>, Failure> {
    Ok(scaled(Linearisation::at_rest(mechanism).project().map_err(Failure::job)?.compliance()))
}

fn scaled(C: &DMatrix<f64>) -> DMatrix<f64> {
    let scale = |k: usize| if k % 6 < 3 { 1.0 / LENGTH } else { 1.0 };
    DMatrix::from_fn(C.nrows(), C.ncols(), |i, k| scale(i) * C[(i, k)] * scale(k))
}

/// The pseudo-inverse of a symmetric matrix.
fn pseudo_inverse(C: &DMatrix<f64>) -> DMatrix<f64> {
    let SymmetricEigen { eigenvectors: U, eigenvalues } = SymmetricEigen::new((C + C.transpose()) * 0.5);
    let least = TOLERANCE * eigenvalues.amax();
    let turned = eigenvalues.map(|v| if v.abs() > least { 1.0 / v } else { 0.0 });
    &U * DMatrix::from_diagonal(&turned) * U.transpose()
}

/// What is found on one stage of a ladder and on the paper's own graph.
pub fn findings() -> Result<Vec<Finding>, Failure> {
    let (left, right) = (("left", 0.0), ("right", LENGTH));
    let exact = compliance(&stage(&[left, right])?)?;
    let [C1, C2] = [compliance(&stage(&[left])?)?, compliance(&stage(&[right])?)?];
    // Andrews 2015, eqs 13–14.
    let printed = pseudo_inverse(&(pseudo_inverse(&C1) + pseudo_inverse(&C2)));
    // Least energy of both.
    let w1 = DMatrix::identity(6, 6) - pseudo_inverse(&(&C1 + &C2)) * &C1;
    let merged = &C1 * w1;
    let off = |C: &DMatrix<f64>| (C - &exact).amax() / exact.amax();
    let (wrong, right) = (off(&printed), off(&merged));

    let graph = gallery::graph();
    let incremental =
        Linearisation::at_rest(&graph).method(Method::Incremental).project().map_err(Failure::job)?;
    let truth = compliance(&graph)?;
    let branch = (scaled(incremental.compliance()) - &truth).amax() / truth.amax();
    Ok(vec![
        Finding {
            place: "[A] eqs 13–14",
            claim: "Compliances of branches that merge are inverted, added and inverted again. Where a branch does not give at all its compliance \
                    has no inverse, and the pseudo-inverse takes it for no stiffness; right is the least energy of both branches together."
                .into(),
            shown: format!(
                "One stage of a ladder, two rails of hinges below a rung: as printed the compliance of the rung is off by {}, by least energy by {}, \
                 of the exact one.",
                percent(wrong),
                significant(right, 2)
            ),
            number: wrong,
            meaning: "largest error of the compliance over its largest entry, as printed",
        },
        Finding {
            place: "[A] Algorithm 1, Fig. 3",
            claim: "Chain, split and merge take a mechanism joint by joint. Where a branch with an effector leaves a loop between its split and its \
                    merge, as in the paper's own example, that is not exact: the merge would have to know what the branch carries."
                .into(),
            shown: format!(
                "On the graph of its Figure 3 the compliance is off by {}, although merged by least energy; our incremental method names the \
                 body ({}).",
                percent(branch),
                incremental.inexact_at().join(", ")
            ),
            number: branch,
            meaning: "largest error of the compliance over its largest entry",
        },
    ])
}
