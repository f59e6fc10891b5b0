//! Claim: how far a body sinks into what it rests on does not depend on its mass, nor on that of anything else in the scene,
//! over eight decades; and pressed plates, stacks of unequal masses and what lies lightly and is hit hold.

use nalgebra::{Unit, UnitQuaternion, Vector3};
use pliant_core::contact::{FreeBodyId, Report, Solver, World};
use pliant_core::mechanism::{Body, Geometry, Shape};
use pliant_core::nalgebra;
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench};

const G: f64 = 9.81;
const SOLVERS: [Solver; 2] = [Solver::Pgs { sweeps: 50 }, Solver::Exact { tolerance: 1e-9 }];
const STEPS: [f64; 3] = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 1000.0];

fn block(name: &str, mass: f64, size: [f64; 3], at: [f64; 3]) -> Body {
    let shape = Shape { friction: Some(0.6), ..Shape::new(Geometry::Box { size: size.into() }) };
    Body::new(name, Pose::translation(at)).inertia(SpatialInertia::of_box(mass, size)).shape(shape).free()
}

fn floor(solver: Solver) -> World {
    let mut world = World::new([0.0, 0.0, -G]);
    world.set_solver(solver);
    let slab = Shape { friction: Some(0.6), ..Shape::new(Geometry::Box { size: [40.0, 40.0, 1.0].into() }) };
    world.add_shape(&slab.at(Pose::translation([0.0, 0.0, -0.5]))).unwrap();
    world
}

/// The worst depth and the worst residual of a while.
fn run(world: &mut World, seconds: f64, h: f64) -> Report {
    let mut worst = Report::default();
    for _ in 0..(seconds / h).round() as usize {
        let report = world.step(h).unwrap();
        worst.penetration = worst.penetration.max(report.penetration);
        worst.residual = worst.residual.max(report.residual);
    }
    worst
}

fn height(world: &World, body: FreeBodyId) -> f64 {
    world.body(body).unwrap().pose().position.z
}

/// One heavy box and one light cube that do not touch: each lies as it does alone.
#[test]
fn masses_that_do_not_touch() {
    let mut cases = 0;
    for solver in SOLVERS {
        for h in STEPS {
            for exponent in -4..=4 {
                let mass = 10f64.powi(exponent);
                let alone = |mass: f64| {
                    let mut world = floor(solver);
                    let body = world.add_body(&block("box", mass, [0.5; 3], [0.0, 0.0, 0.25])).unwrap();
                    run(&mut world, 2.0, h);
                    height(&world, body)
                };
                let mut world = floor(solver);
                let one = world.add_body(&block("one", 1.0, [0.5; 3], [0.0, 0.0, 0.25])).unwrap();
                let two = world.add_body(&block("two", mass, [0.5; 3], [5.0, 0.0, 0.25])).unwrap();
                run(&mut world, 2.0, h);
                // They share nothing: the same numbers but for rounding, which places at 5 m take more of.
                for (body, mass) in [(one, 1.0), (two, mass)] {
                    let apart = (height(&world, body) - alone(mass)).abs();
                    assert!(apart < 1e-9, "{solver:?} {h} {mass}: {apart}");
                    // A few µm: what the softness yields before it has the weight.
                    assert!((height(&world, body) - 0.25).abs() < 2e-5, "{mass}: {}", height(&world, body));
                }
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 54);
}

/// A plate that is pressed on the floor with up to 10⁶ times its weight: 50 N on 1 g, 1000 N on 30 g and more.
#[test]
fn pressed_plates() {
    let mut cases = 0;
    for solver in SOLVERS {
        for h in STEPS {
            for (mass, exponent) in [1e-3, 0.03, 10.0].into_iter().flat_map(|m| (0..=6).map(move |e| (m, e)))
            {
                let mut world = floor(solver);
                let plate =
                    world.add_body(&block("plate", mass, [0.1, 0.1, 0.02], [0.0, 0.0, 0.01])).unwrap();
                let force = 10f64.powi(exponent) * mass * G;
                let load = Wrench { force: Vector3::new(0.0, 0.0, -force), torque: Vector3::zeros() };
                world.body_mut(plate).unwrap().set_load(load);
                run(&mut world, 1.0, h);
                let sunk = 0.01 - height(&world, plate);
                // Softness takes a twentieth of the recovery's speed, 0.6 radii a second, which 1/48 s makes a depth of.
                let yields = 0.05 * 0.6 * 0.0714 / 48.0;
                assert!(sunk.abs() < 1.01 * yields, "{solver:?} {h} {mass} {force} N: {sunk} m deep");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 126);
}

/// A heavy box on a light one, up to 1 : 10⁴.
#[test]
fn stacks() {
    let mut cases = 0;
    for solver in SOLVERS {
        for h in [1.0 / 60.0, 1.0 / 240.0] {
            for exponent in 0..=4 {
                let mut world = floor(solver);
                let light = world.add_body(&block("light", 1.0, [0.4, 0.4, 0.1], [0.0, 0.0, 0.05])).unwrap();
                let heavy = 10f64.powi(exponent);
                let body = world.add_body(&block("heavy", heavy, [0.3; 3], [0.0, 0.0, 0.25])).unwrap();
                let worst = run(&mut world, 2.0, h);
                let sunk = [(0.05 - height(&world, light)).abs(), (0.25 - height(&world, body)).abs()];
                let sunk = sunk[0].max(sunk[1]);
                println!("{solver:?} {h:.4} 1 : {heavy}: {sunk:.1e} m, residual {:.1e} m/s", worst.residual);
                // Three boxes' worth of softness: a twentieth of 0.6 radii a second for 1/48 s at each face.
                assert!(sunk < 5e-4, "{solver:?} {h} 1 : {heavy}: {sunk}");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 20);
}

/// A box that lies lightly and is hit by one of 10⁻⁴ to 10⁴ times its mass, flat or tilted: less than half a millimetre deep (0.6 mm at 1 m), or warned of.
#[test]
fn what_lies_is_hit() {
    let (mut cases, mut shallow) = (0, 0);
    for solver in SOLVERS {
        for (size, h) in [(0.05, 1.0 / 60.0), (0.2, 1.0 / 60.0), (0.2, 1.0 / 240.0), (1.0, 1.0 / 60.0)] {
            for exponent in [-4, -2, 0, 1, 2, 3, 4] {
                for (speed, tilt) in [(2.0, 0.0), (4.0, 0.3), (10.0, 0.3)] {
                    let mut world = floor(solver);
                    let plate = [size, size, 0.3 * size];
                    let lies = world.add_body(&block("lies", 1.0, plate, [0.0, 0.0, 0.15 * size])).unwrap();
                    let at = [0.05 * size, 0.05 * size, 0.8 * size];
                    let heavy = 10f64.powi(exponent);
                    let hits = block("hits", heavy, [0.5 * size, 0.4 * size, 0.25 * size], at);
                    let hits = world.add_body(&hits).unwrap();
                    run(&mut world, 0.05, h);
                    let down = Twist { linear: Vector3::new(0.0, 0.0, -speed), angular: Vector3::zeros() };
                    let turn = UnitQuaternion::from_axis_angle(
                        &Unit::new_normalize(Vector3::new(0.6, 0.8, 0.0)),
                        tilt,
                    );
                    let pose = Pose { position: at.into(), rotation: turn };
                    world.body_mut(hits).unwrap().place(pose, down);
                    let worst = run(&mut world, 0.5, h);
                    let case = format!("{solver:?} {size} m {h:.4} s 1 : {heavy} {speed} m/s {tilt} rad");
                    println!("{case}: {:.3} mm, {:.1e} m/s", worst.penetration * 1e3, worst.residual);
                    // A twentieth of 0.6 radii a second, for a step: what the largest yields in one.
                    let most = if size < 1.0 { 5e-4 } else { 6e-4 };
                    if worst.penetration < most {
                        shallow += 1;
                    } else {
                        // The solver did not get there.
                        let warned = world.warnings().iter().any(|warning| warning.kind == "deep overlap");
                        assert!(warned && exponent > 2, "{case}: {} m deep", worst.penetration);
                    }
                    assert!(height(&world, lies) > 0.0, "{case}");
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 168);
    assert!(shallow >= 160, "{shallow} are shallow");
}
