//! A linear model: what never changes while it moves.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use nalgebra::{DMatrix, DVector, Matrix6, SymmetricEigen};

use super::basis::Basis;
use super::component::{Part, parts};
use super::effectors::{self, EffectorFrame, in_node};
use super::error::ReductionError;
use super::field::{self, Field, Inertia};
use super::kkt::{Columns, Kkt, Undetermined};
use super::linearisation::{FreeBase, Linearisation, ModeChoice};
use super::modes::{Modes, Wanted, fixed_interface};
use super::projection::{Projection, loose, not_held, project};
use super::rebuild::Rebuilder;
use super::reference::Reference;
use super::softness::{Softness, softest};
use crate::mechanism::Mechanism;
use crate::spatial::Pose;

/// A mechanism reduced to its effectors at one pose.
///
/// ```
/// use pliant_core::{engine::Simulation, gallery, linear::Linearisation, spatial::Wrench};
///
/// let mechanism = gallery::two_link(); // 0.5 m each, hinges of 100 N·m/rad
/// let model = Linearisation::at_rest(&mechanism).build()?;
/// // A force across the arm has a lever of 1 m at the shoulder and 0.5 m at the elbow.
/// let compliance = model.projection().compliance()[(1, 1)]; // along y, m/N
/// assert!((compliance - (1.0 + 0.25) / 100.0).abs() < 1e-12);
///
/// let mut simulation = model.simulate();
/// let tip = simulation.effector("tip")?;
/// simulation.set_load(tip, Wrench::force([0.0, 1.0, 0.0]))?;
/// (0..100).try_for_each(|_| simulation.step(0.1))?; // to rest
/// assert!((simulation.effector_pose(tip)?.position.y - compliance).abs() < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) constants: Arc<Constants>,
}

impl Model {
    /// The mechanism it was made from.
    pub fn mechanism(&self) -> &Mechanism {
        &self.constants.reference.mechanism
    }

    /// Compliance and maps of the effectors.
    pub fn projection(&self) -> &Projection {
        &self.constants.projection
    }

    /// Number of independent motions of the effectors.
    pub fn rank(&self) -> usize {
        self.constants.components.iter().map(|c| c.rank).sum()
    }

    /// Number of modes kept.
    pub fn modes(&self) -> usize {
        self.constants.components.iter().map(|c| c.size() - c.rank).sum()
    }

    /// The model with the mass M_y = (UᵀS A (UᵀS)ᵀ)⁻¹ instead of the condensed one, A (6|E|×6|E|, effector frames) an
    /// acceleration of the effectors per wrench on them: for comparison with the literature.
    #[doc(hidden)]
    pub fn with_accelerability(mut self, A: &DMatrix<f64>) -> Result<Model, ReductionError> {
        let refused = |why: &str| Err(ReductionError::Options(why.into()));
        for component in &mut Arc::make_mut(&mut self.constants).components {
            if component.base.is_some() {
                return refused(
                    "a free base is available with the condensed mass only: the others leave out how the links act on it",
                );
            }
            if component.size() > component.rank {
                return refused("modes are available with the condensed mass only");
            }
            let rows: Vec<usize> = component.effectors.iter().flat_map(|&e| 6 * e..6 * e + 6).collect();
            let own = A.select_rows(&rows).select_columns(&rows);
            match (&component.measure * own * component.measure.transpose()).try_inverse() {
                Some(mass) => component.mass = mass,
                None => {
                    return refused(
                        "this mass is undefined here: some motion of the effectors moves no mass",
                    );
                }
            }
        }
        Ok(self)
    }

    /// Natural frequencies of the model, rad/s, ascending, bases held.
    pub fn frequencies(&self) -> Vec<f64> {
        self.constants.frequencies()
    }

    /// The lowest natural frequencies of the whole linear mechanism, rad/s, ascending, bases held: what a
    /// model's are measured against.
    pub fn full_frequencies(&self, count: usize) -> Result<Vec<f64>, ReductionError> {
        self.constants.full_frequencies(count)
    }
}

/// What never changes.
#[derive(Clone, Debug)]
pub(crate) struct Constants {
    pub(super) reference: Reference,
    pub(super) kkt: Kkt,
    pub(super) projection: Projection,
    pub(super) effectors: Vec<Effector>,
    pub(super) components: Vec<Component>,
    /// Component of each node and its place there.
    pub(super) place_of_node: Vec<(usize, usize)>,
    /// One per component, for all its links.
    pub(super) rebuilders: Vec<Rebuilder>,
    pub(super) free_base: FreeBase,
    /// A number that two models share only if a state of one fits the other.
    pub(super) stamp: f64,
}

/// An effector of the model.
#[derive(Clone, Debug)]
pub(super) struct Effector {
    pub frame: EffectorFrame,
    /// Its component, or `usize::MAX` if it is welded to the world.
    pub component: usize,
    /// Its node's place in the component, and its frame in the node.
    pub node: usize,
    pub in_node: Pose,
    /// Its frame at the reference, in the base.
    pub rest: Pose,
    /// First of its rows in the component's basis.
    pub row: usize,
}

/// A part of the mechanism in reduced coordinates z = (y, η): r motions of its effectors, k modes.
#[derive(Clone, Debug)]
pub(super) struct Component {
    pub part: Part,
    /// (joint of the reference, freedom, coordinate of the mechanism).
    pub coordinates: Vec<(usize, usize, usize)>,
    /// The free base, if it has one.
    pub base: Option<usize>,
    /// Where the base is at the reference, in the world.
    pub base_pose: Pose,
    /// Length that translations are measured in, m.
    pub radius: f64,
    /// Effectors in it, among those of the model.
    pub effectors: Vec<usize>,
    /// Number of motions y; the rest of z are modes.
    pub rank: usize,
    /// B, 6|E|×n: z to the effectors' twists (zero for modes), effector by effector.
    pub motion: DMatrix<f64>,
    /// Its left inverse, n×6|E|.
    pub measure: DMatrix<f64>,
    /// K, diagonal.
    pub stiffness: DVector<f64>,
    pub mass: DMatrix<f64>,
    pub damping: DMatrix<f64>,
    /// N and Θ: z to the twists of nodes and the coordinates of joints.
    pub shapes: Field,
    /// Loads on z, and what is left of the motion, per acceleration of everything with the base: gravity.
    pub base_load: DMatrix<f64>,
    pub base_offset: Field,
    /// Inertia of everything as one rigid body, at the base.
    pub base_mass: Matrix6<f64>,
}

impl Component {
    /// Number of coordinates z.
    pub fn size(&self) -> usize {
        self.stiffness.len()
    }
}

impl Linearisation {
    /// Builds the model.
    pub fn build(self) -> Result<Model, ReductionError> {
        let Linearisation { reference, effectors, inner, method, modes, free_base } = self;
        let mut frames = effectors::choose(&reference.mechanism, effectors.as_deref())?;
        frames.extend(inner);
        let kkt = Kkt::new(&reference, &Softness::of_springs(&reference))
            .map_err(|at| not_held(&reference, &frames, at))?;
        check_bases(&reference)?;
        let projection = project(&reference, &kkt, frames, &[], method)?;
        let builder = Builder { reference: &reference, kkt: &kkt, projection: &projection, modes };
        let mut place_of_node = vec![(usize::MAX, 0); reference.poses.len()];
        let mut components = Vec::new();
        for part in parts(&reference) {
            part.nodes.iter().enumerate().for_each(|(at, &n)| place_of_node[n] = (components.len(), at));
            components.push(builder.component(part)?);
        }
        let mut effectors: Vec<Effector> = Vec::new();
        for frame in &projection.effectors {
            let place = in_node(&reference, frame).map(|(n, pose)| (place_of_node[n], pose));
            let ((component, node), in_node) = place.unwrap_or(((usize::MAX, 0), Pose::identity()));
            let row = effectors.iter().filter(|e| e.component == component).count() * 6;
            let base = components.get(component).map_or(Pose::identity(), |c: &Component| c.base_pose);
            let rest = base.inverse_times(&(reference.body_pose(frame.body) * frame.frame));
            effectors.push(Effector { frame: frame.clone(), component, node, in_node, rest, row });
        }
        let rebuilders = components.iter().map(|c| Rebuilder::new(&reference, c, None)).collect();
        let stamp = stamp(&components, &reference);
        let constants = Constants {
            reference,
            kkt,
            projection,
            effectors,
            components,
            place_of_node,
            rebuilders,
            free_base,
            stamp,
        };
        Ok(Model { constants: Arc::new(constants) })
    }
}

/// One free base at most in each part, and none at a loaded pose or with a joint to the world: the base is moved as if nothing held it.
fn check_bases(reference: &Reference) -> Result<(), ReductionError> {
    let name = |n: usize| &reference.mechanism[reference.mechanism.order().nodes()[n].head].name;
    for part in parts(reference) {
        let mut joints = part.joints.iter().map(|j| &reference.joints[*j]);
        let grounded = joints.find(|joint| joint.child.is_none() || joint.parent.is_none());
        if let (Some(base), Some(joint)) = (part.bases.first(), grounded) {
            return Err(ReductionError::Options(format!(
                "joint `{}` closes a loop between the free base `{}` and the world, which a linear model does not support; use `articulated` or \
                 `full`",
                reference.mechanism[joint.id].name,
                name(*base)
            )));
        }
        if let [first, second, ..] = part.bases[..] {
            return Err(ReductionError::Options(format!(
                "bodies `{}` and `{}` are free bases of the same linkage: a linear model has one; use the full engine, or hold one of them",
                name(first),
                name(second)
            )));
        }
        if let (Some(base), true) = (part.bases.first(), reference.loads.is_some()) {
            return Err(ReductionError::Options(format!(
                "a model at a loaded pose does not support the free base `{}`: hold it by a joint",
                name(*base)
            )));
        }
    }
    Ok(())
}

/// A number of the stiffness, the motions and the reference, below 2⁵² so that it is exact.
fn stamp(components: &[Component], reference: &Reference) -> f64 {
    let mut hasher = DefaultHasher::new();
    let numbers = components.iter().flat_map(|c| c.stiffness.iter().chain(c.motion.iter()));
    numbers.chain(&reference.coordinates).for_each(|x| x.to_bits().hash(&mut hasher));
    (hasher.finish() >> 12) as f64
}

/// What components are built from.
struct Builder<'a> {
    reference: &'a Reference,
    kkt: &'a Kkt,
    projection: &'a Projection,
    modes: ModeChoice,
}

impl Builder<'_> {
    fn component(&self, part: Part) -> Result<Component, ReductionError> {
        let reference = self.reference;
        let base = part.bases.first().copied();
        let base_pose = base.map_or(Pose::identity(), |n| reference.poses[n]);
        let all = &self.projection.effectors;
        let here = |e: &usize| in_node(reference, &all[*e]).is_some_and(|(n, _)| part.nodes.contains(&n));
        let effectors: Vec<usize> = (0..all.len()).filter(here).collect();
        let rows: Vec<usize> = effectors.iter().flat_map(|&e| 6 * e..6 * e + 6).collect();
        let coordinates = field::coordinates_of(reference, &part);
        let inertia = Inertia::of(reference, &part, &coordinates);
        let held = |at: Undetermined| loose(reference, at);

        // N = T P and Θ P: motions of the effectors to those of all.
        let submatrix =
            |A: &DMatrix<f64>| DMatrix::from_fn(rows.len(), rows.len(), |i, k| A[(rows[i], rows[k])]);
        let softest = softest(reference, &part);
        let compliance = submatrix(&self.projection.compliance);
        let basis = Basis::new(&compliance, reference.radius, softest);
        if basis.unstable {
            return Err(ReductionError::Options(
                "the pose is not a stable equilibrium: some motion of the effectors has negative stiffness"
                    .into(),
            ));
        }
        let r = basis.rank();
        let mut P = DMatrix::zeros(6 * all.len(), r);
        rows.iter().enumerate().for_each(|(i, &row)| P.set_row(row, &basis.wrench.row(i)));
        let maps: &Columns = &self.projection.maps;
        let N = Field::gather(maps, &part, &coordinates).times(&P);

        // Modes with the effectors held: C f less the motion that leaves the effectors where they are.
        let answer = |loads: &Field| {
            let mut free = field::respond(reference, self.kkt, &part, &coordinates, loads)?;
            let load = N.dot(loads);
            let y = DMatrix::from_fn(r, loads.columns, |i, k| load[(i, k)] / basis.stiffness[i]);
            free.subtract(&N.times(&y));
            Ok(free)
        };
        let wanted = match self.modes {
            ModeChoice::Count(k) => Wanted::Count(k),
            ModeChoice::ForStep(dt) => Wanted::Below(1.0 / dt),
        };
        let Modes { shapes: modes, frequencies } = match wanted {
            Wanted::Count(0) => Modes { shapes: N.times(&DMatrix::zeros(r, 0)), frequencies: Vec::new() },
            _ if effectors.is_empty() => {
                Modes { shapes: N.times(&DMatrix::zeros(r, 0)), frequencies: Vec::new() }
            }
            _ => fixed_interface(
                &Field::zeros(part.nodes.len(), coordinates.len(), 1),
                &inertia,
                wanted,
                answer,
            )
            .map_err(held)?,
        };
        let k = frequencies.len();
        let shapes = N.beside(&modes);
        let n = r + k;
        let stiffness =
            DVector::from_fn(n, |i, _| if i < r { basis.stiffness[i] } else { frequencies[i - r].powi(2) });

        let momentum = inertia.times(&shapes);
        let mass = shapes.dot(&momentum);
        let dampers = field::per_freedom(reference, &coordinates, |f| f.damping);
        let mut damped = shapes.clone();
        damped.nodes.fill(0.0);
        if n > 0 {
            for (row, d) in damped.coordinates.chunks_exact_mut(n).zip(&dampers) {
                row.iter_mut().for_each(|x| *x *= d);
            }
        }
        let damping = shapes.dot(&damped);

        // Everything accelerated with the base: loads M Ad on all nodes.
        let rigid = field::rigid(reference, &part, &base_pose, coordinates.len());
        let base_force = inertia.times(&rigid);
        let base_load = shapes.dot(&base_force);
        let base_mass = rigid.dot(&base_force);
        let mut base_offset =
            field::respond(reference, self.kkt, &part, &coordinates, &base_force).map_err(held)?;
        base_offset.subtract(&shapes.times(&DMatrix::from_fn(n, 6, |i, c| base_load[(i, c)] / stiffness[i])));

        let motion = DMatrix::from_fn(rows.len(), n, |i, c| if c < r { basis.motion[(i, c)] } else { 0.0 });
        let measure = DMatrix::from_fn(n, rows.len(), |i, c| if i < r { basis.measure[(i, c)] } else { 0.0 });
        Ok(Component {
            part,
            coordinates,
            base,
            base_pose,
            radius: reference.radius,
            effectors,
            rank: r,
            motion,
            measure,
            stiffness,
            mass: (&mass + mass.transpose()) * 0.5,
            damping: (&damping + damping.transpose()) * 0.5,
            shapes,
            base_load,
            base_offset,
            base_mass: Matrix6::from_fn(|i, c| base_mass[(i, c)]),
        })
    }
}

impl Constants {
    pub fn frequencies(&self) -> Vec<f64> {
        let mut all = Vec::new();
        for component in self.components.iter().filter(|c| c.size() > 0) {
            // K^−½ M K^−½ has eigenvalues 1/ω²; a motion without mass has none.
            let s = component.stiffness.map(|k| 1.0 / k.sqrt());
            let A = DMatrix::from_fn(s.len(), s.len(), |i, k| s[i] * component.mass[(i, k)] * s[k]);
            let values = SymmetricEigen::new(A).eigenvalues;
            let top = values.max();
            all.extend(values.iter().filter(|v| **v > 1e-14 * top).map(|v| 1.0 / v.sqrt()));
        }
        all.sort_by(f64::total_cmp);
        all
    }

    pub fn full_frequencies(&self, count: usize) -> Result<Vec<f64>, ReductionError> {
        let mut all = Vec::new();
        for component in self.components.iter().filter(|c| !c.part.joints.is_empty()) {
            let inertia = Inertia::of(&self.reference, &component.part, &component.coordinates);
            let zero = Field::zeros(component.part.nodes.len(), component.coordinates.len(), 1);
            let answer = |loads: &Field| {
                field::respond(&self.reference, &self.kkt, &component.part, &component.coordinates, loads)
            };
            let modes = fixed_interface(&zero, &inertia, Wanted::Count(count), answer)
                .map_err(|at| loose(&self.reference, at))?;
            all.extend(modes.frequencies);
        }
        all.sort_by(f64::total_cmp);
        all.truncate(count);
        Ok(all)
    }
}
