//! What wrenches accelerate at the first instant: the inverse of the mass that frames on bodies feel, springs and
//! dampers left out.
//!
//! [M Jᵀ; J 0] [a; −λ] = [f; 0], the blocks of a step without its stiffness. Rows of loops are soft in the
//! factors and exact after a few solves.

use nalgebra::{DMatrix, Vector6};

use super::assembly::{Geometric, STATIC_SOFTNESS, Scene, Scheme};
use super::frames;
use super::model::{ABSENT, Constants};
use super::step::Workspace;
use crate::engine::Inputs;
use crate::engine::State;
use crate::reduced::{EffectorFrame, Reference};
use crate::spatial::{Pose, Twist, Wrench};

/// Solves for one column: each takes the rows' softness, 1e-6, out of the one before.
const SOLVES: usize = 4;

/// E (M⁻¹ under the joints) Eᵀ, 6|E|×6|E|, in the frames of effectors at a reference pose; free bases are free.
pub(crate) fn mobility(reference: &Reference, effectors: &[EffectorFrame]) -> DMatrix<f64> {
    let mechanism = reference.mechanism();
    let model = Constants::new(mechanism);
    let mut state = State::at_rest(mechanism);
    reference.write_to(&mut state);
    let inputs = Inputs::new(mechanism);
    let mut work = Workspace::new(&model);
    frames::load(&model, &inputs, &state, 0.0, &mut work.frames);
    let scheme = Scheme {
        mass: 1.0,
        stiffness: 0.0,
        damping: 0.0,
        force: 0.0,
        closing: 0.0,
        augment: [0.0; 2],
        row_softness: STATIC_SOFTNESS,
        geometric: Geometric::Nowhere,
        equilibrium: false,
    };
    let scene = Scene {
        model: &model,
        frames: &work.frames,
        inputs: &inputs,
        loads: &[],
        state: &state,
        multipliers: &state.multipliers,
        scheme: &scheme,
        load_scale: 1.0,
        ahead: &[],
    };
    let m = 6 * effectors.len();
    let mut A = DMatrix::zeros(m, m);
    if work.numeric.factor_and_solve(&model.plan, &mut work.solution, scene).is_err() {
        return A;
    }
    let mut softness = vec![0.0; model.plan.unknowns()];
    for joint in model.joints.iter().filter(|j| j.unknown != ABSENT) {
        (0..6 - joint.kind.freedoms()).for_each(|i| softness[joint.unknown + i] = joint.softness[i]);
    }
    model.couplings.iter().for_each(|c| softness[c.unknown] = c.softness);
    // The frame of an effector, seen from its node's centre of mass with world axes.
    let place = |e: &EffectorFrame| {
        let (node, frame) = model.frame_in_node(e.body, e.frame)?;
        let center = Pose::translation(work.frames[node].center.into());
        Some((model.nodes[node].unknown, center.inverse_times(&(work.frames[node].pose * frame))))
    };
    let places: Vec<Option<(usize, Pose)>> = effectors.iter().map(place).collect();
    let mut x = vec![0.0; model.plan.unknowns()];
    for (e, from) in places.iter().enumerate() {
        let Some((unknown, frame)) = from else { continue };
        for k in 0..6 {
            let wrench = frame.wrench_to_outer(&Wrench::from_vector(&Vector6::ith(k, 1.0))).to_vector();
            x.fill(0.0);
            for _ in 0..SOLVES {
                x.iter_mut().zip(&softness).for_each(|(x, s)| *x *= -s);
                (0..6).for_each(|i| x[unknown + i] += wrench[i]);
                work.numeric.solve(&model.plan, &mut x);
            }
            for (f, to) in places.iter().enumerate() {
                let Some((unknown, frame)) = to else { continue };
                let a = Twist::from_vector(&Vector6::from_fn(|i, _| x[unknown + i]));
                A.fixed_view_mut::<6, 1>(6 * f, 6 * e + k).copy_from(&frame.twist_to_local(&a).to_vector());
            }
        }
    }
    (&A + A.transpose()) * 0.5
}
