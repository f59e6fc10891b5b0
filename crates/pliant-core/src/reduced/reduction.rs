//! The choice of motions.
//!
//! Static shapes K⁻¹Jᵀ of wrenches on the effectors; the sag under weight; what scene loads make of the mechanism, found by the
//! full statics, and the shapes there; passive, driven and limited joints as they are; and the slowest modes with the
//! effectors held (`modes.rs`).

use std::sync::Arc;

use nalgebra::{DMatrix, DVector, Vector3};

use super::closures::start_of;
use super::compliance::Compliance;
use super::model::{Constants, Model};
use super::modes::Modes;
use super::placing::Six;
use super::shapes::{DEPENDENT, Motions, Shape, placed};
use super::tree::Tree;
use crate::engine::{Inputs, Simulation as _};
use crate::full;
use crate::linear::{EffectorFrame, Linearisation, ReductionError, choose_effectors};
use crate::mechanism::Mechanism;
use crate::spatial::{Pose, Twist, Wrench};

/// A motion that is this part of its size off those that are there is one of them.
const SAME: f64 = 1e-5;

/// The same where what is added is all that is missing.
const NEW: f64 = 1e-7;

/// Modes that are kept unless a user says otherwise.
const MODES: usize = 4;

/// Limited joints up to which each has a motion of its own.
const FEW_LIMITS: usize = 12;

/// Links up to which the full statics look where loads lead.
const LOADED_LINKS: usize = 2000;

/// Which motions to keep of a mechanism.
///
/// ```
/// use pliant_core::{engine::Simulation, full, gallery, reduced::Reduction};
///
/// let mechanism = gallery::helix(100);
/// let model = Reduction::at_rest(&mechanism).build()?;
/// assert!(model.motions() < 20 && model.freedoms() == 100);
///
/// let mut simulation = model.simulate();
/// let mut exact = full::Model::new(&mechanism).simulate();
/// for inputs in [simulation.inputs_mut(), exact.inputs_mut()] {
///     inputs.add_scene_loads();
/// }
/// simulation.settle(&Default::default())?;
/// exact.settle(&Default::default())?;
/// let tip = exact.effector("tip")?;
/// let error = (simulation.effector_pose(tip)?.position - exact.effector_pose(tip)?.position).norm();
/// assert!(error < 1e-3 * mechanism.radius()); // one linear model is 15 % of its motion off
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reduction {
    mechanism: Mechanism,
    effectors: Option<Vec<String>>,
    modes: Modes,
    /// Loads that the motions are to be right under.
    loads: Vec<Inputs>,
}

impl Reduction {
    /// For all effectors of the file, under the loads of its scene.
    pub fn at_rest(mechanism: &Mechanism) -> Reduction {
        let mut loads = Vec::new();
        if !mechanism.loads().is_empty() {
            let mut inputs = Inputs::new(mechanism);
            inputs.add_scene_loads();
            loads.push(inputs);
        }
        Reduction { mechanism: mechanism.clone(), effectors: None, modes: Modes::Count(MODES), loads }
    }

    /// One linear model in place of motions (Andrews 2015): right for small motions, with time that hardly grows with the links.
    pub fn linear(mechanism: &Mechanism) -> Linearisation {
        Linearisation::at_rest(mechanism)
    }

    /// For these effectors or bodies instead.
    pub fn effectors<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Reduction {
        self.effectors = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// With so many modes; four by default.
    pub fn modes(mut self, modes: usize) -> Reduction {
        self.modes = Modes::Count(modes);
        self
    }

    /// With all modes that steps of dt seconds can follow, ω dt < 1, up to 24.
    pub fn modes_for(mut self, dt: f64) -> Reduction {
        self.modes = Modes::Below(1.0 / dt);
        self
    }

    /// With all modes below a frequency, Hz, however many these are.
    pub fn modes_below(mut self, frequency: f64) -> Reduction {
        self.modes = Modes::AllBelow(std::f64::consts::TAU * frequency);
        self
    }

    /// Under these loads and set-points too.
    pub fn under(mut self, inputs: &Inputs) -> Reduction {
        self.loads.push(inputs.clone());
        self
    }

    /// Under no loads.
    pub fn unloaded(mut self) -> Reduction {
        self.loads.clear();
        self
    }

    /// Chooses them.
    pub fn build(&self) -> Result<Model, ReductionError> {
        let mechanism = &self.mechanism;
        let effectors = match (&self.effectors, mechanism.effectors().is_empty()) {
            (None, true) => Vec::new(),
            (names, _) => choose_effectors(mechanism, names.as_deref())?,
        };
        let tree = Tree::new(mechanism);
        let shape = Shape::new(&tree)?;
        let (motions, norms) = shape.choose(&effectors, self.modes, &self.loads);
        let closures = shape.closures;
        Ok(Model { constants: Arc::new(Constants::with_closures(tree, closures, &motions, &norms)) })
    }
}

/// How many independent motions the joints of a mechanism have: their freedoms, less what loops and couplings take, free bases
/// not counted.
pub fn independent_motions(mechanism: &Mechanism) -> Result<usize, ReductionError> {
    let tree = Tree::new(mechanism);
    let shape = Shape::new(&tree)?;
    Ok(shape.compliance.as_ref().map_or(shape.joints.len(), Compliance::freedoms))
}

impl Model {
    /// Every motion of the joints: what the articulated engine has.
    pub fn every_motion(mechanism: &Mechanism) -> Result<Model, ReductionError> {
        let tree = Tree::new(mechanism);
        let shape = Shape::new(&tree)?;
        let n = shape.joints.len();
        let unit =
            |j: usize| DVector::from_fn(n, |i, _| if i == j { 1.0 / shape.norms[j].sqrt() } else { 0.0 });
        let mut motions = Motions { shape: &shape, columns: Vec::new() };
        match &shape.compliance {
            None => motions.columns.extend((0..n).map(unit)),
            Some(_) => (0..n).for_each(|j| motions.add(unit(j), DEPENDENT)),
        }
        let columns = motions.columns;
        Ok(Model { constants: Arc::new(shape.constants(&tree, &columns)) })
    }

    /// With the motions of [`Model::columns`]: the same bits.
    pub fn from_columns(mechanism: &Mechanism, columns: &DMatrix<f64>) -> Result<Model, ReductionError> {
        let tree = Tree::new(mechanism);
        let shape = Shape::new(&tree)?;
        let given = shape.given(columns)?;
        Ok(Model { constants: Arc::new(shape.constants(&tree, &given)) })
    }

    /// With one motion more, given by coordinates of the mechanism; `None` if it is there already.
    pub(super) fn with_motion(&self, coordinates: &[f64]) -> Option<Model> {
        let tree = &self.constants.tree;
        let shape = Shape::new(tree).ok()?;
        let mut motions = Motions { shape: &shape, columns: shape.given(&self.columns()).ok()? };
        let more =
            shape.joints.iter().map(|i| tree.freedoms[*i].coordinate.map_or(0.0, |at| coordinates[at]));
        let before = motions.columns.len();
        motions.add(DVector::from_iterator(shape.joints.len(), more), NEW);
        let columns = motions.columns;
        (columns.len() > before).then(|| Model { constants: Arc::new(shape.constants(tree, &columns)) })
    }
}

impl Shape<'_> {
    fn choose(
        &self,
        effectors: &[EffectorFrame],
        modes: Modes,
        loads: &[Inputs],
    ) -> (DMatrix<f64>, Vec<f64>) {
        let (tree, n) = (self.tree, self.joints.len());
        let mut motions = Motions { shape: self, columns: Vec::new() };
        let unit = |j: usize| DVector::from_fn(n, |i, _| f64::from(i == j));
        let place_of = |coordinate: usize| {
            self.joints.iter().position(|i| tree.freedoms[*i].coordinate == Some(coordinate))
        };
        // Joints that move as they are: passive ones, those with targets, and those with limits, if these are few.
        // With loops: motions that nothing holds, and what a torque on the joint does.
        let alone = |j: usize| match &self.compliance {
            Some(compliance) if self.sprung[j] => compliance.soften(&unit(j)),
            _ => unit(j),
        };
        let of_loop = |l: usize| {
            let compliance = self.compliance.as_ref().expect("a loop");
            compliance.soften(&compliance.coordinates[l])
        };
        match &self.compliance {
            None => (0..n).filter(|j| !self.sprung[*j]).for_each(|j| motions.add(unit(j), SAME)),
            Some(compliance) => compliance.free().into_iter().for_each(|x| motions.add(x, SAME)),
        }
        for target in tree.mechanism.targets() {
            let own = tree.mechanism[target.joint].coordinates();
            own.clone().filter_map(place_of).for_each(|j| motions.add(alone(j), SAME));
            let loops = self.closures.freedoms.iter().enumerate();
            loops
                .filter(|(_, f)| own.contains(&f.coordinate))
                .for_each(|(l, _)| motions.add(of_loop(l), SAME));
        }
        if tree.limited.len() + self.closures.limited.len() <= FEW_LIMITS {
            let limited = self.joints.iter().enumerate().filter(|(_, i)| tree.limited.contains(i));
            limited.for_each(|(j, _)| motions.add(alone(j), SAME));
            let loops = self.closures.limited.iter().map(|i| i - tree.freedoms.len());
            loops.for_each(|l| motions.add(of_loop(l), SAME));
        }
        let frames = || effectors.iter().map(|e| (e.body, e.frame));
        for (body, frame) in frames() {
            motions.add_span(&self.shapes(&self.start, body, &frame));
        }
        // Springs that are not relaxed where it starts, and weight.
        let start = start_of(tree);
        let rest = |inputs: &Inputs| {
            DVector::from_fn(n, |j, _| {
                let (i, own) = (self.joints[j], tree.freedoms[self.joints[j]].coordinate.expect("a joint"));
                if self.sprung[j] { inputs.rest[own] - start[i] } else { 0.0 }
            })
        };
        motions.add(rest(&Inputs::new(&tree.mechanism)), SAME);
        let g = tree.mechanism.gravity();
        let own: Vec<[f64; 10]> = (0..tree.links.len()).map(|n| self.own(n)).collect();
        if g.norm() > 0.0 {
            let weight = |own: &[f64; 10]| {
                let t = Vector3::new(own[1], own[2], own[3]).cross(&g);
                [own[0] * g.x, own[0] * g.y, own[0] * g.z, t.x, t.y, t.z]
            };
            let mut sums: Vec<Six> = own.iter().map(weight).collect();
            motions.add(self.soften(self.gather(&mut sums)), SAME);
        }
        let unloaded = Inputs::new(&tree.mechanism);
        let weighed = g.norm() > 0.0 && tree.floats.is_empty();
        for inputs in loads.iter().chain(weighed.then_some(&unloaded)) {
            motions.add(rest(inputs), SAME);
            self.add_loaded(inputs, effectors, &mut motions);
        }
        match modes {
            Modes::AllBelow(frequency) => self.add_all_modes(&own, frequency, &mut motions),
            modes => drop(self.add_modes(&own, modes, &mut motions)),
        }
        let columns = motions.columns;
        (DMatrix::from_fn(n, columns.len(), |i, k| columns[k][i]), self.norms.clone())
    }

    /// Where loads lead, by the full statics, and the shapes of the loaded bodies there.
    fn add_loaded(&self, inputs: &Inputs, effectors: &[EffectorFrame], motions: &mut Motions) {
        let tree = self.tree;
        let mut loaded: Vec<(crate::mechanism::BodyId, Pose)> = Vec::new();
        for (e, _) in inputs.effector_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
            let effector = &tree.mechanism.effectors()[e];
            loaded.push((effector.body, effector.frame));
        }
        for (b, _) in inputs.body_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
            loaded.push((tree.mechanism.body_id(b), Pose::identity()));
        }
        for (body, frame) in &loaded {
            motions.add_span(&self.shapes(&self.start, *body, frame));
        }
        if tree.links.len() > LOADED_LINKS || !tree.floats.is_empty() {
            return;
        }
        let mut full = full::Model::new(&tree.mechanism).simulate();
        full.inputs_mut().clone_from(inputs);
        if full.inputs_mut().set_base(Pose::identity(), Twist::ZERO).is_err() {
            return;
        }
        if !full.settle(&Default::default()).is_ok_and(|found| found.converged) {
            return;
        }
        let mut theta = vec![0.0; tree.freedoms.len()];
        tree.gather(&full.state().coordinates, &mut theta);
        let start = start_of(tree);
        let away =
            DVector::from_iterator(self.joints.len(), self.joints.iter().map(|i| theta[*i] - start[*i]));
        motions.add(away, SAME);
        let places = placed(tree, &theta);
        for e in effectors {
            motions.add_span(&self.shapes(&places, e.body, &e.frame));
        }
    }
}
