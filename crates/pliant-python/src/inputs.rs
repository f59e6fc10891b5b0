//! What acts on a simulation: loads, set-points, gravity, a moving base, springs, and properties of joints while it runs.

use numpy::PyArray1;
use pliant::engine::{JointProperty, Spring as Coupling, SpringId};
use pliant::shared::setup::{Place, find, find_joint, one_per_freedom};
use pliant::spatial::{Pose, Twist};
use pyo3::prelude::*;

use crate::arrays;
use crate::errors::input;
use crate::simulation::Simulation;

/// A spring of a simulation, to a frame of the world: made by `Simulation.add_spring`.
#[pyclass(frozen, module = "pliant")]
pub struct Spring {
    id: SpringId,
    name: String,
}

#[pymethods]
impl Spring {
    /// The effector or body that it acts on.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Spring on {:?}>", self.name)
    }
}

/// A finite number, zero or above; zero if none is given.
fn not_negative(argument: &str, value: Option<&Bound<'_, PyAny>>, unit: &str) -> PyResult<f64> {
    let value = value.map_or(Ok(0.0), |value| arrays::number(argument, value))?;
    match value.is_finite() && value >= 0.0 {
        true => Ok(value),
        false => {
            Err(input(format!("{argument}: expected a finite number of {unit}, zero or above, got {value}")))
        }
    }
}

impl Simulation {
    fn set_property(&self, joint: &str, property: JointProperty, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let id = find_joint("joint", joint, &self.mechanism).map_err(input)?;
        let found = arrays::real_numbers("values", values)?;
        let (freedoms, one) = (self.mechanism[id].freedoms.len(), found.shape.is_empty());
        let mut values = arrays::flat("values", found)?;
        if one && freedoms > 1 {
            values = vec![values[0]; freedoms];
        }
        self.with(|simulation| simulation.set_joint(id, property, &values).map_err(input))
    }

    fn property<'py>(
        &self,
        py: Python<'py>,
        joint: &str,
        property: JointProperty,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let id = find_joint("joint", joint, &self.mechanism).map_err(input)?;
        self.with(|simulation| {
            Ok(arrays::vector(py, &simulation.inputs().joint_property(id, property).map_err(input)?))
        })
    }
}

#[pymethods]
impl Simulation {
    /// Sets the load on an effector or body: a force (N), or a force and a torque (N·m); world axes, at its origin, constant.
    ///
    /// >>> sim.set_load("tip", [0, 0, -20])
    fn set_load(&self, name: &str, load: &Bound<'_, PyAny>) -> PyResult<()> {
        let place = find("name", name, &self.mechanism).map_err(input)?;
        let load = arrays::wrench("load", load)?;
        self.with(|simulation| {
            let inputs = simulation.inputs_mut();
            match place {
                Place::Effector(effector) => inputs.set_load(effector, load),
                Place::Body(body) => inputs.set_body_load(body, load),
            }
            .map_err(input)
        })
    }

    /// Sets the set-point of a joint: the position at which its springs are relaxed (that of PD control), rad or m, one number per freedom.
    /// Steps no longer follow the scene's targets of that joint.
    ///
    /// >>> sim.set_target("arm2", 0.3)
    fn set_target(&self, joint: &str, position: &Bound<'_, PyAny>) -> PyResult<()> {
        let id = find_joint("joint", joint, &self.mechanism).map_err(input)?;
        let values = arrays::list("position", position)?;
        one_per_freedom("position", &self.mechanism, id, values.len()).map_err(input)?;
        self.with(|simulation| simulation.inputs_mut().set_target(id, &values).map_err(input))
    }

    /// Set-points of all coordinates, rad or m.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.with(|simulation| Ok(arrays::vector(py, simulation.inputs().rest())))
    }

    /// Sets the set-points of all coordinates, rad or m.
    ///
    /// >>> sim.set_targets(sim.targets + 0.01)
    fn set_targets(&self, positions: &Bound<'_, PyAny>) -> PyResult<()> {
        let found = arrays::numbers("positions", positions)?;
        let n = self.mechanism.coordinate_count();
        if found.shape != [n] {
            return Err(input(format!(
                "positions: expected one number for each of {n} coordinates, got the shape {}",
                arrays::shape(&found.shape)
            )));
        }
        self.with(|simulation| {
            for id in self.mechanism.joint_ids() {
                let own = self.mechanism[id].coordinates();
                simulation.inputs_mut().set_target(id, &found.values[own]).map_err(input)?;
            }
            Ok(())
        })
    }

    /// Sets gravity, world axes, m/s².
    ///
    /// >>> sim.set_gravity([0, 0, -1.62])
    fn set_gravity(&self, gravity: &Bound<'_, PyAny>) -> PyResult<()> {
        let gravity = arrays::exactly("gravity", "m/s² along x, y, z", gravity)?;
        self.with(|simulation| simulation.inputs_mut().set_gravity(gravity).map_err(input))
    }

    /// Moves the base, the `world` of the joints: its pose at the end of the next step, and its twist, world axes (m/s, rad/s).
    ///
    /// >>> sim.set_base([0, 0, 0.1])
    #[pyo3(signature = (pose, twist=None))]
    fn set_base(&self, pose: &Bound<'_, PyAny>, twist: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let pose = arrays::pose("pose", pose)?;
        let twist = twist.map(|twist| arrays::exactly::<6>("twist", "m/s and rad/s", twist)).transpose()?;
        let twist = twist.map_or(Twist::ZERO, |twist| Twist::from_vector(&twist.into()));
        self.with(|simulation| simulation.inputs_mut().set_base(pose, twist).map_err(input))
    }

    /// Also applies the loads of the scene.
    ///
    /// >>> sim.add_scene_loads()
    fn add_scene_loads(&self) -> PyResult<()> {
        self.with(|simulation| {
            simulation.inputs_mut().add_scene_loads();
            Ok(())
        })
    }

    /// Sets the spring stiffness of a joint from the next step on, N/m or N·m/rad: one number, or one per freedom.
    ///
    /// >>> sim.set_stiffness("arm2", 150.0)
    fn set_stiffness(&self, joint: &str, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_property(joint, JointProperty::Stiffness, values)
    }

    /// Sets the damping of a joint from the next step on, N·s/m or N·m·s/rad.
    ///
    /// >>> sim.set_damping("arm2", 2.0)
    fn set_damping(&self, joint: &str, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_property(joint, JointProperty::Damping, values)
    }

    /// Sets the largest force that spring and damper of a joint apply together, N or N·m; inf for no bound.
    ///
    /// >>> sim.set_torque_limit("arm2", 40.0)
    fn set_torque_limit(&self, joint: &str, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_property(joint, JointProperty::TorqueLimit, values)
    }

    /// Sets the dry friction of a joint, N or N·m.
    ///
    /// >>> sim.set_friction("arm2", 0.1)
    fn set_friction(&self, joint: &str, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_property(joint, JointProperty::Friction, values)
    }

    /// The spring stiffness of a joint now, N/m or N·m/rad.
    ///
    /// >>> sim.set_stiffness("arm2", 150.0)
    /// >>> sim.stiffness("arm2")
    /// array([150.])
    fn stiffness<'py>(&self, py: Python<'py>, joint: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.property(py, joint, JointProperty::Stiffness)
    }

    /// The damping of a joint now, N·s/m or N·m·s/rad.
    ///
    /// >>> sim.set_damping("arm2", 2.0)
    /// >>> sim.damping("arm2")
    /// array([2.])
    fn damping<'py>(&self, py: Python<'py>, joint: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.property(py, joint, JointProperty::Damping)
    }

    /// A spring from an effector or body to a point of the world (m), or to a frame (7 numbers) for a spring with torque.
    ///
    /// stiffness: N/m; damping: N·s/m; turning_stiffness: N·m/rad; turning_damping: N·m·s/rad.
    ///
    /// >>> device = sim.add_spring("tip", [0.5, 0, 1], stiffness=200)
    #[pyo3(signature = (name, target, stiffness, *, damping=None, turning_stiffness=None, turning_damping=None))]
    fn add_spring(
        &self,
        name: &str,
        target: &Bound<'_, PyAny>,
        stiffness: &Bound<'_, PyAny>,
        damping: Option<&Bound<'_, PyAny>>,
        turning_stiffness: Option<&Bound<'_, PyAny>>,
        turning_damping: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Spring> {
        let (body, frame) = match find("name", name, &self.mechanism).map_err(input)? {
            Place::Effector(effector) => (self.mechanism[effector].body, self.mechanism[effector].frame),
            Place::Body(body) => (body, Pose::identity()),
        };
        let spring = Coupling {
            body,
            frame,
            target: arrays::pose("target", target)?,
            target_twist: Twist::ZERO,
            stiffness: not_negative("stiffness", Some(stiffness), "N/m")?,
            turning_stiffness: not_negative("turning_stiffness", turning_stiffness, "N·m/rad")?,
            damping: not_negative("damping", damping, "N·s/m")?,
            turning_damping: not_negative("turning_damping", turning_damping, "N·m·s/rad")?,
        };
        let id = self.with(|simulation| simulation.inputs_mut().add_spring(spring).map_err(input))?;
        Ok(Spring { id, name: name.into() })
    }

    /// Moves the target of a spring; its velocity is 6 numbers, world axes, at rest if not given.
    ///
    /// >>> device = sim.add_spring("tip", [0.5, 0, 1], stiffness=200)
    /// >>> sim.move_spring(device, [0.5, 0.01, 1], velocity=[0, 0.1, 0, 0, 0, 0])
    #[pyo3(signature = (spring, target, velocity=None))]
    fn move_spring(
        &self,
        spring: &Bound<'_, Spring>,
        target: &Bound<'_, PyAny>,
        velocity: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let target = arrays::pose("target", target)?;
        let twist =
            velocity.map(|twist| arrays::exactly::<6>("velocity", "m/s and rad/s", twist)).transpose()?;
        let twist = twist.map_or(Twist::ZERO, |twist| Twist::from_vector(&twist.into()));
        let id = spring.get().id;
        self.with(|simulation| {
            simulation
                .inputs_mut()
                .set_spring_target(id, target, twist)
                .map_err(|error| input(format!("spring: {error}")))
        })
    }

    /// Force (N) and torque (N·m) that a spring exerts now, world axes.
    ///
    /// >>> device = sim.add_spring("tip", sim.pose("tip")[:3] + [0, 0, 0.01], stiffness=200)
    /// >>> sim.spring_force(device)[2].round(6)
    /// np.float64(2.0)
    fn spring_force<'py>(
        &self,
        py: Python<'py>,
        spring: &Bound<'_, Spring>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let id = spring.get().id;
        self.with(|simulation| {
            let wrench = simulation.spring_force(id).map_err(|error| input(format!("spring: {error}")))?;
            Ok(arrays::vector(py, wrench.to_vector().as_slice()))
        })
    }

    /// Removes a spring.
    ///
    /// >>> sim.remove_spring(sim.add_spring("tip", [0.5, 0, 1], stiffness=200))
    fn remove_spring(&self, spring: &Bound<'_, Spring>) -> PyResult<()> {
        let id = spring.get().id;
        self.with(|simulation| {
            let removed = simulation.inputs_mut().remove_spring(id);
            removed.map(|_| ()).map_err(|error| input(format!("spring: {error}")))
        })
    }
}
