//! Random calls of a simulation and a world, with handles of others, of things that are gone, lists of the wrong length and
//! numbers that are none. Nothing may panic, and no call leaves a state that is not finite.

use pliant::contact::{FreeBodyId, SimulationId, Touched, World};
use pliant::engine::{Inputs, Simulation, Spring, SpringId, State, StaticsSettings};
use pliant::engines::Engine;
use pliant::gallery;
use pliant::mechanism::{Body, BodyId, EffectorId, Geometry, JointId, Mechanism, Shape};
use pliant::nalgebra::Vector3;
use pliant::spatial::{Pose, SpatialInertia, Twist, Wrench};

use super::{Counts, Random};

const NAMES: [&str; 7] = ["two-link", "y", "arm", "four-bar", "gripper", "hexapod", "graph"];

/// Handles of several mechanisms.
#[derive(Default)]
struct Handles {
    bodies: Vec<BodyId>,
    joints: Vec<JointId>,
    effectors: Vec<EffectorId>,
    springs: Vec<SpringId>,
    states: Vec<State>,
    inputs: Vec<Inputs>,
}

impl Handles {
    fn add(&mut self, mechanism: &Mechanism) {
        self.bodies.extend(mechanism.body_ids());
        self.joints.extend(mechanism.joint_ids());
        self.effectors.extend(mechanism.effector_ids());
        self.states.push(State::at_rest(mechanism));
        self.inputs.push(Inputs::new(mechanism));
    }
}

fn vector(random: &mut Random) -> Vector3<f64> {
    Vector3::from_fn(|_, _| random.number())
}

fn wrench(random: &mut Random) -> Wrench {
    Wrench::new(vector(random), vector(random))
}

fn pose(random: &mut Random) -> Pose {
    Pose::translation(vector(random).into())
}

fn counted<T, E>(result: Result<T, E>, counts: &mut Counts) -> Option<T> {
    match &result {
        Ok(_) => counts.taken += 1,
        Err(_) => counts.refused += 1,
    }
    result.ok()
}

/// One case: so many calls of one simulation, alone or in a world.
pub fn run(seed: u64, calls: usize, counts: &mut Counts) {
    let mut random = Random(seed);
    counts.cases += 1;
    let mechanism = gallery::build(NAMES[random.below(NAMES.len())]).expect("it is of the gallery");
    let mut handles = Handles::default();
    handles.add(&mechanism);
    handles.add(&gallery::build(NAMES[random.below(NAMES.len())]).expect("it is of the gallery"));
    let engine = *random.of(&Engine::ALL);
    let Ok(mut simulation) = engine.simulate(&mechanism) else { return };
    for _ in 0..calls {
        let kind = call(&mut *simulation, &mut handles, &mut random, counts);
        let state = simulation.state();
        let finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
        let parts =
            [finite(&state.coordinates), finite(&state.rates), finite(&state.forces), finite(&state.private)];
        assert!(
            state.is_finite(),
            "{engine:?} of {} after a call of kind {kind}, {:?}: coordinates, rates, forces and its own are finite: {parts:?}",
            mechanism.name(),
            state.first_not_finite().map(|body| mechanism[body].name.clone())
        );
    }
    let mut worlds = Worlds::new(simulation, &mut random);
    for _ in 0..calls {
        worlds.call(&handles, &mut random, counts);
    }
}

/// One call; returns its kind.
fn call(
    simulation: &mut dyn Simulation,
    handles: &mut Handles,
    random: &mut Random,
    counts: &mut Counts,
) -> usize {
    let (body, joint, effector) =
        (*random.of(&handles.bodies), *random.of(&handles.joints), *random.of(&handles.effectors));
    let kind = random.below(22);
    match kind {
        0 => drop(counted(simulation.set_load(effector, wrench(random)), counts)),
        1 => drop(counted(simulation.inputs_mut().set_body_load(body, wrench(random)), counts)),
        2 => drop(counted(simulation.inputs_mut().set_gravity(vector(random).into()), counts)),
        3 => {
            let list: Vec<f64> = (0..random.below(8)).map(|_| random.number()).collect();
            counted(simulation.inputs_mut().set_target(joint, &list), counts);
        }
        4 => {
            let twist = Twist { linear: vector(random), angular: vector(random) };
            counted(simulation.inputs_mut().set_base(pose(random), twist), counts);
        }
        5 => {
            let mut number = || random.number();
            let spring = Spring {
                body,
                frame: Pose::identity(),
                target: Pose::translation([number(), number(), number()]),
                target_twist: Twist::ZERO,
                stiffness: number(),
                turning_stiffness: number(),
                damping: number(),
                turning_damping: number(),
            };
            handles.springs.extend(counted(simulation.inputs_mut().add_spring(spring), counts));
        }
        6 if !handles.springs.is_empty() => {
            let spring = *random.of(&handles.springs);
            counted(simulation.inputs_mut().remove_spring(spring), counts);
        }
        7 if !handles.springs.is_empty() => {
            let spring = *random.of(&handles.springs);
            counted(simulation.spring_force(spring), counts);
        }
        8 => simulation.inputs_mut().clear_springs(),
        9 => simulation.inputs_mut().add_scene_loads(),
        10 => drop(counted(simulation.pose(body), counts)),
        11 => drop(counted(simulation.effector_pose(effector), counts)),
        12 => drop(counted(simulation.joint_positions(joint).map(drop), counts)),
        13 => drop(counted(simulation.joint_forces(joint).map(drop), counts)),
        14 => {
            let mut state = random.of(&handles.states).clone();
            match random.below(5) {
                0 => drop(state.coordinates.pop()),
                1 => drop(state.poses.pop()),
                2 => state.rates.iter_mut().for_each(|x| *x = random.number()),
                3 => state.time = random.number(),
                _ => {}
            }
            counted(simulation.set_state(&state), counts);
        }
        15 => drop(counted(simulation.teleport(&pose(random)), counts)),
        16 => {
            let settings = StaticsSettings { iterations: 10, halvings: 1, ..StaticsSettings::default() };
            counted(simulation.settle(&settings), counts);
        }
        17 => drop(counted(simulation.estimate(), counts)),
        18 => {
            let state = simulation.state().clone();
            handles.states.push(state);
            simulation.energy();
            simulation.violation();
            simulation.warnings();
        }
        19 => {
            let time = random.number();
            simulation.inputs_mut().follow_targets(time);
        }
        _ => {
            let dt = random.number();
            counts.steps += usize::from(counted(simulation.step(dt), counts).is_some());
        }
    }
    kind
}

/// A world and another, so that handles of the one can be given to the other.
struct Worlds {
    worlds: [World; 2],
    bodies: Vec<FreeBodyId>,
    simulations: Vec<SimulationId>,
}

impl Worlds {
    fn new(simulation: Box<dyn Simulation>, random: &mut Random) -> Worlds {
        let mut worlds = [World::new([0.0, 0.0, -9.81]), World::new([0.0; 3])];
        let floor = Shape::new(Geometry::Box { size: Vector3::new(4.0, 4.0, 1.0) });
        let floor = floor.at(Pose::translation([0.0, 0.0, -0.5]));
        let mut all = Worlds { bodies: Vec::new(), simulations: Vec::new(), worlds: worlds.clone() };
        let _ = worlds[0].add_shape(&floor);
        all.simulations.extend(worlds[random.below(2)].add(simulation));
        all.worlds = worlds;
        all
    }

    fn call(&mut self, handles: &Handles, random: &mut Random, counts: &mut Counts) {
        let world = &mut self.worlds[random.below(2)];
        match random.below(10) {
            0 => {
                let shape = Shape::new(Geometry::Ball { radius: random.number() });
                let body = Body::new("ball", pose(random)).shape(shape);
                let body = body.inertia(SpatialInertia::of_box(random.number(), [0.1; 3]));
                self.bodies.extend(counted(world.add_body(&body), counts));
            }
            1 if !self.bodies.is_empty() => {
                let body = *random.of(&self.bodies);
                counted(world.body(body).map(drop), counts);
                counted(world.force_on(Touched::Free(body)), counts);
            }
            2 if !self.bodies.is_empty() && !self.simulations.is_empty() => {
                let (body, by) = (*random.of(&self.bodies), *random.of(&self.simulations));
                counted(world.attach(body, by, &[*random.of(&handles.effectors)]), counts);
            }
            3 if !self.bodies.is_empty() => drop(counted(world.detach(*random.of(&self.bodies)), counts)),
            4 if !self.simulations.is_empty() => {
                let by = *random.of(&self.simulations);
                counted(world.simulation(by).map(drop), counts);
                let touched = Touched::Mechanism(by, *random.of(&handles.bodies));
                counted(world.name(touched).map(drop), counts);
            }
            5 => {
                let saved = world.save();
                let other = random.below(2);
                counted(self.worlds[other].restore(&saved), counts);
            }
            _ => {
                let dt = random.number();
                counts.steps += usize::from(counted(world.step(dt), counts).is_some());
                for (_, body) in world.bodies() {
                    let finite = body.pose().position.iter().all(|x| x.is_finite());
                    assert!(finite, "a free body is not finite");
                }
            }
        }
    }
}
