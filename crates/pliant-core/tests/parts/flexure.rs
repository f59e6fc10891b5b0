//! Claim: a zone between two bodies is an elastic joint. Small motions are those of the whole piece whatever number of pieces it is cut into; a
//! stage on two leaves moves under loads as geometrically exact beams do, and as often a second as a finer mesh says; its mass is all
//! there; which body is named first, what is inside a body and which of the two is free change nothing; how far it is right is known; and what
//! cannot be is refused.

use pliant_core::engine::{Simulation, State, StaticsSettings, Warning};
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::*;
use pliant_core::nalgebra::{DMatrix, Matrix3, Matrix6, Vector2, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};
use pliant_core::{articulated, full, gallery, reduced};
use pliant_elastic::flexure::Flexure;
use pliant_elastic::{Material, Mesh};

const YOUNG: f64 = 70e9;
const POISSON: f64 = 0.33;
const DENSITY: f64 = 2700.0;

/// Edges along x, y, z of the leaf of these tests, m.
const LEAF: [f64; 3] = [0.03, 0.001, 0.006];

fn shape(size: [f64; 3]) -> Shape {
    Shape { density: Some(DENSITY), ..Shape::new(Geometry::Box { size: size.into() }) }
}

fn zone(size: [f64; 3], pose: Pose) -> ZoneDescription {
    let mut zone = ZoneDescription::new("leaf", WORLD, shape(size).at(pose)).elasticity(YOUNG, POISSON);
    zone.to = Some("tip".into());
    zone
}

/// A body at the high end of a leaf along x whose low end, at the origin, the world holds.
fn cantilever(
    change: impl FnOnce(&mut MechanismBuilder, &mut ZoneDescription),
) -> Result<Mechanism, InvalidMechanism> {
    let mut builder = MechanismBuilder::new("cantilever");
    let tip = Body::new("tip", Pose::translation([LEAF[0], 0.0, 0.0]));
    builder.body(tip.inertia(SpatialInertia::of_box(0.01, [0.01; 3])));
    let mut zone = zone(LEAF, Pose::translation([0.5 * LEAF[0], 0.0, 0.0]));
    builder.effector(EffectorDescription { name: "tip".into(), body: "tip".into(), frame: Pose::identity() });
    change(&mut builder, &mut zone);
    builder.zone(zone);
    builder.build()
}

fn compliance(mechanism: &Mechanism) -> Matrix6<f64> {
    let projection = Linearisation::at_rest(mechanism).project().unwrap();
    Matrix6::from_fn(|i, k| projection.compliance()[(i, k)])
}

/// The same box condensed to its two ends, about the high one, on a mesh of these numbers of cells.
fn whole(size: [f64; 3], cells: [usize; 3]) -> Flexure {
    let along = |i: usize, from: f64| -> Vec<f64> {
        (0..=cells[i]).map(|k| from + size[i] * k as f64 / cells[i] as f64).collect()
    };
    let mesh = Mesh::grid(&along(0, 0.0), &along(1, -0.5 * size[1]), &along(2, -0.5 * size[2])).unwrap();
    let material = Material::new(YOUNG, POISSON, 0.0, DENSITY).unwrap();
    let end = |p: &Vector3<f64>| match p.x / size[0] {
        x if x < 1e-9 => Some(0),
        x if x > 1.0 - 1e-9 => Some(1),
        _ => None,
    };
    Flexure::new(&mesh, &material, &[Vector3::zeros(), Vector3::new(size[0], 0.0, 0.0)], end, |_| ()).unwrap()
}

/// The largest difference, of what is on the diagonals.
fn apart(a: &Matrix6<f64>, b: &Matrix6<f64>) -> f64 {
    let size = |i: usize, k: usize| (b[(i, i)] * b[(k, k)]).sqrt();
    (0..36).map(|i| (a[(i / 6, i % 6)] - b[(i / 6, i % 6)]).abs() / size(i / 6, i % 6)).fold(0.0, f64::max)
}

#[test]
fn small_motions_are_those_of_the_whole() {
    let flexure = whole(LEAF, [30, 2, 6]);
    let held = Matrix6::from_fn(|i, k| flexure.stiffness()[(6 + i, 6 + k)]).try_inverse().unwrap();
    for pieces in [1, 2, 3, 8, 30] {
        let mechanism = cantilever(|_, zone| zone.pieces = Some(pieces)).unwrap();
        assert_eq!(mechanism.bodies().len(), pieces);
        let off = apart(&compliance(&mechanism), &held);
        // The stiffness of a slender leaf spans eight decades, of which rounding is what is left.
        assert!(off < 1e-7, "{pieces} pieces: {off:e}");
    }
}

#[test]
fn no_mass_is_lost_and_none_is_there_twice() {
    let leaf = DENSITY * LEAF.iter().product::<f64>();
    for pieces in [1, 2, 7] {
        // The world's half piece does not move.
        let mechanism = cantilever(|_, zone| zone.pieces = Some(pieces)).unwrap();
        let mass: f64 = mechanism.bodies().iter().map(|body| body.inertia.mass).sum();
        let moves = leaf * (1.0 - 0.5 / pieces as f64);
        assert!((mass - 0.01 - moves).abs() < 1e-12 * leaf + 1e-15, "{mass}");
    }
}

/// A leaf whose ends are 4 and 2 mm inside what holds them is the free part of it.
#[test]
fn what_is_inside_a_body_is_held() {
    let exact = cantilever(|_, _| ()).unwrap();
    let block = |size: f64, x: f64| shape([size; 3]).at(Pose::translation([x, 0.0, 0.0]));
    let longer = cantilever(|builder, zone| {
        builder.world_shape(block(0.02, -0.01));
        builder.body_mut("tip").unwrap().shapes.push(block(0.01, 0.005));
        zone.shape.geometry = Geometry::Box { size: [LEAF[0] + 0.006, LEAF[1], LEAF[2]].into() };
        zone.shape.pose = Pose::translation([0.5 * LEAF[0] - 0.001, 0.0, 0.0]);
    });
    let (a, b) = (compliance(&exact), compliance(&longer.unwrap()));
    // The faces are found to a millionth of the length.
    assert!(apart(&b, &a) < 1e-5, "{:e}", apart(&b, &a));
}

/// Named the other way round, with shapes that say which end is whose, it is the same; between two bodies of which the one that is named
/// second is free, too.
#[test]
fn either_body_can_be_named_first() {
    let exact = compliance(&cantilever(|_, _| ()).unwrap());
    let turned = cantilever(|builder, zone| {
        builder.world_shape(shape([0.02; 3]).at(Pose::translation([-0.01, 0.0, 0.0])));
        (zone.body, zone.to) = ("tip".into(), Some(WORLD.into()));
        zone.shape.pose = Pose::translation([-0.5 * LEAF[0], 0.0, 0.0]);
    });
    assert!(apart(&compliance(&turned.unwrap()), &exact) < 1e-9);
    for swapped in [false, true] {
        let pair = cantilever(|builder, zone| {
            let base = Body::new("base", Pose::identity()).inertia(SpatialInertia::of_box(0.02, [0.01; 3]));
            builder.body(Body { free: true, ..base });
            zone.body = "base".into();
            if swapped {
                zone.body = "tip".into();
                zone.to = Some("base".into());
                zone.shape.pose = Pose::translation([-0.5 * LEAF[0], 0.0, 0.0]);
                builder.body_mut("base").unwrap().shapes.push(shape([0.001; 3]));
            }
        })
        .unwrap();
        let model = articulated::Model::new(&pair);
        let mut simulation = model.simulate();
        let tip = pair.find_effector("tip").unwrap();
        simulation.inputs_mut().set_load(tip, Wrench::force([0.0, 1.0, 0.0])).unwrap();
        (0..200).for_each(|_| simulation.step(1e-4).unwrap());
        // Alone in space: 1 N for 20 ms.
        let state = simulation.state();
        let momentum: Vector3<f64> = (pair.bodies().iter().zip(&state.twists).zip(&state.poses))
            .map(|((body, twist), pose)| pose.rotation * body.inertia.momentum(twist).force)
            .sum();
        let fallen = Vector3::from(STANDARD_GRAVITY) * (0.02 * pair.summary().mass);
        assert!((momentum - fallen - Vector3::new(0.0, 0.02, 0.0)).norm() < 1e-9, "{momentum}");
    }
}

/// A leaf of a stage in the plane: geometrically exact, with shear and stretch (Reissner 1972). Integrates
///
/// r' = R(θ)(1 + N/EA, Q/κGA),   θ' = M/EI,   M' = −(r' × f)_z
///
/// along the leaf from its clamped end, with the force f constant; returns the other end: place and turn.
fn beam(length: f64, thick: f64, wide: f64, [fx, fy, moment]: [f64; 3]) -> [f64; 3] {
    let (A, I) = (thick * wide, wide * thick.powi(3) / 12.0);
    let shear = YOUNG / (2.0 * (1.0 + POISSON)) * A * 10.0 * (1.0 + POISSON) / (12.0 + 11.0 * POISSON);
    let rate = |[_, _, turn, moment]: [f64; 4]| {
        let (s, c) = turn.sin_cos();
        let (along, across) = (c * fx + s * fy, c * fy - s * fx);
        let (e, g) = (1.0 + along / (YOUNG * A), across / shear);
        let (x, y) = (c * e - s * g, s * e + c * g);
        [x, y, moment / (YOUNG * I), y * fx - x * fy]
    };
    let steps = 200;
    let h = length / f64::from(steps);
    let mut at = [0.0, 0.0, 0.0, moment];
    let add = |a: [f64; 4], b: [f64; 4], h: f64| std::array::from_fn::<f64, 4, _>(|i| a[i] + h * b[i]);
    for _ in 0..steps {
        let a = rate(at);
        let b = rate(add(at, a, 0.5 * h));
        let c = rate(add(at, b, 0.5 * h));
        let d = rate(add(at, c, h));
        at = std::array::from_fn(|i| at[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    [at[0], at[1], at[2]]
}

/// Newton's method with differences over steps of these sizes.
fn solve(mut x: [f64; 3], steps: [f64; 3], f: impl Fn([f64; 3]) -> [f64; 3]) -> [f64; 3] {
    for _ in 0..30 {
        let now = f(x);
        let J = Matrix3::from_columns(&std::array::from_fn::<_, 3, _>(|k| {
            let moved =
                |side: f64| f(std::array::from_fn(|i| if i == k { x[i] + side * steps[k] } else { x[i] }));
            let (a, b) = (moved(1.0), moved(-1.0));
            Vector3::from_fn(|i, _| (a[i] - b[i]) / (2.0 * steps[k]))
        }));
        let step = J.try_inverse().unwrap() * Vector3::from(now);
        (0..3).for_each(|i| x[i] -= step[i]);
        if (0..3).all(|i| step[i].abs() < 1e-6 * steps[i].abs().max(x[i].abs())) {
            return x;
        }
    }
    panic!("no solution near {x:?}");
}

/// Where the stage of the gallery is under a force across its leaves, and one along them that pulls it from the base: across, along, turn.
fn exact_stage(across: f64, along: f64) -> [f64; 3] {
    let [length, thick, wide, apart] = [0.04, 0.0005, 0.002, 0.03];
    let EI = YOUNG * wide * thick.powi(3) / 12.0;
    // Of a straight leaf between small displacements of its end.
    let guess = |[_, y, turn]: [f64; 3]| {
        let force = 12.0 * EI / length.powi(3) * y - 6.0 * EI / length.powi(2) * turn;
        [0.0, force, 6.0 * EI / length.powi(2) * y - 2.0 * EI / length * turn]
    };
    // Leaves along x here, the stage's middle 5 mm beyond their ends.
    let wrench = |part: f64, [x, y, turn]: [f64; 3]| {
        let mut sum = [part * along, part * across, 0.0];
        for side in [-0.5, 0.5] {
            let (s, c) = turn.sin_cos();
            let arm = Vector2::new(-c * 0.005 - s * side * apart, -s * 0.005 + c * side * apart);
            let end: [f64; 3] = [length + 0.005 + x + arm.x, y + arm.y - side * apart, turn];
            let load = solve(guess(end), [1e-2, 1e-4, 1e-6], |load| {
                let at = beam(length, thick, wide, load);
                std::array::from_fn(|i| at[i] - end[i])
            });
            // M at the far end, by the lever of the force.
            let last = load[2] - (end[0] * load[1] - end[1] * load[0]);
            let push = [-load[0], -load[1], -last];
            sum = [sum[0] + push[0], sum[1] + push[1], sum[2] + push[2] + arm.x * push[1] - arm.y * push[0]];
        }
        sum
    };
    let mut at = [0.0; 3];
    for part in 1..=20 {
        at = solve(at, [1e-9, 1e-6, 1e-7], |at| wrench(0.05 * f64::from(part), at));
    }
    let [x, y, turn] = at;
    [y, x, turn]
}

/// The stage of the gallery without its weight, which is across the plate.
fn weightless() -> Mechanism {
    let mut builder = gallery::flexure().to_builder();
    builder.gravity([0.0; 3]);
    builder.build().unwrap()
}

fn stage(across: f64, along: f64) -> State {
    let mut simulation = full::Model::new(&weightless()).simulate();
    let stage = simulation.effector("stage").unwrap();
    simulation.set_load(stage, Wrench::force([across, along, 0.0])).unwrap();
    let found = simulation.settle(&StaticsSettings { tolerance: 1e-10, ..Default::default() }).unwrap();
    assert!(found.converged && found.stable, "{found:?}");
    simulation.state().clone()
}

/// Way, parasitic motion and turn to 2 % of the exact beams up to a way of 0.14 of the leaves' length, with a pull along them too.
#[test]
fn a_stage_moves_as_exact_beams_do() {
    let mechanism = gallery::flexure();
    let body = mechanism.find_body("stage").unwrap().index();
    let rest = mechanism.bodies()[body].pose.position;
    for (across, along) in [(0.04, 0.0), (0.4, 0.0), (1.6, 0.0), (3.2, 0.0), (1.6, 4.0), (1.6, -2.0)] {
        let state = stage(across, along);
        let moved = state.poses[body].position - rest;
        let turn = state.poses[body].rotation.scaled_axis().z;
        let [x, y, exact_turn] = exact_stage(across, along);
        println!(
            "{across} N across, {along} N along: {:.4} mm ({:+.2} %), parasitic {:.5} mm ({:+.2} %), turn {turn:.3e} ({exact_turn:.3e})",
            1e3 * moved.x,
            100.0 * (moved.x / x - 1.0),
            1e3 * moved.y,
            100.0 * (moved.y / y - 1.0),
        );
        assert!((moved.x / x - 1.0).abs() < 0.02);
        assert!((moved.y / y - 1.0).abs() < 0.02);
        assert!((turn + exact_turn).abs() < 0.02 * exact_turn.abs() + 1e-7);
    }
}

/// The lowest natural frequency to 2 % of that of both leaves on a mesh of half the edges, mass and all, and the stage.
#[test]
fn a_stage_vibrates_as_a_finer_mesh_says() {
    let [length, thick, wide, apart] = [0.04, 0.0005, 0.002, 0.03];
    let leaf = whole([length, thick, wide], [160, 4, 8]);
    let of = |A: &DMatrix<f64>| Matrix6::from_fn(|i, k| A[(6 + i, 6 + k)]);
    let (mut K, mut M) = (Matrix6::zeros(), Matrix6::zeros());
    let stage = Vector3::new(0.04, 0.01, 0.002);
    let mass = DENSITY * stage.product();
    // Axes of the leaf: x along, the stage wide along y.
    let inertia = SpatialInertia::of_box(mass, [stage.y, stage.x, stage.z]);
    M += inertia.matrix();
    for side in [-0.5, 0.5] {
        let arm = Vector3::new(-0.005, side * apart, 0.0);
        let mut T = Matrix6::identity();
        T.fixed_view_mut::<3, 3>(0, 3).copy_from(&(-arm.cross_matrix()));
        K += T.transpose() * of(leaf.stiffness()) * T;
        M += T.transpose() * of(leaf.mass()) * T;
    }
    let root = M.cholesky().unwrap().l().try_inverse().unwrap();
    let squares = (root * K * root.transpose()).symmetric_eigenvalues();
    let lowest = squares.min().sqrt() / std::f64::consts::TAU;
    let model = Linearisation::at_rest(&gallery::flexure()).build().unwrap();
    let found = model.frequencies()[0] / std::f64::consts::TAU;
    println!("{found:.3} Hz, finer mesh {lowest:.3} Hz: {:+.2} %", 100.0 * (found / lowest - 1.0));
    assert!((found / lowest - 1.0).abs() < 0.02);
}

#[test]
fn engines_agree_on_where_a_stage_rests() {
    let mechanism = weightless();
    let exact = stage(1.6, 0.0);
    let reduced = reduced::Reduction::at_rest(&mechanism).build().unwrap();
    let mut engines: [Box<dyn Simulation>; 2] =
        [articulated::Model::new(&mechanism).simulate().into(), reduced.simulate().into()];
    for (engine, bound) in engines.iter_mut().zip([1e-9, 1e-3]) {
        engine.inputs_mut().add_scene_loads();
        engine.settle(&StaticsSettings::default()).unwrap();
        let off = crate::common::apart(&mechanism, engine.state(), &exact);
        println!("{}: {off:e} radii", engine.engine());
        assert!(off < bound, "{}: {off:e}", engine.engine());
    }
}

/// As far as its pieces are linear a leaf bends as an exact beam does, whatever their number; farther is a warning with its measure.
#[test]
fn beyond_the_range_of_its_pieces_is_a_warning() {
    let [length, thick, wide] = [0.03, 0.0006, 0.0006];
    let EI = YOUNG * wide * thick.powi(3) / 12.0;
    let (mut silent, mut warned, mut far) = (0, 0, 0);
    for pieces in [2, 4, 8, 16] {
        let mechanism = cantilever(|builder, zone| {
            builder.gravity([0.0; 3]);
            zone.shape.geometry = Geometry::Box { size: [length, thick, wide].into() };
            zone.pieces = Some(pieces);
        })
        .unwrap();
        let tip = mechanism.find_effector("tip").unwrap();
        // The beam as stiff as the leaf is to small forces.
        let stiff = length.powi(3) / (3.0 * EI) / compliance(&mechanism)[(1, 1)];
        for bent in [0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5] {
            let force = bent * 3.0 * EI * stiff / length.powi(2);
            let mut simulation = full::Model::new(&mechanism).simulate();
            simulation.set_load(tip, Wrench::force([0.0, force, 0.0])).unwrap();
            let found = simulation.settle(&StaticsSettings::default()).unwrap();
            assert!(found.converged, "{pieces} pieces, {bent}");
            let at = simulation.effector_pose(tip).unwrap().position - Vector3::new(length, 0.0, 0.0);
            let scaled = force / stiff;
            let [moment, ..] =
                solve([scaled * length, 0.0, 0.0], [1e-6 * EI / length, 1.0, 1.0], |[moment, y, z]| {
                    let end = beam(length, thick, wide, [0.0, scaled, moment]);
                    [moment - end[0] * scaled, y, z]
                });
            let exact = beam(length, thick, wide, [0.0, scaled, moment]);
            let way = Vector2::new(exact[0] - length, exact[1]);
            let off = (at.xy() - way).norm() / way.norm();
            let warning = Warning::of_ranges(&mechanism, simulation.state());
            match warning {
                None => silent += 1,
                Some(warning) => {
                    assert!(warning.kind == "beyond range" && warning.measure > 1.0, "{warning:?}");
                    assert!(
                        warning.text.contains("leaf 1 joint"),
                        "it bends most where it is held: {}",
                        warning.text
                    );
                    warned += 1;
                    continue;
                }
            }
            assert!(off < 0.015, "{pieces} pieces, {bent}: {off}");
            far += usize::from(bent > 0.5);
        }
        let measure = |q: f64| {
            let mut state = State::at_rest(&mechanism);
            state.coordinates[5] = q;
            Warning::of_ranges(&mechanism, &state).map(|warning| warning.measure)
        };
        // By its definition: a strain of 0.087 on the outer side, or half a radian.
        let range = f64::min(0.5, 2.0 * 0.087 * length / (pieces as f64 * thick));
        assert_eq!(measure(0.99 * range), None);
        assert!((measure(-1.5 * range).unwrap() - 1.5).abs() < 1e-12);
    }
    assert!(silent > 12 && warned > 3 && far > 3, "{silent} {warned} {far}");
}

/// Each is a defect of the zone, with its key.
#[test]
fn what_is_no_flexure_is_refused() {
    type Change = fn(&mut MechanismBuilder, &mut ZoneDescription);
    let cases: [(&str, &str, Change); 9] = [
        ("resolution", "cells", |_, zone| zone.resolution = Some(1e-5)),
        ("to", "no body `tp`", |_, zone| zone.to = Some("tp".into())),
        ("body", "no body `bas`", |_, zone| zone.body = "bas".into()),
        ("to", "to itself", |_, zone| zone.to = Some(WORLD.into())),
        ("kind", "is a ball", |_, zone| zone.shape.geometry = Geometry::Ball { radius: 0.01 }),
        ("pieces", "is 0", |_, zone| zone.pieces = Some(0)),
        ("nodes", "number of nodes", |_, zone| zone.nodes = Some(100)),
        ("bonded", "a region", |_, zone| zone.bonded = Some(shape([0.001; 3]))),
        ("position", "middle", |builder, _| {
            builder.world_shape(shape([0.04; 3]));
        }),
    ];
    for (field, message, change) in cases {
        let defects = cantilever(change).unwrap_err().defects;
        let found = defects.iter().find(|defect| defect.field == Some(field));
        let found = found.unwrap_or_else(|| panic!("{field}: {defects:?}"));
        assert_eq!(found.element, Element::Zone(0));
        // What is wrong holds the tip, where it names it.
        let named = message != "to itself";
        assert_eq!(
            defects.iter().all(|defect| defect.element == Element::Zone(0)),
            named,
            "{field}: {defects:?}"
        );
        assert!(
            found.message.contains(message) && found.message.contains("leaf")
                || field == "body"
                || field == "to",
            "{found}"
        );
    }
    // A plate is meshed as finely as seconds allow.
    assert!(
        cantilever(
            |_, zone| zone.shape.geometry = Geometry::Box { size: [LEAF[0], 1e-5, 0.9 * LEAF[0]].into() }
        )
        .is_ok()
    );
    // Names of pieces are names.
    let taken = cantilever(|builder, _| {
        builder.body(Body {
            free: true,
            ..Body::new("leaf 1", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1; 3]))
        });
    });
    assert_eq!(taken.unwrap_err().defects[0].element, Element::Zone(0));
}
