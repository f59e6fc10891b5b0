//! A model in terms of wrenches on its effectors: what the blended engine takes from it.
//!
//! Lengths are in radii: ξ' = S ξ and w' = S⁻¹w, S = diag(1/r, 1), so that all numbers are of one kind. With B, K, M, D,
//! N and Θ of the component, z = X w', X = K⁻¹BᵀS,
//!
//! ```text
//! compliance SBX,   mass XᵀMX,   damping XᵀDX,   links N X,   joint coordinates Θ X
//! ```
//!
//! all of which exist at any rank: what does not move is zero, and nothing is inverted.

use nalgebra::{DMatrix, Matrix3, Matrix6, Vector3, Vector6};

use super::dynamics::in_frame;
use super::field::Field;
use super::loads::{Loads, felt};
use super::model::Constants;
use super::rebuild::plain_joints;
use super::reconstruction::{Joints, Twists};
use crate::engine::Inputs;
use crate::mechanism::JointId;
use crate::spatial::{Pose, Twist, Wrench};

/// What does not change from one pose of a component to another.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Its effectors, among those of the model.
    pub effectors: Vec<usize>,
    /// For each of them, its link among those of `joints`, and its frame there.
    pub places: Vec<(usize, Pose)>,
    /// Its nodes.
    pub nodes: Vec<usize>,
    /// For each joint coordinate of `joints` in turn, that of the mechanism.
    pub coordinates: Vec<usize>,
    /// Forward kinematics of its links.
    pub joints: Joints,
}

/// One component at one pose.
#[derive(Clone, Debug)]
pub(crate) struct PerWrench {
    /// Each effector's frame in the base.
    pub poses: Vec<Pose>,
    /// The dead loads that hold the pose, base axes, w' of all effectors in turn.
    pub loads: Vec<f64>,
    /// Σ r fᵀ of the loads that each effector bears of other segments, base axes.
    pub levers: Vec<Option<Matrix3<f64>>>,
    /// m×m each, m = 6|E|.
    pub compliance: DMatrix<f64>,
    pub mass: DMatrix<f64>,
    pub damping: DMatrix<f64>,
    /// The joint coordinates of the layout, and per wrench component a column of them.
    pub coordinates: Vec<f64>,
    pub coordinate_map: Vec<f64>,
    /// All links by their twists per wrench.
    pub twists: Twists,
    /// Inertia of everything as one rigid body at the base, and momentum there per wrench, 6×m.
    pub inertia: Matrix6<f64>,
    pub momentum: DMatrix<f64>,
}

/// How loads off the effectors, gravity and set-points that are not those of the pose move a component whose effectors
/// bear the loads that hold the pose.
#[derive(Clone, Debug)]
pub(crate) struct Shift {
    /// Of the effectors, ξ'.
    pub effectors: Vec<f64>,
    pub coordinates: Vec<f64>,
    pub nodes: Vec<f64>,
    /// What loads off the effectors are together, at the base.
    pub on_base: Wrench,
    /// The change of the first moment of the mass, base axes, of a component on a seat.
    pub moment: Vector3<f64>,
}

/// The shifts of all components of a model, for inputs that change.
#[derive(Clone, Debug)]
pub(crate) struct Shifts {
    loads: Loads,
    bases: Vec<Pose>,
    /// What each component feels of gravity, base axes.
    felt: Vec<Twist>,
    /// Motion along z of one component: memory.
    z: Vec<f64>,
    pub of: Vec<Shift>,
}

impl Constants {
    /// The layout of each component that moves with effectors.
    pub(crate) fn layout(&self, c: usize) -> Layout {
        let component = &self.components[c];
        let (joints, places) = plain_joints(&self.reference, component);
        Layout {
            effectors: component.effectors.clone(),
            places: (component.effectors.iter())
                .map(|&e| (self.effectors[e].node, self.effectors[e].in_node))
                .collect(),
            nodes: component.part.nodes.clone(),
            coordinates: places.iter().map(|&i| component.coordinates[i].2).collect(),
            joints,
        }
    }

    /// Number of independent parts.
    pub(crate) fn components(&self) -> usize {
        self.components.len()
    }

    /// A component per wrench.
    pub(crate) fn per_wrench(&self, c: usize) -> PerWrench {
        let component = &self.components[c];
        let (r, m) = (component.rank, 6 * component.effectors.len());
        debug_assert_eq!(r, component.size(), "modes are not blended");
        let radius = self.reference.radius;
        let scale = |i: usize| if i % 6 < 3 { 1.0 / radius } else { 1.0 };
        let SB = DMatrix::from_fn(m, r, |i, k| scale(i) * component.motion[(i, k)]);
        let X = DMatrix::from_fn(r, m, |k, i| SB[(i, k)] / component.stiffness[k]);
        // A field without columns does not know its rows.
        let links = match r {
            0 => Field::zeros(component.part.nodes.len(), component.coordinates.len(), m),
            _ => component.shapes.times(&X),
        };
        let rebuilder = &self.rebuilders[c];
        let places = rebuilder.coordinates();
        let references: Vec<Pose> = (component.part.nodes.iter())
            .map(|&n| component.base_pose.inverse_times(&self.reference.poses[n]))
            .collect();
        let effector = |e: &usize| &self.effectors[*e];
        PerWrench {
            poses: component.effectors.iter().map(|e| effector(e).rest).collect(),
            loads: (component.effectors.iter())
                .map(|e| self.reference.load_on(&effector(e).frame).unwrap_or(Wrench::ZERO))
                .flat_map(|w| [w.force * radius, w.torque])
                .flat_map(|x| [x.x, x.y, x.z])
                .collect(),
            levers: (component.effectors.iter())
                .map(|e| self.reference.carried_by(&effector(e).frame).map(|carried| carried.levers))
                .collect(),
            compliance: &SB * &X,
            mass: X.transpose() * &component.mass * &X,
            damping: X.transpose() * &component.damping * &X,
            coordinates: places
                .iter()
                .map(|&i| self.reference.coordinates[component.coordinates[i].2])
                .collect(),
            coordinate_map: (0..m)
                .flat_map(|k| places.iter().map(move |&i| (i, k)))
                .map(|(i, k)| links.coordinates[i * m + k])
                .collect(),
            twists: Twists::new(&references, &links.nodes, m),
            inertia: component.base_mass,
            momentum: component.base_load.transpose() * &X,
        }
    }

    /// Memory for shifts.
    pub(crate) fn shifts(&self) -> Shifts {
        let of = |c: usize| Shift {
            effectors: vec![0.0; 6 * self.components[c].effectors.len()],
            coordinates: vec![0.0; self.rebuilders[c].coordinates().len()],
            nodes: vec![0.0; 6 * self.components[c].part.nodes.len()],
            on_base: Wrench::ZERO,
            moment: Vector3::zeros(),
        };
        Shifts {
            loads: Loads::new(self),
            bases: vec![Pose::identity(); self.components.len()],
            felt: vec![Twist::new(Vector3::repeat(f64::NAN), Vector3::zeros()); self.components.len()],
            z: vec![0.0; self.components.iter().map(|c| c.size()).max().unwrap_or(0)],
            of: (0..self.components.len()).map(of).collect(),
        }
    }
}

impl Shifts {
    /// Condenses the present inputs, on a base that accelerates (world axes), each component on its own seat there if
    /// it has one. Fails with the joint along which nothing holds a load.
    pub fn update(
        &mut self,
        model: &Constants,
        inputs: &Inputs,
        acceleration: &Twist,
        seats: &[Option<Pose>],
    ) -> Result<(), JointId> {
        for (base, seat) in self.bases.iter_mut().zip(seats) {
            *base = seat.map_or(inputs.base, |seat| inputs.base * seat);
        }
        let changed = self.loads.condense(model, inputs, &self.bases).map_err(|at| at.joint)?;
        let at_base = felt(&inputs.gravity, acceleration, &inputs.base);
        let reference = &model.reference;
        for (c, shift) in self.of.iter_mut().enumerate() {
            let felt = seats[c].map_or(at_base, |seat| seat.twist_to_local(&at_base));
            if !changed && felt == self.felt[c] {
                continue;
            }
            self.felt[c] = felt;
            shift.on_base = self.loads.condensed[c].on_base;
            let a = felt.to_vector();
            let (component, condensed) = (&model.components[c], &self.loads.condensed[c]);
            let n = component.size();
            // z = K⁻¹(Q + loads that hold the pose), and N z in addition to what z leaves out.
            for (i, z) in self.z[..n].iter_mut().enumerate() {
                let mut force = condensed.force[i];
                force += (0..6).map(|k| component.base_load[(i, k)] * a[k]).sum::<f64>();
                for &e in &component.effectors {
                    let effector = &model.effectors[e];
                    let Some(load) = reference.load_on(&effector.frame) else { continue };
                    let w = in_frame(&effector.rest, &Pose::identity(), &load).to_vector();
                    force += (0..6).map(|k| component.motion[(effector.row + k, i)] * w[k]).sum::<f64>();
                }
                *z = force / component.stiffness[i];
            }
            for (i, to) in shift.effectors.iter_mut().enumerate() {
                let scale = if i % 6 < 3 { 1.0 / reference.radius } else { 1.0 };
                *to = scale * (0..n).map(|k| component.motion[(i, k)] * self.z[k]).sum::<f64>();
            }
            let per = |row: &[f64]| (0..6).map(|k| row[k] * a[k]).sum::<f64>();
            let along = |row: &[f64]| row.iter().zip(&self.z).map(|(a, b)| a * b).sum::<f64>();
            for (to, &i) in shift.coordinates.iter_mut().zip(model.rebuilders[c].coordinates()) {
                *to = condensed.coordinates[i]
                    + per(&component.base_offset.coordinates[6 * i..6 * i + 6])
                    + along(&component.shapes.coordinates[i * n..(i + 1) * n]);
            }
            for (i, to) in shift.nodes.iter_mut().enumerate() {
                *to = condensed.nodes[i]
                    + per(&component.base_offset.nodes[6 * i..6 * i + 6])
                    + along(&component.shapes.nodes[i * n..(i + 1) * n]);
            }
            if seats[c].is_some() {
                let nodes = reference.mechanism.order().nodes();
                shift.moment = (component.part.nodes.iter().zip(shift.nodes.chunks_exact(6)))
                    .map(|(&n, twist)| {
                        let twist = Twist::from_vector(&Vector6::from_column_slice(twist));
                        reference.poses[n].rotation * nodes[n].inertia.momentum(&twist).force
                    })
                    .sum();
            }
        }
        Ok(())
    }
}
