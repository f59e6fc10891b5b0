//! The choice of motions.
//!
//! Static shapes K⁻¹Jᵀ of wrenches on the effectors; the sag under weight; what scene loads make of the mechanism, found by the
//! full statics, and the shapes there; passive, driven and limited joints as they are; and the slowest modes with the
//! effectors held (Craig and Bampton 1968). All orthonormal in N, the stiffness K of joints with springs, and σ times the
//! inertia they move of those without.
//!
//! Modes are the largest eigenvalues 1/ω² of (I − ΘΘᵀK)K⁻¹M, Θ the shapes: what a load does with the effectors held. They are
//! found by iterating a block of motions, with Rayleigh and Ritz' method in each round.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector, Vector3};

use super::basis::Basis;
use super::closures::{Closures, start_of};
use super::compliance::Compliance;
use super::model::{Constants, Model};
use super::placing::{Places, Reference, Six};
use super::tree::{BASE, Tree};
use crate::algebra::dense::eigen;
use crate::engine::{Inputs, Simulation as _};
use crate::full;
use crate::linear::{EffectorFrame, Linearisation, ReductionError, choose_effectors};
use crate::mechanism::Mechanism;
use crate::spatial::{Pose, Twist, Wrench};

/// Singular values of shapes below this part of the largest are none.
const RANK: f64 = 1e-5;

/// A motion that is this part of its size off those that are there is one of them.
const SAME: f64 = 1e-5;

/// What closures leave of a motion below this part of it is rounding: the joints are locked.
const LOCKED: f64 = 1e-9;

/// The same where what is added is all that is missing.
const NEW: f64 = 1e-7;

/// Modes that are kept unless a user says otherwise.
const MODES: usize = 4;

/// Modes at most.
const MOST_MODES: usize = 24;

/// Rounds of the search for modes, and how many more than asked for are sought.
const ROUNDS: usize = 30;
const MORE: usize = 4;

/// Change of an eigenvalue, relative, at which it is found.
const FOUND: f64 = 1e-6;

/// What joints without springs weigh, of their inertia, where there are loops.
const FOLLOWING: f64 = 1e-3;

/// Limited joints up to which each has a motion of its own.
const FEW_LIMITS: usize = 12;

/// Links up to which the full statics look where loads lead.
const LOADED_LINKS: usize = 2000;

/// Which modes.
#[derive(Clone, Copy, Debug)]
enum Modes {
    /// So many of the slowest.
    Count(usize),
    /// All below a frequency, rad/s, up to [`MOST_MODES`].
    Below(f64),
    /// All below a frequency, rad/s.
    AllBelow(f64),
}

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

/// Part of its size below which a motion is not independent of others, where loops make so many of all joints.
const DEPENDENT: f64 = 1e-6;

/// Part of its size that a motion may open loops by: they are closed to rounding when they are chosen.
const OPEN: f64 = 1e-6;

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

/// A tree at a pose, with what it takes to choose motions.
struct Shape<'a> {
    tree: &'a Tree,
    /// Freedoms of joints.
    joints: Vec<usize>,
    /// N, and whether a freedom has a spring.
    norms: Vec<f64>,
    sprung: Vec<bool>,
    start: Places,
    closures: Closures,
    /// Of loops and couplings closed where it starts; `None` for a tree.
    compliance: Option<Compliance>,
}

/// Motions that are orthonormal in N, with the springs of loop joints, and leave loops and couplings closed.
struct Motions<'a> {
    shape: &'a Shape<'a>,
    columns: Vec<DVector<f64>>,
}

impl Motions<'_> {
    /// What of a motion those there do not have.
    fn off(&self, x: &mut DVector<f64>) {
        for _ in 0..2 {
            for column in &self.columns {
                let along = self.inner(column, x);
                x.axpy(-along, column, 1.0);
            }
        }
    }

    fn inner(&self, a: &DVector<f64>, b: &DVector<f64>) -> f64 {
        let tree: f64 = a.iter().zip(b.iter()).zip(&self.shape.norms).map(|((a, b), n)| a * b * n).sum();
        let springs = self.shape.compliance.iter().flat_map(|c| &c.springs);
        tree + springs.map(|(k, S)| k * S.dot(a) * S.dot(b)).sum::<f64>()
    }

    fn size(&self, x: &DVector<f64>) -> f64 {
        self.inner(x, x).sqrt()
    }

    /// Adds a motion unless it is there, to a part of its size.
    fn add(&mut self, mut x: DVector<f64>, same: f64) {
        let open = self.size(&x);
        self.shape.close(&mut x);
        let before = self.size(&x);
        let most = self.shape.compliance.as_ref().map_or(x.len(), Compliance::freedoms);
        if !(before > LOCKED * open && before.is_finite()) || self.columns.len() >= most {
            return;
        }
        x /= before;
        self.off(&mut x);
        let after = self.size(&x);
        if after > same {
            self.columns.push(x / after);
        }
    }

    /// Adds the span of several motions, by their singular values.
    fn add_span(&mut self, shapes: &[DVector<f64>]) {
        let Some(rows) = shapes.first().map(DVector::len) else { return };
        let mut off: Vec<DVector<f64>> = shapes.to_vec();
        off.iter_mut().for_each(|x| self.shape.close(x));
        let most = off.iter().map(|x| self.size(x)).fold(0.0, f64::max);
        if !(most > 0.0 && most.is_finite()) {
            return;
        }
        off.iter_mut().for_each(|x| self.off(x));
        let gram = DMatrix::from_fn(off.len(), off.len(), |i, k| self.inner(&off[i], &off[k]));
        let found = eigen::sorted(gram / (most * most));
        for (value, vector) in found.eigenvalues.iter().zip(found.eigenvectors.column_iter()) {
            if *value > RANK * RANK {
                let mut x = DVector::zeros(rows);
                vector.iter().zip(&off).for_each(|(v, shape)| x.axpy(*v, shape, 1.0));
                self.add(x, RANK);
            }
        }
    }
}

impl<'a> Shape<'a> {
    fn new(tree: &'a Tree) -> Result<Shape<'a>, ReductionError> {
        let joints: Vec<usize> =
            (0..tree.freedoms.len()).filter(|i| tree.freedoms[*i].coordinate.is_some()).collect();
        let mut coordinates = vec![0.0; tree.freedoms.len()];
        if let Some(start) = tree.mechanism.start() {
            tree.gather(&start.coordinates, &mut coordinates);
        }
        let start = placed(tree, &coordinates);
        let laws = crate::engine::laws::laws(&tree.mechanism);
        let stiffness: Vec<f64> =
            joints.iter().map(|i| laws[tree.freedoms[*i].coordinate.expect("a joint")].stiffness).collect();
        let sprung: Vec<bool> = stiffness.iter().map(|k| *k > 0.0).collect();
        let closures = Closures::default();
        let mut shape =
            Shape { tree, joints, norms: stiffness.clone(), sprung, start, closures, compliance: None };
        // σ: as slow as the slowest spring moves what it carries.
        let inertia = shape.own_inertias();
        let sprung = shape.norms.iter().zip(&inertia).filter(|(k, m)| **k > 0.0 && **m > 0.0);
        let sigma = sprung.map(|(k, m)| k / m).fold(f64::INFINITY, f64::min);
        let sigma = if sigma.is_finite() { sigma } else { 1.0 };
        for (norm, m) in shape.norms.iter_mut().zip(&inertia).filter(|(norm, _)| **norm == 0.0) {
            *norm = sigma * m.max(f64::MIN_POSITIVE);
        }
        // Joints without springs follow where loops lead: they close them rather than those that hold.
        if !tree.mechanism.order().loop_joints().is_empty() {
            let passive = shape.norms.iter_mut().zip(&shape.sprung).filter(|(_, sprung)| !**sprung);
            passive.for_each(|(norm, _)| *norm *= FOLLOWING);
        }
        shape.closures = Closures::new(tree, &shape.norms)?;
        if !(shape.closures.joints.is_empty() && shape.closures.all.is_empty()) {
            shape.compliance = Some(shape.compliance_at(&shape.start));
        }
        Ok(shape)
    }

    /// A model's constants with these motions.
    fn constants(&self, tree: &Tree, columns: &[DVector<f64>]) -> Constants {
        let motions = DMatrix::from_fn(self.joints.len(), columns.len(), |i, k| columns[k][i]);
        Constants::with_closures(tree.clone(), self.closures.clone(), &motions, &self.norms)
    }

    /// Motions with a row for each coordinate of the mechanism as those of the tree's joints, if they can be.
    fn given(&self, columns: &DMatrix<f64>) -> Result<Vec<DVector<f64>>, ReductionError> {
        let (rows, all) = (columns.nrows(), self.tree.mechanism.coordinate_count());
        let most = self.compliance.as_ref().map_or(self.joints.len(), Compliance::freedoms);
        let wrong = |what: String| Err(ReductionError::Options(what));
        if rows != all {
            return wrong(format!("motions of {rows} coordinates are none of a mechanism with {all}"));
        }
        if columns.ncols() > most {
            return wrong(format!("{} motions of {most} are not independent", columns.ncols()));
        }
        if columns.iter().any(|x| !x.is_finite()) {
            return wrong("a motion has numbers that are not finite".into());
        }
        let at = |j: usize| self.tree.freedoms[self.joints[j]].coordinate.expect("a joint");
        let given = columns.column_iter().map(|x| DVector::from_fn(self.joints.len(), |j, _| x[at(j)]));
        let given: Vec<DVector<f64>> = given.collect();
        let motions = Motions { shape: self, columns: Vec::new() };
        for x in &given {
            let mut closed = x.clone();
            self.close(&mut closed);
            if motions.size(&(closed - x)) > OPEN * motions.size(x) {
                return wrong("a motion opens a loop or a coupling".into());
            }
        }
        // Cholesky's pivots of their products, each of size one.
        let sizes: Vec<f64> = given.iter().map(|x| motions.size(x)).collect();
        let gram = DMatrix::from_fn(given.len(), given.len(), |i, k| {
            motions.inner(&given[i], &given[k]) / (sizes[i] * sizes[k])
        });
        let factor = gram.cholesky();
        match factor.is_some_and(|factor| factor.l_dirty().diagonal().iter().all(|x| *x > DEPENDENT)) {
            true => Ok(given),
            false => wrong("the motions are not independent".into()),
        }
    }

    /// With loops and couplings closed at a pose.
    fn compliance_at(&self, places: &Places) -> Compliance {
        let laws = crate::engine::laws::laws(&self.tree.mechanism);
        let stiffness = |at: usize| laws[at].stiffness;
        let of_tree: Vec<f64> =
            self.joints.iter().map(|i| self.tree.freedoms[*i].coordinate.map_or(0.0, stiffness)).collect();
        let of_loops: Vec<f64> = self.closures.freedoms.iter().map(|f| stiffness(f.coordinate)).collect();
        let joints = (&self.joints[..], &self.norms[..]);
        Compliance::new(self.tree, &self.closures, joints, (&of_tree, &of_loops), places)
    }

    /// What of a motion leaves loops and couplings closed where it starts; of one that leaves them closed elsewhere, what Φ completes to
    /// it there.
    fn close(&self, x: &mut DVector<f64>) {
        if self.compliance.is_none() {
            return;
        }
        let mut all = vec![0.0; self.tree.freedoms.len()];
        self.joints.iter().zip(x.iter()).for_each(|(i, x)| all[*i] = *x);
        self.closures.project(&mut all);
        self.joints.iter().zip(x.iter_mut()).for_each(|(i, x)| *x = all[*i]);
    }

    /// What each freedom moves alone.
    fn own_inertias(&self) -> Vec<f64> {
        let carried = self.composite();
        let each = self.joints.iter().map(|&i| {
            let s = self.start.axis(self.tree, i);
            let F = times(&carried[self.tree.freedoms[i].link], &s);
            s.iter().zip(&F).map(|(s, F)| s * F).sum()
        });
        each.collect()
    }

    /// Mass, first moment and inertia at P of all that each link carries.
    fn composite(&self) -> Vec<[f64; 10]> {
        let nodes = self.tree.mechanism.order().nodes();
        let mut all: Vec<[f64; 10]> = (0..nodes.len()).map(|n| self.own(n)).collect();
        for (n, link) in self.tree.links.iter().enumerate().rev() {
            if link.parent != BASE {
                let own = all[n];
                (0..10).for_each(|k| all[link.parent][k] += own[k]);
            }
        }
        all
    }

    fn own(&self, n: usize) -> [f64; 10] {
        let body = &self.tree.mechanism.order().nodes()[n].inertia;
        let pose = self.start.pose(n);
        let c = pose.transform_point(&body.center_of_mass) - Vector3::from(self.start.point);
        let R = pose.rotation_matrix();
        let skew = crate::spatial::skew(&c);
        let I = R * body.inertia * R.transpose() - skew * skew * body.mass;
        let mc = c * body.mass;
        [body.mass, mc.x, mc.y, mc.z, I.m11, I.m12, I.m13, I.m22, I.m23, I.m33]
    }

    /// M x.
    fn mass_times(&self, own: &[[f64; 10]], x: &DVector<f64>) -> DVector<f64> {
        let tree = self.tree;
        let mut rates = vec![0.0; tree.freedoms.len()];
        self.joints.iter().zip(x.iter()).for_each(|(i, x)| rates[*i] = *x);
        let mut twists: Vec<Six> = Vec::with_capacity(tree.links.len());
        for link in &tree.links {
            let mut twist = if link.parent == BASE { [0.0; 6] } else { twists[link.parent] };
            for i in link.first..link.first + link.count {
                let s = self.start.axis(tree, i);
                (0..6).for_each(|k| twist[k] += s[k] * rates[i]);
            }
            twists.push(twist);
        }
        let mut sums: Vec<Six> = twists.iter().zip(own).map(|(twist, own)| times(own, twist)).collect();
        self.gather(&mut sums)
    }

    /// τ of the sum of all wrenches at P that each freedom carries.
    fn gather(&self, sums: &mut [Six]) -> DVector<f64> {
        for (n, link) in self.tree.links.iter().enumerate().rev() {
            if link.parent != BASE {
                let own = sums[n];
                (0..6).for_each(|k| sums[link.parent][k] += own[k]);
            }
        }
        DVector::from_iterator(
            self.joints.len(),
            self.joints.iter().map(|&i| {
                let s = self.start.axis(self.tree, i);
                s.iter().zip(&sums[self.tree.freedoms[i].link]).map(|(s, f)| s * f).sum()
            }),
        )
    }

    /// K⁻¹τ, passive joints locked; with loops, where these let the joints go.
    fn soften(&self, mut tau: DVector<f64>) -> DVector<f64> {
        if let Some(compliance) = &self.compliance {
            return compliance.soften(&tau);
        }
        for ((x, norm), sprung) in tau.iter_mut().zip(&self.norms).zip(&self.sprung) {
            *x = if *sprung { *x / norm } else { 0.0 };
        }
        tau
    }

    /// K⁻¹Jᵀ of unit wrenches on a frame of a body, torques times the radius.
    fn shapes(&self, places: &Places, body: crate::mechanism::BodyId, frame: &Pose) -> Vec<DVector<f64>> {
        let (Some(n), offset) = self.tree.place(body) else { return Vec::new() };
        let at = (places.pose(n) * offset * *frame).position - Vector3::from(places.point);
        let there = (self.compliance.is_some() && !std::ptr::eq(places, &self.start))
            .then(|| self.compliance_at(places));
        (0..6)
            .map(|k| {
                let unit = |i: usize| Vector3::from_fn(|j, _| f64::from(i == j));
                let (f, t) = if k < 3 {
                    (unit(k), at.cross(&unit(k)))
                } else {
                    (Vector3::zeros(), unit(k - 3) * self.tree.radius)
                };
                let wrench = [f.x, f.y, f.z, t.x, t.y, t.z];
                let mut tau = DVector::zeros(self.joints.len());
                let mut on_path = vec![false; self.tree.links.len()];
                let mut link = n;
                while link != BASE {
                    on_path[link] = true;
                    link = self.tree.links[link].parent;
                }
                for (j, &i) in self.joints.iter().enumerate() {
                    if on_path[self.tree.freedoms[i].link] {
                        let s = places.axis(self.tree, i);
                        tau[j] = s.iter().zip(&wrench).map(|(s, w)| s * w).sum();
                    }
                }
                match &there {
                    Some(compliance) => compliance.soften(&tau),
                    None => self.soften(tau),
                }
            })
            .collect()
    }

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

    /// All modes below a frequency, rad/s: as many more as are found, until one is above it.
    fn add_all_modes(&self, own: &[[f64; 10]], frequency: f64, motions: &mut Motions) {
        let held = motions.columns.len();
        let mut most = MOST_MODES;
        loop {
            motions.columns.truncate(held);
            let found = self.add_modes_up_to(own, Modes::Below(frequency), most, motions);
            if found < most || motions.columns.len() >= self.joints.len() {
                return;
            }
            most *= 2;
        }
    }

    fn add_modes(&self, own: &[[f64; 10]], modes: Modes, motions: &mut Motions) -> usize {
        self.add_modes_up_to(own, modes, MOST_MODES, motions)
    }

    /// The slowest modes with all that is there held; how many.
    fn add_modes_up_to(&self, own: &[[f64; 10]], modes: Modes, most: usize, motions: &mut Motions) -> usize {
        let n = self.joints.len();
        let free =
            self.compliance.as_ref().map_or(n, Compliance::freedoms).saturating_sub(motions.columns.len());
        let wanted = match modes {
            Modes::Count(count) => count.min(free),
            Modes::Below(_) | Modes::AllBelow(_) => most.min(free),
        };
        if wanted == 0 {
            return 0;
        }
        let block = (wanted + MORE).min(free);
        let phase = |i: usize, k: usize| (1.0 + 0.7 * ((i + 31 * k) % 10_007).pow(2) as f64).sin();
        let mut space: Vec<DVector<f64>> = (0..block)
            .map(|k| self.soften(DVector::from_fn(n, |i, _| phase(i, k) * self.norms[i].sqrt())))
            .collect();
        let mut last = vec![0.0; wanted];
        for _ in 0..ROUNDS {
            let held = motions.columns.len();
            for x in std::mem::take(&mut space) {
                motions.add(self.soften(self.mass_times(own, &x)), 1e-10);
            }
            let found: Vec<DVector<f64>> = motions.columns.split_off(held);
            if found.is_empty() {
                return 0;
            }
            let moved: Vec<DVector<f64>> = found.iter().map(|x| self.mass_times(own, x)).collect();
            let H = DMatrix::from_fn(found.len(), found.len(), |i, k| {
                0.5 * (found[i].dot(&moved[k]) + found[k].dot(&moved[i]))
            });
            let ritz = eigen::sorted(H);
            space = (0..found.len())
                .map(|k| {
                    let mut x = DVector::zeros(n);
                    ritz.eigenvectors.column(k).iter().zip(&found).for_each(|(v, f)| x.axpy(*v, f, 1.0));
                    x
                })
                .collect();
            let values = ritz.eigenvalues.as_slice();
            let now = |k: usize| values.get(k).copied().unwrap_or(0.0);
            let done = (0..wanted).all(|k| (now(k) - last[k]).abs() <= FOUND * now(k).abs());
            (0..wanted).for_each(|k| last[k] = now(k));
            if done {
                break;
            }
        }
        space.truncate(match modes {
            Modes::Count(_) => wanted,
            Modes::Below(w) | Modes::AllBelow(w) => last.iter().filter(|value| **value * w * w > 1.0).count(),
        });
        let found = space.len();
        space.into_iter().for_each(|x| motions.add(x, 1e-8));
        found
    }
}

/// The tree at coordinates of its freedoms.
fn placed(tree: &Tree, coordinates: &[f64]) -> Places {
    let basis = Basis::new(tree, &DMatrix::zeros(tree.freedoms.len() - 6 * tree.floats.len(), 0));
    let (mut places, mut reference) = (Places::new(tree), Reference::new(tree));
    reference.set(tree, coordinates);
    places.put(tree, &basis, &reference, &vec![0.0; basis.count]);
    places
}

/// M ξ of a mass at P: m, mc, I.
fn times(own: &[f64; 10], x: &Six) -> Six {
    let (v, w) = (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]));
    let mc = Vector3::new(own[1], own[2], own[3]);
    let I = nalgebra::Matrix3::new(own[4], own[5], own[6], own[5], own[7], own[8], own[6], own[8], own[9]);
    let (f, t) = (v * own[0] - mc.cross(&w), mc.cross(&v) + I * w);
    [f.x, f.y, f.z, t.x, t.y, t.z]
}
