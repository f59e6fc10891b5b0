//! Torus chain, windmill and slides: joints that are formulas start where they should and stay in touch.

use super::*;

/// Rings touch: centres are two radii apart, in a row, and rolling leaves the tubes in touch.
#[test]
fn rings_of_a_torus_chain_touch() {
    let chain = gallery::torus_chain(5);
    for i in 0..5 {
        assert_near(
            body(&chain, &format!("ring{i}")).pose.position,
            vector(0.06 + 0.12 * i as f64, 0.0, 0.0),
        );
    }
    let roll = joint(&chain, "roll1");
    let JointKind::Expression(expression) = &roll.kind else { panic!("not a formula") };
    assert_eq!(expression.formula().ready_name(), Some("torus-torus"));
    for (u, v) in [(0.0, 0.0), (0.5, 0.2), (-2.0, 1.0)] {
        // The centres of the two tubes, where u and v lead on either ring, are two tube radii apart.
        let G = expression.start() * expression.transform(&[u, v, 0.3, -0.7]);
        let tube = |u: f64| vector(0.05 * u.cos(), 0.05 * u.sin(), 0.0);
        let apart = G.transform_point(&tube(-0.7)) - tube(u);
        assert!((apart.norm() - 0.02).abs() < TOLERANCE, "{}", apart.norm());
    }
    assert_eq!(force(&chain, "tip"), vector(0.0, 0.5, -1.0));
}

/// A windmill's blades stand off the hub by both radii, all round; four pairs of surfaces take turns.
#[test]
fn windmill_stands_all_round() {
    let mill = gallery::windmill();
    let names = |name: &str| {
        let formula = |joint: &&Joint| match &joint.kind {
            JointKind::Expression(expression) => expression.formula().ready_name() == Some(name),
            _ => false,
        };
        mill.joints().iter().filter(formula).count()
    };
    let roots = ["sphere-sphere", "sphere-ellipsoid", "sphere-torus", "torus-ellipsoid"];
    assert_eq!((roots.map(names), names("torus-torus")), ([2; 4], 8));
    for i in 0..8 {
        let root = joint(&mill, &format!("root{i}")).frame.position;
        assert!((root.norm() - 0.13).abs() < TOLERANCE && root.y.abs() < TOLERANCE, "{root:?}");
        let ring = body(&mill, &format!("ring{i}")).pose.position;
        assert!((ring.norm() - (0.13 + 0.25 + 0.12)).abs() < TOLERANCE);
    }
}

/// The carriage starts in the middle of its curve and the board off the middle of its patch, on it and along it.
#[test]
fn slides_start_on_their_curve_and_patch() {
    // Bernstein's weights at 1/2 of seven points: 1, 6, 15, 20, 15, 6, 1 of 64.
    let slide = gallery::spline_slide();
    let middle = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0].map(|w: f64| w / 64.0);
    let z: f64 = middle.iter().zip([0.2, 0.0, 0.1, -0.2, 0.1, 0.0, 0.3]).map(|(w, z)| w * z).sum();
    let carriage = body(&slide, "carriage").pose;
    assert!(carriage.position.x.abs() < TOLERANCE && (carriage.position.z - z).abs() < TOLERANCE);
    let JointKind::Expression(curve) = &joint(&slide, "slide").kind else { panic!("not a formula") };
    assert_near(curve.subspace(&[0.0]).fixed_view::<3, 1>(0, 0).normalize(), Vector3::x());

    let slide = gallery::surface_slide();
    let JointKind::Expression(patch) = &joint(&slide, "slide").kind else { panic!("not a formula") };
    // Both slides are across the normal, and the spin is about it.
    let S = patch.subspace(&[0.1, -0.2, 0.5]);
    assert!(S[(2, 0)].abs() < TOLERANCE && S[(2, 1)].abs() < TOLERANCE);
    assert_near(S.fixed_view::<3, 1>(3, 2).into(), Vector3::z());
}
