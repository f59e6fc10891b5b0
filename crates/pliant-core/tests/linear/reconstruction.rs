//! Claims: poses rebuilt four links at a time are those of the plain formulas, for any twist and every joint
//! kind; body twists are their derivatives; neither the number of threads nor the company of other links
//! changes a bit; nothing is allocated on the way.

use crate::common::counting;

use std::f64::consts::PI;

use crate::common::{derivative, distance, seeded, twist, vector};
use pliant_core::gallery::{self, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::linear::reconstruction::{
    JointOffsets, Joints, PARALLEL_TWISTS, PoseLanes, TreeLink, TwistOffsets, Twists,
};
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::{UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, Twist, exp, log};
use proptest::prelude::*;

/// Numbers between −1 and 1, the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn list(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }

    fn pose(&mut self) -> Pose {
        Pose { rotation: UnitQuaternion::from_scaled_axis(self.vector() * 2.0), position: self.vector() }
    }
}

/// References, maps and offsets of a twist model.
struct TwistCase {
    references: Vec<Pose>,
    map: Vec<f64>,
    offsets: Vec<f64>,
    z: Vec<f64>,
    rates: Vec<f64>,
    model: Twists,
    own: TwistOffsets,
}

fn twist_case(seed: u64, links: usize, r: usize) -> TwistCase {
    let mut numbers = Numbers(seed);
    let references: Vec<Pose> = (0..links).map(|_| numbers.pose()).collect();
    let map = numbers.list(6 * links * r);
    let offsets = numbers.list(6 * links);
    let (z, rates) = (numbers.list(r), numbers.list(r));
    let model = Twists::new(&references, &map, r);
    let mut own = model.offsets();
    model.set_offsets(&mut own, &offsets);
    TwistCase { references, map, offsets, z, rates, model, own }
}

impl TwistCase {
    /// ξ_n = N_n z + off_n, term by term.
    fn xi(&self, n: usize, z: &[f64]) -> Twist {
        let row = |i: usize| {
            let row = &self.map[(6 * n + i) * z.len()..][..z.len()];
            self.offsets[6 * n + i] + row.iter().zip(z).map(|(a, b)| a * b).sum::<f64>()
        };
        Twist::from_vector(&std::array::from_fn::<f64, 6, _>(row).into())
    }
}

fn bits(poses: &PoseLanes) -> Vec<u64> {
    let numbers = |p: Pose| [p.rotation.coords.as_slice(), p.position.as_slice()].concat();
    poses.iter().flat_map(numbers).map(f64::to_bits).collect()
}

proptest! {
    #![proptest_config(seeded(500, 1))]

    /// One link through lanes against the scalar exponential, from nothing to several turns. Both round to
    /// about 2e-16 in each function and product; the angle itself carries 1e-16 of its own size, and the
    /// position is a product with v.
    #[test]
    fn a_twist_is_the_exponential(
        xi in twist(1.0, 1.0),
        size in prop::array::uniform2(prop_oneof![
            3 => -300.0..1.0f64, 3 => -3.0..0.3f64, 1 => Just(f64::NEG_INFINITY)
        ]),
        turn in vector(2.0),
        position in vector(2.0),
    ) {
        let size = size.map(|s| 10f64.powf(s));
        let xi = Twist::new(xi.linear * size[0], xi.angular * size[1]);
        let reference = Pose { rotation: UnitQuaternion::from_scaled_axis(turn), position };
        let model = Twists::new(&[reference], xi.to_vector().as_slice(), 1);
        let mut out = PoseLanes::new(1);
        model.rebuild(&[1.0], &model.offsets(), &Pose::identity(), 1, &mut out);
        let expected = reference * exp(&xi);
        let scale = 1.0 + xi.angular.norm() + xi.linear.norm() + position.norm();
        prop_assert!(distance(&out.pose(0), &expected) < 1e-15 * scale, "{:?} {:?}", out.pose(0), expected);
    }
}

/// Angles close to π on both sides, where the series ends, and the other lanes of such a block.
#[test]
fn the_series_reaches_half_a_turn() {
    let angles = [0.0, 3.0, PI - 1e-4, PI + 1e-4, 3.2, 6.3, 40.0, 1e3];
    let v = [0.3, -0.4, 0.5];
    let map: Vec<f64> = angles.iter().flat_map(|a| [v[0], v[1], v[2], 0.0, 0.6 * a, 0.8 * a]).collect();
    let model = Twists::new(&[Pose::identity(); 8], &map, 1);
    let mut out = PoseLanes::new(8);
    model.rebuild(&[1.0], &model.offsets(), &Pose::identity(), 1, &mut out);
    for (n, a) in angles.iter().enumerate() {
        let expected = exp(&Twist::new(v.into(), Vector3::new(0.0, 0.6 * a, 0.8 * a)));
        assert!(distance(&out.pose(n), &expected) < 5e-16 * (1.0 + a), "{a}");
        let norm = out.pose(n).rotation.coords.norm();
        assert!((norm - 1.0).abs() < 1e-15, "{a}: {norm}");
    }
}

/// H_n = base · H̄_n · exp(N_n z + off_n) with many links and a moved base. The twist is a sum of r + 1
/// products of size one.
#[test]
fn twists_place_all_links() {
    for (links, r) in [(1, 0), (3, 1), (4, 2), (9, 6), (42, 30)] {
        let case = twist_case(7 + r as u64, links, r);
        let base = Numbers(99).pose();
        let mut out = PoseLanes::new(links);
        case.model.rebuild(&case.z, &case.own, &base, 1, &mut out);
        for n in 0..links {
            let expected = base * case.references[n] * exp(&case.xi(n, &case.z));
            let apart = distance(&out.pose(n), &expected);
            assert!(apart < 1e-15 * (4.0 + r as f64), "{links} {r} {n}: {apart}");
        }
    }
}

/// The difference formula of `derivative` is good to 1e-13 of the seventh derivative; exp along a twist of
/// size ten has one of some hundreds, so rates are scaled to size one.
#[test]
fn link_twists_are_derivatives() {
    let case = twist_case(3, 7, 4);
    let rates: Vec<f64> = case.rates.iter().map(|r| 0.25 * r).collect();
    let base_twist = Twist::new(Vector3::new(0.1, -0.2, 0.3), Vector3::new(0.2, 0.1, -0.1));
    let base = Numbers(5).pose();
    for n in 0..7 {
        let at = |t: f64| {
            let z: Vec<f64> = case.z.iter().zip(&rates).map(|(z, r)| z + t * r).collect();
            let mut out = PoseLanes::new(7);
            case.model.rebuild(&z, &case.own, &(base * exp(&(base_twist * t))), 1, &mut out);
            out.pose(n)
        };
        let here = at(0.0);
        let expected = derivative(|t| log(&here.inverse_times(&at(t))).to_vector());
        let found = case.model.twist(n, &case.z, &rates, &case.own, &base_twist).to_vector();
        assert!((found - expected).norm() < 1e-12, "{n}: {:e}", (found - expected).norm());
    }
}

#[test]
fn threads_change_no_bit() {
    for links in [PARALLEL_TWISTS, PARALLEL_TWISTS + 1237] {
        let case = twist_case(11, links, 6);
        let base = Numbers(4).pose();
        let rebuilt = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = PoseLanes::new(links);
            pool.install(|| case.model.rebuild(&case.z, &case.own, &base, threads, &mut out));
            bits(&out)
        };
        let one = rebuilt(1);
        assert_eq!(one, rebuilt(2));
        assert_eq!(one, rebuilt(8));
    }
}

/// A mechanism's spanning forest as tree links in the order of its bodies, with random references and maps.
struct JointCase {
    mechanism: Mechanism,
    references: Vec<Vec<f64>>,
    maps: Vec<Vec<f64>>,
    model: Joints,
    offsets: Vec<f64>,
    own: JointOffsets,
    z: Vec<f64>,
    rates: Vec<f64>,
}

/// Linear coordinates of joint models.
const COORDINATES: usize = 5;

fn joint_case(seed: u64, options: &RandomOptions, reach: f64) -> JointCase {
    let mechanism = gallery::random(seed, options);
    let mut numbers = Numbers(seed);
    let r = COORDINATES;
    let order = mechanism.order();
    let mut position = vec![0; mechanism.bodies().len()];
    for (n, body) in order.bodies().iter().enumerate() {
        position[body.index()] = n;
    }
    let kinds: Vec<_> = order
        .bodies()
        .iter()
        .map(|b| order.tree_joint_of(*b).map_or(JointKind::Fixed, |j| mechanism[j].kind.clone()))
        .collect();
    let mut scaled = |count: usize| numbers.list(count).iter().map(|x| x * reach).collect::<Vec<f64>>();
    let references: Vec<_> = kinds.iter().map(|k| scaled(k.freedoms())).collect();
    let maps: Vec<_> = kinds.iter().map(|k| scaled(k.freedoms() * r)).collect();
    let offsets = scaled(references.iter().map(Vec::len).sum());
    let links: Vec<TreeLink> = order
        .bodies()
        .iter()
        .enumerate()
        .map(|(n, b)| match order.tree_joint_of(*b) {
            None => TreeLink::fixed(None, mechanism[*b].pose),
            Some(j) => TreeLink {
                parent: mechanism[j].parent.map(|p| position[p.index()]),
                kind: kinds[n].clone(),
                frame_in_parent: mechanism.frame_in_parent(&mechanism[j]),
                frame_in_child: mechanism.frame_in_child(&mechanism[j]),
                reference: &references[n],
                map: &maps[n],
            },
        })
        .collect();
    let model = Joints::new(&links, r);
    let mut own = model.offsets();
    model.set_offsets(&mut own, &offsets);
    let (z, rates) = (numbers.list(r), numbers.list(r));
    JointCase { references, maps, offsets, own, z, rates, model, mechanism }
}

impl JointCase {
    fn rebuilt(&self, z: &[f64], base: &Pose) -> PoseLanes {
        let mut out = PoseLanes::new(self.model.len());
        self.model.rebuild(z, &self.own, base, &mut out);
        out
    }

    /// Coordinates and poses one link after the other, by the joints' own transform.
    fn plain(&self, z: &[f64], base: &Pose) -> (Vec<f64>, Vec<Pose>) {
        let order = self.mechanism.order();
        let mut theta: Vec<f64> = Vec::new();
        let mut poses = vec![*base; self.mechanism.bodies().len()];
        for (n, b) in order.bodies().iter().enumerate() {
            let first = theta.len();
            for (reference, row) in self.references[n].iter().zip(self.maps[n].chunks_exact(z.len())) {
                let moved: f64 = row.iter().zip(z).map(|(a, b)| a * b).sum();
                theta.push(reference + moved + self.offsets[theta.len()]);
            }
            poses[b.index()] = match order.tree_joint_of(*b) {
                None => *base * self.mechanism[*b].pose,
                Some(j) => {
                    let joint = &self.mechanism[j];
                    let parent = joint.parent.map_or(*base, |p| poses[p.index()]);
                    let X = joint.kind.transform(&theta[first..]);
                    parent
                        * self.mechanism.frame_in_parent(&self.mechanism[j])
                        * X
                        * self.mechanism.frame_in_child(&self.mechanism[j]).inverse()
                }
            };
        }
        (theta, order.bodies().iter().map(|b| poses[b.index()]).collect())
    }
}

fn options(kinds: &[JointKind], bushiness: f64) -> RandomOptions {
    let (bodies, kinds) = (50, kinds.to_vec());
    RandomOptions { bodies, kinds, bushiness, free_bases: bushiness > 0.2, ..RandomOptions::default() }
}

/// Every product along a path of up to 50 links adds up to about 5e-16 of the mechanism's size.
#[test]
fn joints_place_all_links() {
    let base = Numbers(21).pose();
    let mut kinds: Vec<Vec<JointKind>> = JointKind::ALL.iter().map(|k| vec![k.clone()]).collect();
    kinds.push(JointKind::ALL.to_vec());
    kinds.push(vec![JointKind::Hinge, JointKind::Hinge, JointKind::Hinge, JointKind::Ball]);
    for (k, kinds) in kinds.iter().enumerate() {
        for bushiness in [0.0, 0.1, 1.0] {
            // Coordinates of a few tenths, and of several turns.
            for reach in [0.3, 5.0] {
                let case = joint_case(31 + k as u64, &options(kinds, bushiness), reach);
                let out = case.rebuilt(&case.z, &base);
                let (theta, poses) = case.plain(&case.z, &base);
                let size = poses.iter().map(|p| p.position.norm()).fold(1.0, f64::max) * (1.0 + reach);
                for (n, expected) in poses.iter().enumerate() {
                    let apart = distance(&out.pose(n), expected);
                    assert!(
                        apart < 50.0 * 5e-16 * size,
                        "{kinds:?} {bushiness} {reach} {n}: {apart:e} of {size}"
                    );
                }
                let mut found = vec![0.0; case.model.joint_coordinates()];
                case.model.joint_coordinates_at(&case.z, &case.own, &mut found);
                for (a, b) in found.iter().zip(&theta) {
                    assert!((a - b).abs() < 2e-15 * (1.0 + reach));
                }
            }
        }
    }
}

/// At z = 0 with references and offsets of zero, every link is where the file has it.
#[test]
fn at_rest_links_are_at_rest() {
    let mut case = joint_case(5, &options(&JointKind::ALL, 0.3), 0.0);
    case.z.fill(0.0);
    let out = case.rebuilt(&case.z, &Pose::identity());
    for (n, b) in case.mechanism.order().bodies().iter().enumerate() {
        assert!(distance(&out.pose(n), &case.mechanism[*b].pose) < 1e-14 * case.mechanism.radius());
    }
}

/// As for `link_twists_are_derivatives`; along a path twists of fifty joints add up, so rates are smaller.
#[test]
fn joint_twists_are_derivatives() {
    let base = Numbers(5).pose();
    let base_twist = Twist::new(Vector3::new(0.1, -0.2, 0.3), Vector3::new(0.2, 0.1, -0.1));
    for (seed, bushiness) in [(1, 0.3), (2, 1.0)] {
        let case = joint_case(seed, &options(&JointKind::ALL, bushiness), 0.3);
        let rates: Vec<f64> = case.rates.iter().map(|r| 0.25 * r).collect();
        let mut found = vec![Twist::ZERO; case.model.len()];
        case.model.twists(&case.z, &rates, &case.own, &base_twist, &mut found);
        let at = |t: f64| {
            let z: Vec<f64> = case.z.iter().zip(&rates).map(|(z, r)| z + t * r).collect();
            case.rebuilt(&z, &(base * exp(&(base_twist * t))))
        };
        let here = at(0.0);
        let size = here.iter().map(|p| p.position.norm()).fold(1.0, f64::max);
        for n in 0..case.model.len() {
            let expected = derivative(|t| log(&here.pose(n).inverse_times(&at(t).pose(n))).to_vector());
            let error = (found[n].to_vector() - expected).norm();
            assert!(error < 1e-12 * size, "{bushiness} {n}: {error:e} of {size}");
        }
    }
}

#[test]
fn a_rebuild_allocates_nothing() {
    let case = twist_case(19, PARALLEL_TWISTS, 6);
    let tree = joint_case(23, &options(&JointKind::ALL, 0.3), 5.0);
    let mut out = PoseLanes::new(PARALLEL_TWISTS);
    let mut links = PoseLanes::new(tree.model.len());
    let mut twists = vec![Twist::ZERO; tree.model.len()];
    let mut own = case.own.clone();
    let mut joint_own = tree.own.clone();
    let count = counting::allocations(|| {
        case.model.set_offsets(&mut own, &case.offsets);
        case.model.rebuild(&case.z, &own, &Pose::identity(), 1, &mut out);
        case.model.twist(3, &case.z, &case.rates, &own, &Twist::ZERO);
        tree.model.set_offsets(&mut joint_own, &tree.offsets);
        tree.model.rebuild(&tree.z, &joint_own, &Pose::identity(), &mut links);
        tree.model.twists(&tree.z, &tree.rates, &joint_own, &Twist::ZERO, &mut twists);
    });
    assert_eq!(count, 0);
}

#[test]
fn no_links_are_no_trouble() {
    let mut out = PoseLanes::new(0);
    let twists = Twists::new(&[], &[], 3);
    twists.rebuild(&[1.0; 3], &twists.offsets(), &Pose::identity(), 2, &mut out);
    let joints = Joints::new(&[], 3);
    joints.rebuild(&[1.0; 3], &joints.offsets(), &Pose::identity(), &mut out);
    assert!(out.is_empty() && twists.is_empty() && joints.is_empty());
}
