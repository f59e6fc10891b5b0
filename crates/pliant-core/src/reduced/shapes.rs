//! Static shapes of a tree at a pose, and sets of motions made of them.
//!
//! Shapes are K⁻¹Jᵀ of wrenches, with loops and couplings closed. Motions are orthonormal in N, the stiffness K of joints with
//! springs, and σ times the inertia they move of those without.

use nalgebra::{DMatrix, DVector, Vector3};

use super::closures::{Closures, Posing};
use super::compliance::Compliance;
use super::model::Constants;
use super::placing::{Places, Six};
use super::tree::{BASE, Tree};
use crate::algebra::dense::eigen;
use crate::linear::ReductionError;
use crate::spatial::Pose;

/// Singular values of shapes below this part of the largest are none.
const RANK: f64 = 1e-5;

/// What closures leave of a motion below this part of it is rounding: the joints are locked.
const LOCKED: f64 = 1e-9;

/// What joints without springs weigh, of their inertia, where there are loops.
const FOLLOWING: f64 = 1e-3;

/// Part of its size that a motion may open loops by: they are closed to rounding when they are chosen.
const OPEN: f64 = 1e-6;

/// Part of its size below which a motion is not independent of others, where loops make so many of all joints.
pub(super) const DEPENDENT: f64 = 1e-6;

/// A tree at a pose, with what it takes to choose motions.
pub(super) struct Shape<'a> {
    pub tree: &'a Tree,
    /// Freedoms of joints.
    pub joints: Vec<usize>,
    /// N, and whether a freedom has a spring.
    pub norms: Vec<f64>,
    pub sprung: Vec<bool>,
    pub start: Places,
    pub closures: Closures,
    /// Of loops and couplings closed where it starts; `None` for a tree.
    pub compliance: Option<Compliance>,
}

/// Motions that are orthonormal in N, with the springs of loop joints, and leave loops and couplings closed.
pub(super) struct Motions<'a> {
    pub shape: &'a Shape<'a>,
    pub columns: Vec<DVector<f64>>,
}

impl Motions<'_> {
    /// What of a motion those there do not have.
    pub fn off(&self, x: &mut DVector<f64>) {
        for _ in 0..2 {
            for column in &self.columns {
                let along = self.inner(column, x);
                x.axpy(-along, column, 1.0);
            }
        }
    }

    pub fn inner(&self, a: &DVector<f64>, b: &DVector<f64>) -> f64 {
        let tree: f64 = a.iter().zip(b.iter()).zip(&self.shape.norms).map(|((a, b), n)| a * b * n).sum();
        let springs = self.shape.compliance.iter().flat_map(|c| &c.springs);
        tree + springs.map(|(k, S)| k * S.dot(a) * S.dot(b)).sum::<f64>()
    }

    pub fn size(&self, x: &DVector<f64>) -> f64 {
        self.inner(x, x).sqrt()
    }

    /// Adds a motion unless it is there, to a part of its size.
    pub fn add(&mut self, mut x: DVector<f64>, same: f64) {
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
    pub fn add_span(&mut self, shapes: &[DVector<f64>]) {
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

/// Freedoms of joints at most where loops or couplings are closed: the choice of motions has dense matrices of them, and takes time with
/// their cube, 64 s for 3,000 on a shared core.
const MOST_CLOSED: usize = 4000;

/// Bytes of these matrices for each pair of freedoms: Z, its product with the stiffness, and eigenvectors.
const DENSE: usize = 3 * 8;

impl<'a> Shape<'a> {
    pub fn new(tree: &'a Tree) -> Result<Shape<'a>, ReductionError> {
        let joints: Vec<usize> =
            (0..tree.freedoms.len()).filter(|i| tree.freedoms[*i].coordinate.is_some()).collect();
        let mechanism = &tree.mechanism;
        let closed = !(mechanism.order().loop_joints().is_empty() && mechanism.couplings().is_empty());
        if closed && joints.len() > MOST_CLOSED {
            let memory = DENSE * joints.len() * joints.len();
            return Err(ReductionError::LargeLoops { freedoms: joints.len(), most: MOST_CLOSED, memory });
        }
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
    pub fn constants(&self, tree: &Tree, columns: &[DVector<f64>]) -> Constants {
        let motions = DMatrix::from_fn(self.joints.len(), columns.len(), |i, k| columns[k][i]);
        Constants::with_closures(tree.clone(), self.closures.clone(), &motions, &self.norms)
    }

    /// Motions with a row for each coordinate of the mechanism as those of the tree's joints, if they can be.
    pub fn given(&self, columns: &DMatrix<f64>) -> Result<Vec<DVector<f64>>, ReductionError> {
        let (rows, all) = (columns.nrows(), self.tree.mechanism.coordinate_count());
        let most = self.compliance.as_ref().map_or(self.joints.len(), Compliance::freedoms);
        let wrong = |what: String| Err(ReductionError::Options(what));
        if rows != all {
            return wrong(format!("the motions have {rows} coordinates, but the mechanism has {all}"));
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
    pub fn compliance_at(&self, places: &Places) -> Compliance {
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
    pub fn close(&self, x: &mut DVector<f64>) {
        if self.compliance.is_none() {
            return;
        }
        let mut all = vec![0.0; self.tree.freedoms.len()];
        self.joints.iter().zip(x.iter()).for_each(|(i, x)| all[*i] = *x);
        self.closures.project(&mut all);
        self.joints.iter().zip(x.iter_mut()).for_each(|(i, x)| *x = all[*i]);
    }

    /// What each freedom moves alone.
    pub fn own_inertias(&self) -> Vec<f64> {
        let carried = self.composite();
        let each = self.joints.iter().map(|&i| {
            let s = self.start.axis(self.tree, i);
            let F = times(&carried[self.tree.freedoms[i].link], &s);
            s.iter().zip(&F).map(|(s, F)| s * F).sum()
        });
        each.collect()
    }

    /// Mass, first moment and inertia at P of all that each link carries.
    pub fn composite(&self) -> Vec<[f64; 10]> {
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

    pub fn own(&self, n: usize) -> [f64; 10] {
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
    pub fn mass_times(&self, own: &[[f64; 10]], x: &DVector<f64>) -> DVector<f64> {
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
    pub fn gather(&self, sums: &mut [Six]) -> DVector<f64> {
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
    pub fn soften(&self, mut tau: DVector<f64>) -> DVector<f64> {
        if let Some(compliance) = &self.compliance {
            return compliance.soften(&tau);
        }
        for ((x, norm), sprung) in tau.iter_mut().zip(&self.norms).zip(&self.sprung) {
            *x = if *sprung { *x / norm } else { 0.0 };
        }
        tau
    }

    /// K⁻¹Jᵀ of unit wrenches on a frame of a body, torques times the radius.
    pub fn shapes(&self, places: &Places, body: crate::mechanism::BodyId, frame: &Pose) -> Vec<DVector<f64>> {
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
}

/// The tree at coordinates of its freedoms.
pub(super) fn placed(tree: &Tree, coordinates: &[f64]) -> Places {
    let mut places = Places::new(tree);
    Posing::new(tree).put(tree, &mut places, coordinates);
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
