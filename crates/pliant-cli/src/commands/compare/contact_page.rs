//! The page of a scene of contact: every engine against the full one, in words and drawings.

use std::fmt::Write as _;

use pliant::contact::Surfaces;
use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector3;
use pliant::spatial::Pose;

use super::contact_comparison::{ContactComparison, Moment, Run};
use super::drawing::{View, arrows};
use super::lead::loads;
use super::motion;
use super::skeleton::Skeleton;
use super::verdict::{BAD, Verdict, is_deep, is_pushed, red};
use crate::output::quantity;
use crate::page::plot::{Axis, Mark, Plot, Series};
use crate::page::text::{count, escape, figure, prose, significant, time};
use crate::page::{bound, head, table};

/// Points of a line over time, at most.
const LINE: usize = 600;

/// Residuals below this, m/s, are drawn at the edge of a plot.
const FLOOR: f64 = 1e-12;

/// Distances below this, mm, are as good as none; where the largest of one engine is more than so many times that of another,
/// their axis has powers of ten.
const NEAR: f64 = 1e-6;
const FAR: f64 = 10.0;

/// The colour of an engine on the page, of its line, and of the player's.
fn class(engine: &str) -> [&'static str; 2] {
    match engine {
        "full" => ["full", "full wide"],
        "articulated" => ["articulated", "articulated dotted"],
        "linear" => ["joint", "joint dashed"],
        "reduced" => ["reduced", "reduced dashed"],
        _ => ["blended", "blended dashed"],
    }
}

/// A length for people, in the unit that suits it.
pub fn length(metres: f64) -> String {
    match metres {
        0.0 => "0 mm".into(),
        x if x < 0.999e-9 => "< 1 nm".into(),
        x if x < 1e-7 => format!("{} nm", figure(x * 1e9)),
        x if x < 1e-5 => format!("{} µm", figure(x * 1e6)),
        x if x < 1.0 => format!("{} mm", figure(x * 1e3)),
        x => format!("{} m", figure(x)),
    }
}

/// A length that nothing exceeds, in a sentence.
fn at_most(metres: f64) -> String {
    length(if metres > 0.0 { metres.max(1e-9) } else { metres })
}

/// The largest of some numbers.
pub fn most(of: impl Iterator<Item = f64>) -> f64 {
    of.fold(0.0, f64::max)
}

/// The length of a step for people: 1/240 s, not 0.004166666666666667 s.
fn step_length(dt: f64) -> String {
    let per_second = (1.0 / dt).round();
    let part = (per_second * dt - 1.0).abs() < 1e-9 && per_second > 1.0;
    if part { format!("1/{per_second} s") } else { quantity(dt, "s") }
}

/// The point of the page in a few sentences.
pub fn lead(compared: &ContactComparison) -> String {
    let mut text = format!(
        "{} s of contact in steps of {}",
        figure(compared.steps as f64 * compared.dt),
        step_length(compared.dt)
    );
    if let Some([median, _]) = compared.runs[0].taken {
        let _ = write!(text, ", of which the full simulation takes {} each", time(median));
    }
    let exact = compared.exact().map_or("full", |(engine, _)| engine);
    if exact != "full" {
        let _ = write!(text, "; the fastest engine with every freedom is {exact}");
    }
    text.push('.');
    let others: Vec<String> = (compared.runs[1..].iter())
        .map(|run| {
            let fast = match (run.taken, compared.gain(run)) {
                (Some([own, _]), _) if run.engine == exact => format!("takes {}", time(own)),
                (Some([own, _]), Some(gain)) => {
                    format!("takes {} ({} times as fast as {exact})", time(own), significant(gain, 2))
                }
                _ => "does not get far".into(),
            };
            let furthest = at_most(most(compared.distances(run).into_iter()));
            format!("{} {fast} and is at most {furthest} from it", run.engine)
        })
        .collect();
    if !others.is_empty() {
        let _ = write!(text, " Of the others, {}.", others.join("; "));
    }
    let deepest = most(compared.runs.iter().map(|run| run.worst.penetration));
    let _ = write!(text, " No overlap is deeper than {}.", at_most(deepest));
    text
}

/// What else a reader should know, in sentences.
pub fn notes(compared: &ContactComparison) -> Vec<String> {
    let mut notes: Vec<String> = compared.warnings.iter().map(|warning| warning.text.clone()).collect();
    notes.extend(
        compared.absent.iter().map(|(engine, why)| format!("The engine {engine} is left out: {why}.")),
    );
    for run in &compared.runs {
        let stopped = run.stopped.as_ref();
        notes.extend(stopped.map(|why| format!("The engine {} ends early: {why}.", run.engine)));
    }
    notes
}

pub fn page(
    name: &str,
    mechanism: &Mechanism,
    surfaces: &Surfaces,
    skeleton: &Skeleton,
    compared: &ContactComparison,
) -> String {
    let mut html = String::new();
    Page { name, mechanism, surfaces, skeleton, compared }.write(&mut html).expect("strings take everything");
    html
}

struct Page<'a> {
    name: &'a str,
    mechanism: &'a Mechanism,
    surfaces: &'a Surfaces,
    skeleton: &'a Skeleton,
    compared: &'a ContactComparison,
}

impl<'a> Page<'a> {
    fn write(&self, html: &mut String) -> std::fmt::Result {
        let name = escape(self.name);
        let compared = self.compared;
        html.push_str(&head(&format!("{}: engines in contact", self.name)));
        html.push_str(&Verdict::of_contact(compared, self.mechanism.radius()).html());
        writeln!(html, "<p class=\"lead\">{}</p>", escape(&lead(compared)))?;
        writeln!(
            html,
            "<p class=\"muted\">The <b class=\"full\">full</b> simulation computes every link, joint and contact in every step and is \
             the reference here. Every engine runs the whole scene on its own, so a contact that breaks slightly earlier may send a \
             loose body elsewhere. Here: {}, {}, {} and {}; {}.</p>",
            count(self.mechanism.bodies().len(), "body", "bodies"),
            match self.mechanism.loose().len() {
                0 => "none of them loose".into(),
                n => format!("{n} of them loose"),
            },
            count(self.mechanism.joints().len(), "joint", "joints"),
            count(self.mechanism.world_shapes().len(), "shape of the world", "shapes of the world"),
            escape(&loads(self.mechanism)),
        )?;
        for note in notes(compared) {
            writeln!(html, "<p class=\"note\">{}</p>", prose(&note))?;
        }
        self.table(html)?;
        let played = self.player(html)?;
        self.plots(html)?;
        writeln!(
            html,
            "<footer class=\"muted\"><p>Made by <code>pliant compare {name}</code>, version {}. Rest under rising loads and natural frequencies \
             are left out: they are available without contact (<code>--no-contact</code>). Times were measured on one thread of the machine that \
             made this page; everything else is reproducible.</p></footer>\n</main>",
            env!("CARGO_PKG_VERSION")
        )?;
        *html = bound(html);
        html.push_str(&played);
        Ok(())
    }

    fn table(&self, html: &mut String) -> std::fmt::Result {
        let compared = self.compared;
        let effector = compared.loaded.map(|effector| self.mechanism[effector].name.as_str());
        let force = effector.map(|name| format!("force on<br/>“{}”, largest", escape(name)));
        let faster = format!("as fast as<br/>{}", compared.exact().map_or("full", |(engine, _)| engine));
        let head = [
            "engine",
            "median step",
            &faster,
            "distance from<br/>full, largest",
            "at the end",
            "penetration,<br/>largest",
            "residual,<br/>largest",
        ];
        let rows = compared.runs.iter().map(|run| {
            let distances = compared.distances(run);
            let of_full = run.engine == "full";
            let radius = self.mechanism.radius();
            let far = |metres: f64| red(&length(metres), metres > BAD * radius);
            let distance = |metres: f64| if of_full { "–".into() } else { far(metres) };
            let ratio = compared.gain(run).map(|gain| format!("× {}", significant(gain, 2)));
            let [class, _] = class(run.engine);
            let mut cells = vec![
                format!("<b class=\"{class}\">{}</b>", run.engine),
                run.taken.map_or("–".into(), |[median, _]| time(median)),
                ratio.unwrap_or("–".into()),
                distance(most(distances.iter().copied())),
                distance(distances.last().copied().unwrap_or(0.0)),
                red(&length(run.worst.penetration), is_deep(run.worst.penetration, radius)),
                red(&format!("{} m/s", significant(run.worst.residual, 2)), is_pushed(run.worst.residual)),
            ];
            cells.extend(compared.forces(run).map(|forces| format!("{} N", figure(most(forces)))));
            cells
        });
        writeln!(
            html,
            "<h2>The engines</h2>\n{}<p class=\"muted\">The distance is that of the effector or loose body that is furthest off. The residual \
             is how far the forces of a step are from Coulomb's law.</p>",
            table(head.into_iter().chain(force.as_deref()), rows)
        )
    }

    /// The motion; gives the end of the page, with what the player plays.
    fn player(&self, html: &mut String) -> Result<String, std::fmt::Error> {
        let compared = self.compared;
        let full = &compared.runs[0];
        let moving = || full.frames.iter().flat_map(|(_, poses)| self.skeleton.place(poses));
        let low = moving().fold(Vector3::repeat(f64::INFINITY), |a, b| a.inf(&b));
        let high = moving().fold(Vector3::repeat(f64::NEG_INFINITY), |a, b| a.sup(&b));
        let points = [low, high];
        let view = View::of(&points);
        let [width, tall] = view.extent(&points);
        let height = (1000.0 * tall / width + 140.0).clamp(240.0, 460.0).round();
        writeln!(
            html,
            "<h2>The motion</h2>\n<p class=\"muted\">From the file's pose at rest, {} in steps of {}. Drag to turn the view.</p>",
            if self.mechanism.targets().is_empty() {
                "the loads applied at once,"
            } else {
                "following the scene's targets,"
            },
            step_length(compared.dt)
        )?;
        let others: Vec<(&str, &str)> =
            compared.runs[1..].iter().map(|run| (class(run.engine)[0], run.engine)).collect();
        html.push_str(&motion::player(height, "engine", &others));
        // A run that stopped early stays where it stopped.
        let frames = |run: &'a Run| -> Vec<&'a [Pose]> {
            let last = run.frames.len() - 1;
            (0..full.frames.len()).map(|k| run.frames[k.min(last)].1.as_slice()).collect()
        };
        let runs = compared.runs.iter().map(|run| (class(run.engine)[0], frames(run))).collect();
        let times = full.frames.iter().map(|(time, _)| *time).collect();
        Ok(motion::tail(self.mechanism, self.surfaces, (&view, &arrows(self.mechanism)), times, runs))
    }

    fn plots(&self, html: &mut String) -> std::fmt::Result {
        let compared = self.compared;
        let line = |values: &[f64]| -> Vec<[f64; 2]> {
            // The largest of each stretch, so that no peak is lost.
            let every = values.len().div_ceil(LINE).max(1);
            let stretch =
                |(k, some): (usize, &[f64])| [(k * every) as f64 * compared.dt, most(some.iter().copied())];
            values.chunks(every).enumerate().map(stretch).collect()
        };
        let series = |run: &Run, values: Vec<f64>| Series {
            name: run.engine.into(),
            class: class(run.engine)[1],
            points: line(&values),
            mark: Mark::Line,
        };
        let each = |of: &dyn Fn(&Moment) -> f64| -> Vec<Series> {
            compared.runs.iter().map(|run| series(run, run.path.iter().map(of).collect())).collect()
        };
        let plot = |id, title: String, y, series| Plot {
            id,
            title,
            description: "One line for each engine that differs.".into(),
            x: Axis::linear("time, s"),
            y,
            series,
            marks: Vec::new(),
        };
        let mut plots = Vec::new();
        if compared.runs.len() > 1 {
            let distances: Vec<Series> = (compared.runs[1..].iter())
                .map(|run| series(run, compared.distances(run).iter().map(|m| m * 1e3).collect()))
                .collect();
            // Where one engine is much further off than another, powers of ten show both.
            let ends = distances.iter().map(|line| most(line.points.iter().map(|p| p[1])).max(NEAR));
            let least = ends.clone().fold(f64::INFINITY, f64::min);
            let label = "distance, mm";
            let (axis, below) = match most(ends) > FAR * least {
                true => {
                    // The lines of the nearest engine have three decades.
                    let floor = 10f64.powf((least * 1e-3).max(NEAR).log10().floor());
                    let edge = length(floor * 1e-3);
                    (Axis::log(label, floor), format!(" Values below {edge} are drawn at the lower edge."))
                }
                false => (Axis::linear(label), String::new()),
            };
            let title = "Largest distance of effectors and loose bodies from the full simulation over time";
            plots.push((
                "Distance from the full simulation",
                format!("Of the effector or loose body that is furthest off.{below}"),
                Plot { description: lead(compared), ..plot("distance", title.into(), axis, distances) },
            ));
        }
        if let Some(effector) = compared.loaded {
            let name = &self.mechanism[effector].name;
            let title = format!("Force of contact on effector {name} over time");
            plots.push((
                "Force of contact",
                format!("On the body of the effector “{name}”, which carries the largest force."),
                plot("force", title, Axis::linear("force, N"), each(&|m| m.forces[effector.index()])),
            ));
        }
        let title = "Largest penetration over time".into();
        plots.push((
            "Penetration",
            "How deep the deepest contact is at the start of a step.".into(),
            plot("penetration", title, Axis::linear("penetration, mm"), each(&|m| m.penetration * 1e3)),
        ));
        let title = "Residual of the contact solver over time".into();
        plots.push((
            "Residual of the solver",
            "How far the forces of a step are from Coulomb's law, as a speed.".into(),
            plot("residual", title, Axis::log("residual, m/s", FLOOR), each(&|m| m.residual)),
        ));
        writeln!(html, "<h2>Over time</h2>\n<div class=\"pair\">")?;
        for (title, caption, plot) in plots {
            html.push_str(&plot.figure(title, &escape(&caption)));
        }
        writeln!(html, "</div>")
    }
}
