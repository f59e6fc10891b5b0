//! A step of the world: everything solved as if nothing touched, contacts found, impulses solved for, and all moved or none; in
//! pieces where something turns fast.

use nalgebra::{Vector3, Vector6};

use super::overlaps;
use super::{Contact, FreeBody, PRESSED, RECOVERY, Report, SavedWorld, Solver, Touched, World};
use crate::contact::collider::Form;
use crate::contact::delassus::{Equations, Meeting, Part, Side};
use crate::contact::pairs::{Pair, Thing};
use crate::contact::{events, exact, impact, residual};
use crate::engine::StepError;
use crate::engine::touch::Push;
use crate::spatial::{Pose, Twist, Wrench};

/// Softness of lasting normals, of their own W_nn: what decides between contacts that share a load in many ways. At the first
/// touch there is none, so that a fast body stops at the surface.
const SOFTNESS: f64 = 1e-3;

/// How often a step is solved again with less of it, where a hit presses what lay lightly.
const STIFFER: usize = 4;

/// In steps of more than 1.6 times the recovery, what softness takes of its speed is less, so that nothing sinks by more in one of them: how
/// far it would bring things apart in a step, of the smaller shape's radius.
const LONG_STEPS: f64 = 0.02;

/// How many pieces a step is taken in at most, and how far something that is not a ball turns in one of them, rad, while it is near
/// another thing.
const PIECES: u32 = 256;
const TURN: f64 = 0.2;

/// How far something goes over the triangles of a surface in one of them, of its radius.
const WAY: f64 = 0.25;

/// What pieces may take: the sum of squares of the numbers of contacts of all attempts, in which their time is. Once it is spent, as by a
/// mechanism that flies apart inside something, the rest of the step is one piece.
const MOST_WORK: usize = 2_000_000;

/// What rounding of speeds may be, as a way in a step over the smaller shape's radius.
const LOST: f64 = 1e-3;

/// From where on it is warned of: how deep shapes overlap (see [`deep`]), and how far contact is from its law, as a way in a step over the smaller
/// shape's radius.
const DEEP: f64 = 0.01;
const DEEP_AT_ALL: f64 = 5e-4;
const SMALL: f64 = 0.05;
pub(super) const UNSOLVED: f64 = 0.01;

/// What turns less than this in a step, rad, goes straight enough; and how deep something may be before it is moved out, of the
/// smaller shape's radius.
const SLOW: f64 = 0.01;
const SHALLOW: f64 = 1e-4;

/// How deep links of mechanisms may be at the end of a step, of the smaller shape's radius, before it is taken in pieces, and at the end of one
/// of these before it is taken in more.
const SHALLOW_LINKS: f64 = 8e-4;
const SHALLOW_IN_PIECES: f64 = 4e-4;

/// What touches another thing that gives back, and would go over it or into it by more than this part of the smaller shape's radius in a step,
/// hits it.
const FAST_HIT: f64 = 0.1;

/// How often a step is attempted again because contact made a link faster than was looked ahead for, and from how much farther on, of its
/// radius.
const ROUNDS: usize = 3;
const OUTRUN: f64 = 2e-4;

impl World {
    /// Advances by `dt` seconds. On an error the state is unchanged. While something that is not a ball turns fast near another
    /// thing, the step is taken in up to 256 pieces, in each of which it turns by 0.2 rad at most; its contacts are then those of all
    /// pieces, each with its impulse over `dt`, so that forces are means over the step. Only such a step allocates memory, to
    /// undo it if a later piece fails.
    pub fn step(&mut self, dt: f64) -> Result<Report, StepError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(StepError::TimeStep { dt });
        }
        let (mut left, mut piece) = (PIECES, PIECES);
        let mut before: Option<SavedWorld> = None;
        let mut work = 0;
        while left > 0 {
            let shorter = piece > 1 && work < MOST_WORK;
            if work >= MOST_WORK {
                piece = left;
            }
            let h = dt * (f64::from(piece) / f64::from(PIECES));
            self.in_pieces = piece < PIECES;
            self.things.iter_mut().for_each(|thing| thing.tried = (0.0, 0.0));
            let mut attempted = self.attempt(h, shorter);
            work += self.coming.len().pow(2);
            for _ in 0..ROUNDS {
                let whole = attempted.as_ref().is_ok_and(|turn| *turn <= TURN);
                if !whole || work >= MOST_WORK || !self.outruns(h) {
                    break;
                }
                attempted = self.attempt(h, shorter);
                work += self.coming.len().pow(2);
            }
            let turn = match attempted {
                Ok(turn) => turn,
                // Joints of something fast may be torn in a long step alone.
                Err(StepError::Torn { .. } | StepError::NotFinite { .. }) if shorter => f64::INFINITY,
                Err(error) => {
                    before.into_iter().for_each(|before| *self = *before.world);
                    return Err(error);
                }
            };
            if turn > TURN && shorter {
                piece /= 2;
                continue;
            }
            if left == PIECES {
                before = (piece < left).then(|| self.save());
                self.events.clear();
                self.contacts.clear();
                self.attachments.forget();
                self.report = Report::default();
            }
            self.take(h, dt);
            left -= piece;
        }
        self.time += dt;
        self.steps += 1;
        Ok(self.report)
    }

    /// Solves a step of h seconds, and nothing moves yet; how far something turns in it near another thing, rad. Where that is too far and
    /// there can be shorter ones, it is not solved to its end.
    fn attempt(&mut self, h: f64, shorter: bool) -> Result<f64, StepError> {
        self.attachments.carry(&self.simulations, &mut self.bodies);
        for simulation in &mut self.simulations {
            simulation.solve_free(h)?;
        }
        for body in &mut self.bodies {
            body.solve_free(&self.gravity, h);
            if !body.is_finite() {
                return Err(not_finite(self.steps, body, h));
            }
        }
        self.place_things(h);
        self.pair_up();
        self.meet(h);
        let near = self.frames.iter().flat_map(|(pair, _)| self.pairs[*pair].things());
        let turn = near.map(|thing| self.things[thing].turn).fold(0.0, f64::max);
        let ways = self.frames.iter().map(|(pair, _)| self.pairs[*pair].way_over(&self.things, h));
        let turn = ways.map(|way| way * (TURN / WAY)).fold(turn, f64::max);
        if shorter && turn > TURN {
            return Ok(turn);
        }
        self.check_digits(h)?;
        self.answer(h);
        self.skins.respond(&mut self.equations.parts, h);
        self.attachments.fold(&mut self.equations);
        self.equations.prepare(SOFTNESS);
        self.solve_equations(h, None);
        let turn = self.finish(h)?;
        let turn = self.give_back_less(h, turn)?;
        self.draw_out(h);
        Ok(if turn <= TURN && self.ends_deep() { f64::INFINITY } else { turn })
    }

    /// Solves the equations of a step; again, with a part of what its hits give back.
    pub(super) fn solve_equations(&mut self, h: f64, part: Option<f64>) {
        let (solver, exact) = (self.solver, &mut self.exact);
        let solve = |equations: &mut Equations| {
            for _ in 0..=STIFFER {
                match solver {
                    Solver::Pgs { sweeps } => exact::sweep_and_finish(equations, sweeps, h, exact),
                    Solver::Exact { tolerance } => exact::solve(equations, tolerance, exact),
                }
                if !equations.stiffen() {
                    break;
                }
            }
        };
        let unsolved = &mut self.unsolved;
        let judge = |equations: &Equations| {
            let left = residual::residual(equations);
            let small = equations.meetings.iter().any(|meeting| left * h > UNSOLVED * meeting.size);
            *unsolved = if small { residual::part_of_size(equations, h) } else { 0.0 };
            left
        };
        let (equations, memory) = (&mut self.equations, &mut self.impact);
        self.residual = match part {
            None => impact::solve(equations, memory, solve, judge),
            Some(part) => impact::solve_again(equations, memory, part, solve, judge),
        };
        self.attachments.unfold(equations);
    }

    /// An error where something is so fast that the way to what it meets is lost in the rounding of its speed.
    fn check_digits(&self, h: f64) -> Result<(), StepError> {
        let lost = |meeting: &Meeting| {
            let way = h * meeting.free.norm() * f64::EPSILON;
            way.is_nan() || way > LOST * meeting.size
        };
        let Some(c) = self.equations.meetings.iter().position(lost) else { return Ok(()) };
        let speed = self.equations.meetings[c].free.norm();
        Err(StepError::NotFinite {
            step: self.steps + 1,
            body: self.name_of(self.coming[c].second).into(),
            cause: format!("it would collide at {speed:.1e} m/s: gravity or a load is too large for f64"),
        })
    }

    fn is_link(&self, thing: usize) -> bool {
        matches!(self.owners[thing], Touched::Mechanism(..))
    }

    /// Whether a link of a mechanism that contact made faster comes farther than was looked ahead for: what it may then meet was not looked at, and
    /// is in the next attempt at this step.
    fn outruns(&mut self, h: f64) -> bool {
        let mut outruns = false;
        for (thing, owner) in self.things.iter_mut().zip(&self.owners) {
            let (Touched::Mechanism(id, _), Some((_, touch))) = (*owner, thing.moves) else { continue };
            let Some(next) = self.simulations[id.index].next_touch_pose(touch) else { continue };
            let way = (next.position - thing.pose.position).norm() / h;
            let turn = thing.pose.rotation.angle_to(&next.rotation) / h;
            let speeds = |twist: &Twist| (twist.linear.norm(), twist.angular.norm());
            let (now, free) = (speeds(&thing.twist), speeds(&thing.free));
            for collider in &thing.colliders {
                let at = |speeds: (f64, f64)| speeds.0 + speeds.1 * collider.farthest;
                let ahead = at(now).max(at(free)).max(at(thing.tried));
                outruns |= at((way, turn)) * h > ahead * h + OUTRUN * collider.radius;
            }
            thing.tried = (thing.tried.0.max(way), thing.tried.1.max(turn));
        }
        outruns
    }

    /// Whether links of mechanisms end the step deeper in something than the straight motion that contact reckons with would have
    /// them: they turn, and a nonlinear step ends elsewhere. They cannot be moved out as free bodies are: the step is then taken in
    /// more pieces.
    fn ends_deep(&mut self) -> bool {
        let shallow = if self.in_pieces { SHALLOW_IN_PIECES } else { SHALLOW_LINKS };
        let mut at = 0;
        while at < self.frames.len() {
            let (first, p) = (at, self.frames[at].0);
            while self.frames.get(at).is_some_and(|frame| frame.0 == p) {
                at += 1;
            }
            let (pair, size) = (&self.pairs[p], self.pairs[p].size);
            if pair.soft {
                continue;
            }
            let (mut next, mut turned) = ([None; 2], 0.0f64);
            for (next, (thing, shape)) in next.iter_mut().zip([pair.first, pair.second]) {
                let own = &self.things[thing];
                *next = match (self.owners[thing], own.moves) {
                    (Touched::World, _) => Some(own.pose),
                    (Touched::Free(id), _) => Some(self.bodies[id.index].next_pose()),
                    (Touched::Mechanism(id, _), Some((_, touch))) => {
                        let next = self.simulations[id.index].next_touch_pose(touch);
                        if let Some(next) = next {
                            // ½θ²r about its own frame, and as much of the way that this goes about another place.
                            let turn = own.pose.rotation.angle_to(&next.rotation);
                            let way = (next.position - own.pose.position).norm();
                            turned = turned.max(0.5 * turn * (way + turn * own.colliders[shape].farthest));
                        }
                        next
                    }
                    _ => None,
                };
            }
            let things = pair.things();
            let links = things.iter().any(|thing| self.is_link(*thing));
            let ([Some(one), Some(two)], true) = (next, links) else { continue };
            let before = things.map(|thing| self.things[thing].pose);
            let contacts = &self.coming[first..at];
            let allowed = contacts.iter().map(|contact| -contact.gap).fold(shallow * size, f64::max);
            // Where the points of each contact come to.
            let is_deep = |contact: &Contact| {
                let half = contact.normal * (0.5 * contact.gap);
                let moved = |from: &Pose, to: &Pose, at: Vector3<f64>| {
                    to.transform_point(&(from.rotation.inverse() * (at - from.position)))
                };
                let start = moved(&before[0], &one, contact.point - half);
                let end = moved(&before[1], &two, contact.point + half);
                -contact.normal.dot(&(end - start)) > allowed
            };
            if turned < shallow * size && !contacts.iter().any(is_deep) {
                continue;
            }
            (self.things[things[0]].pose, self.things[things[1]].pose) = (one, two);
            self.pairs[p].find(&self.things, 0.0, 0.0, &mut self.narrow);
            (0..2).for_each(|i| self.things[things[i]].pose = before[i]);
            if self.narrow.points.iter().any(|point| -point.gap > allowed) {
                return true;
            }
        }
        false
    }

    /// Where a free body turns fast, its step ends elsewhere than the straight motion that contact reckons with: by ½ω²h² of its
    /// size. What gets deeper by that is moved out again, by translation and without a change of speed.
    fn draw_out(&mut self, h: f64) {
        for at in 0..self.frames.len() {
            let p = self.frames[at].0;
            if self.pairs[p].soft || (at > 0 && self.frames[at - 1].0 == p) {
                continue;
            }
            let things = self.pairs[p].things();
            let owners = things.map(|thing| self.owners[thing]);
            // As it would turn, or as what it has hit makes it turn.
            let is_slow = |(thing, owner): (&usize, &Touched)| {
                let turn = match owner {
                    Touched::Free(id) if !self.bodies[id.index].round => self.bodies[id.index].turn(h),
                    _ => 0.0,
                };
                self.things[*thing].turn.max(turn) < SLOW
            };
            if things.iter().zip(&owners).all(is_slow) {
                continue;
            }
            if owners.iter().any(|owner| matches!(owner, Touched::Mechanism(..))) {
                continue;
            }
            let before = things.map(|thing| self.things[thing].pose);
            let mut light = [0.0; 2];
            for (i, owner) in owners.iter().enumerate() {
                if let Touched::Free(id) = owner {
                    let body = &self.bodies[id.index];
                    self.things[things[i]].pose = body.next_pose();
                    light[i] = 1.0 / body.inertia().mass;
                }
            }
            let size = self.pairs[p].size;
            self.pairs[p].find(&self.things, SHALLOW * size, 0.0, &mut self.narrow);
            (0..2).for_each(|i| self.things[things[i]].pose = before[i]);
            let gaps = self.frames.iter().zip(&self.coming).filter(|(frame, _)| frame.0 == p);
            let allowed = gaps.map(|(_, contact)| -contact.gap).fold(SHALLOW * size, f64::max);
            let Some(deepest) = self.narrow.points.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)) else {
                continue;
            };
            let out = deepest.normal * ((-deepest.gap - allowed).max(0.0) / (light[0] + light[1]));
            for (owner, share) in owners.iter().zip([-light[0], light[1]]) {
                if let Touched::Free(id) = owner {
                    self.bodies[id.index].shift_next(&(out * share));
                }
            }
        }
    }

    /// Takes the piece of h seconds that was attempted, of a step of dt.
    fn take(&mut self, h: f64, dt: f64) {
        self.simulations.iter_mut().for_each(|simulation| simulation.take(h));
        self.bodies.iter_mut().for_each(FreeBody::take);
        self.attachments.carry(&self.simulations, &mut self.bodies);
        self.skins.take(&self.equations, h);
        for (s, skin) in self.skins.list.iter().enumerate() {
            let own = self.things[skin.thing].colliders.iter_mut();
            own.filter(|own| matches!(own.form, Form::Skin(at) if at == s))
                .for_each(|own| own.grown = skin.largest());
            if skin.strain() > self.worst.pressed.map_or(PRESSED, |(part, ..)| part) {
                self.worst.pressed = Some((skin.strain(), s, self.time));
            }
        }
        if let Some(between) = self.skins.between
            && self.worst.between.is_none_or(|(known, _)| known.depth < between.depth)
        {
            self.worst.between = Some((between, self.time));
        }
        self.tell(dt);
        self.step = h;
    }

    /// Where everything is and how it would move.
    fn place_things(&mut self, h: f64) {
        // The static world stays.
        self.around.truncate(self.things[0].colliders.len());
        for (thing, owner) in self.things.iter_mut().zip(&self.owners) {
            match *owner {
                Touched::World => continue,
                Touched::Free(id) => {
                    let body = &self.bodies[id.index];
                    (thing.pose, thing.twist, thing.free) = (body.pose(), body.twist(), body.free_twist());
                }
                Touched::Mechanism(id, _) => {
                    let touch = thing.moves.map_or(0, |m| m.1);
                    let simulation = &self.simulations[id.index];
                    thing.pose = simulation.touch_pose(touch);
                    (thing.twist, thing.free) =
                        (simulation.touch_twist(touch), simulation.free_twist(touch, h));
                }
            }
            thing.look_ahead(h, &mut self.around);
        }
    }

    /// Finds the contacts and writes their equations but for W.
    fn meet(&mut self, h: f64) {
        let still = self.first_body + self.bodies.len() + self.attachments.group_count();
        self.equations.clear(still + self.skins.list.len());
        self.skins.clear();
        self.frames.clear();
        self.coming.clear();
        // Impulses of the last step stand for forces.
        let scale = if self.step > 0.0 { h / self.step } else { 0.0 };
        let fastest = RECOVERY / self.recovery_time;
        for (p, pair) in self.pairs.iter().enumerate().filter(|(_, pair)| !pair.held) {
            let Some(reach) = pair.reach(&self.things, &self.around) else { continue };
            if overlaps::passes(&mut self.passing, pair, &self.things, &mut self.skins, &mut self.narrow) {
                continue;
            }
            if pair.soft {
                self.skins.find(pair, &self.things, h, &mut self.narrow);
            } else {
                pair.find(&self.things, reach, h, &mut self.narrow);
            }
            let (a, b) = (&self.things[pair.first.0], &self.things[pair.second.0]);
            let skins = [pair.first, pair.second].map(|(thing, shape)| {
                match self.things[thing].colliders[shape].form {
                    Form::Skin(skin) => Some(skin),
                    _ => None,
                }
            });
            for (i, point) in self.narrow.points.iter().enumerate() {
                let frame = axes(&point.normal);
                let at = |twist: &Twist, thing: &Thing| {
                    twist.linear + twist.angular.cross(&(point.at - thing.pose.position))
                };
                let mut free = at(&b.free, b) - at(&a.free, a);
                let mut soft = [None; 2];
                if pair.soft {
                    for (side, (thing, sign)) in [(a, -1.0), (b, 1.0)].into_iter().enumerate() {
                        if let (Some(skin), Some(spot)) = (skins[side], self.skins.spots[i][side]) {
                            free += self.skins.free(skin, &spot, &thing.pose, h) * sign;
                            soft[side] = Some((skin, spot));
                        }
                    }
                }
                let now = at(&b.twist, b) - at(&a.twist, a);
                let (closing, coming) = (point.normal.dot(&free), point.normal.dot(&now));
                let target = match -point.gap {
                    depth if pair.soft => depth / h,
                    // Inside, nobody knows which way is out: nothing is driven, and nothing pushes against itself.
                    depth if depth > pair.size => 0.0,
                    depth if depth > 0.0 => {
                        // In pieces, links that turn on get deeper by the curve of their way, piece by piece: what is too much goes in two.
                        let links = self.in_pieces && pair.things().iter().any(|thing| self.is_link(*thing));
                        let soon =
                            if links { (depth - SHALLOW_IN_PIECES * pair.size) / (2.0 * h) } else { 0.0 };
                        (depth / self.recovery_time.max(h)).max(soon).min(fastest * pair.size)
                    }
                    depth => depth / h,
                };
                // A bounce is due in the step that would reach the surface, if it is faster than what the step itself adds.
                let hits = point.gap + h * closing < 0.0 && -coming > (closing - coming).abs();
                let bounce = if hits && !pair.soft { -pair.material.restitution * coming } else { 0.0 };
                let local =
                    |v: &Vector3<f64>| Vector3::new(frame[0].dot(v), frame[1].dot(v), frame[2].dot(v));
                let mut impulse = local(&(pair.remembered(&self.things, point) * scale));
                impulse.x = impulse.x.max(0.0);
                let fast = point.gap + h * closing < 0.0 && h * free.norm() > FAST_HIT * pair.size;
                let c = self.equations.meetings.len();
                let mut sides = [Side::STATIC; 2];
                for (i, (thing, sign)) in [(a, -1.0), (b, 1.0)].into_iter().enumerate() {
                    // What does not move gives way by its zone alone.
                    let moves = thing.moves.or_else(|| soft[i].map(|(skin, _)| (still + skin, 0)));
                    if let Some((part, touch)) = moves {
                        let arm = point.at - thing.pose.position;
                        let rows = frame.map(|d| {
                            let (f, t) = (d * sign, arm.cross(&d) * sign);
                            Vector6::new(f.x, f.y, f.z, t.x, t.y, t.z)
                        });
                        sides[i] = self.equations.push(part, c, Push { touch, rows });
                        if let Some(soft) = soft[i] {
                            let directions = frame.map(|d| d * sign);
                            self.skins.touch(soft, (part, sides[i].place), c, directions, &thing.pose);
                        }
                    }
                }
                self.equations.meetings.push(Meeting {
                    sides,
                    free: local(&free) - Vector3::new(target, 0.0, 0.0),
                    impulse,
                    friction: pair.material.friction * self.friction_part,
                    last: impulse.x,
                    load: pair.load() * scale,
                    now: local(&now),
                    target,
                    fastest: pair.size * fastest.min(LONG_STEPS / h),
                    size: pair.size,
                    gained: closing - coming,
                    hits: bounce > 0.0 || (fast && pair.material.restitution > 0.0 && !pair.soft),
                    bounce,
                    soft: pair.soft,
                    supports: false,
                    softness: 0.0,
                    own: nalgebra::Matrix3::zeros(),
                });
                self.frames.push((p, frame));
                self.coming.push(Contact {
                    first: self.owners[pair.first.0],
                    second: self.owners[pair.second.0],
                    point: point.at,
                    normal: point.normal,
                    gap: point.gap,
                    force: Vector3::zeros(), // told at the end of the step
                    friction: pair.material.friction * self.friction_part,
                });
            }
        }
        self.attachments.write(&self.simulations, &self.bodies, h, &mut self.equations);
    }

    /// Asks everything that is touched for its part of W.
    fn answer(&mut self, h: f64) {
        for (p, part) in self.equations.parts.iter_mut().enumerate() {
            let n = 3 * part.pushes.len();
            part.matrix.resize(n * n, 0.0);
            if n == 0 {
                continue;
            }
            if p >= self.first_body + self.bodies.len() {
                // A zone on what does not move: what it gives way by is added to nothing.
                part.matrix.fill(0.0);
                (part.is_free, part.is_exact) = (true, false);
                continue;
            }
            let body = p.checked_sub(self.first_body);
            (part.is_free, part.is_exact) = (body.is_some(), false);
            match body {
                Some(body) => self.bodies[body].respond(&part.pushes, &mut part.matrix),
                None => {
                    let s = self.first_part.partition_point(|first| *first <= p) - 1;
                    part.is_exact = self.simulations[s].responds_exactly();
                    self.simulations[s].respond(h, p - self.first_part[s], &part.pushes, &mut part.matrix);
                }
            }
        }
    }

    /// Gives everything its impulses, and solves where it goes; how far a free body that is pushed turns, rad.
    pub(super) fn finish(&mut self, h: f64) -> Result<f64, StepError> {
        let mut turn = 0.0f64;
        for (b, body) in self.bodies.iter_mut().enumerate() {
            let part = &self.equations.parts[self.first_body + b];
            let mut sum = Wrench::ZERO;
            let mut rests = self.attachments.holds.iter().any(|hold| hold.body == b);
            for (i, push) in part.pushes.iter().enumerate() {
                sum = sum + impulse(part, i, push);
                let contact = part.contacts.get(i).and_then(|c| self.equations.meetings.get(*c));
                rests |= contact.is_some_and(|meeting| meeting.supports);
            }
            if !body.attempt(&sum, rests, h) {
                return Err(not_finite(self.steps, body, h));
            }
            if sum != Wrench::ZERO && !body.round {
                turn = turn.max(body.turn(h));
            }
        }
        for (s, simulation) in self.simulations.iter_mut().enumerate() {
            self.impulses.clear();
            let first = self.first_part[s];
            for part in &self.equations.parts[first..first + simulation.part_count()] {
                for (i, push) in part.pushes.iter().enumerate() {
                    let w = impulse(part, i, push);
                    match self.impulses.iter_mut().find(|(touch, _)| *touch == push.touch) {
                        Some((_, sum)) => *sum = *sum + w,
                        None => self.impulses.push((push.touch, w)),
                    }
                }
            }
            simulation.attempt(h, &self.impulses)?;
        }
        Ok(turn)
    }

    /// Remembers the impulses of a piece and adds what came out to what is reported of the step of dt seconds.
    fn tell(&mut self, dt: f64) {
        self.attachments.tell(dt);
        self.pairs.iter_mut().for_each(Pair::forget);
        let report = &mut self.report;
        report.contacts += self.coming.len();
        report.residual = residual::worse(report.residual, self.residual);
        report.pieces += 1;
        for (c, contact) in self.coming.iter_mut().enumerate() {
            let meeting = &self.equations.meetings[c];
            let (p, frame) = self.frames[c];
            let impulse =
                frame[0] * meeting.impulse.x + frame[1] * meeting.impulse.y + frame[2] * meeting.impulse.z;
            contact.force = impulse / dt;
            report.penetration = residual::worse(report.penetration, -contact.gap);
            let depth = -contact.gap / meeting.size;
            // What overlaps from the start was warned of.
            let least = deep(meeting.size).max(1.01 * self.worst.started);
            let known = self.worst.deepest.map_or(least, |deepest| deepest.0.max(least));
            if depth > known {
                self.worst.deepest = Some((depth, *contact, self.time));
            }
            if meeting.impulse.x > 0.0 {
                report.pushing += 1;
                self.pairs[p].remember(&self.things, &contact.point, &impulse);
            }
        }
        if self.unsolved > self.worst.unsolved.map_or(UNSOLVED, |unsolved| unsolved.0) {
            self.worst.unsolved = Some((self.unsolved, self.residual, self.time));
        }
        self.contacts.append(&mut self.coming);
        events::add(&self.pairs, &self.owners, &mut self.events);
    }
}

/// How deep an overlap is warned of, of the smaller shape's radius: 1 % up to 0.05 m, 0.5 mm from there to 1 m, and 5e-4 of what is larger.
fn deep(radius: f64) -> f64 {
    (DEEP * (SMALL / radius).min(1.0)).max(DEEP_AT_ALL)
}

fn not_finite(steps: u64, body: &FreeBody, h: f64) -> StepError {
    StepError::NotFinite {
        step: steps + 1,
        body: body.name().into(),
        cause: format!(
            "its place, a load or a contact is not finite or too large for f64, or dt = {h} s is too long"
        ),
    }
}

/// The wrench of a push's impulse, world axes at the link frame.
fn impulse(part: &Part, i: usize, push: &Push) -> Wrench {
    let w = (0..3).map(|a| push.rows[a] * part.impulses[3 * i + a]).sum::<Vector6<f64>>();
    Wrench::from_vector(&w)
}

/// A normal and two tangents, which follow from it alone.
fn axes(n: &Vector3<f64>) -> [Vector3<f64>; 3] {
    let across = if n.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    let t = n.cross(&across).normalize();
    [*n, t, n.cross(&t)]
}
