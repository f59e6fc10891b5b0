//! Which shapes of a world may meet: those that are near each other, but for those of one mechanism that joints connect or that overlap where
//! a joint is (`overlaps.rs`).

use super::{Base, SimulationId, Touched, World};
use crate::contact::broad::Bounds;
use crate::contact::pairs::{Memory, Pair, Place};
use crate::mechanism::{BodyId, Mechanism};

impl World {
    /// After something was added: where everything is in the equations, and which of the new shapes overlap already.
    pub(in crate::contact) fn added(&mut self, is_new: impl Fn(Place) -> bool) {
        self.first_part.clear();
        let mut parts = 0;
        for simulation in &self.simulations {
            self.first_part.push(parts);
            parts += simulation.part_count();
        }
        self.first_body = parts;
        self.attachments.regroup(&self.first_part, parts, &self.simulations);
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
        let known = self.overlapping.len();
        for &(i, k) in &near {
            let [one, two] = [self.shapes[i], self.shapes[k]];
            let new = is_new(one) || is_new(two);
            let passes = self.overlapping[..known].binary_search(&(one, two)).is_ok();
            if new && !passes && self.joined.binary_search(&(one.0, two.0)).is_err() {
                let pair = Pair::new(&self.things, &self.shapes, [i, k], Memory::new());
                self.start(one, two, &pair);
            }
        }
        self.overlapping.sort_unstable();
        self.broad.found = near;
    }

    /// Things of a mechanism, from the first new one on, that a joint connects to others of it or that move as one with them.
    pub(in crate::contact) fn join(&mut self, mechanism: &Mechanism, id: SimulationId, first: usize) {
        let node = |body: BodyId| mechanism.order().node_of(body);
        let nodes: Vec<(usize, Option<usize>)> = (self.owners.iter().enumerate())
            .filter_map(|(thing, owner)| match owner {
                Touched::Mechanism(other, body) if *other == id => Some((thing, node(*body))),
                _ => None,
            })
            .collect();
        let mut connected: Vec<(Option<usize>, Option<usize>)> = (mechanism.joints().iter())
            .filter_map(|joint| Some((node(joint.parent?), node(joint.child))))
            .flat_map(|(a, b)| [(a, b), (b, a)])
            .collect();
        connected.sort_unstable();
        for (i, (a, one)) in nodes.iter().enumerate() {
            for (b, two) in nodes[i + 1..].iter().filter(|(b, _)| *b >= first) {
                if one == two || connected.binary_search(&(*one, *two)).is_ok() {
                    self.joined.push((*a, *b));
                }
            }
        }
        self.joined.sort_unstable();
    }

    /// Things, from the first new one on, that are not to touch others of the same mechanism, free bodies or the world.
    pub(in crate::contact) fn pass(&mut self, first: usize) {
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

    /// Shapes of bodies that are fixed to the world, and those of links that a joint connects to them or that are not to touch them, one of
    /// both new.
    pub(in crate::contact) fn pass_bases(&mut self, is_new: impl Fn(Place) -> bool) {
        for Base { shape, of: (id, base), .. } in &self.bases {
            let mechanism = self.simulations[id.index].mechanism();
            let (parts, node) = (mechanism.parts(), |body: BodyId| mechanism.order().node_of(body));
            // Those of its own machine: another one may stand on the same world.
            let is_base = |body: BodyId| node(body).is_none() && parts[body.index()] == parts[base.index()];
            for (t, thing) in self.things.iter().enumerate().skip(1) {
                let joined = match self.owners[t] {
                    Touched::Mechanism(other, link) if other == *id => {
                        mechanism.joints().iter().any(|joint| {
                            let mut ends = [joint.parent, Some(joint.child)].into_iter().flatten();
                            ends.clone().any(is_base) && ends.any(|end| node(end) == node(link))
                        })
                    }
                    _ => false,
                };
                let named = self.passes[t].contains(&mechanism[*base].name)
                    || mechanism[*base].passes.iter().any(|name| name == self.name_of(self.owners[t]));
                if joined || named {
                    let pairs = (0..thing.colliders.len()).map(|k| ((0, *shape), (t, k)));
                    self.overlapping.extend(pairs.filter(|(one, two)| is_new(*one) || is_new(*two)));
                }
            }
        }
        self.overlapping.sort_unstable();
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

    /// Brings the list of pairs up to date with the sweep: those of one mechanism's connected bodies, or that overlap
    /// where a joint is, are left out. While all shapes are where the last sweep thought them to be, so are the pairs.
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
}
