//! The pose in which some joints are at given positions.
//!
//! Without loops and couplings, or where these are closed then, it is forward kinematics along the spanning forest.
//! Else the given joints are held by stiff springs, the others by their own, relaxed where they were, and the
//! equilibrium is followed along the way from where the mechanism starts.

use super::model::Model;
use super::statics::StaticsSettings;
use crate::inputs::Pull;
use crate::mechanism::{BodyId, JointId, Mechanism, Start};
use crate::spatial::{Pose, Twist};
use crate::state::State;

/// Joints that cannot be where they should.
#[derive(Clone, Debug)]
pub(crate) struct Unposed {
    /// The joint that the others stop, if it is one.
    pub joint: Option<JointId>,
    pub why: String,
}

/// Closures that are rounding of a product of poses, rad or radii.
const CLOSED: f64 = 1e-12;

/// Stiffness that holds a joint at its position, relative to the stiffest spring.
const HELD: f64 = 1e6;

/// Largest part of a way, rad or radii, that joints are moved at once.
const STRIDE: f64 = 0.1;

/// The longest way, in strides.
const LONGEST: f64 = 200.0;

/// The pose in which some joints are at given positions, one finite number per freedom, and the others where the
/// mechanism starts, or as near as loops and couplings let them. These may leave each joint so far from its position,
/// rad or radii.
pub(crate) fn pose_at(
    mechanism: &Mechanism,
    positions: &[(JointId, Vec<f64>)],
    reached: f64,
) -> Result<Start, Unposed> {
    let mut state = State::at_rest(mechanism);
    for (joint, position) in positions {
        state.coordinates[mechanism.coordinates_of(*joint)].copy_from_slice(position);
    }
    place(mechanism, &mut state);
    if !state.is_finite() {
        return Err(Unposed { joint: None, why: "its transform is not finite there".into() });
    }
    let open = open(mechanism, &mut state);
    if open > CLOSED {
        state = closed(mechanism, positions, reached)?;
    }
    Ok(Start { poses: state.poses, coordinates: state.coordinates })
}

/// Length that translations count in, m.
fn radius(mechanism: &Mechanism) -> f64 {
    if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 }
}

/// Puts bodies where the coordinates of the forest have them; free bases stay.
fn place(mechanism: &Mechanism, state: &mut State) {
    let order = mechanism.order();
    let mut nodes: Vec<Pose> = Vec::with_capacity(order.nodes().len());
    for node in order.nodes() {
        let pose = match node.joint {
            None => state.pose(node.head),
            Some(j) => {
                let joint = mechanism.joint(j);
                let in_parent =
                    joint.parent.map_or(joint.frame, |b| order.offset_of(b) * mechanism.frame_in_parent(j));
                let outer = node.parent.map_or(Pose::identity(), |n| nodes[n]) * in_parent;
                let X = joint.kind.transform(state.coordinates_of(mechanism, j));
                outer * X * mechanism.frame_in_child(j).inverse()
            }
        };
        nodes.push(pose);
    }
    for (b, pose) in state.poses.iter_mut().enumerate() {
        let body = BodyId::from_index(b);
        if let Some(n) = order.node_of(body) {
            *pose = nodes[n] * order.offset_of(body);
        }
    }
}

/// Makes the coordinates of loop joints those of the poses, and tells how far loops and couplings are open, rad or
/// radii.
fn open(mechanism: &Mechanism, state: &mut State) -> f64 {
    let radius = radius(mechanism);
    let mut open = 0.0f64;
    for &j in mechanism.order().loop_joints() {
        let (kind, X) = (&mechanism.joint(j).kind, state.relative_pose(mechanism, j));
        let q = kind.coordinates(&X, state.coordinates_of(mechanism, j));
        let q = &q.as_slice()[..kind.freedoms()];
        let gap = kind.transform(q).inverse_times(&X);
        open = open.max(gap.position.norm() / radius).max(2.0 * gap.rotation.imag().norm());
        state.coordinates[mechanism.coordinates_of(j)].copy_from_slice(q);
    }
    for coupling in mechanism.couplings() {
        let [joint, of] =
            [coupling.joint, coupling.of].map(|j| state.coordinates_of(mechanism, j).first().copied());
        if let (Some(joint), Some(of)) = (joint, of) {
            let unit = unit(mechanism, coupling.joint, 0, radius);
            open = open.max((joint - coupling.ratio * of - coupling.offset).abs() / unit);
        }
    }
    open
}

/// What a coordinate is measured in: radii or radians.
fn unit(mechanism: &Mechanism, joint: JointId, freedom: usize, radius: f64) -> f64 {
    if freedom < mechanism.joint(joint).kind.translations() { radius } else { 1.0 }
}

/// The state of a mechanism with loops or couplings, closed.
fn closed(mechanism: &Mechanism, positions: &[(JointId, Vec<f64>)], reached: f64) -> Result<State, Unposed> {
    let start = State::at_rest(mechanism);
    let mut given = vec![false; mechanism.joints().len()];
    positions.iter().for_each(|(joint, _)| given[joint.index()] = true);
    let stiffest =
        mechanism.joints().iter().flat_map(|j| &j.freedoms).map(|f| f.stiffness).fold(0.0, f64::max);
    let stiffest = if stiffest > 0.0 { stiffest } else { 1.0 };
    let held = mechanism.with_freedoms(|joint, k, freedom| {
        freedom.rest = start.coordinates_of(mechanism, joint)[k];
        (freedom.lower, freedom.upper) = (f64::NEG_INFINITY, f64::INFINITY);
        if given[joint.index()] {
            freedom.stiffness = HELD * stiffest;
        } else if freedom.stiffness == 0.0 {
            freedom.stiffness = stiffest / HELD; // stays if nothing moves it
        }
    });
    let model = Model::new(&held);
    let mut simulation = model.simulate();
    let failed = |why: String| Unposed { joint: None, why };
    simulation.inputs_mut().set_gravity([0.0; 3]).map_err(|e| failed(e.to_string()))?;
    let radius = radius(mechanism);
    for (b, _) in mechanism.bodies().iter().enumerate().filter(|(_, body)| body.free) {
        // A free base stays: nothing else pulls at it.
        let pull = Pull {
            body: BodyId::from_index(b),
            frame: Pose::identity(),
            target: start.poses[b],
            target_twist: Twist::ZERO,
            stiffness: stiffest / (radius * radius),
            turning_stiffness: stiffest,
            damping: 0.0,
            turning_damping: 0.0,
        };
        simulation.inputs_mut().add_pull(pull).map_err(|e| failed(e.to_string()))?;
    }
    let way = (positions.iter())
        .flat_map(|(joint, x)| {
            let from = start.coordinates_of(mechanism, *joint);
            x.iter()
                .zip(from)
                .enumerate()
                .map(|(k, (x, from))| (x - from).abs() / unit(mechanism, *joint, k, radius))
        })
        .fold(0.0, f64::max);
    if way > LONGEST * STRIDE {
        return Err(failed(format!("the way of {way:.0} rad or radii is too long to be followed")));
    }
    let steps = (way / STRIDE).ceil().max(1.0) as usize;
    // Nothing but the springs acts, so that there are no loads to raise in steps; and a stride is short.
    let settings = StaticsSettings { iterations: 50, halvings: 0, ..StaticsSettings::default() };
    // The springs' small give is taken out by moving their rests on: the last rounds.
    const ROUNDS: usize = 3;
    for step in 1..=steps + ROUNDS {
        let part = (step as f64 / steps as f64).min(1.0);
        for (joint, position) in positions {
            let range = mechanism.coordinates_of(*joint);
            let target: Vec<f64> = (range.zip(position))
                .map(|(q, x)| {
                    let rest = simulation.inputs().rest()[q];
                    let from = start.coordinates[q];
                    if step > steps {
                        rest + x - simulation.state().coordinates[q]
                    } else {
                        from + (x - from) * part
                    }
                })
                .collect();
            simulation.inputs_mut().set_target(&held, *joint, &target).map_err(|e| failed(e.to_string()))?;
        }
        let equilibrium = simulation.settle(&settings).map_err(|error| failed(error.to_string()))?;
        if !equilibrium.converged {
            return Err(failed("loops stand in their way".into()));
        }
    }
    let state = simulation.state();
    for (joint, position) in positions {
        for (k, (q, x)) in mechanism.coordinates_of(*joint).zip(position).enumerate() {
            let got = state.coordinates[q];
            if (got - x).abs() > reached * unit(mechanism, *joint, k, radius) {
                let name = &mechanism.joint(*joint).name;
                let why = format!("loops let joint `{name}` come to {got:.6} only, not {x}");
                return Err(Unposed { joint: Some(*joint), why });
            }
        }
    }
    Ok(state.clone())
}
