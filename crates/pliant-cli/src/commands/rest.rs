//! `pliant statics` of what touches: where a scene rests, with what forces, and how much friction that needs.

use pliant::contact::{Contact, Grip, Rest, Scene};
use pliant::engine::{Inputs, Simulation, Warning};
use pliant::mechanism::Mechanism;
use serde_json::{Value, json};

use crate::choosing::EngineArgument;
use crate::failure::Failure;
use crate::output::{Answer, count, listing, quantity, table};
use crate::report;
use crate::touching::{self, Stage};

/// Where a scene rests on what it touches, from where it starts; `None` if it cannot be put together, because things start inside each
/// other.
pub fn on_what_it_touches(
    stage: &Stage,
    inputs: &Inputs,
    mechanism: &Mechanism,
    counted: Vec<Warning>,
) -> Option<Result<Answer, Failure>> {
    // Rest is the same in both engines with every freedom: the faster one looks for it, and in joint coordinates nothing tears.
    let (engine, _) = EngineArgument::Auto.choose(stage.held(), false);
    let simulation = stage.held().map(|held| engine.simulate(held)).transpose().ok()?;
    let mut scene = stage.scene(simulation).ok()?;
    scene.inputs_mut().clone_from(inputs);
    let unsettled = |failure: Failure| failure.detail("converged", false);
    let rest = match scene.rest_with_margin() {
        Ok(rest) => rest,
        Err(error) => return Some(Err(unsettled(Failure::job(error)))),
    };
    if !rest.converged {
        return Some(Err(unsettled(Failure::job(unheld(&rest)))));
    }
    Some(Ok(answer(&rest, &mut scene, mechanism, counted)))
}

/// What to tell where nothing comes to rest.
fn unheld(rest: &Rest) -> String {
    match &rest.unheld {
        Some((body, true)) => format!(
            "nothing holds body `{body}`: it slides, rolls or tips on what it touches; more friction or another start may hold it, and \
             `pliant simulate` shows where it goes"
        ),
        Some((body, false)) => {
            format!("nothing holds body `{body}`: it falls; put something below it, or a joint that holds it")
        }
        None => format!(
            "no rest was found in {}: it still moves by {} a step; `pliant simulate` shows where it goes",
            count(rest.steps, "step"),
            quantity(rest.moved, "m")
        ),
    }
}

fn answer(rest: &Rest, scene: &mut Scene, mechanism: &Mechanism, mut counted: Vec<Warning>) -> Answer {
    let mut json = report::state(scene);
    let contacts: Vec<Value> = pushing(scene)
        .map(|contact| {
            let mut about = touching::contact(scene, contact);
            about.insert("friction_used".into(), contact.friction_used().into());
            about.insert("sticks".into(), (contact.grip() == Grip::Sticks).into());
            about.into()
        })
        .collect();
    json.insert("converged".into(), true.into());
    json.insert("iterations".into(), rest.steps.into());
    json.insert("residual".into(), rest.moved.into());
    json.insert("friction_needed".into(), json!(rest.friction_needed));
    json.insert("contacts".into(), contacts.into());
    let needed = rest.friction_needed.unwrap_or(1.0);
    let friction = match needed {
        0.0 => "none: it rests without".to_string(),
        needed => format!("{:.1} % of what there is", 100.0 * needed),
    };
    let slipping = pushing(scene).filter(|contact| contact.grip() == Grip::Slips).count();
    let rows = vec![
        ("at rest", format!("after {}", count(rest.steps, "step"))),
        ("contacts", format!("{}, {slipping} at the limit of their friction", pushing(scene).count())),
        ("friction needed", friction),
    ];
    let rows = rows.into_iter().chain(report::largest_motions(scene));
    let text = format!("{}\n{}\n{}", listing(rows), contact_table(scene), report::effector_table(scene));
    counted.extend((needed > NEARLY).then(|| Warning {
        kind: "about to slip",
        measure: needed,
        unit: "of the friction",
        text: format!("it needs {:.1} % of the friction that there is: it is about to slip", 100.0 * needed),
    }));
    Answer::warned(text, mechanism.warnings(), counted, json.into())
}

/// A rest that needs more of its friction is warned about.
const NEARLY: f64 = 0.98;

fn pushing(scene: &Scene) -> impl Iterator<Item = &Contact> {
    scene.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0)
}

/// Each point with its force and what part of its friction is in use.
fn contact_table(scene: &Scene) -> String {
    let header = ["CONTACT", "ON", "X", "Y", "Z", "PRESSES", "ALONG", "FRICTION IN USE"];
    let mut rows = vec![header.map(String::from).to_vec()];
    for contact in pushing(scene) {
        let presses = contact.force.dot(&contact.normal);
        let along = (contact.force - contact.normal * presses).norm();
        let used = format!("{:.0} %", 100.0 * contact.friction_used());
        let names = [contact.first, contact.second].map(|one| touching::name(scene, one).to_string());
        let place = contact.point.iter().map(|x| quantity(*x, "m"));
        let forces = [quantity(presses, "N"), quantity(along, "N"), used];
        rows.push(names.into_iter().chain(place).chain(forces).collect());
    }
    if rows.len() == 1 { "nothing touches\n".into() } else { table(&rows) }
}
