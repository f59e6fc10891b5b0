//! A mechanism with the motions that are kept of it.

use std::sync::Arc;

use nalgebra::{DMatrix, Vector3};

use super::balls::{Ball, balls};
use super::basis::Basis;
use super::closures::{Closures, start_of};
use super::manifold::on_closures;
use super::placing::{Places, Reference, Turns};
use super::step::TURNED;
use super::tree::Tree;
use crate::algebra::three::{angular, linear};
use crate::linear::ReductionError;
use crate::mechanism::Mechanism;

/// How a model steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How far a link may turn before mass and geometric stiffness are made again, rad; 0: in every step.
    pub turned: f64,
    /// Whether the geometric stiffness of loads and weight is taken at the end of a step. Without it a step holds them as they
    /// are at its start.
    pub geometric: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { turned: TURNED, geometric: true }
    }
}

/// A mechanism reduced to a few motions of its joints.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) constants: Arc<Constants>,
}

/// What never changes.
#[derive(Clone, Debug)]
pub(super) struct Constants {
    pub tree: Tree,
    pub basis: Basis,
    pub closures: Closures,
    pub options: Options,
    /// θ_start of each freedom.
    pub start: Vec<f64>,
    /// The most that a link turns with each motion at the start, rad, or moves, in radii; and with each of Φ.
    pub turns: Vec<f64>,
    pub closing_turns: Vec<f64>,
    /// The freedom of the tree that has a coordinate of the state; those of loop joints are counted after them.
    pub freedom_of: Vec<Option<usize>>,
    /// Gives y of coordinates: (ΘᵀNΘ)⁻¹ΘᵀN, a row for each motion.
    pub projector: DMatrix<f64>,
    pub balls: Vec<Ball>,
}

impl Model {
    /// The mechanism it was made from.
    pub fn mechanism(&self) -> &Mechanism {
        &self.constants.tree.mechanism
    }

    /// Number of motions, those of free bases not counted.
    pub fn motions(&self) -> usize {
        self.constants.basis.count - 6 * self.constants.tree.floats.len()
    }

    /// Number of freedoms of the mechanism's tree, those of free bases not counted.
    pub fn freedoms(&self) -> usize {
        self.constants.tree.freedoms.len() - 6 * self.constants.tree.floats.len()
    }

    /// The most rows of curved closures that share joints: they are closed together in every step, in time that grows as their
    /// cube.
    pub fn closed_together(&self) -> usize {
        let curved = self.constants.closures.groups.iter().filter(|group| !group.flat);
        curved.map(|group| group.rows).max().unwrap_or(0)
    }

    /// The same motions, stepped in another way.
    pub fn with_options(&self, options: Options) -> Model {
        let constants = Constants { options, ..(*self.constants).clone() };
        Model { constants: Arc::new(constants) }
    }
}

impl Constants {
    /// With motions as columns, a row for each freedom of the tree's joints, and the weights of freedoms in which they are
    /// compared. Loops and couplings stay closed: what of the motions opens them is left out.
    pub fn new(tree: Tree, motions: &DMatrix<f64>, norms: &[f64]) -> Result<Constants, ReductionError> {
        let closures = Closures::new(&tree, norms)?;
        if closures.all.is_empty() {
            return Ok(Constants::with_closures(tree, closures, motions, norms));
        }
        let motions = on_closures(&closures, &tree, motions);
        Ok(Constants::with_closures(tree, closures, &motions, norms))
    }

    /// The same with motions that leave these closures closed to first order.
    pub fn with_closures(
        tree: Tree,
        mut closures: Closures,
        motions: &DMatrix<f64>,
        norms: &[f64],
    ) -> Constants {
        let basis = Basis::new(&tree, motions);
        closures.take_rows(&basis);
        let start = start_of(&tree);
        let mut freedom_of = vec![None; tree.mechanism.coordinate_count()];
        for (i, freedom) in tree.freedoms.iter().enumerate() {
            if let Some(at) = freedom.coordinate {
                freedom_of[at] = Some(i);
            }
        }
        for (l, freedom) in closures.freedoms.iter().enumerate() {
            freedom_of[freedom.coordinate] = Some(tree.freedoms.len() + l);
        }
        let weighed = DMatrix::from_fn(motions.ncols(), motions.nrows(), |k, i| motions[(i, k)] * norms[i]);
        let gram = &weighed * motions;
        let projector = gram.cholesky().map_or(weighed.clone(), |factor| factor.solve(&weighed));
        let balls = balls(&tree, &basis, &closures, motions, &projector);
        let turns = most_turns(&tree, &basis, &start);
        let mut closing = DMatrix::zeros(motions.nrows(), if closures.curved { closures.rows } else { 0 });
        if closures.curved {
            let joints = tree.freedoms.iter().enumerate().filter(|(_, f)| f.coordinate.is_some());
            let row_of: Vec<usize> = joints.map(|(i, _)| i).collect();
            for group in &closures.groups {
                for (i, phi) in group.freedoms.iter().zip(group.corrections.chunks_exact(group.rows.max(1))) {
                    let row = row_of.binary_search(i).expect("a joint's");
                    phi.iter().enumerate().for_each(|(k, x)| closing[(row, group.first + k)] = *x);
                }
            }
        }
        let closing_turns = most_turns(&tree, &Basis::new(&tree, &closing), &start);
        let closing_turns = closing_turns[6 * tree.floats.len()..].to_vec();
        let options = Options::default();
        Constants {
            tree,
            basis,
            closures,
            options,
            start,
            turns,
            closing_turns,
            freedom_of,
            projector,
            balls,
        }
    }
}

/// How far each motion turns the link that it turns most, rad, or moves its centre of mass, in radii.
fn most_turns(tree: &Tree, basis: &Basis, start: &[f64]) -> Vec<f64> {
    let mut places = Places::new(tree);
    let mut reference = Reference::new(tree);
    reference.set(tree, start);
    places.put(tree, basis, &reference, &vec![0.0; basis.count]);
    let nodes = tree.mechanism.order().nodes().iter().enumerate();
    let centers = nodes.map(|(n, node)| places.pose(n).transform_point(&node.inertia.center_of_mass));
    let arms: Vec<Vector3<f64>> = centers.map(|center| center - Vector3::from(places.point)).collect();
    let (mut turns, mut rates) = (Turns::new(tree), vec![0.0; basis.count]);
    (0..basis.count)
        .map(|k| {
            rates.fill(0.0);
            rates[k] = 1.0;
            places.spin(tree, basis, &rates, None, &mut turns);
            let size = |n: usize| {
                let twist = turns.twists[n / 4].map(|x| x[n % 4]);
                let (v, w) = (Vector3::from(linear(&twist)), Vector3::from(angular(&twist)));
                w.norm().max((v + w.cross(&arms[n])).norm() / tree.radius)
            };
            (0..tree.links.len()).map(size).fold(0.0, f64::max)
        })
        .collect()
}

impl Model {
    /// With given motions: columns with a row for each freedom of the tree's joints, in the order in which joints carry bodies. What of
    /// them opens loops or couplings is left out.
    #[doc(hidden)]
    pub fn with_motions(mechanism: &Mechanism, motions: &DMatrix<f64>) -> Model {
        let tree = Tree::new(mechanism);
        let norms = vec![1.0; motions.nrows()];
        Model {
            constants: Arc::new(Constants::new(tree, motions, &norms).expect("loops that can be closed")),
        }
    }
}
