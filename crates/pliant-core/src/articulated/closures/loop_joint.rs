//! A joint between two nodes that are in the forest without it: where its frames are, how far it is open, and its rows
//! as wrenches on both nodes.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use crate::articulated::model::Constants;
use crate::articulated::placing::pose_of;
use crate::articulated::slot::{Six, Slots};
use crate::articulated::small::*;
use crate::engine::State;
use crate::mechanism::JointId;
use crate::spatial::{Pose, Twist};

/// A joint between two slots that are in the forest without it.
#[derive(Clone, Debug)]
pub struct LoopJoint {
    pub id: JointId,
    pub child: usize,
    pub parent: usize,
    pub in_child: Pose,
    pub in_parent: Pose,
    pub coordinate: usize,
    pub row: usize,
    /// P: what is kept of its closure and rows, if not all.
    pub kept: Option<Matrix6<f64>>,
    /// The gap beyond which it counts as torn: the arms of both sides and a hundredth of the radius, m.
    pub reach: f64,
}

/// A loop joint at a pose: X, and the axes and origin of the child's joint frame in the world.
#[derive(Clone, Copy, Debug)]
pub struct PlacedLoop {
    pub X: Pose,
    R: Matrix3<f64>,
    at: V,
}

/// A loop joint at a pose, with its coordinates, what is open and its rows.
#[derive(Clone, Copy, Debug)]
pub struct Evaluated {
    pub placed: PlacedLoop,
    pub q: Six,
    pub C: Vector6<f64>,
    pub J: Matrix6<f64>,
}

impl Evaluated {
    pub fn empty() -> Evaluated {
        let placed = PlacedLoop { X: Pose::identity(), R: Matrix3::identity(), at: ZERO };
        Evaluated { placed, q: [0.0; 6], C: Vector6::zeros(), J: Matrix6::zeros() }
    }

    /// Whether a row closes a length, not an angle.
    #[inline]
    pub fn is_length(&self, row: usize) -> bool {
        (0..3).any(|k| self.J[(row, k)] != 0.0)
    }
}

impl LoopJoint {
    pub fn place(&self, work: &Slots) -> PlacedLoop {
        let F = pose_of(&work.slots[self.child]) * self.in_child;
        let X = (pose_of(&work.slots[self.parent]) * self.in_parent).inverse_times(&F);
        PlacedLoop { X, R: F.rotation_matrix(), at: v(&F.position) }
    }

    /// Where it is, with the coordinates nearest to those of a reference.
    pub fn evaluate(&self, model: &Constants, work: &Slots, reference: &[f64]) -> Evaluated {
        let placed = self.place(work);
        let q = self.coordinates(model, &placed, reference);
        let (C, J) = self.closure(model, &placed, &q[..model.mechanism[self.id].kind.freedoms()]);
        Evaluated { placed, q, C, J }
    }

    /// What is open, and how it moves with the body twist of the child frame: residual and rows of the joint at its
    /// coordinates.
    pub fn closure(&self, model: &Constants, placed: &PlacedLoop, q: &[f64]) -> (Vector6<f64>, Matrix6<f64>) {
        let kind = &model.mechanism[self.id].kind;
        let (C, J) = (kind.residual(&placed.X, q), kind.rows(&placed.X, q));
        self.kept.as_ref().map_or((C, J), |P| (P * C, P * J))
    }

    /// The rows of a joint with d freedoms that anything is kept of.
    pub fn rows(&self, d: usize) -> impl Iterator<Item = usize> {
        (0..6 - d).filter(|&i| self.kept.is_none_or(|P| P[(i, i)] != 0.0))
    }

    /// A row of the child frame's body twist, on child and parent.
    pub fn wrenches(&self, placed: &PlacedLoop, row: [f64; 6], work: &Slots) -> [(usize, Six); 2] {
        let l = v(&(placed.R * Vector3::new(row[0], row[1], row[2])));
        let a = v(&(placed.R * Vector3::new(row[3], row[4], row[5])));
        [(self.child, 1.0), (self.parent, -1.0)].map(|(slot, sign)| {
            let t = add_cross::<false>(minus(placed.at, work.slots[slot].o), l, a);
            (slot, [l[0], l[1], l[2], t[0], t[1], t[2]].map(|x| x * sign))
        })
    }

    /// Coordinates near those of a reference.
    pub fn coordinates(&self, model: &Constants, placed: &PlacedLoop, reference: &[f64]) -> Six {
        let kind = &model.mechanism[self.id].kind;
        let d = kind.freedoms();
        kind.coordinates(&placed.X, &reference[self.coordinate..self.coordinate + d]).into()
    }

    /// Rates of the coordinates q with the twists of a state.
    pub fn rates(&self, model: &Constants, placed: &PlacedLoop, q: &Six, state: &State, base: &Twist) -> Six {
        let twist = |slot: usize| match slot.checked_sub(1) {
            Some(n) => state.twists[model.nodes[n].head],
            None => {
                let Rt = state.base.rotation.inverse();
                Twist::new(Rt * base.linear, Rt * base.angular)
            }
        };
        let own = self.in_child.twist_to_local(&twist(self.child));
        let carried = placed.X.twist_to_local(&self.in_parent.twist_to_local(&twist(self.parent)));
        let kind = &model.mechanism[self.id].kind;
        let J = kind.coordinates_jacobian(&placed.X, &q[..kind.freedoms()]);
        (J * (own - carried).to_vector()).into()
    }
}
