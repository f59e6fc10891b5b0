//! What an engine leaves out on the way of a run, as far as it can be seen from outside: limits that it passes, links that it
//! does not touch with, parts that it does not let swing.

use pliant::engine::{Inputs, Simulation, Warning};
use pliant::engines::Engine;
use pliant::linear;
use pliant::mechanism::{BodyId, Joint, JointId, Mechanism};

use crate::output::{count, quantity};
use crate::touching::{Overlap, Overlaps, Stage};

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

/// The warning of loads that change the stiffness of a linear model.
pub fn prestress(model: &linear::Model, inputs: &Inputs) -> Option<Warning> {
    let what = "how far loads change the stiffness of the linear model";
    if let Some(warning) = unchecked(model.mechanism(), what) {
        return Some(warning);
    }
    let measure = model.prestress(inputs).filter(|part| *part > SIGNIFICANT)?;
    let text = format!(
        "loads and gravity change the stiffness by {:.0} % before anything moves far, which the linear model of `linear` \
         leaves out; if they press, they are {} of those at which it would buckle: use `reduced`, `articulated` or `full`",
        100.0 * measure,
        three_digits(measure)
    );
    Some(Warning { kind: "prestress", measure, unit: "of the stiffness", text })
}

/// A number for people that nobody needs to know better.
pub fn three_digits(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// What happens on the way that the engine leaves out.
pub struct Watch {
    mechanism: Mechanism,
    engine: &'static str,
    /// Whether any joint has limits, and from where on going beyond them counts on the way, rad or radii: limits of engines that have them
    /// give way under a hit.
    limited: bool,
    beyond: f64,
    /// What finds overlaps of links that the engine does not touch with, and which these are.
    overlaps: Option<(Overlaps, Vec<bool>)>,
    /// Steps between two looks for them.
    stride: u64,
    /// The worst of each kind.
    pub found: Vec<Warning>,
}

/// How often overlaps are looked for in a run, and the least that counts, in radii.
const LOOKS: u64 = 64;
const DEEP: f64 = 1e-3;

/// How far a hit takes a joint beyond its limit before it counts, rad or radii.
const HIT: f64 = 0.02;

impl Watch {
    /// Before the first of so many steps; `effectors` are those that the user named, if any.
    pub fn new(
        mechanism: &Mechanism,
        engine: Engine,
        effectors: &[String],
        stage: Option<&Stage>,
        steps: u64,
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
            let touches = mechanism[body].shapes.iter().any(|shape| shape.touches);
            touches && !effectors.contains(&body) && !loose.contains(&body)
        };
        let untouched: Vec<bool> = mechanism.body_ids().map(passes).collect();
        let reduces = !matches!(engine, Engine::Full | Engine::Articulated | Engine::Reduced);
        let overlaps = stage
            .filter(|_| reduces && untouched.contains(&true))
            .and_then(|stage| stage.overlaps().ok().flatten());
        let mut freedoms = mechanism.joints().iter().flat_map(|joint| &joint.freedoms);
        let still =
            Some(&effectors).filter(|_| reduces).and_then(|effectors| still(mechanism, engine, effectors));
        Watch {
            engine: engine.name(),
            limited: freedoms.any(|f| f.lower.is_finite() || f.upper.is_finite()),
            beyond: if reduces { 0.0 } else { HIT },
            overlaps: overlaps.map(|overlaps| (overlaps, untouched)),
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
        let Some((overlaps, untouched)) = self.overlaps.as_mut().filter(|_| step.is_multiple_of(self.stride))
        else {
            return;
        };
        let state = simulation.state();
        let time = state.time;
        let deepest = overlaps.deepest(state, |body| untouched[body.index()]);
        if let Ok(Some(Overlap { body, other, depth })) = deepest
            && depth > DEEP * self.mechanism.radius()
        {
            let text = format!(
                "`{body}` carries no effector, and the engine `{}` touches only with bodies that do ({} of those with shapes \
                 do not): it is {} deep in `{other}` at {} s; give it an [[effector]], or use `full` or `articulated`",
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

/// What to tell of parts of a mechanism that hold no effector, which engines of the effectors do not let swing.
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
        "`{name}` is of a part of the mechanism without an effector: the engine `{}` has its {} at rest under what acts, and \
         does not let it swing; give it an [[effector]], or use `full` or `articulated`",
        engine.name(),
        count(freedoms, "freedom")
    );
    Some(Warning { kind: "parts", measure: freedoms as f64, unit: "freedoms", text })
}
