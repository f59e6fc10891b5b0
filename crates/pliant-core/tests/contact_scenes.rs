//! The gallery's scenes of contact, in every engine that takes part: what is grasped is held, what falls is caught, and who
//! walks arrives.

use nalgebra::Vector3;
use pliant_core::articulated;
use pliant_core::contact::{Actor, Scene, Surfaces};
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::mechanism::{Apart, Mechanism};
use pliant_core::nalgebra;
use pliant_core::reduced::{self, Reduction};

const H: f64 = 1.0 / 240.0;

struct Models<'m> {
    full: full::Model<'m>,
    articulated: articulated::Model<'m>,
    reduced: reduced::Model<'m>,
}

impl<'m> Models<'m> {
    fn new(held: &'m Mechanism) -> Models<'m> {
        Models {
            full: full::Model::new(held),
            articulated: articulated::Model::new(held),
            reduced: Reduction::at_rest(held).build().unwrap(),
        }
    }

    fn actor(&'m self, engine: &str) -> Actor<'m> {
        match engine {
            "full" => Actor::from(self.full.simulate()),
            "articulated" => Actor::from(self.articulated.simulate()),
            "reduced" => Actor::from(self.reduced.simulate()),
            _ => unreachable!(),
        }
    }
}

/// Goes on for so many seconds, following the targets; the deepest penetration and the largest residual.
fn run(scene: &mut Scene, seconds: f64, mut each: impl FnMut(&mut Scene)) -> (f64, f64) {
    let (mut deepest, mut worst) = (0.0f64, 0.0f64);
    let mechanism = scene.mechanism();
    for _ in 0..(seconds / H).round() as usize {
        if !mechanism.targets().is_empty() {
            let time = scene.world().time() + H;
            scene.inputs_mut().follow_targets(mechanism, time);
        }
        let report = scene.step(H).unwrap();
        deepest = deepest.max(report.penetration);
        worst = worst.max(report.residual);
        each(scene);
    }
    (deepest, worst)
}

fn scene<'m>(whole: &'m Mechanism, apart: &'m Apart, models: &'m Models<'m>, engine: &str) -> Scene<'m> {
    Scene::new(whole, apart, Some(models.actor(engine)), Surfaces::new()).unwrap()
}

#[test]
fn explore() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for entry in gallery::scenes() {
        if !entry.name.contains(&only) {
            continue;
        }
        let whole = entry.build();
        let apart = whole.take_apart();
        let models = Models::new(apart.held.as_ref().unwrap());
        for engine in ["full", "articulated", "reduced"] {
            let mut scene = scene(&whole, &apart, &models, engine);
            eprintln!("== {} {engine} {:?}", entry.name, scene.world().warnings());
            let body = if entry.name.contains("hexapod") { 0 } else { whole.bodies().len() - 1 };
            let start = std::time::Instant::now();
            let mut next = 0.0;
            let seconds = if entry.name.contains("hexapod") { 12.0 } else { 3.0 };
            let (deepest, worst) = run(&mut scene, seconds, |scene| {
                let time = scene.world().time();
                if time >= next {
                    next += seconds / 12.0;
                    let at: Vector3<f64> = scene.state().poses[body].position;
                    let report = scene.world().report();
                    eprintln!(
                        "{time:.2} {:.4} {:.4} {:.4}  {} {} {:.1e} {:.1e}",
                        at.x,
                        at.y,
                        at.z,
                        report.contacts,
                        report.pushing,
                        report.penetration,
                        report.residual
                    );
                }
            });
            if std::env::var("JOINTS").is_ok() {
                let state = scene.state().clone();
                for (j, joint) in whole.joints().iter().enumerate() {
                    let id = pliant_core::mechanism::JointId::from_index(j);
                    eprintln!(
                        "{} {:?} of {:?}",
                        joint.name,
                        state.coordinates_of(&whole, id),
                        scene.inputs().rest().get(whole.coordinates_of(id))
                    );
                }
            }
            eprintln!(
                "deepest {deepest:.2e} residual {worst:.2e}, {:.1} us a step",
                start.elapsed().as_secs_f64() * 1e6 / (seconds / H)
            );
        }
    }
}
