//! Which shapes of a world may meet: those that are near each other, but for those of one mechanism that joints connect or that overlap by
//! design.

use super::{INSIDE, RECOVERY, SimulationId, Touched, World};
use crate::contact::broad::Bounds;
use crate::contact::pairs::{Memory, Pair, Place};
use crate::engine::Warning;
use crate::mechanism::{BodyId, Mechanism};

/// Overlaps up to this, of the smaller shape's radius, are rounding or rest.
const OVERLAP: f64 = 1e-3;

impl World {
    /// After something was added: where everything is in the equations, and which of the new shapes overlap already.
    pub(super) fn added(&mut self, is_new: impl Fn(Place) -> bool) {
        self.first_part.clear();
        let mut parts = 0;
        for simulation in &self.simulations {
            self.first_part.push(parts);
            parts += simulation.part_count();
        }
        self.first_body = parts;
        self.holding.regroup(&self.first_part, parts, &self.simulations);
        for (thing, owner) in self.things.iter_mut().zip(&self.owners) {
            match *owner {
                Touched::World => {}
                Touched::Free(id) => thing.moves = Some((parts + id.index, 0)),
                Touched::Mechanism(SimulationId { index, .. }, _) => {
                    let touch = thing.moves.map_or(0, |m| m.1);
                    thing.moves =
                        Some((self.first_part[index] + self.simulations[index].part_of(touch), touch));
                }
            }
        }
        self.shapes.clear();
        self.around.clear();
        for (t, thing) in self.things.iter_mut().enumerate() {
            self.shapes.extend((0..thing.colliders.len()).map(|x| (t, x)));
            thing.look_ahead(0.0, &mut self.around);
        }
        self.paired = false;
        self.sweep();
        let near = std::mem::take(&mut self.broad.found);
        for &(i, k) in &near {
            let [one, two] = [self.shapes[i], self.shapes[k]];
            let new = is_new(one) || is_new(two);
            if new && self.joined.binary_search(&(one.0, two.0)).is_err() {
                let pair = Pair::new(&self.things, &self.shapes, [i, k], Memory::new());
                if self.overlap_by_design(one.0, two.0, &pair) {
                    self.overlapping.push((one, two));
                }
            }
        }
        self.overlapping.sort_unstable();
        self.broad.found = near;
    }

    /// Things of a mechanism, from the first of them on, that a joint connects or that move as one.
    pub(super) fn join(&mut self, mechanism: &Mechanism, first: usize) {
        let node = |body: BodyId| mechanism.order().node_of(body);
        let nodes: Vec<Option<usize>> = (self.owners[first..].iter())
            .map(|owner| if let Touched::Mechanism(_, body) = owner { node(*body) } else { None })
            .collect();
        let mut connected: Vec<(Option<usize>, Option<usize>)> = (mechanism.joints().iter())
            .filter_map(|joint| Some((node(joint.parent?), node(joint.child))))
            .flat_map(|(a, b)| [(a, b), (b, a)])
            .collect();
        connected.sort_unstable();
        for a in 0..nodes.len() {
            for b in a + 1..nodes.len() {
                if nodes[a] == nodes[b] || connected.binary_search(&(nodes[a], nodes[b])).is_ok() {
                    self.joined.push((first + a, first + b));
                }
            }
        }
        self.joined.sort_unstable();
    }

    /// Things, from the first new one on, that are not to touch others of the same mechanism, free bodies or the world.
    pub(super) fn pass(&mut self, first: usize) {
        if self.passes.iter().all(Vec::is_empty) {
            return;
        }
        for new in first..self.things.len() {
            for other in 0..new {
                let stranger = match (self.owners[other], self.owners[new]) {
                    (Touched::Mechanism(a, _), Touched::Mechanism(b, _)) => a != b,
                    _ => false,
                };
                let says = |of: usize, to: usize| {
                    let name = self.name_of(self.owners[to]);
                    self.passes[of].iter().any(|passed| passed == name)
                };
                if !stranger && (says(new, other) || says(other, new)) {
                    self.joined.push((other, new));
                }
            }
        }
        self.joined.sort_unstable();
        self.joined.dedup();
    }

    /// How far the largest thing that moves reaches from its own frame, m.
    pub(in crate::contact) fn largest_size(&self) -> f64 {
        let moving = self.things[1..].iter().flat_map(|thing| &thing.colliders);
        moving.map(|collider| collider.farthest).fold(0.0, f64::max)
    }

    /// Finds the shapes that may come near each other in the step that was looked ahead for.
    fn sweep(&mut self) {
        let fixed = self.things[0].colliders.len();
        if self.broad.bounds.len() != self.shapes.len() {
            self.broad.bounds.clear();
            self.broad.bounds.extend(self.things[0].colliders.iter().map(|collider| {
                let (low, high) = collider.bounds_in_carrier();
                Bounds { low, high, thing: 0 }
            }));
        }
        self.broad.bounds.truncate(fixed);
        let moving = self.around[fixed..].iter().zip(&self.shapes[fixed..]);
        self.broad.bounds.extend(moving.map(|(around, place)| around.bounds(place.0)));
        self.broad.sweep(fixed);
    }

    /// Brings the list of pairs up to date with the sweep: those of one mechanism's connected bodies, or that overlap by
    /// design, are left out. While all shapes are where the last sweep thought them to be, so are the pairs.
    pub(super) fn pair_up(&mut self) {
        let fixed = self.things[0].colliders.len();
        let mut moving = self.around[fixed..].iter().zip(&self.broad.bounds[fixed..]);
        if self.paired && moving.all(|(around, bounds)| around.is_in(bounds)) {
            return;
        }
        self.paired = true;
        self.sweep();
        std::mem::swap(&mut self.pairs, &mut self.pairs_before);
        let World { pairs, pairs_before, spare, things, shapes, .. } = self;
        let mut before = pairs_before.drain(..).peekable();
        let keep = |pair: Pair, pairs: &mut Vec<Pair>, spare: &mut Vec<Memory>| match pair.is_due() {
            true => pairs.push(pair),
            false => spare.push(pair.into_memory()),
        };
        let mut new = false;
        for &(i, k) in &self.broad.found {
            let key = (shapes[i], shapes[k]);
            while let Some(pair) = before.next_if(|pair| pair.key() < key) {
                keep(pair, pairs, spare);
            }
            if let Some(pair) = before.next_if(|pair| pair.key() == key) {
                pairs.push(pair);
            } else if self.joined.binary_search(&(key.0.0, key.1.0)).is_err()
                && self.overlapping.binary_search(&key).is_err()
            {
                pairs.push(Pair::new(things, shapes, [i, k], spare.pop().unwrap_or_default()));
                new = true;
            }
        }
        before.for_each(|pair| keep(pair, pairs, spare));
        if new {
            self.mark_held();
        }
    }

    /// Whether shapes that overlap now are meant to: those of one mechanism, or of one and the world that holds it. Others
    /// get a warning.
    fn overlap_by_design(&mut self, a: usize, b: usize, pair: &Pair) -> bool {
        let Some(reach) = pair.reach(&self.things, &self.around) else { return false };
        pair.find(&self.things, reach, 0.0, &mut self.narrow);
        let deepest = self.narrow.points.iter().map(|p| -p.gap).fold(0.0, f64::max);
        if deepest <= OVERLAP * pair.size {
            return false;
        }
        let held = |id: SimulationId, body: BodyId| {
            let mechanism = self.simulations[id.index].mechanism();
            mechanism.joints().iter().any(|j| j.parent.is_none() && j.child == body)
        };
        match (self.owners[a], self.owners[b]) {
            (Touched::Mechanism(m, _), Touched::Mechanism(n, _)) if m == n => return true,
            (Touched::World, Touched::Mechanism(m, body)) if held(m, body) => return true,
            _ => {}
        }
        let inside = deepest > pair.size;
        let then = match inside {
            true => "more than the radius of the smaller: which way is out is not known; move one of them, or let one not touch".into(),
            false => format!("they are driven apart at {:.3} m/s at most", RECOVERY * pair.size / self.recovery_time),
        };
        let who = format!("`{}` and `{}`", self.name_of(self.owners[a]), self.name_of(self.owners[b]));
        let text = format!("{who} overlap by {:.3} mm at the start: {then}", deepest * 1e3);
        self.worst.started = self.worst.started.max(deepest / pair.size);
        let kind = if inside { INSIDE } else { "overlap" };
        let warning = Warning { kind, measure: deepest, unit: "m", text };
        // Of two bodies with many shapes, the deepest overlap.
        let known = self.warnings.iter_mut().find(|known| known.kind == kind && known.text.starts_with(&who));
        match known {
            Some(known) if known.measure < deepest => *known = warning,
            Some(_) => {}
            None => self.warnings.push(warning),
        }
        false
    }
}
