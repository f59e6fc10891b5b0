//! Where a robot starts, and with which limits.
//!
//! A key frame puts it somewhere. Without one it starts in the file's pose, all coordinates zero, but for joints whose limits
//! leave zero out: these start in the middle of them, or at the only one there is. What follows a joint by a coupling
//! q = ratio p + offset has a say: the window of a leader is what its own limits and those of its followers leave it.
//! Where loops stop joints from going there, all stay in the file's pose. So do trees on a free base in a file with a world to
//! stand on: the file has put the base where its own pose touches nothing.
//!
//! A limit that is broken all the same is left out, with a warning: it is stiff, and would throw the joint.

use std::collections::HashMap;

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Defect, Element, PerFreedom};

use super::context::Context;
use super::draft::Draft;
use super::meaning::Tree;

/// So far outside its limits a joint may start, rad or m: rounding of the file's decimals.
const DECIMALS: f64 = 1e-6;

/// Joints whose new start is listed by name.
const TOLD: usize = 4;

const EVERYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// What a joint follows in the end: q = slope p + offset, p of the joint of that position.
#[derive(Clone, Copy)]
struct Follows {
    leader: usize,
    slope: f64,
    offset: f64,
}

impl Draft {
    /// See the [module](self).
    pub(super) fn choose_start(&mut self, context: &mut Context) {
        if context.has_errors() {
            return;
        }
        if self.in_key_frame {
            self.drop_open_start(context);
        }
        self.drop_impossible_couplings(context);
        let follows = self.followers();
        let chosen = if self.in_key_frame { Vec::new() } else { self.leave_broken_limits(&follows) };
        if !chosen.is_empty() && self.is_stopped(&follows) {
            chosen.iter().for_each(|&j| self.joints[j].description.start = None);
        } else if let Some(&first) = chosen.first() {
            let told = chosen.iter().take(TOLD).map(|&j| {
                let description = &self.joints[j].description;
                let at = values(&description.start, description.kind.freedoms());
                let at: Vec<String> = at.iter().map(|q| format!("{q:.4}")).collect();
                format!("`{}` at {}", description.name, at.join(", "))
            });
            let told = told.collect::<Vec<_>>().join(", ");
            let more = match chosen.len().saturating_sub(TOLD) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let (line, are) = (
                context.line(&self.joints[first].place),
                if chosen.len() == 1 { "1 joint starts" } else { "joints start" },
            );
            let number = if chosen.len() == 1 { String::new() } else { format!("{} ", chosen.len()) };
            let whose = if chosen.len() == 1 { "its" } else { "their" };
            context.note(format!(
                "{line}: {number}{are} in the middle of {whose} limits, which exclude the file's pose: {told}{more}"
            ));
        }
        for j in 0..self.joints.len() {
            self.admit_start(j, &follows, context);
        }
    }

    /// Leaves out couplings whose offset loops do not let be: other tools give way there, and nothing holds.
    fn drop_impossible_couplings(&mut self, context: &mut Context) {
        let has_loops = |tree: Tree, joints: usize| tree.joint.iter().flatten().count() < joints;
        while self.couplings.iter().any(|(coupling, _)| coupling.offset != 0.0)
            && has_loops(Tree::new(&self.links, &self.joints), self.joints.len())
        {
            let Err(invalid) = self.quiet_builder().build() else { return };
            let Some((at, message)) = invalid.defects.iter().find_map(|defect| match defect {
                Defect { element: Element::Coupling(at), field: Some("offset"), message, .. } => {
                    Some((*at, message))
                }
                _ => None,
            }) else {
                return;
            };
            let (_, place) = self.couplings.remove(at);
            context.warning(&place, format!("{message}; the coupling was left out"));
        }
    }

    /// Of each joint, what it follows in the end; joints of one freedom that move.
    fn followers(&self) -> Vec<Option<Follows>> {
        let named: HashMap<&str, usize> = (self.joints.iter().enumerate().rev())
            .filter(|(_, joint)| joint.description.kind.freedoms() == 1)
            .map(|(j, joint)| (joint.description.name.as_str(), j))
            .collect();
        let mut direct = vec![None; self.joints.len()];
        for (coupling, _) in &self.couplings {
            if let (Some(&j), Some(&leader)) =
                (named.get(coupling.joint.as_str()), named.get(coupling.of.as_str()))
            {
                direct[j] = Some(Follows { leader, slope: coupling.ratio, offset: coupling.offset });
            }
        }
        let in_the_end = |first: &Option<Follows>| {
            let mut sum = (*first)?;
            // Circles are reported when all is built.
            for _ in 0..direct.len() {
                let Some(next) = direct[sum.leader] else { break };
                sum.offset += sum.slope * next.offset;
                sum.slope *= next.slope;
                sum.leader = next.leader;
            }
            Some(sum)
        };
        direct.iter().map(in_the_end).collect()
    }

    /// Gives a start to joints whose limits leave zero out; those that got one.
    fn leave_broken_limits(&mut self, follows: &[Option<Follows>]) -> Vec<usize> {
        let mut windows: Vec<Vec<(f64, f64)>> = (self.joints.iter())
            .map(|joint| limits(&joint.description.limits, joint.description.kind.freedoms()))
            .collect();
        for (j, Follows { leader, slope, offset }) in
            follows.iter().enumerate().filter_map(|(j, follows)| Some((j, (*follows)?)))
        {
            let (lower, upper) = windows[j][0];
            let [a, b] = [lower, upper].map(|limit| (limit - offset) / slope);
            if slope != 0.0 && leader != j {
                let (least, most) = windows[leader][0];
                windows[leader][0] = (least.max(a.min(b)), most.min(a.max(b)));
            }
        }
        let tree = Tree::new(&self.links, &self.joints);
        let mut stands = vec![false; self.links.len()];
        if self.world_shapes.iter().any(|(shape, _)| shape.touches) {
            for &i in &tree.order {
                stands[i] = self.links[i].body.free || tree.parent[i].is_some_and(|p| stands[p]);
            }
        }
        let mut chosen = Vec::new();
        for j in 0..self.joints.len() {
            let description = &mut self.joints[j].description;
            let carries =
                tree.find(&description.child).is_some_and(|i| tree.joint[i] == Some(j) && !stands[i]);
            if !carries || follows[j].is_some() || description.kind == JointKind::Fixed {
                continue;
            }
            let own = limits(&description.limits, description.kind.freedoms());
            let start: Vec<f64> = windows[j]
                .iter()
                .zip(own)
                .map(|(window, own)| middle(*window).unwrap_or_else(|| middle(own).unwrap_or(0.0)))
                .collect();
            if start.iter().any(|q| *q != 0.0) {
                description.start = Some(match start[..] {
                    [q] => PerFreedom::All(q),
                    _ => PerFreedom::Each(start),
                });
                chosen.push(j);
            }
        }
        chosen
    }

    /// Whether loops stop joints from starting where they should, or push others out of their limits.
    fn is_stopped(&self, follows: &[Option<Follows>]) -> bool {
        let tree = Tree::new(&self.links, &self.joints);
        if tree.joint.iter().flatten().count() == self.joints.len() {
            return false;
        }
        // What else is wrong is reported when all is built.
        let Ok(mechanism) = self.quiet_builder().build() else { return true };
        let Some(start) = mechanism.start() else { return false };
        mechanism.joints().iter().zip(follows).any(|(joint, follows)| {
            let at = &start.coordinates[joint.coordinates()];
            follows.is_none()
                && joint.freedoms.iter().zip(at).zip(&joint.start).any(|((f, q), from)| {
                    // One that the file's pose breaks already is no worse.
                    let breaks = |q: &f64| f.lower > q + DECIMALS || f.upper < q - DECIMALS;
                    breaks(q) && !breaks(from)
                })
        })
    }

    /// Leaves out limits that do not admit the coordinate in which the joint starts.
    fn admit_start(&mut self, j: usize, follows: &[Option<Follows>], context: &mut Context) {
        let led = follows[j].map(|f| {
            let leader = &self.joints[f.leader].description;
            f.slope * values(&leader.start, 1)[0] + f.offset
        });
        let description = &self.joints[j].description;
        let count = description.kind.freedoms();
        let start = match (&description.start, led) {
            (None, Some(q)) => vec![q],
            (start, _) => values(start, count),
        };
        let mut own = limits(&description.limits, count);
        let (before, name) = (own.clone(), description.name.clone());
        for ((lower, upper), &q) in own.iter_mut().zip(&start) {
            let (limit, side, none) = match (*lower > q, *upper < q) {
                (true, _) => (lower, "below the lower", f64::NEG_INFINITY),
                (_, true) => (upper, "above the upper", f64::INFINITY),
                _ => continue,
            };
            if (*limit - q).abs() <= DECIMALS {
                *limit = q;
                continue;
            }
            let elsewhere = description.start.is_some() || led.is_some();
            context.warning_of("pose outside limits", &self.joints[j].place, || {
                let pose = if elsewhere { "where it starts" } else { "the file's pose" };
                let (q, limit) = (digits(q), digits(*limit));
                format!("joint `{name}`: {pose}, {q}, is {side} limit {limit}, which was left out")
            });
            *limit = none;
        }
        if own != before {
            self.joints[j].description.limits = Some(match own[..] {
                [pair] => PerFreedom::All(pair),
                _ => PerFreedom::Each(own),
            });
        }
    }
}

/// Four decimals at most.
fn digits(x: f64) -> f64 {
    (x * 1e4).round() / 1e4 + 0.0
}

/// Zero where the window has it, else its middle, or its only end; `None` if there is nothing in it.
fn middle((lower, upper): (f64, f64)) -> Option<f64> {
    if lower > upper {
        return None;
    }
    Some(match (lower <= DECIMALS && upper >= -DECIMALS, lower.is_finite(), upper.is_finite()) {
        (true, ..) => 0.0,
        (_, true, true) => 0.5 * (lower + upper),
        (_, true, false) => lower,
        _ => upper,
    })
}

pub(super) fn limits(limits: &Option<PerFreedom<(f64, f64)>>, freedoms: usize) -> Vec<(f64, f64)> {
    spread(limits, freedoms, EVERYWHERE)
}

pub(super) fn values(values: &Option<PerFreedom<f64>>, freedoms: usize) -> Vec<f64> {
    spread(values, freedoms, 0.0)
}

/// One value for each freedom.
fn spread<T: Copy>(values: &Option<PerFreedom<T>>, freedoms: usize, absent: T) -> Vec<T> {
    (0..freedoms)
        .map(|k| match values {
            None => absent,
            Some(PerFreedom::All(value)) => *value,
            Some(PerFreedom::Each(list)) => list.get(k).copied().unwrap_or(absent),
        })
        .collect()
}
