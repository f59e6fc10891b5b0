//! What the page is sent: frames, the scene, the status, the scene as a file.

use pliant_core::engine::Spring;
use pliant_core::mechanism::Effector;
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Pose;
use serde_json::json;

use super::Session;
use super::dragging::Held;
use crate::protocol::{self, Frame, Kind};
use crate::running::{Loaded, Running};
use crate::{drawing, saving};

impl Session {
    /// The number of the frame that was written last.
    pub fn frame_number(&self) -> u32 {
        self.frame
    }

    /// Writes what the page draws.
    pub fn frame(&mut self, out: &mut Vec<u8>) {
        self.frame = self.frame.wrapping_add(1);
        let pulling = self.pulling();
        let step_time = 1e6 * self.step_time();
        self.refresh_ellipsoids();
        self.lists.clear();
        self.list_springs();
        self.list_loads();
        let lists = &mut self.lists;
        lists.ellipsoids.extend(self.ellipsoids.iter().flat_map(|(_, columns)| columns));
        for contact in self.running.contacts() {
            let along = contact.force.dot(&contact.normal);
            let across = (contact.force - contact.normal * along).norm();
            let slips = across >= 0.999 * contact.friction * along;
            let numbers = [contact.point, contact.normal, contact.force];
            lists.contacts.extend(numbers.iter().flat_map(|v| [v.x as f32, v.y as f32, v.z as f32]));
            lists.contacts.extend([contact.friction as f32, contact.gap as f32, f32::from(u8::from(slips))]);
        }
        if let Running::Blended(blended) = &mut self.running {
            lists.weights.resize(blended.model().samples().len(), 0.0);
            let first = self.loaded.mechanism.effector_ids().next();
            let weights = first.and_then(|effector| blended.weights(effector).ok()).unwrap_or(&[]);
            for (at, weight) in weights {
                lists.weights[*at] = *weight as f32;
            }
        }
        let simulation = self.running.simulation();
        simulation.transforms(&mut lists.bodies);
        let state = simulation.state();
        lists.coordinates.extend(state.coordinates.iter().map(|x| *x as f32));
        lists.torques.extend(state.forces.iter().map(|x| *x as f32));
        lists.gaps.extend(state.gaps(&self.loaded.mechanism).map(|gap| gap as f32));
        lists.targets.extend(simulation.inputs().rest().iter().map(|x| *x as f32));
        let mut distance = 0.0f64;
        if let Some((_, ghost)) = &mut self.ghost {
            let ghost = ghost.simulation();
            ghost.transforms(&mut lists.ghosts);
            let apart = simulation
                .poses()
                .zip(ghost.poses())
                .map(|((_, a), (_, b))| (a.position - b.position).norm());
            distance = apart.fold(0.0, f64::max) / radius(&self.loaded);
        }
        let energy = simulation.energy();
        let zero = Vector3::zeros();
        let (held, at, goal, force) =
            pulling.map_or((0.0, zero, zero, zero), |(held, at, force)| (1.0, at, held.goal, force));
        let numbers = Frame {
            time: simulation.time(),
            steps: simulation.steps() as f64,
            step_time,
            rate: self.rate,
            kinetic: energy.kinetic,
            elastic: energy.elastic,
            potential: energy.potential,
            held,
            held_x: at.x,
            held_y: at.y,
            held_z: at.z,
            goal_x: goal.x,
            goal_y: goal.y,
            goal_z: goal.z,
            force_x: force.x,
            force_y: force.y,
            force_z: force.z,
            distance,
            violation: lists.gaps.iter().map(|gap| f64::from(*gap)).sum::<f64>() / radius(&self.loaded),
        };
        protocol::frame(self.frame, &numbers, &self.lists, out);
    }

    /// The springs that go to points; that of the mouse is not among them.
    fn list_springs(&mut self) {
        let simulation = self.running.simulation();
        let ids: Vec<_> = simulation.inputs().scene_springs().map(|(_, id)| id).collect();
        for id in ids {
            let Ok(Spring { body, frame, target, .. }) = simulation.inputs().spring(id).copied() else {
                continue;
            };
            let (Ok(pose), Ok(pull)) = (simulation.pose(body), simulation.spring_force(id)) else { continue };
            let (from, to) = ((pose * frame).position, target.position);
            let ends = [from.x, from.y, from.z, to.x, to.y, to.z];
            self.lists.springs.extend(ends.map(|x| x as f32));
            self.lists.springs.push(pull.force.norm() as f32);
        }
    }

    /// The loads that are given, without the pull on a loose body.
    fn list_loads(&mut self) {
        let pulled = self.held.as_ref().and_then(Held::loose);
        let simulation = self.running.simulation();
        let mechanism = &self.loaded.mechanism;
        let inputs = simulation.inputs();
        let on_effectors = mechanism.effector_ids().map(|id| {
            let Effector { body, frame, .. } = &mechanism[id];
            (*body, *frame, inputs.load(id))
        });
        let on_bodies = mechanism.body_ids().map(|id| {
            let given = if pulled == Some(id) { &self.loaded.inputs } else { inputs };
            (id, Pose::identity(), given.body_load(id))
        });
        let loads: Vec<_> = on_effectors.chain(on_bodies).collect();
        for (body, frame, load) in loads {
            let (Ok(load), Ok(pose)) = (load, simulation.pose(body)) else { continue };
            if load.force == Vector3::zeros() {
                continue;
            }
            let (at, force) = ((pose * frame).position, load.force);
            self.lists.loads.extend([at.x, at.y, at.z, force.x, force.y, force.z].map(|x| x as f32));
        }
    }

    pub(super) fn send_scene(&mut self) {
        let Loaded { mechanism, surfaces, .. } = &self.loaded;
        let (scene, meshes) = drawing::scene(mechanism, surfaces, self.loaded.touches());
        // Of scenes only the last one counts.
        self.outbox.retain(|waiting| protocol::outlives_a_scene(waiting));
        let meshes = meshes.iter().enumerate();
        self.outbox.extend(meshes.map(|(place, mesh)| protocol::mesh(place, &mesh.points, &mesh.triangles)));
        self.outbox.push_back(protocol::text(Kind::Scene, &scene.to_string()));
        self.send_status();
    }

    pub(super) fn send_status(&mut self) {
        let gravity = self.running.simulation().inputs().gravity();
        let status = json!({
            "engine": self.engine.name(),
            "ghost": self.ghost.as_ref().map(|(engine, _)| engine.name()),
            "playing": self.playing,
            "speed": self.speed,
            "dt": self.dt,
            "gravity": [gravity.x, gravity.y, gravity.z],
            "stiffnessScale": self.scaled.stiffness,
            "dampingScale": self.scaled.damping,
            "torques": self.scaled.torques,
            "models": self.model_count(),
            "grabStiffness": self.held.map(|held| held.stiffness),
            "saved": self.saved.is_some(),
            "ellipsoids": self.ellipsoids.is_some(),
            "broken": self.broken,
        });
        let message = protocol::text(Kind::Status, &status.to_string());
        // Only the last status counts.
        self.outbox.retain(|waiting| waiting[0] != Kind::Status as u8);
        self.outbox.push_back(message);
    }

    /// The scene as it stands: joints start where they are, their springs rest where they were set to, in the present gravity.
    pub(super) fn send_file(&mut self) -> Result<(), String> {
        let simulation = self.running.simulation();
        let (state, rest, gravity) =
            (simulation.state().clone(), simulation.inputs().rest().to_vec(), simulation.inputs().gravity());
        let text = saving::scene_file(&self.loaded.mechanism, &state, &rest, gravity.into())?;
        let name = self.loaded.mechanism.name();
        let name: String =
            name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '-' }).collect();
        let name = if name.is_empty() { "scene" } else { &name };
        let file = json!({ "name": format!("{name}-view.toml"), "text": text });
        self.outbox.push_back(protocol::text(Kind::File, &file.to_string()));
        Ok(())
    }
}

fn radius(loaded: &Loaded) -> f64 {
    if loaded.mechanism.radius() > 0.0 { loaded.mechanism.radius() } else { 1.0 }
}
