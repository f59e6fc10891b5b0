//! Shapes that overlap where something is added: which are meant to, which are driven apart, and which pass until they are apart.
//!
//! | two shapes overlap | what is done |
//! |---|---|
//! | neither can move; or of bodies with at most three joints between them, near one of these joints | they never touch |
//! | of bodies of one mechanism, elsewhere, by more than a twentieth of the smaller one's radius | they pass until they are apart |
//! | all others | they touch, and are driven apart slowly |
//!
//! The first is how joints are drawn. The second is what hulls of robots do at rest; it is one warning. Each of the last kind is a warning too.

use std::collections::VecDeque;

use nalgebra::Vector3;

use super::{Base, INSIDE, RECOVERY, SimulationId, Touched, World};
use crate::contact::narrow::Narrow;
use crate::contact::pairs::{Pair, Place, Thing};
use crate::contact::skin::Skins;
use crate::engine::Warning;
use crate::joints::JointKind;
use crate::spatial::Pose;

/// Overlaps up to this, of the smaller shape's radius, are rounding or rest.
const OVERLAP: f64 = 1e-3;

/// Links of one mechanism that overlap by more than this, of the smaller shape's radius, are not driven apart.
const DRIVEN: f64 = 0.05;

/// How many joints there may be between two bodies, and how far from one of them their overlap may be, of the smaller shape's radius, to be
/// how that joint is drawn.
const FEW: usize = 3;
const NEAR: f64 = 1.0;

/// Two shapes that pass through each other until they are apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    pub shapes: (Place, Place),
    /// The second's carrier in the frame of the first's when they were last looked at, and how deep they were then, m.
    between: Pose,
    depth: f64,
}

/// The links that pass: the two whose shapes overlap deepest, how deep, m, and all pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct PassingLinks {
    deepest: Option<([usize; 2], f64)>,
    pairs: Vec<[usize; 2]>,
}

/// What is done with two shapes where one of them was added.
enum Start {
    Touch,
    NeverTouch,
    Pass { depth: f64 },
}

impl World {
    /// Decides what becomes of two shapes of which one is new.
    pub(super) fn start(&mut self, one: Place, two: Place, pair: &Pair) {
        match self.judge(one, two, pair) {
            Start::Touch => {}
            Start::NeverTouch => self.overlapping.push((one, two)),
            Start::Pass { depth } => {
                let between = pair.between(&self.things);
                let at = self.passing.partition_point(|passing| passing.shapes < (one, two));
                self.passing.insert(at, Passing { shapes: (one, two), between, depth });
                let links = &mut self.passing_links;
                if links.deepest.is_none_or(|(_, deepest)| depth > deepest) {
                    links.deepest = Some(([one.0, two.0], depth));
                }
                if !links.pairs.contains(&[one.0, two.0]) {
                    links.pairs.push([one.0, two.0]);
                }
            }
        }
    }

    fn judge(&mut self, first: Place, second: Place, pair: &Pair) -> Start {
        let (a, b) = (first.0, second.0);
        let Some(reach) = pair.reach(&self.things, &self.around) else { return Start::Touch };
        look(pair, &self.things, reach, &mut self.skins, &mut self.narrow);
        let points = self.narrow.points.iter().filter(|point| -point.gap > OVERLAP * pair.size);
        let points: Vec<(Vector3<f64>, f64)> = points.map(|point| (point.at, -point.gap)).collect();
        let depth = points.iter().map(|(_, depth)| *depth).fold(0.0, f64::max);
        if points.is_empty() {
            return Start::Touch;
        }
        let links = match (self.owners[a], self.owners[b]) {
            (Touched::Mechanism(m, one), Touched::Mechanism(n, two)) if m == n => {
                let order = self.simulations[m.index].mechanism().order();
                Some((m, [order.node_of(one), order.node_of(two)]))
            }
            (Touched::World, Touched::Mechanism(m, body)) => {
                Some((m, [None, self.simulations[m.index].mechanism().order().node_of(body)]))
            }
            _ => None,
        };
        if let Some((id, [one, two])) = links {
            let joints = self.joints_between(id, one, two);
            let near = |at: &Vector3<f64>| joints.iter().any(|joint| (joint - at).norm() <= NEAR * pair.size);
            if one == two || points.iter().all(|(at, _)| near(at)) {
                return Start::NeverTouch;
            }
            let own = |base: &Base| a == 0 && base.shape == first.1 && base.of.0 == id;
            let link = self.owners[a] != Touched::World || self.bases.iter().any(own);
            if link && depth > DRIVEN * pair.size {
                return Start::Pass { depth };
            }
        }
        self.warn_of_overlap(a, b, depth, pair.size);
        Start::Touch
    }

    fn warn_of_overlap(&mut self, a: usize, b: usize, depth: f64, size: f64) {
        let inside = depth > size;
        let then = match inside {
            true => "more than the radius of the smaller: the direction that separates them is not known; move one of them, or give one `touches = false`".into(),
            false => format!("they are pushed apart at {:.3} m/s at most", RECOVERY * size / self.recovery_time),
        };
        let who = format!("`{}` and `{}`", self.name_of(self.owners[a]), self.name_of(self.owners[b]));
        let text = format!("{who} overlap by {:.3} mm at the start: {then}", depth * 1e3);
        self.worst.started = self.worst.started.max(depth / size);
        let kind = if inside { INSIDE } else { "overlap" };
        let warning = Warning { kind, measure: depth, unit: "m", text };
        // Of two bodies with many shapes, the deepest overlap.
        let known = self.warnings.iter_mut().find(|known| known.kind == kind && known.text.starts_with(&who));
        match known {
            Some(known) if known.measure < depth => *known = warning,
            Some(_) => {}
            None => self.warnings.push(warning),
        }
    }

    /// One warning of all links that pass through each other.
    pub(super) fn warning_of_passing(&self) -> Option<Warning> {
        let PassingLinks { deepest, pairs } = &self.passing_links;
        let ([a, b], depth) = (*deepest)?;
        let others = match pairs.len() - 1 {
            0 => String::new(),
            1 => ", and one other pair of links,".into(),
            more => format!(", and {more} other pairs of links,"),
        };
        let text = format!(
            "`{}` and `{}`{others} overlap at the start by up to {:.3} mm, and not where a joint between them is: they pass through each \
             other until they are apart; name them in `passes` if they are to pass for good",
            self.name_of(self.owners[a]),
            self.name_of(self.owners[b]),
            depth * 1e3
        );
        Some(Warning { kind: "passing links", measure: depth, unit: "m", text })
    }

    /// Where joints are that do not slide, of those by which two nodes of a mechanism are at most [`FEW`] apart.
    fn joints_between(&self, id: SimulationId, one: Option<usize>, two: Option<usize>) -> Vec<Vector3<f64>> {
        let simulation = &self.simulations[id.index];
        let mechanism = simulation.mechanism();
        let node = |body| mechanism.order().node_of(body);
        let ends: Vec<[Option<usize>; 2]> =
            mechanism.joints().iter().map(|joint| [joint.parent.and_then(node), node(joint.child)]).collect();
        // How many joints each end of a joint is from a node.
        let far = |from: Option<usize>| {
            let mut far = vec![[FEW; 2]; ends.len()];
            let mut reached = vec![from];
            let mut next = VecDeque::from([(from, 0)]);
            while let Some((node, count)) = next.pop_front() {
                for (joint, own) in ends.iter().enumerate() {
                    for (i, _) in own.iter().enumerate().filter(|(_, end)| **end == node) {
                        far[joint][i] = far[joint][i].min(count);
                        let other = own[1 - i];
                        if count + 1 < FEW && !reached.contains(&other) {
                            reached.push(other);
                            next.push_back((other, count + 1));
                        }
                    }
                }
            }
            far
        };
        let (from_one, from_two) = (far(one), far(two));
        let turns = |kind: &JointKind| {
            !matches!(kind, JointKind::Prismatic | JointKind::Cylindrical | JointKind::Planar)
        };
        let all = mechanism.joints().iter().zip(from_one.iter().zip(&from_two));
        all.filter(|(joint, (x, y))| turns(&joint.kind) && (x[0] + y[1]).min(x[1] + y[0]) < FEW)
            .map(|(joint, _)| {
                let at = mechanism[joint.child].pose.inverse_times(&joint.frame).position;
                simulation.body_pose(joint.child.index()).transform_point(&at)
            })
            .collect()
    }
}

/// Whether two shapes still pass through each other; once they are apart they touch for good.
#[inline]
pub(super) fn passes(
    passing: &mut Vec<Passing>,
    pair: &Pair,
    things: &[Thing],
    skins: &mut Skins,
    narrow: &mut Narrow,
) -> bool {
    if passing.is_empty() {
        return false;
    }
    let Ok(at) = passing.binary_search_by_key(&pair.key(), |passing| passing.shapes) else { return false };
    let now = pair.between(things);
    let Passing { between, depth, .. } = passing[at];
    // Nothing is apart before it has moved by the depth.
    let turned = now.rotation.angle_to(&between.rotation) * pair.farthest(things);
    if (now.position - between.position).norm() + turned < 0.5 * depth {
        return true;
    }
    look(pair, things, OVERLAP * pair.size, skins, narrow);
    let depth = narrow.points.iter().map(|point| -point.gap).fold(0.0, f64::max);
    if depth <= OVERLAP * pair.size {
        passing.remove(at);
        return false;
    }
    (passing[at].between, passing[at].depth) = (now, depth);
    true
}

/// Finds where two shapes are closer than a distance.
fn look(pair: &Pair, things: &[Thing], reach: f64, skins: &mut Skins, narrow: &mut Narrow) {
    if pair.soft {
        skins.find(pair, things, 0.0, narrow);
    } else {
        pair.find(things, reach, 0.0, narrow);
    }
}
