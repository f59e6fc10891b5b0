//! The memory of the recursion: one slot for the base and one for each node, in the order of visits.
//!
//! World axes throughout. Twists, accelerations and wrenches of a slot are at its point o; accelerations are spatial
//! ones: the rate of the twist of whatever passes the fixed point where o is now.

use super::small::{M, Q, Sym, V, ZERO};

/// A node, or the base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Axes of the link frame as a quaternion and as a matrix, and its origin.
    pub q: Q,
    pub R: M,
    pub p: V,
    /// The reference point, and from the parent's to it.
    pub o: V,
    pub r: V,
    /// Axis of a hinge.
    pub axis: V,
    /// Twist at o.
    pub v: V,
    pub w: V,
    /// What the joint's own motion adds to the acceleration: c = ξ×Su + Ṡu.
    pub cv: V,
    pub cw: V,
    /// Articulated inertia [A, B; Bᵀ, C] and the force p that it takes to have no acceleration. After the
    /// inward sweep, what of them is passed on to the parent.
    pub A: Sym,
    pub B: M,
    pub C: Sym,
    pub f: V,
    pub t: V,
    /// In a step, the inertia about the centre of mass in the middle of the present turn.
    pub K: Sym,
    /// Of a hinge: U = IA S, 1/D and u.
    pub Uf: V,
    pub Ut: V,
    pub inverse: f64,
    pub u: f64,
    /// What the outward sweep finds at o: acceleration less gravity, or in a step the twist at its end.
    pub av: V,
    pub aw: V,
}

impl Slot {
    /// At rest at the origin.
    pub const EMPTY: Slot = Slot {
        q: [1.0, 0.0, 0.0, 0.0],
        R: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        p: ZERO,
        o: ZERO,
        r: ZERO,
        axis: ZERO,
        v: ZERO,
        w: ZERO,
        cv: ZERO,
        cw: ZERO,
        A: [0.0; 6],
        B: [ZERO; 3],
        C: [0.0; 6],
        f: ZERO,
        t: ZERO,
        K: [0.0; 6],
        Uf: ZERO,
        Ut: ZERO,
        inverse: 0.0,
        u: 0.0,
        av: ZERO,
        aw: ZERO,
    };
}

/// Six numbers: linear, then angular.
pub(super) type Six = [f64; 6];

/// What a node of several freedoms, or of another one than a turn, has in addition to its slot. Of lists of six, those of the
/// joint's freedoms count.
#[derive(Clone, Copy, Debug)]
pub(super) struct General {
    /// Columns of S, of U = IA S, and D⁻¹.
    pub S: [Six; 6],
    pub U: [Six; 6],
    pub inverse: [Six; 6],
    /// Coordinates.
    pub q: Six,
    /// Linear forces u.
    pub u: Six,
    /// Speeds.
    pub speeds: Six,
    /// Rates of the coordinates per speed: the turns of a ball or bushing, else nothing.
    pub rates: M,
}

impl General {
    pub const EMPTY: General = General {
        S: [[0.0; 6]; 6],
        U: [[0.0; 6]; 6],
        inverse: [[0.0; 6]; 6],
        q: [0.0; 6],
        u: [0.0; 6],
        speeds: [0.0; 6],
        rates: [ZERO; 3],
    };
}

/// Everything that moves.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    pub slots: Vec<Slot>,
    pub general: Vec<General>,
    /// What the outward sweep finds along the speeds: their rates, or in a step the speeds at its end.
    pub found: Vec<f64>,
}

impl Slots {
    /// Memory for a model.
    pub fn new(model: &super::model::Constants) -> Slots {
        Slots {
            slots: vec![Slot::EMPTY; model.nodes.len() + 1],
            general: vec![General::EMPTY; model.general.len()],
            found: vec![0.0; model.speeds],
        }
    }
}
