//! Springs, dampers and rotors on the motions, K = ΘᵀK_θΘ and so on, and where set-points take them.
//!
//! A set-point that no combination of the motions reaches moves the reference instead: with d = θ₀ − θ_start and y₀ the motions
//! nearest to it,
//!
//! ```text
//! θ_ref = θ_start + d − Θ y₀,   springs: ΘᵀK_θ(θ₀ − θ_ref) − K y
//! ```

use super::basis::Basis;
use super::model::Constants;
use super::placing::Reference;
use super::tree::Tree;
use crate::algebra::lanes::{Lanes, Number};
use crate::algebra::wide::dot;
use crate::engine::{Inputs, Version};

/// Springs on the motions, of some inputs; matrices have rows of `stride`.
#[derive(Clone, Debug)]
pub(super) struct Springs {
    /// Which laws and rests of the inputs these are.
    laws: Version,
    rests: Version,
    /// Changes with every change of the matrices.
    pub version: u64,
    pub K: Vec<f64>,
    pub D: Vec<f64>,
    pub A: Vec<f64>,
    /// ΘᵀK_θ(θ₀ − θ_ref).
    pub pull: Vec<f64>,
    /// θ_ref now, and at the end of the next step.
    pub now: Reference,
    pub goal: Reference,
    /// How fast θ_ref moves in this step, and moved in the last one.
    pub drift: Reference,
    moved: Vec<f64>,
    /// Whether θ_ref does not move, nor did.
    pub still: bool,
    /// Of each freedom: damping, rotor.
    resisting: Vec<(f64, f64)>,
    away: Vec<f64>,
    open: Vec<f64>,
    y: Vec<f64>,
}

/// Part of the way of set-points below which a reference does not move.
const ROUNDING: f64 = 1e-12;

impl Springs {
    pub fn new(model: &Constants, inputs: &Inputs) -> Springs {
        let (tree, basis) = (&model.tree, &model.basis);
        let (square, freedoms) = (basis.stride * basis.stride, tree.freedoms.len());
        let mut springs = Springs {
            laws: Version::default(),
            rests: Version::default(),
            version: 0,
            K: vec![0.0; square],
            D: vec![0.0; square],
            A: vec![0.0; square],
            pull: vec![0.0; basis.stride],
            now: Reference::new(tree),
            goal: Reference::new(tree),
            drift: Reference::new(tree),
            moved: vec![0.0; freedoms],
            still: true,
            resisting: vec![(0.0, 0.0); freedoms + model.closures.freedoms.len()],
            away: vec![0.0; freedoms],
            open: vec![0.0; model.closures.rows],
            y: vec![0.0; basis.count],
        };
        springs.take(model, inputs);
        springs.rest();
        springs
    }

    /// Takes the springs and set-points of the inputs, if they are others than those taken last.
    pub fn take(&mut self, model: &Constants, inputs: &Inputs) {
        let (tree, basis) = (&model.tree, &model.basis);
        let [laws, rests] = inputs.versions();
        if laws == self.laws && rests == self.rests {
            return;
        }
        if laws != self.laws {
            self.version += 1;
            for (i, freedom) in tree.freedoms.iter().enumerate() {
                let Some(law) = freedom.coordinate.map(|at| &inputs.laws[at]) else { continue };
                self.resisting[i] = (law.damping, law.armature);
            }
            for (l, freedom) in model.closures.freedoms.iter().enumerate() {
                let law = &inputs.laws[freedom.coordinate];
                self.resisting[tree.freedoms.len() + l] = (law.damping, law.armature);
            }
            self.project(model, inputs, basis, &model.closures.loop_rows);
        }
        (self.laws, self.rests) = (laws, rests);
        self.aim(model, inputs);
        self.still = false;
    }

    /// K, D and A on motions of all freedoms, and on rows of loop joints' coordinates.
    pub fn project(&mut self, model: &Constants, inputs: &Inputs, basis: &Basis, loop_rows: &[f64]) {
        for matrix in [&mut self.K, &mut self.D, &mut self.A] {
            matrix.fill(0.0);
        }
        let tree = model.tree.freedoms.iter().enumerate();
        let tree = tree.filter_map(|(i, freedom)| Some((freedom.coordinate?, basis.row(i))));
        let loops = model.closures.freedoms.iter().zip(loop_rows.chunks_exact(basis.stride.max(1)));
        for (at, row) in tree.chain(loops.map(|(freedom, row)| (freedom.coordinate, row))) {
            let law = &inputs.laws[at];
            let parts =
                [(&mut self.K, law.stiffness), (&mut self.D, law.damping), (&mut self.A, law.armature)];
            for (matrix, of) in parts.into_iter().filter(|(_, of)| *of != 0.0) {
                for (x, to) in row.iter().zip(matrix.chunks_exact_mut(basis.stride.max(1))) {
                    to.iter_mut().zip(row).for_each(|(to, y)| *to += of * x * y);
                }
            }
        }
    }

    /// Rotors of all freedoms, those of loop joints after those of the tree.
    pub fn rotors(&self) -> impl Iterator<Item = f64> {
        self.resisting.iter().map(|(_, armature)| *armature)
    }

    /// A sum that changes with any spring or damper.
    pub fn trace(&self, inputs: &Inputs) -> f64 {
        let of = |law: &crate::engine::laws::Law| law.stiffness + 1.7 * law.damping + 2.3 * law.armature;
        inputs.laws.iter().enumerate().map(|(i, law)| of(law) * (1.0 + i as f64)).sum()
    }

    fn aim(&mut self, model: &Constants, inputs: &Inputs) {
        let (tree, basis, start) = (&model.tree, &model.basis, &model.start);
        let free = basis.count - model.projector.nrows();
        let law = |i: usize| tree.freedoms[i].coordinate.map(|at| (&inputs.laws[at], inputs.rest[at]));
        self.y.fill(0.0);
        let (mut size, mut joint) = (0.0f64, 0);
        for (i, away) in self.away.iter_mut().enumerate() {
            *away = law(i).map_or(0.0, |(law, rest)| if law.stiffness > 0.0 { rest - start[i] } else { 0.0 });
            size = size.max(away.abs());
        }
        // Where loops and couplings let them go.
        if size > 0.0 {
            model.closures.project_in(&mut self.away, &mut self.open);
        }
        for (i, away) in self.away.iter().enumerate() {
            if *away != 0.0 {
                (0..model.projector.nrows())
                    .for_each(|k| self.y[free + k] += model.projector[(k, joint)] * *away);
            }
            joint += usize::from(tree.freedoms[i].coordinate.is_some());
        }
        self.pull.fill(0.0);
        for (i, away) in self.away.iter_mut().enumerate() {
            *away -= dot(&basis.row(i)[..basis.count], &self.y);
            // What is left of a motion that the basis has is rounding.
            *away = start[i] + if away.abs() > ROUNDING * size { *away } else { 0.0 };
            let force = law(i).map_or(0.0, |(law, rest)| law.stiffness * (rest - *away));
            if force != 0.0 {
                self.pull.iter_mut().zip(basis.row(i)).for_each(|(pull, theta)| *pull += force * theta);
            }
        }
        for (l, freedom) in model.closures.freedoms.iter().enumerate().filter(|_| !model.closures.curved) {
            let (law, rest) = (&inputs.laws[freedom.coordinate], inputs.rest[freedom.coordinate]);
            let there = freedom.start + model.closures.along(l, |i| self.away[i] - start[i]);
            let force = law.stiffness * (rest - there);
            if force != 0.0 {
                let row = &model.closures.loop_rows[l * basis.stride..(l + 1) * basis.stride];
                self.pull.iter_mut().zip(row).for_each(|(pull, theta)| *pull += force * theta);
            }
        }
        self.goal.set(tree, &self.away);
    }

    /// Finds how fast the reference goes to where the set-points have it in a step of h seconds.
    pub fn begin(&mut self, h: f64) {
        if self.still {
            return;
        }
        let per = 1.0 / h;
        let both = self.goal.all.iter().zip(&self.now.all);
        self.drift.all.iter_mut().zip(both).for_each(|(d, (goal, now))| *d = (goal - now) * per);
        let both = self.goal.lanes.iter().zip(&self.now.lanes);
        let lanes = self.drift.lanes.iter_mut().zip(both);
        lanes.for_each(|(d, (goal, now))| *d = (*goal - *now) * Lanes::all(per));
    }

    /// Takes what a reference that moves does to dampers and rotors from the right side: h ΘᵀD·drift + Θᵀa(drift − last).
    pub fn resist(&self, model: &Constants, h: f64, right: &mut [f64]) {
        let (basis, closures) = (&model.basis, &model.closures);
        let mut take = |(damping, armature): (f64, f64), drift: f64, moved: f64, row: &[f64]| {
            let impulse = h * damping * drift + armature * (drift - moved);
            right.iter_mut().zip(row).for_each(|(right, theta)| *right -= theta * impulse);
        };
        let (tree, loops) = self.resisting.split_at(self.moved.len());
        for (i, own) in tree.iter().enumerate() {
            take(*own, self.drift.all[i], self.moved[i], basis.row(i));
        }
        for (l, own) in loops.iter().enumerate().filter(|(_, own)| **own != (0.0, 0.0)) {
            let (drift, moved) =
                (closures.along(l, |i| self.drift.all[i]), closures.along(l, |i| self.moved[i]));
            take(*own, drift, moved, &closures.loop_rows[l * basis.stride..(l + 1) * basis.stride]);
        }
    }

    /// The step was taken.
    pub fn end(&mut self) {
        if self.still {
            return;
        }
        self.now.copy_from(&self.goal);
        self.moved.copy_from_slice(&self.drift.all);
        self.still = self.moved.iter().all(|x| *x == 0.0);
    }

    /// Puts the reference where the set-points have it, at rest.
    pub fn rest(&mut self) {
        self.now.copy_from(&self.goal);
        self.moved.fill(0.0);
        self.still = true;
    }

    /// How the reference moved in the last step.
    pub fn moved(&self) -> &[f64] {
        &self.moved
    }

    /// Puts the reference at coordinates, moving so.
    pub fn restore(&mut self, tree: &Tree, now: &[f64], moved: &[f64]) {
        self.now.set(tree, now);
        self.moved.copy_from_slice(moved);
        self.still = false;
    }
}

impl Reference {
    pub fn copy_from(&mut self, other: &Reference) {
        self.all.copy_from_slice(&other.all);
        self.lanes.copy_from_slice(&other.lanes);
    }
}
