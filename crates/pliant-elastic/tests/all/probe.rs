//! A device's point contact: the force is continuous along any path across facets and edges, the gradient of a potential, no
//! stiffer than the device allows, and its friction stays within the cone and never gives energy.

use pliant_elastic::nalgebra::{Matrix3, Rotation3, Vector3};
use pliant_elastic::probe::Probe;
use pliant_elastic::{Material, Mesh, Solid, Surface};

use crate::common::Random;
use crate::counting::allocations;

fn pads() -> Vec<(&'static str, Solid)> {
    let material = Material::new(1e5, 0.45, 0.0, 1000.0).unwrap();
    let block = Mesh::cuboid(Vector3::new(0.01, 0.01, 0.006), 0.0025).unwrap();
    let ball = Mesh::from_surface(&Surface::ball(0.01).unwrap(), 0.0035).unwrap();
    vec![
        ("block", Solid::new(&block, &material, |p| p.z < -0.0059, |_| {}).unwrap()),
        ("ball", Solid::new(&ball, &material, |p| p.z < -0.006, |_| {}).unwrap()),
    ]
}

/// A closed path over edges and facets, from 1 mm outside to 2 mm inside the surface.
fn path(random: &mut Random, t: f64) -> Vector3<f64> {
    let turn = Rotation3::new(Random(random.0).vector() * 3.0);
    let angle = std::f64::consts::TAU * t;
    let direction = turn * Vector3::new(angle.cos(), angle.sin(), 0.3 * (3.0 * angle).sin()).normalize();
    direction * (0.0095 + 0.0015 * (5.0 * angle).cos())
}

#[test]
fn force_is_continuous_and_the_gradient_of_the_energy() {
    for (name, solid) in pads() {
        let probe = Probe::new(&solid, 3000.0, 0.0).unwrap();
        let mut state = probe.state();
        for seed in 0..3 {
            let mut random = Random(seed);
            let mut largest_change = |steps: usize| {
                let mut last = None;
                let (mut change, mut largest) = (0.0f64, 0.0f64);
                for k in 0..=steps {
                    let f = probe.touch(&path(&mut random, k as f64 / steps as f64), &mut state).force;
                    change = change.max(last.map_or(0.0, |l: Vector3<f64>| (f - l).norm()));
                    largest = largest.max(f.norm());
                    last = Some(f);
                }
                (change, largest)
            };
            let (coarse, largest) = largest_change(1000);
            let (fine, _) = largest_change(10_000);
            // A tenth of the step, a tenth of the change; a jump of a thousandth of the force would show.
            assert!(largest > 0.01 && fine < 0.12 * coarse + 1e-9, "{name}: {coarse} {fine} of {largest}");

            // f = −∇V.
            for k in 0..50 {
                let p = path(&mut random, k as f64 / 50.0);
                let at = probe.touch(&p, &mut state);
                let difference = Vector3::from_fn(|axis, _| {
                    let d = Vector3::ith(axis, 1e-7);
                    (probe.touch(&(p - d), &mut state).energy - probe.touch(&(p + d), &mut state).energy)
                        / 2e-7
                });
                assert!(
                    (at.force - difference).norm() < 1e-6 * largest,
                    "{name}: {:?} {difference:?}",
                    at.force
                );
                // The secant of the force, which no path can exceed at the device.
                assert!(at.energy <= 0.5 * 3000.0 * at.depth * at.depth * (1.0 + 1e-12));
            }
        }
    }
}

#[test]
fn surface_moves_by_the_depth() {
    // Without a limit of the device, the nodal forces move the weighted surface by the depth.
    let (_, solid) = pads().remove(0);
    let probe = Probe::new(&solid, 1e15, 0.0).unwrap();
    let mut state = probe.state();
    let p = Vector3::new(0.0007, 0.0004, 0.0055);
    let touch = probe.touch(&p, &mut state);
    // The probe is as wide as 1.2 of this coarse mesh's edges: nodes at the block's edges, whose normals lean outward, weigh 1 %.
    assert!((touch.depth - 0.0005).abs() < 1e-5, "{}", touch.depth);
    let forces = state.forces();
    let mut u = vec![Vector3::zeros(); solid.points().len()];
    solid.displacement(forces, &mut u);
    let whole: f64 = forces.iter().map(|f| f.1.norm()).sum();
    let mean: f64 = forces.iter().map(|&(i, f)| u[i].dot(&f) / whole).sum();
    assert!((mean / touch.depth - 1.0).abs() < 1e-9, "{mean}");
    // On a flat face the force is normal, up to what the compliance changes along it.
    assert!(touch.force.z > 0.0 && touch.force.xy().norm() < 0.05 * touch.force.z, "{:?}", touch.force);
    assert!((whole / touch.force.z - 1.0).abs() < 0.05);
}

#[test]
fn friction_sticks_slips_and_takes_energy() {
    let (_, solid) = pads().remove(0);
    for friction in [0.0, 0.4] {
        let probe = Probe::new(&solid, 2000.0, friction).unwrap();
        let smooth = Probe::new(&solid, 2000.0, 0.0).unwrap();
        let (mut state, mut plain) = (probe.state(), smooth.state());
        let mut work = 0.0;
        let mut last: Option<(Vector3<f64>, Vector3<f64>)> = None;
        let (mut slipped, mut stuck) = (0, 0);
        let rounds = 20_000;
        for k in 0..=rounds {
            // In, around over the top, and out again.
            let t = k as f64 / rounds as f64;
            let angle = std::f64::consts::TAU * 4.0 * t;
            let depth = 0.0015 * (std::f64::consts::PI * t).sin() - 0.0002;
            let p = Vector3::new(0.003 * angle.cos(), 0.002 * angle.sin(), 0.006 - depth);
            let touch = probe.touch(&p, &mut state);
            let normal = smooth.touch(&p, &mut plain).force;
            assert!((touch.force - normal).norm() <= friction * normal.norm() * (1.0 + 1e-9));
            slipped += touch.slips as usize;
            stuck += (!touch.slips && touch.depth > 0.0) as usize;
            if let Some((q, f)) = last {
                work += (touch.force + f).dot(&(p - q)) / 2.0;
            }
            last = Some((p, touch.force));
        }
        // What the device received over a path that starts and ends outside: nothing, or less with friction.
        if friction == 0.0 {
            assert!(work.abs() < 1e-9, "{work}");
        } else {
            assert!(work < -1e-5, "{work}");
            assert!(slipped > 1000 && stuck > 100, "{slipped} {stuck}");
        }
    }
}

#[test]
fn bad_positions_and_settings() {
    let (_, solid) = pads().remove(0);
    assert!(Probe::new(&solid, 0.0, 0.0).is_err() && Probe::new(&solid, 1e3, f64::NAN).is_err());
    let probe = Probe::new(&solid, 1e3, 0.3).unwrap();
    let mut state = probe.state();
    for p in [Vector3::new(f64::NAN, 0.0, 0.0), Vector3::new(0.0, f64::INFINITY, 0.0), Vector3::repeat(1e300)]
    {
        assert_eq!(probe.touch(&p, &mut state).force, Vector3::zeros());
    }
    // Far outside, at a node, at the centre: finite.
    for p in [Vector3::repeat(5.0), solid.points()[3], Vector3::zeros(), Vector3::new(0.0, 0.0, -0.0059)] {
        let touch = probe.touch(&p, &mut state);
        assert!(touch.force.iter().all(|x| x.is_finite()) && touch.depth.is_finite());
    }
    let count = allocations(|| {
        for k in 0..100 {
            probe.touch(&Vector3::new(0.0001 * k as f64, 0.0, 0.0055), &mut state);
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn no_stiffer_than_the_device_allows_at_any_depth() {
    for (name, solid) in pads() {
        for stiffness in [500.0, 2000.0] {
            let probe = Probe::new(&solid, stiffness, 0.0).unwrap();
            let mut state = probe.state();
            let mut random = Random(31);
            let (mut touched, mut faded, mut stiffest) = (0, 0, 0.0f64);
            for _ in 0..3000 {
                let p = random.vector() * 0.0105;
                let touch = probe.touch(&p, &mut state);
                touched += (touch.depth > 0.0) as usize;
                faded += touch.fades as usize;
                // The Hessian of the potential by differences of the force: its largest eigenvalue is the stiffness.
                let columns = [0, 1, 2].map(|axis| {
                    let d = Vector3::ith(axis, 1e-7);
                    (probe.touch(&(p - d), &mut state).force - probe.touch(&(p + d), &mut state).force) / 2e-7
                });
                let H = Matrix3::from_columns(&columns);
                stiffest = stiffest.max(((H + H.transpose()) / 2.0).symmetric_eigenvalues().max());
            }
            println!("{name}: at most {stiffest:.0} N/m of {stiffness}, {faded} of {touched} points faded");
            assert!(touched > 500 && faded > 50);
            assert!(stiffest <= stiffness, "{name}: {stiffest} of {stiffness}");
        }
    }
}
