//! Where links are, and how they move: the motions with their rates, and what these make of every link.

use super::basis::Basis;
use super::manifold::Closed;
use super::model::Constants;
use super::momentum::Carried;
use super::placing::{Places, Reference, Turns};
use crate::spatial::Twist;

/// Everything that moves.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub time: f64,
    pub steps: u64,
    /// y and ẏ; of free bases nothing, and the twist at P.
    pub y: Vec<f64>,
    pub rates: Vec<f64>,
    /// Impulses that mass of an earlier pose has left, and whether they say that it no longer serves.
    pub owed: Vec<f64>,
    pub stale: bool,
    pub places: Places,
    /// How links move with ẏ, and what they carry; in a step, and after one that failed, with a reference that moves (`led`).
    pub now: Turns,
    pub led: bool,
    pub carried: Vec<Carried>,
    pub closed: Closed,
    pub base_twist: Twist,
}

/// How coordinates move with the motions: Θ, or T where there are curved closures.
#[inline(always)]
pub(super) fn tangent<'a>(model: &'a Constants, closed: &'a Closed) -> &'a Basis {
    if model.closures.curved { &closed.tangent } else { &model.basis }
}

impl Motion {
    pub fn new(model: &Constants, reference: &Reference) -> Motion {
        let (tree, stride) = (&model.tree, model.basis.stride);
        let mut motion = Motion {
            time: 0.0,
            steps: 0,
            y: vec![0.0; stride],
            rates: vec![0.0; stride],
            owed: vec![0.0; stride],
            stale: false,
            places: Places::new(tree),
            now: Turns::new(tree),
            led: false,
            carried: vec![Carried::STILL; tree.joints.len()],
            closed: Closed::new(model),
            base_twist: Twist::ZERO,
        };
        motion.place(model, reference);
        motion
    }

    /// Puts the links where y and the reference have them, and moves them by ẏ.
    pub fn place(&mut self, model: &Constants, reference: &Reference) {
        self.place_alike(model, reference, None);
    }

    /// Takes a reference that moved in a step that was not taken out of how links move.
    pub fn forget_lead(&mut self, model: &Constants) {
        if std::mem::take(&mut self.led) {
            let (basis, rates) = (tangent(model, &self.closed), &self.rates[..model.basis.count]);
            self.places.spin(&model.tree, basis, rates, None, &mut self.now);
            if model.closures.curved {
                self.closed.spin_loops(model, &self.now);
            }
        }
    }

    /// The same; with `alike`, the rates of all freedoms are known, where no closure is curved: those of other twists with the
    /// same ẏ.
    pub fn place_alike(&mut self, model: &Constants, reference: &Reference, alike: Option<&Turns>) {
        let (tree, count) = (&model.tree, model.basis.count);
        if model.closures.curved {
            self.closed.put(model, reference, &self.y[..count], &mut self.places);
        } else {
            self.places.put(tree, &model.basis, reference, &self.y[..count]);
        }
        let basis = tangent(model, &self.closed);
        match alike.filter(|_| !model.closures.curved) {
            Some(turns) => self.places.spin_alike(tree, turns, &mut self.now),
            None => self.places.spin(tree, basis, &self.rates[..count], None, &mut self.now),
        }
        if model.closures.curved {
            self.closed.spin_loops(model, &self.now);
        }
    }

    /// The coordinate of a freedom; those of loop joints are counted after those of the tree.
    #[inline]
    pub fn coordinate(&self, model: &Constants, freedom: usize) -> f64 {
        let tree = &model.tree;
        let Some(l) = freedom.checked_sub(tree.freedoms.len()) else {
            return self.places.coordinate(tree, freedom);
        };
        if model.closures.curved {
            return self.closed.at.q[l];
        }
        let away = |i: usize| self.places.coordinate(tree, i) - model.start[i];
        model.closures.freedoms[l].start + model.closures.along(l, away)
    }

    /// Its rate.
    #[inline]
    pub fn rate(&self, model: &Constants, freedom: usize) -> f64 {
        let tree = &model.tree;
        let Some(l) = freedom.checked_sub(tree.freedoms.len()) else {
            return self.now.rate(tree, freedom);
        };
        if model.closures.curved {
            return self.closed.loop_rates[l];
        }
        model.closures.along(l, |i| self.now.rate(tree, i))
    }

    /// How it moves with the motions.
    #[inline]
    pub fn row<'a>(&'a self, model: &'a Constants, freedom: usize) -> &'a [f64] {
        let Some(l) = freedom.checked_sub(model.tree.freedoms.len()) else {
            return tangent(model, &self.closed).row(freedom);
        };
        let stride = model.basis.stride;
        let rows = if model.closures.curved { &self.closed.loop_rows } else { &model.closures.loop_rows };
        &rows[l * stride..(l + 1) * stride]
    }

    pub fn copy_small(&mut self, other: &Motion) {
        (self.time, self.steps, self.base_twist) = (other.time, other.steps, other.base_twist);
        self.y.copy_from_slice(&other.y);
        self.rates.copy_from_slice(&other.rates);
        self.closed.copy_small(&other.closed);
    }
}
