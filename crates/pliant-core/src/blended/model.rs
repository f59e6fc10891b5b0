//! Samples of a mechanism: linear models at loaded equilibria, and the constants of each for blending.

use std::sync::Arc;

use nalgebra::{DMatrix, Matrix3, Matrix6};

use super::aligned::Aligned;
use super::options::Options;
use crate::engine::{Simulation as _, Spring, State, StaticsSettings};
use crate::full;
use crate::linear::reconstruction::Twists;
use crate::linear::{
    self, EffectorFrame, Layout, Linearisation, PerWrench, ReductionError, Reference, Segments,
    choose_effectors,
};
use crate::mechanism::{Effector, Mechanism};
use crate::spatial::{Pose, Twist, Wrench};

/// A mechanism with samples of its equilibria.
///
/// ```
/// use pliant_core::blended::{Model, Options};
/// use pliant_core::{engine::Simulation, gallery, spatial::Wrench};
///
/// let mechanism = gallery::two_link();
/// let load = Wrench::force([0.0, 40.0, 0.0]);
/// let mut model = Model::new(&mechanism, Options::default())?; // at rest without loads
/// model.add(&[load])?; // and under this; one for each effector
/// let mut simulation = model.simulate();
/// let tip = simulation.effector("tip")?;
/// simulation.set_load(tip, load)?;
/// assert!(simulation.settle(&Default::default())?.converged);
/// let (nearest, weight) = simulation.weights(tip)?[0];
/// assert!(nearest == 1 && weight > 1.0 - 1e-9); // at a sample no other counts
/// assert!(simulation.estimate()? < 1e-9); // and there is no error
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) constants: Arc<Constants>,
}

impl Model {
    /// With one sample: the equilibrium without loads on the effectors.
    pub fn new(mechanism: &Mechanism, options: Options) -> Result<Model, SampleError> {
        let mut constants = Constants::empty(mechanism, options)?;
        constants.add(&vec![Wrench::ZERO; mechanism.effectors().len()])?;
        Ok(Model { constants: Arc::new(constants) })
    }

    /// From states that are equilibria under these loads on the effectors: those of [`Sample`]s.
    pub fn from_samples(
        mechanism: &Mechanism,
        options: Options,
        samples: impl IntoIterator<Item = (State, Vec<Wrench>)>,
    ) -> Result<Model, SampleError> {
        let mut constants = Constants::empty(mechanism, options)?;
        for (state, loads) in samples {
            constants.add_state(&state, &loads)?;
        }
        if constants.samples.is_empty() {
            return Err(ReductionError::Options("a blended model needs at least one sample".into()).into());
        }
        Ok(Model { constants: Arc::new(constants) })
    }

    /// The first sample without branches of their own, if it has them.
    pub(super) fn whole(&self) -> Result<Option<Model>, SampleError> {
        if self.constants.segments.carriers.is_empty() {
            return Ok(None);
        }
        let (options, rest) = (Options { branches: false, ..*self.options() }, &self.samples()[0]);
        Model::from_samples(self.mechanism(), options, [(rest.state.clone(), rest.loads.clone())]).map(Some)
    }

    /// Adds the equilibrium under dead loads on the mechanism's effectors, world axes. On an error the model is
    /// unchanged. Simulations that were made before keep the model they have.
    pub fn add(&mut self, loads: &[Wrench]) -> Result<(), SampleError> {
        Arc::make_mut(&mut self.constants).add(loads)
    }

    /// Adds the equilibrium with the effectors where a state has them, be it of any engine and in motion or not. On an error
    /// the model is unchanged.
    pub fn add_at(&mut self, state: &State) -> Result<(), SampleError> {
        Arc::make_mut(&mut self.constants).add_at(state)
    }

    /// Adds a state that is the equilibrium under these loads.
    pub(super) fn add_state(&mut self, state: &State, loads: &[Wrench]) -> Result<(), SampleError> {
        Arc::make_mut(&mut self.constants).add_state(state, loads)
    }

    /// The mechanism it was made from.
    pub fn mechanism(&self) -> &Mechanism {
        &self.constants.mechanism
    }

    /// The samples, the unloaded one first.
    pub fn samples(&self) -> &[Sample] {
        &self.constants.samples
    }

    /// How they are blended.
    pub fn options(&self) -> &Options {
        &self.constants.options
    }

    /// Changes how they are blended, but not whether samples have their geometric stiffness and branches their own.
    pub fn set_options(&mut self, options: Options) {
        let constants = Arc::make_mut(&mut self.constants);
        constants.options = options.in_samples_as(&constants.options);
    }

    /// The frames that it was reduced to: the mechanism's effectors, then bodies from which branches go out.
    pub fn effectors(&self) -> &[EffectorFrame] {
        &self.constants.effectors
    }
}

/// What never changes but for samples that are added.
#[derive(Clone, Debug)]
pub(super) struct Constants {
    pub(super) mechanism: Mechanism,
    pub(super) radius: f64,
    pub(super) options: Options,
    /// That of the statics, and of estimates.
    pub(super) full: full::Model,
    /// Those of the mechanism, and the bodies that carry segments.
    pub(super) effectors: Vec<EffectorFrame>,
    pub(super) segments: Segments,
    pub(super) samples: Vec<Sample>,
    pub(super) groups: Vec<Group>,
    /// Of each node, its group and its link there.
    pub(super) place_of_node: Vec<(usize, usize)>,
}

/// One equilibrium, and the linear model there.
#[derive(Clone, Debug)]
pub struct Sample {
    pub(super) model: linear::Model,
    state: State,
    loads: Vec<Wrench>,
}

impl Sample {
    /// Where everything is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The dead load on each effector of the mechanism that holds it, world axes.
    pub fn loads(&self) -> &[Wrench] {
        &self.loads
    }
}

/// Why there is no sample.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// The statics came to no end, or the mechanism snapped through on the way.
    #[error("the statics find no equilibrium under this load: {0}")]
    NoEquilibrium(String),
    /// The equilibrium is no minimum of energy.
    #[error("the equilibrium under this load is not stable")]
    Unstable,
    /// The mechanism cannot be reduced there.
    #[error(transparent)]
    Linearisation(#[from] ReductionError),
}

/// A segment of the mechanism: samples of it are weighed and blended alone, all seen from its base.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub layout: Layout,
    /// What carries it, by group and effector there; `None` is the base of the mechanism.
    pub carrier: Option<(usize, usize)>,
    /// 6|E|.
    pub m: usize,
    /// Number of samples.
    pub samples: usize,
    /// Sample by sample: each effector's frame in the base, and the load that holds it there, six numbers each.
    pub poses: Vec<Pose>,
    pub loads: Vec<f64>,
    /// And Σ r fᵀ of the loads that it bears of other segments, if it carries any.
    levers: Vec<Option<Matrix3<f64>>>,
    /// Sample by sample, m×m each: compliance, mass and damping per wrench.
    pub matrices: Vec<f64>,
    pub aligned: Vec<Aligned>,
    /// Sample by sample: joint coordinates, then their columns per wrench.
    pub coordinates: Vec<f64>,
    pub twists: Vec<Twists>,
    /// Sample by sample, if something carries it: inertia as one rigid body at its base, and momentum there per
    /// wrench, 6×m, column by column.
    pub inertia: Vec<Matrix6<f64>>,
    pub momentum: Vec<f64>,
}

impl Group {
    fn new(layout: Layout, carrier: Option<(usize, usize)>) -> Group {
        Group {
            carrier,
            m: 6 * layout.effectors.len(),
            layout,
            samples: 0,
            poses: Vec::new(),
            loads: Vec::new(),
            levers: Vec::new(),
            matrices: Vec::new(),
            aligned: Vec::new(),
            coordinates: Vec::new(),
            twists: Vec::new(),
            inertia: Vec::new(),
            momentum: Vec::new(),
        }
    }

    fn add(&mut self, part: PerWrench) {
        self.samples += 1;
        self.poses.extend(part.poses);
        self.loads.extend(part.loads);
        self.levers.extend(part.levers);
        let symmetric = |A: &DMatrix<f64>| (A + A.transpose()) * 0.5;
        for A in [&part.compliance, &part.mass, &part.damping] {
            self.matrices.extend_from_slice(symmetric(A).as_slice());
        }
        self.aligned.push(Aligned::new(&symmetric(&part.compliance), self.aligned.first()));
        self.coordinates.extend(part.coordinates);
        self.coordinates.extend(part.coordinate_map);
        self.twists.push(part.twists);
        if self.carrier.is_some() {
            self.inertia.push(part.inertia);
            self.momentum.extend_from_slice(part.momentum.as_slice());
        }
    }

    /// The frames of a sample's effectors in the base.
    pub fn poses_of(&self, sample: usize) -> &[Pose] {
        let e = self.layout.effectors.len();
        &self.poses[sample * e..(sample + 1) * e]
    }

    /// The loads that hold a sample.
    pub fn loads_of(&self, sample: usize) -> &[f64] {
        &self.loads[sample * self.m..(sample + 1) * self.m]
    }

    /// The loads of a sample with an effector turned. What acts on other segments turns with the body that carries them, as
    /// if these were stiff: then a sample is stable in every segment if it is as a whole, and its stiffness symmetric. Their
    /// torque Σ (Q r)×f is the axial part of QΣrfᵀ.
    pub fn turned_loads_of(&self, sample: usize, anchors: &[Pose], to: &mut [f64]) {
        to.copy_from_slice(self.loads_of(sample));
        let e = anchors.len();
        for (k, (anchor, pose)) in anchors.iter().zip(self.poses_of(sample)).enumerate() {
            let Some(levers) = self.levers[sample * e + k] else { continue };
            let Q = (anchor.rotation * pose.rotation.inverse()).to_rotation_matrix();
            let change = Q * levers - levers;
            let torque = &mut to[6 * k + 3..6 * k + 6];
            torque[0] += change[(1, 2)] - change[(2, 1)];
            torque[1] += change[(2, 0)] - change[(0, 2)];
            torque[2] += change[(0, 1)] - change[(1, 0)];
        }
    }

    /// Compliance, mass and damping of a sample, one after the other.
    pub fn matrices_of(&self, sample: usize) -> &[f64] {
        let n = 3 * self.m * self.m;
        &self.matrices[sample * n..(sample + 1) * n]
    }

    /// Momentum of a sample per wrench.
    pub fn momentum_of(&self, sample: usize) -> &[f64] {
        &self.momentum[sample * 6 * self.m..(sample + 1) * 6 * self.m]
    }

    /// Joint coordinates of a sample, and their columns per wrench.
    pub fn coordinates_of(&self, sample: usize) -> (&[f64], &[f64]) {
        let d = self.layout.coordinates.len();
        let n = d * (self.m + 1);
        self.coordinates[sample * n..(sample + 1) * n].split_at(d)
    }
}

impl Constants {
    /// Without any sample: it cannot be simulated before one is put in.
    fn empty(mechanism: &Mechanism, options: Options) -> Result<Constants, SampleError> {
        let mut effectors = choose_effectors(mechanism, None)?;
        let segments = if options.branches { Segments::cut(mechanism) } else { Segments::whole(mechanism) };
        effectors.extend(segments.carriers.iter().map(|&n| {
            let body = mechanism.order().nodes()[n].head;
            let name = mechanism[body].name.clone();
            EffectorFrame { name, body, frame: Pose::identity(), id: None }
        }));
        let bases = mechanism.order().nodes().iter().filter(|n| n.joint.is_none());
        if let Some(base) = bases.map(|n| &mechanism[n.head].name).next() {
            return Err(ReductionError::Options(format!(
                "a blended model does not support the free base `{base}`: hold it by a joint, or use `reduced`"
            ))
            .into());
        }
        Ok(Constants {
            mechanism: mechanism.clone(),
            radius: if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 },
            options,
            full: full::Model::new(mechanism),
            effectors,
            segments,
            samples: Vec::new(),
            groups: Vec::new(),
            place_of_node: vec![(usize::MAX, 0); mechanism.order().nodes().len()],
        })
    }

    /// Adds the equilibrium under dead loads on the mechanism's effectors, world axes. On an error the model is
    /// unchanged.
    pub fn add(&mut self, loads: &[Wrench]) -> Result<(), SampleError> {
        let mut simulation = self.full.simulate();
        if let Some(rest) = self.samples.first() {
            simulation.set_state(&rest.state).expect("it is a state of this mechanism");
        }
        set_loads(&mut simulation, loads);
        settled(&mut simulation, loads.iter().any(|w| w.torque.norm() > 0.0))?;
        self.push(&mut simulation, loads)
    }

    /// Adds a state that is the equilibrium under these loads.
    pub(super) fn add_state(&mut self, state: &State, loads: &[Wrench]) -> Result<(), SampleError> {
        let mut simulation = self.full.simulate();
        let refused = |error: crate::engine::InputError| SampleError::NoEquilibrium(error.to_string());
        simulation.set_state(state).map_err(refused)?;
        set_loads(&mut simulation, loads);
        self.push(&mut simulation, loads)
    }

    /// Adds the equilibrium with the effectors where a state has them. Springs hold them there, far stiffer than the mechanism
    /// along what gives most, and the sample is where dead loads are what these springs exert.
    fn add_at(&mut self, state: &State) -> Result<(), SampleError> {
        let refused = |error: crate::engine::InputError| SampleError::NoEquilibrium(error.to_string());
        state.check(&self.mechanism).map_err(refused)?;
        // Samples are of a base at the origin.
        let back = state.base.inverse();
        let mut from = state.clone();
        from.poses.iter_mut().for_each(|pose| *pose = back * *pose);
        from.base = Pose::identity();
        from.rates.fill(0.0);
        from.twists.fill(Twist::ZERO);
        from.multipliers.fill(0.0);
        let mut simulation = self.full.simulate();
        simulation.set_state(&from).map_err(refused)?;
        let diagonals = self
            .groups
            .iter()
            .flat_map(|group| (0..group.m).map(|i| group.matrices_of(0)[i * (group.m + 1)]));
        let turning_stiffness = HOLDING / diagonals.fold(f64::MIN_POSITIVE, f64::max);
        let stiffness = turning_stiffness / (self.radius * self.radius);
        let mut springs = Vec::new();
        for effector in self.mechanism.effectors() {
            let Effector { body, frame, .. } = *effector;
            let target = from.poses[body.index()] * frame;
            let spring = Spring {
                body,
                frame,
                target,
                target_twist: Twist::ZERO,
                stiffness,
                turning_stiffness,
                damping: 0.0,
                turning_damping: 0.0,
            };
            springs.push(simulation.inputs_mut().add_spring(spring).map_err(refused)?);
        }
        settled(&mut simulation, true)?;
        let mut loads = Vec::new();
        for spring in springs {
            loads.push(simulation.spring_force(spring).expect("it is one of this simulation"));
        }
        simulation.inputs_mut().clear_springs();
        set_loads(&mut simulation, &loads);
        let held = simulation.state().poses.clone();
        let torques = loads.iter().any(|w| w.torque.norm() > 0.0);
        settled(&mut simulation, torques)?;
        let apart = held.iter().zip(&simulation.state().poses).map(|(a, b)| (a.position - b.position).norm());
        if apart.fold(0.0, f64::max) >= AWAY * self.radius {
            return Err(SampleError::Unstable);
        }
        self.push(&mut simulation, &loads)
    }

    fn push(&mut self, simulation: &mut full::Simulation, loads: &[Wrench]) -> Result<(), SampleError> {
        let mut reference = Reference::at_equilibrium_of(simulation, &self.segments);
        if !self.options.geometric {
            reference.forget_geometric_stiffness();
        }
        let inner = &self.effectors[self.mechanism.effectors().len()..];
        let model = Linearisation::at(reference).and(inner).build()?;
        let constants = &model.constants;
        if self.groups.is_empty() {
            // Those that carry others come first.
            for g in 0..constants.components() {
                let layout = constants.layout(g);
                let carrier = self.segments.base_of_node[layout.nodes[0]].map(|n| self.effector_at(n));
                for (link, &n) in layout.nodes.iter().enumerate() {
                    self.place_of_node[n] = (g, link);
                }
                self.groups.push(Group::new(layout, carrier));
            }
        }
        for (c, group) in self.groups.iter_mut().enumerate() {
            group.add(constants.per_wrench(c));
        }
        self.samples.push(Sample { model, state: simulation.state().clone(), loads: loads.to_vec() });
        Ok(())
    }

    /// The group of a node that carries others, and its effector there.
    fn effector_at(&self, node: usize) -> (usize, usize) {
        let (g, _) = self.place_of_node[node];
        let e = self.mechanism.effectors().len()
            + self.segments.carriers.binary_search(&node).expect("it carries a segment");
        let at = self.groups[g].layout.effectors.iter().position(|&other| other == e);
        (g, at.expect("a body that carries a segment is an effector"))
    }
}

/// Springs that hold effectors for a sample, over the stiffness of the mechanism along what gives most; and the way of a link, in
/// radii, beyond which it has left the pose without them.
const HOLDING: f64 = 1e4;
const AWAY: f64 = 0.01;

/// Brings a simulation to rest; torques have no energy that could be a minimum.
fn settled(simulation: &mut full::Simulation, torques: bool) -> Result<(), SampleError> {
    let found = simulation.settle(&StaticsSettings::default());
    let found = found.map_err(|error| SampleError::NoEquilibrium(error.to_string()))?;
    if !found.converged {
        return Err(SampleError::NoEquilibrium(format!(
            "they reached {:.0} % of it",
            100.0 * found.load_reached
        )));
    }
    if found.stable || torques { Ok(()) } else { Err(SampleError::Unstable) }
}

/// Puts a load on every effector of the mechanism.
pub(super) fn set_loads(simulation: &mut full::Simulation, loads: &[Wrench]) {
    for (effector, load) in simulation.mechanism().effector_ids().zip(loads) {
        simulation.set_load(effector, *load).expect("a finite load on an effector of the mechanism");
    }
}
