//! Solids joined along seams are one solid: a bar cut into four and a block cut into a ring of four, with any frames; the pull on the
//! bones is the gradient of the elastic energy, and the pulls sum to nothing; a factor of older poses is corrected.

use pliant_elastic::nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_elastic::{ElasticError, Mesh, Seam, Seams, Solid};

use crate::common::{Random, material};
use crate::counting::allocations;

type Pose = Isometry3<f64>;
type Loads = Vec<Vec<(usize, Vector3<f64>)>>;

fn axis(from: usize, cells: usize) -> Vec<f64> {
    (from..=from + cells).map(|k| 0.003 * k as f64).collect()
}

/// A grid of cells as a solid in its own frame, bonded and seamed by conditions on the point in the world.
fn part(
    cells: [(usize, usize); 3],
    pose: &Pose,
    bonded: impl Fn(&Vector3<f64>) -> bool,
    seam: impl Fn(&Vector3<f64>) -> bool,
) -> Solid {
    let [x, y, z] = cells.map(|(from, n)| axis(from, n));
    let mesh = Mesh::grid(&x, &y, &z).unwrap();
    let points: Vec<_> = mesh.points()[..mesh.corners()]
        .iter()
        .map(|p| pose.inverse_transform_point(&Point3::from(*p)).coords)
        .collect();
    let tetrahedra: Vec<[u32; 4]> = mesh.tetrahedra().iter().map(|t| [t[0], t[1], t[2], t[3]]).collect();
    let mesh = Mesh::new(&points, &tetrahedra).unwrap();
    let world = |p: &Vector3<f64>| (pose * Point3::from(*p)).coords;
    Solid::with_seams(&mesh, &material(0.4), |p| bonded(&world(p)), |p| seam(&world(p)), |_| {}).unwrap()
}

fn pose(random: &mut Random) -> Pose {
    Isometry3::from_parts(
        (random.vector() * 0.1).into(),
        UnitQuaternion::from_scaled_axis(random.vector() * 2.0),
    )
}

/// Largest difference between joined solids and the whole one under the same loads, over the largest displacement.
fn difference(
    whole: &Solid,
    solids: &[&Solid],
    poses: &[Pose],
    seams: &mut Seams,
    random: &mut Random,
) -> f64 {
    let world = |z: usize, i: usize| (poses[z] * Point3::from(solids[z].points()[i])).coords;
    let find = |p: Vector3<f64>| (0..whole.nodes()).find(|&i| (whole.points()[i] - p).norm() < 1e-9);
    let mut loads: Loads = vec![Vec::new(); solids.len()];
    let mut on_whole = Vec::new();
    while on_whole.len() < 12 {
        let z = random.below(solids.len());
        let i = random.below(solids[z].nodes());
        if let Some(j) = find(world(z, i)) {
            let f = random.vector();
            loads[z].push((i, poses[z].rotation.inverse() * f));
            on_whole.push((j, f));
        }
    }
    let mut u = vec![Vector3::zeros(); whole.points().len()];
    whole.displacement(&on_whole, &mut u);
    let largest = u.iter().map(|u| u.norm()).fold(0.0, f64::max);

    seams.factor(solids, poses).unwrap();
    let gap = seams.solve(solids, poses, |z| &loads[z], 2);
    assert!(gap < 1e-10 * largest, "{gap}");
    let (mut worst, mut compared) = (0.0f64, 0);
    for z in 0..solids.len() {
        let forces: Vec<_> = loads[z].iter().copied().chain(seams.forces_on(z, &poses[z])).collect();
        let mut own = vec![Vector3::zeros(); solids[z].points().len()];
        solids[z].displacement(&forces, &mut own);
        for i in 0..solids[z].nodes() {
            if let Some(j) = find(world(z, i)) {
                worst = worst.max((poses[z].rotation * own[i] - u[j]).norm());
                compared += 1;
            }
        }
    }
    assert!(compared >= whole.nodes(), "{compared} of {}", whole.nodes());
    // Forces and torques of the seams on all bones sum to nothing.
    let (mut force, mut torque, mut size) = (Vector3::zeros(), Vector3::zeros(), 0.0);
    for (z, pose) in poses.iter().enumerate() {
        let w = seams.wrench(z, pose);
        force += w.force;
        torque += w.torque + pose.translation.vector.cross(&w.force);
        size += w.force.norm();
    }
    assert!(force.norm() < 1e-12 * size && torque.norm() < 1e-10 * size, "{force:?} {torque:?} {size}");
    worst / largest
}

#[test]
fn four_parts_of_a_bar_are_one_bar() {
    let mut random = Random(21);
    // Each quarter has a bone in the middle of its bottom.
    let bonded = |p: &Vector3<f64>| p.z < 1e-9 && ((p.x / 0.012).fract() - 0.5).abs() < 0.26;
    let whole = part([(0, 16), (0, 4), (0, 4)], &Pose::identity(), bonded, |_| false);
    for turned in [false, true] {
        let poses: Vec<Pose> =
            (0..4).map(|_| if turned { pose(&mut random) } else { Pose::identity() }).collect();
        let seam = |p: &Vector3<f64>| [0.012, 0.024, 0.036].iter().any(|x| (p.x - x).abs() < 1e-9);
        let solids: Vec<Solid> =
            (0..4).map(|z| part([(4 * z, 4), (0, 4), (0, 4)], &poses[z], bonded, seam)).collect();
        let solids: Vec<&Solid> = solids.iter().collect();
        let list: Vec<Seam> =
            (0..3).map(|z| Seam::matching(&solids, &poses, [z, z + 1], 1e-9).unwrap()).collect();
        // 25 corners and the midside nodes inside the face: 9 × 9 nodes less those on its rim.
        assert!(list.iter().all(|s| s.points.len() == 25 + 40), "{}", list[0].points.len());
        let mut seams = Seams::new(&solids, list).unwrap();
        let error = difference(&whole, &solids, &poses, &mut seams, &mut random);
        assert!(error < 1e-9, "{error:e}");
    }
}

#[test]
fn a_ring_of_four_parts_is_one_block() {
    let mut random = Random(22);
    let bonded = |p: &Vector3<f64>| p.z < 1e-9;
    let whole = part([(0, 4), (0, 4), (0, 3)], &Pose::identity(), bonded, |_| false);
    let poses: Vec<Pose> = (0..4).map(|_| pose(&mut random)).collect();
    let seam = |p: &Vector3<f64>| (p.x - 0.006).abs() < 1e-9 || (p.y - 0.006).abs() < 1e-9;
    // Around the ring: neighbours share a face.
    let solids: Vec<Solid> = [(0, 0), (2, 0), (2, 2), (0, 2)]
        .iter()
        .zip(&poses)
        .map(|(&(x, y), pose)| part([(x, 2), (y, 2), (0, 3)], pose, bonded, seam))
        .collect();
    let solids: Vec<&Solid> = solids.iter().collect();
    let mut list: Vec<Seam> =
        (0..4).map(|z| Seam::matching(&solids, &poses, [z, (z + 1) % 4], 1e-9).unwrap()).collect();
    // The nodes at the middle of the ring would be joined once too often.
    let mut repeated = Seams::new(&solids, list.clone()).unwrap();
    assert!(matches!(repeated.factor(&solids, &poses), Err(ElasticError::SeamRepeated { .. })));
    list[3].points.retain(|p| {
        let p = poses[3] * Point3::from(p[0].rest);
        (p.x - 0.006).abs() > 1e-9 || (p.y - 0.006).abs() > 1e-9
    });
    let mut seams = Seams::new(&solids, list).unwrap();
    let error = difference(&whole, &solids, &poses, &mut seams, &mut random);
    assert!(error < 1e-9, "{error:e}");
}

/// Three blocks in a row on three bones.
fn finger() -> (Vec<Solid>, Vec<Seam>) {
    let bonded = |p: &Vector3<f64>| p.z < 1e-9 && ((p.x / 0.012).fract() - 0.5).abs() < 0.26;
    let seam = |p: &Vector3<f64>| [0.012, 0.024].iter().any(|x| (p.x - x).abs() < 1e-9);
    let solids: Vec<Solid> =
        (0..3).map(|z| part([(4 * z, 4), (0, 2), (0, 2)], &Pose::identity(), bonded, seam)).collect();
    let refs: Vec<&Solid> = solids.iter().collect();
    let poses = [Pose::identity(); 3];
    let seams = (0..2).map(|z| Seam::matching(&refs, &poses, [z, z + 1], 1e-9).unwrap()).collect();
    (solids, seams)
}

#[test]
fn pull_on_bones_is_the_gradient_of_the_energy() {
    let (solids, list) = finger();
    let solids: Vec<&Solid> = solids.iter().collect();
    let mut seams = Seams::new(&solids, list).unwrap();
    let mut random = Random(23);
    let small = |random: &mut Random| {
        Isometry3::from_parts(
            (random.vector() * 5e-4).into(),
            UnitQuaternion::from_scaled_axis(random.vector() * 0.1),
        )
    };
    let poses: Vec<Pose> = (0..3).map(|_| small(&mut random)).collect();
    let mut energy = |poses: &[Pose]| -> f64 {
        seams.factor(&solids, poses).unwrap();
        assert!(seams.solve(&solids, poses, |_| &[], 1) < 1e-14);
        (0..3)
            .map(|z| {
                let forces: Vec<_> = seams.forces_on(z, &poses[z]).collect();
                let mut u = vec![Vector3::zeros(); solids[z].points().len()];
                solids[z].displacement(&forces, &mut u);
                forces.iter().map(|&(i, f)| f.dot(&u[i]) / 2.0).sum::<f64>()
            })
            .sum()
    };
    let mut slopes = Vec::new();
    for z in 0..3 {
        for axis in 0..6 {
            let mut moved = |by: f64| {
                let mut poses = poses.clone();
                let d = Vector3::ith(axis % 3, by);
                if axis < 3 {
                    poses[z].translation.vector += d;
                } else {
                    poses[z].rotation = UnitQuaternion::from_scaled_axis(d) * poses[z].rotation;
                }
                energy(&poses)
            };
            let h = if axis < 3 { 1e-6 } else { 1e-4 };
            slopes.push((moved(h) - moved(-h)) / (2.0 * h));
        }
    }
    energy(&poses);
    for z in 0..3 {
        let w = seams.wrench(z, &poses[z]);
        // The solid pulls on the bone what the energy falls by; the torque is over an arm of about 0.01 m.
        for axis in 0..3 {
            assert!((w.force[axis] + slopes[6 * z + axis]).abs() < 1e-7 * w.force.norm(), "{w:?} {slopes:?}");
            let torque = w.torque[axis] + slopes[6 * z + 3 + axis];
            assert!(torque.abs() < 1e-7 * w.force.norm() * 0.1, "{w:?} {slopes:?}");
        }
    }
}

#[test]
fn a_factor_of_older_poses_is_corrected_without_allocation() {
    let (solids, list) = finger();
    let solids: Vec<&Solid> = solids.iter().collect();
    let mut seams = Seams::new(&solids, list).unwrap();
    seams.factor(&solids, &[Pose::identity(); 3]).unwrap();
    let bent: Vec<Pose> = (0..3)
        .map(|z| {
            let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.15 * z as f64);
            Isometry3::from_parts(Vector3::new(0.0, 0.0, 0.0005 * z as f64).into(), turn)
        })
        .collect();
    let loads = [(3, Vector3::new(0.0, 0.1, -0.3))];
    let load = |z: usize| -> &[(usize, Vector3<f64>)] { if z == 1 { &loads } else { &[] } };
    let count = allocations(|| {
        let gap = seams.solve(&solids, &bent, load, 20);
        assert!(gap < 1e-12, "{gap}");
    });
    assert_eq!(count, 0);
    let forces = |seams: &Seams| -> Vec<Vector3<f64>> {
        (0..seams.seams()[0].points.len()).map(|k| seams.force(0, k)).collect()
    };
    let corrected = forces(&seams);
    let gaps: Vec<f64> = [1, 4, 8].map(|corrections| seams.solve(&solids, &bent, load, corrections)).to_vec();
    assert!(gaps[1] < 0.1 * gaps[0] && gaps[2] < 0.1 * gaps[1], "{gaps:?}");
    // With its own factor it needs none, and a common motion of all bones changes nothing but the axes.
    seams.factor(&solids, &bent).unwrap();
    let largest = corrected.iter().map(|f| f.norm()).fold(0.0, f64::max);
    let common = pose(&mut Random(24));
    let moved: Vec<Pose> = bent.iter().map(|p| common * p).collect();
    for (poses, turn) in [(&bent, UnitQuaternion::identity()), (&moved, common.rotation)] {
        assert_eq!(seams.solve(&solids, poses, load, 0), 0.0);
        for (f, g) in forces(&seams).iter().zip(&corrected) {
            assert!((f - turn * g).norm() < 1e-8 * largest, "{f:?} {g:?}");
        }
        let total = seams.wrench(0, &poses[0]).force
            + seams.wrench(1, &poses[1]).force
            + seams.wrench(2, &poses[2]).force;
        assert!(total.norm() < 1e-12 * largest);
    }
}

#[test]
fn bad_seams() {
    let (solids, list) = finger();
    let solids: Vec<&Solid> = solids.iter().collect();
    let poses = [Pose::identity(); 3];
    assert!(matches!(Seam::matching(&solids, &poses, [0, 2], 1e-9), Err(ElasticError::NoSeam { .. })));
    let mut far = list[0].clone();
    far.points[3][1].nodes[0].0 = solids[1].nodes();
    assert!(matches!(Seams::new(&solids, vec![far]), Err(ElasticError::BadSeam { .. })));
    let alone = Seam { solids: [1, 1], points: vec![] };
    assert!(matches!(Seams::new(&solids, vec![alone]), Err(ElasticError::BadSeam { .. })));
    let missing = Seam { solids: [1, 3], points: vec![] };
    assert!(matches!(Seams::new(&solids, vec![missing]), Err(ElasticError::BadSeam { .. })));
}

#[test]
fn meshes_that_do_not_conform() {
    // A bar of two halves whose cells across differ, bent by a load at its end and held at the other: against one bar.
    let bonded = |p: &Vector3<f64>| p.z < 1e-9 && (p.x < 0.0041 || p.x > 0.0199);
    let seam = |p: &Vector3<f64>| (p.x - 0.012).abs() < 1e-9;
    let spaced = |from: f64, to: f64, n: usize| -> Vec<f64> {
        (0..=n).map(|k| from + (to - from) * k as f64 / n as f64).collect()
    };
    let solid = |x: Vec<f64>, across: usize| {
        let mesh = Mesh::grid(&x, &spaced(0.0, 0.012, across), &spaced(0.0, 0.012, across)).unwrap();
        Solid::with_seams(&mesh, &material(0.4), bonded, |_| false, |_| {}).unwrap()
    };
    let poses = [Pose::identity(); 2];
    let mut errors = Vec::new();
    for fine in [3usize, 6] {
        // One half has a third more cells across; the bar as many as the finer of both at the end.
        let (a, b) = (solid(spaced(0.0, 0.012, fine), 4 * fine / 3), solid(spaced(0.012, 0.024, fine), fine));
        let whole = solid(spaced(0.0, 0.024, 12), 8);
        let solids = [&a, &b];
        let list = vec![Seam::projected(&solids, &poses, [0, 1], 1e-9).unwrap()];
        assert!(b.points().iter().filter(|p| seam(p)).count() == list[0].points.len());
        // Weights sum to one, and find the point.
        for [p, _] in &list[0].points {
            let (mut sum, mut at) = (0.0, Vector3::zeros());
            for (i, w) in p.nodes {
                sum += w;
                at += a.points()[i] * w;
            }
            assert!((sum - 1.0).abs() < 1e-12 && (at - p.rest).norm() < 1e-12);
        }
        let mut seams = Seams::new(&solids, list).unwrap();
        seams.factor(&solids, &poses).unwrap();
        // A uniform traction on the top, by the areas of its triangles.
        let areas = |s: &Solid| -> Vec<f64> {
            let mut areas = vec![0.0; s.points().len()];
            for t in s.triangles() {
                let [p, q, r] = t.map(|i| s.points()[i as usize]);
                if p.z.min(q.z).min(r.z) > 0.012 - 1e-9 {
                    t.iter().for_each(|&i| areas[i as usize] += (q - p).cross(&(r - p)).norm() / 6.0);
                }
            }
            areas
        };
        let press = |s: &Solid| -> Vec<(usize, Vector3<f64>)> {
            let areas = areas(s);
            (0..s.nodes()).map(|i| (i, Vector3::new(1e3, 0.0, -1e4) * areas[i])).collect()
        };
        let loads = [press(&a), press(&b)];
        let gap = seams.solve(&solids, &poses, |z| &loads[z], 3);
        assert!(gap < 1e-12, "{gap}");
        let mean = |s: &Solid, forces: &[(usize, Vector3<f64>)]| {
            let mut u = vec![Vector3::zeros(); s.points().len()];
            s.displacement(forces, &mut u);
            let areas = areas(s);
            (0..s.nodes()).map(|i| u[i].z * areas[i]).sum::<f64>() / areas.iter().sum::<f64>()
        };
        let joined: f64 = (0..2)
            .map(|z| {
                let all: Vec<_> = loads[z].iter().copied().chain(seams.forces_on(z, &poses[z])).collect();
                mean(solids[z], &all) / 2.0
            })
            .sum();
        let one = mean(&whole, &press(&whole));
        errors.push((joined / one - 1.0).abs());
        let (w, v) = (seams.wrench(0, &poses[0]), seams.wrench(1, &poses[1]));
        assert!(
            (w.force + v.force).norm() < 1e-12
                && (w.torque + v.torque).norm() < 1e-12
                && w.force.norm() > 0.01
        );
    }
    println!("joined where meshes do not conform, over one bar: {errors:.4?}");
    // Mostly the coarser halves themselves: with as fine cells it is as good as one bar.
    assert!(errors[1] < errors[0] / 2.0 && errors[1] < 0.05, "{errors:?}");
}
