//! What an engine leaves out, as far as it can be seen from outside. Of a model: modes that are truncated, loads that change its stiffness.
//! On the way of a run: limits that it passes, links that it does not touch with, parts that it does not let swing, energy that nothing put
//! in, motions that are too large for it. Of a pose: that its estimate is too large, or of another equilibrium.

use crate::engine::{Balance, Inputs, Simulation, State, Warning};
use crate::engines::{self, Engine, Model};
use crate::linear;
use crate::mechanism::{BodyId, EffectorId, Joint, JointId, Mechanism};
use crate::spatial::Pose;

use super::overlaps::{Overlap, Overlaps};
use super::words::{RADII, count, quantity, radii};

/// The least part of the displacement that a truncated mode has, and by which loads change the stiffness, to be reported.
pub const SIGNIFICANT: f64 = 0.05;

/// Bodies beyond which nothing is looked for that takes longer than a run: equilibria, and what loads do to the stiffness.
const MANY: usize = 2000;

/// The warning of a check that was left out because the mechanism is large.
pub fn unchecked(mechanism: &Mechanism, what: &str) -> Option<Warning> {
    let bodies = mechanism.bodies().len();
    let text = format!("with {bodies} bodies, more than {MANY}, it was not checked {what}");
    (bodies > MANY).then_some(Warning { kind: "unchecked", measure: bodies as f64, unit: "bodies", text })
}

/// What a linear model leaves out in steps of dt, and under these inputs where they are all that acts.
pub fn left_out(model: &Model, dt: f64, acts: Option<&Inputs>) -> Vec<Warning> {
    let Model::Linear(model) = model else { return Vec::new() };
    let of_modes = match (model.modes(), unchecked(model.mechanism(), "which modes are truncated")) {
        (0, None) => truncated(model, dt),
        (0, unchecked) => unchecked,
        _ => None,
    };
    of_modes.into_iter().chain(acts.and_then(|inputs| prestress(model, inputs))).collect()
}

/// The warning of modes that steps of dt could follow, and that are truncated.
fn truncated(model: &linear::Model, dt: f64) -> Option<Warning> {
    // A mechanism whose modes are not found may move all the same.
    let truncated = model.truncated().ok()??;
    // A mode n times as fast takes some 1/n² of the path.
    let measure = (truncated.slowest / truncated.frequency).powi(2);
    (measure > SIGNIFICANT && dt * truncated.frequency < 1.0).then(|| {
        let text = format!(
            "modes from {} up, the first of `{}`, are truncated, and take about {:.0} % of the path: keep modes",
            quantity(three_digits(truncated.frequency / std::f64::consts::TAU), "Hz"),
            model.mechanism()[truncated.body].name,
            100.0 * measure.min(1.0)
        );
        Warning { kind: "modes", measure, unit: "of the path", text }
    })
}

/// The warning of loads that change the stiffness of a linear model.
pub fn prestress(model: &linear::Model, inputs: &Inputs) -> Option<Warning> {
    let what = "how far loads change the stiffness of the linear model";
    if let Some(warning) = unchecked(model.mechanism(), what) {
        return Some(warning);
    }
    let measure = model.prestress(inputs).filter(|part| *part > SIGNIFICANT)?;
    let text = format!(
        "loads and gravity change the stiffness by {:.0} % before anything moves far, which the linear model of `linear` leaves out; if \
         they compress it, they are {} of its buckling load: use `reduced`, `articulated` or `full`",
        100.0 * measure,
        three_digits(measure)
    );
    Some(Warning { kind: "prestress", measure, unit: "of the stiffness", text })
}

/// A number for people, to as many digits as matter.
pub fn three_digits(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// The warning of a pose whose estimate is beyond the error that the engine's model was made for; both over the radius.
pub fn beyond(engine: &str, bound: f64, estimate: f64) -> Option<Warning> {
    (estimate > bound).then(|| {
        let instead = if engine == "blended" { "use `reduced`" } else { "build one for a larger displacement" };
        let text = format!(
            "the pose is off by about {}, more than the bound of {} of the model: loads or set-points are beyond those it was built for; \
             {instead}, or use `full`",
            radii(estimate),
            radii(bound)
        );
        Warning { kind: "beyond", measure: estimate, unit: RADII, text }
    })
}

/// The part of the way to a pose that is too much of an error, and what of the radius is nothing.
const MOSTLY: f64 = 0.25;
const NOTHING: f64 = 1e-6;

/// The warning where a pose is off by much of the way that led to it, as near the load at which something buckles.
pub fn mostly_error(simulation: &mut dyn Simulation, estimate: f64) -> Option<Warning> {
    let (radius, start) = (simulation.mechanism().radius(), State::at_rest(simulation.mechanism()));
    let ways =
        start.poses.iter().zip(&simulation.state().poses).map(|(a, b)| (a.position - b.position).norm());
    let moved = ways.fold(0.0, f64::max) / radius;
    (estimate > MOSTLY * moved && estimate > NOTHING).then(|| {
        let text = format!(
            "the pose is off by about {}, but no link moves by more than {} to get there: the error is large against the motion, as \
             under small loads, or near a buckling load; use `full`",
            radii(estimate),
            radii(moved)
        );
        Warning { kind: "beyond", measure: estimate, unit: RADII, text }
    })
}

/// Above this estimate, over the radius, the estimate alone warns about the pose.
const SMALL: f64 = 0.05;

/// The warning where the pose leads to another equilibrium than the start does, so that its small estimate is not its error.
pub fn another(simulation: &mut dyn Simulation, estimate: f64) -> Option<Warning> {
    if estimate >= SMALL {
        return None;
    }
    if let Some(warning) = unchecked(simulation.mechanism(), "whether there is another equilibrium") {
        return Some(warning);
    }
    let measure = engines::other_equilibrium(simulation)?;
    let text = format!(
        "there is more than one equilibrium: from this pose the full mechanism settles {} from where it settles from the start, and the \
         estimate of {} is the distance to the nearer one",
        radii(measure),
        radii(estimate)
    );
    Some(Warning { kind: "another", measure, unit: RADII, text })
}

/// What happens on the way that the engine leaves out.
pub struct Watch {
    mechanism: Mechanism,
    engine: &'static str,
    /// Whether any joint has limits, and from where on going beyond them counts on the way, rad or radii: limits of engines that have them
    /// give way under a hit.
    limited: bool,
    beyond: f64,
    /// Whether any spring is linear only so far.
    ranged: bool,
    /// What finds overlaps of links that the engine does not touch with, and which these are.
    overlaps: Option<(Overlaps, Vec<bool>)>,
    /// Without contact, the balance of energy.
    balance: Option<Balance>,
    /// Of the linear model, where its effectors start, on a free base in its axes.
    starts: Vec<(EffectorId, Option<BodyId>, Pose)>,
    /// Whether the engine closes joints, so that what is open is an error.
    closes: bool,
    /// Steps between two looks for all but limits.
    pub stride: u64,
    /// The worst of each kind.
    pub found: Vec<Warning>,
}

/// How often overlaps are looked for in a run, and the least that counts, in radii.
const LOOKS: u64 = 64;
const DEEP: f64 = 1e-3;

/// How far an effector may go, in radii, turns over π counted with it, before the error of a linear model, which grows with the square, is 5 % of
/// that (a Y: 0.3 % of the radius at 0.19, 3.2 % at 0.62).
const FAR: f64 = 0.6;

/// How far all joints together are open, in radii, before it counts: what is in motion leaves 1e-6, and digits of a file 1e-4.
const OPEN: f64 = 1e-2;

/// How far a hit takes a joint beyond its limit before it counts, rad or radii.
const HIT: f64 = 0.02;

impl Watch {
    /// Before the first of so many steps; `effectors` are those that the user named, if any. `overlaps` finds what is inside of what; it is
    /// asked for where things touch and the engine does not touch with all of them.
    pub fn new(
        mechanism: &Mechanism,
        engine: Engine,
        effectors: &[String],
        (touches, overlaps): (bool, impl FnOnce() -> Option<Overlaps>),
        (simulation, steps): (&mut dyn Simulation, u64),
    ) -> Watch {
        let effectors: Vec<BodyId> = match effectors {
            [] => mechanism.effectors().iter().map(|e| e.body).collect(),
            names => {
                let body = |name: &String| {
                    let effector = mechanism.find_effector(name).map(|e| mechanism[e].body);
                    effector.or_else(|| mechanism.find_body(name))
                };
                names.iter().filter_map(body).collect()
            }
        };
        let loose = mechanism.loose();
        let passes = |body: BodyId| {
            let touches =
                mechanism.shapes_of(Some(body)).is_ok_and(|mut shapes| shapes.any(|shape| shape.touches));
            touches && !effectors.contains(&body) && !loose.contains(&body)
        };
        let untouched: Vec<bool> = mechanism.body_ids().map(passes).collect();
        let reduces = !matches!(engine, Engine::Full | Engine::Articulated | Engine::Reduced);
        let asked = touches && reduces && untouched.contains(&true);
        let overlaps = if asked { overlaps() } else { None };
        let mut freedoms = mechanism.joints().iter().flat_map(|joint| &joint.freedoms);
        let ranged = freedoms.clone().any(|f| f.linear_to.is_finite());
        let place = |id: EffectorId| {
            let base = base_of(mechanism, mechanism[id].body);
            Some((id, base, seen_from(simulation, base, id)?))
        };
        let ranges = engine == Engine::Linear;
        let starts = mechanism.effector_ids().filter(|_| ranges).filter_map(place).collect();
        let still =
            Some(&effectors).filter(|_| reduces).and_then(|effectors| still(mechanism, engine, effectors));
        Watch {
            engine: engine.name(),
            limited: freedoms.any(|f| f.lower.is_finite() || f.upper.is_finite()),
            beyond: if reduces { 0.0 } else { HIT },
            ranged,
            overlaps: overlaps.map(|overlaps| (overlaps, untouched)),
            balance: if touches { None } else { Balance::new(simulation) },
            starts,
            closes: !reduces,
            stride: steps.div_ceil(LOOKS).max(1),
            found: still.into_iter().collect(),
            mechanism: mechanism.clone(),
        }
    }

    /// Looks at where a step led.
    pub fn look(&mut self, simulation: &mut dyn Simulation, step: u64) {
        if self.limited {
            for warning in Warning::of_limits(&self.mechanism, self.engine, simulation.state()) {
                let size = if warning.unit == "m" { self.mechanism.radius() } else { 1.0 };
                if warning.measure > self.beyond * size {
                    Warning::keep_worst(&mut self.found, warning);
                }
            }
        }
        if self.ranged
            && let Some(warning) = Warning::of_ranges(&self.mechanism, simulation.state())
        {
            Warning::keep_worst(&mut self.found, warning);
        }
        if !step.is_multiple_of(self.stride) {
            return;
        }
        let open = if self.closes { simulation.violation() } else { 0.0 };
        if open > OPEN {
            let text = format!(
                "at {} s the gaps in all joints add up to {} of the radius: loads or speeds are too large for the step of `{}`; take a \
                 shorter step",
                three_digits(simulation.time()),
                three_digits(open),
                self.engine
            );
            Warning::keep_worst(
                &mut self.found,
                Warning { kind: "open joints", measure: open, unit: "of the radius", text },
            );
        }
        for (effector, base, start) in &self.starts {
            let Some(at) = seen_from(simulation, *base, *effector) else { continue };
            let turned = at.rotation.angle_to(&start.rotation) / std::f64::consts::PI;
            let moved = ((at.position - start.position).norm() / self.mechanism.radius()).hypot(turned);
            if moved > FAR {
                let text = format!(
                    "`{}` moves by {} of the radius at {} s, turns over π counted: the error of the linear model of `linear` grows with the \
                     square, and is more than 5 % of the motion beyond {FAR}; use `reduced`, which is exact in large motions",
                    self.mechanism[*effector].name,
                    three_digits(moved),
                    three_digits(simulation.time())
                );
                let warning = Warning { kind: "far", measure: moved, unit: "of the radius", text };
                Warning::keep_worst(&mut self.found, warning);
            }
        }
        if let Some(warning) = self.balance.as_mut().and_then(|balance| balance.look(simulation)) {
            Warning::keep_worst(&mut self.found, warning);
        }
        let Some((overlaps, untouched)) = self.overlaps.as_mut() else { return };
        let state = simulation.state();
        let time = state.time;
        let deepest = overlaps.deepest(state, |body| untouched[body.index()]);
        if let Ok(Some(Overlap { body, other, depth })) = deepest
            && depth > DEEP * self.mechanism.radius()
        {
            let text = format!(
                "`{body}` has no effector, and in the engine `{}` only bodies with an effector have contact ({} of those with shapes \
                 have none): it is {} deep in `{other}` at {} s; give it an [[effector]], or use `full` or `articulated`",
                self.engine,
                untouched.iter().filter(|untouched| **untouched).count(),
                quantity(three_digits(depth), "m"),
                three_digits(time)
            );
            let warning = Warning { kind: "untouchable", measure: depth, unit: "m", text };
            Warning::keep_worst(&mut self.found, warning);
        }
    }
}

/// The free base that carries a body, if it is not itself one.
fn base_of(mechanism: &Mechanism, body: BodyId) -> Option<BodyId> {
    let nodes = mechanism.order().nodes();
    let mut n = mechanism.order().node_of(body)?;
    while let Some(parent) = nodes[n].parent {
        n = parent;
    }
    Some(nodes[n].head).filter(|head| mechanism[*head].free)
}

/// Where an effector is, in the axes of its free base if it has one.
fn seen_from(simulation: &mut dyn Simulation, base: Option<BodyId>, effector: EffectorId) -> Option<Pose> {
    let at = simulation.effector_pose(effector).ok()?;
    let Some(base) = base else { return Some(at) };
    Some(simulation.pose(base).ok()?.inverse_times(&at))
}

/// The warning of parts of a mechanism that hold no effector, which engines of the effectors do not let swing.
fn still(mechanism: &Mechanism, engine: Engine, effectors: &[BodyId]) -> Option<Warning> {
    // Bodies that joints and couplings connect, each part by its first body.
    let mut part: Vec<usize> = (0..mechanism.bodies().len()).collect();
    let of = |joint: JointId| mechanism[joint].child.index();
    let joined = mechanism.joints().iter().filter_map(|j| Some((j.parent?.index(), j.child.index())));
    let coupled = mechanism.couplings().iter().map(|c| (of(c.joint), of(c.of)));
    for (a, b) in joined.chain(coupled) {
        let (one, other) = (part[a].min(part[b]), part[a].max(part[b]));
        part.iter_mut().filter(|part| **part == other).for_each(|part| *part = one);
    }
    let moved: Vec<usize> = effectors.iter().map(|body| part[body.index()]).collect();
    let left = mechanism.joints().iter().filter(|j| !moved.contains(&part[j.child.index()]));
    let left: Vec<&Joint> = left.filter(|joint| !joint.freedoms.is_empty()).collect();
    let name = &mechanism[left.first()?.child].name;
    let freedoms: usize = left.iter().map(|joint| joint.freedoms.len()).sum();
    let text = format!(
        "`{name}` is in a part of the mechanism without an effector: the engine `{}` keeps its {} in equilibrium and leaves out its \
         vibration; give it an [[effector]], or use `full` or `articulated`",
        engine.name(),
        count(freedoms, "freedom")
    );
    Some(Warning { kind: "parts", measure: freedoms as f64, unit: "freedoms", text })
}
