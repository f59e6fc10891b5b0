//! The page: what was measured, told to somebody who has read no documentation, then shown.

use std::fmt::Write as _;

use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector3;
use pliant::spatial::Pose;
use pliant::state::State;
use serde_json::Value;

use super::drawing::{Arrow, Drawing, Figure, View, arrows};
use super::lead::{lead, loads};
use super::measure::{
    AtRest, Comparison, DEFAULT, Frequencies, LinkError, MODES, Moment, RECONSTRUCTIONS, Ramp, Sample, size,
};
use super::motion;
use super::skeleton::Skeleton;
use crate::page::head;
use crate::page::plot::{Axis, Bar, Mark, Plot, Scale, Series, bars};
use crate::page::text::{count, escape, figure, percent, percent_cell, prose, significant, time};

/// Ratios below this are drawn at the edge of a plot.
const FLOOR: f64 = 1e-6;

/// Rows of a table that is meant to be read, about.
const ROWS: usize = 8;

/// Points of a line over time, at most.
const LINE: usize = 600;

/// The whole page.
pub fn page(name: &str, mechanism: &Mechanism, skeleton: &Skeleton, comparison: &Comparison) -> String {
    let places = Places::new(mechanism, skeleton, comparison);
    let page = Page { name, mechanism, skeleton, comparison, places };
    let mut html = String::new();
    page.write(&mut html).expect("strings take everything");
    html
}

/// The end of a page, with what the player plays.
pub fn tail(data: &Value) -> String {
    // A name must not end the element.
    let data = data.to_string().replace('<', "\\u003c");
    format!(
        "<script type=\"application/json\" id=\"motion-data\">{data}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
        motion::SCRIPT
    )
}

/// Where drawings look from, and the loads they show.
struct Places {
    view: View,
    arrows: Vec<Arrow>,
    /// Height of the player, px.
    height: f64,
}

impl Places {
    fn new(mechanism: &Mechanism, skeleton: &Skeleton, comparison: &Comparison) -> Places {
        let frames = &comparison.transient.frames;
        let some = frames.iter().step_by(frames.len().div_ceil(12).max(1));
        let mut points: Vec<Vector3<f64>> = some.flat_map(|f| skeleton.place(&f.full)).collect();
        if let Some(settled) = comparison.ramp.as_ref().ok().and_then(|r| r.scene.as_ref()) {
            points.extend(skeleton.place(&settled.full.poses));
        }
        let view = View::of(&points);
        let [width, height] = view.extent(&points);
        let height = (1000.0 * height / width + 140.0).clamp(240.0, 460.0).round();
        Places { view, arrows: arrows(mechanism), height }
    }
}

struct Page<'a> {
    name: &'a str,
    mechanism: &'a Mechanism,
    skeleton: &'a Skeleton,
    comparison: &'a Comparison,
    places: Places,
}

impl Page<'_> {
    fn write(&self, html: &mut String) -> std::fmt::Result {
        let name = escape(self.name);
        html.push_str(&head(&format!("{}: full against reduced", self.name)));
        self.lead(html)?;
        self.cards(html)?;
        for note in &self.comparison.notes {
            writeln!(html, "<p class=\"note\">{}</p>", prose(note))?;
        }
        self.drawings(html)?;
        self.player(html)?;
        self.paths(html)?;
        self.errors(html)?;
        self.speed(html)?;
        self.frequencies(html)?;
        writeln!(
            html,
            "<footer class=\"muted\"><p>Made by <code>pliant compare {name}</code>, version {}. Errors and gaps are over the \
             mechanism's radius, {} m: that of the ball around all its joints and links. Times were measured on one thread of the \
             machine that made this page; everything else comes out the same again.</p></footer>\n</main>",
            env!("CARGO_PKG_VERSION"),
            figure(size(self.mechanism))
        )?;
        let frames = &self.comparison.transient.frames;
        let place = |poses: &[Pose]| self.skeleton.place(poses);
        let played = motion::Played {
            times: frames.iter().map(|f| f.time).collect(),
            sets: vec![
                ("full", frames.iter().map(|f| place(&f.full)).collect()),
                ("joint", frames.iter().map(|f| place(&f.reduced[DEFAULT])).collect()),
                ("twist", frames.iter().map(|f| place(&f.reduced[0])).collect()),
            ],
            world: Vec::new(),
        };
        let Places { view, arrows, .. } = &self.places;
        html.push_str(&tail(&motion::data(self.mechanism, self.skeleton, view, arrows, &played)));
        Ok(())
    }

    /// The point, in two sentences, with the figures just measured.
    fn lead(&self, html: &mut String) -> std::fmt::Result {
        writeln!(html, "<p class=\"lead\">{}</p>", escape(&lead(self.mechanism, self.comparison)))?;
        let kind = if self.comparison.free_base { " with a free base" } else { "" };
        let summary = self.mechanism.summary();
        let loops = match summary.loops {
            0 => "no loop".into(),
            n => count(n, "loop", "loops"),
        };
        writeln!(
            html,
            "<p class=\"muted\">The <b class=\"full\">full</b> simulation computes every link and joint in every step. The <b class=\"joint\">reduced</b> \
             model is computed once, at the pose of the file: it knows how the {} and takes all other links along. It is exact for \
             small motions and drifts off as they grow. Here: {}{kind}, {}, {loops}; {}.</p>",
            if self.mechanism.effectors().len() == 1 { "effector moves" } else { "effectors move" },
            count(summary.bodies, "link", "links"),
            count(summary.joints, "joint", "joints"),
            escape(&loads(self.mechanism)),
        )
    }

    fn cards(&self, html: &mut String) -> std::fmt::Result {
        let Comparison { speed, ramp, transient, .. } = self.comparison;
        html.push_str("<ul class=\"cards\">\n");
        let mut card = |value: String, what: String| {
            let _ = writeln!(html, "<li><b>{}</b><span>{}</span></li>", escape(&value), escape(&what));
        };
        card(
            count(self.comparison.coordinates, "coordinate", "coordinates"),
            format!("instead of {}", count(self.mechanism.bodies().len(), "body", "bodies")),
        );
        if let (Some(full), Some(reduced)) = (speed.full, speed.reduced[DEFAULT]) {
            card(
                format!("× {}", significant(full / reduced, 2)),
                format!("as fast: {} a step instead of {}", time(reduced), time(full)),
            );
        }
        if let Some(sample) = ramp.as_ref().ok().and_then(Ramp::at_scene) {
            card(
                percent_cell(sample.effector),
                format!(
                    "of the radius is the effector off at rest, after moving {}",
                    percent(sample.displacement)
                ),
            );
        }
        card(percent_cell(transient.max_error()), "of the radius is it off at most in motion".into());
        html.push_str("</ul>\n");
        Ok(())
    }

    fn drawings(&self, html: &mut String) -> std::fmt::Result {
        let view = if self.places.view.planar { "Seen face-on" } else { "Seen from a corner, z upwards" };
        let outlines = match self.skeleton.outlines.is_empty() {
            true => "",
            false => ", thin lines the rims of discs and where formulas of joints lead",
        };
        writeln!(
            html,
            "<h2>The mechanism</h2>\n<p class=\"muted\">{view}, true to scale; circles are effectors, dots joints, triangles what \
             holds on to the world{outlines}. <b class=\"joint\">joint</b> turns each joint by the angle that the model gives it, so that nothing \
             comes apart; <b class=\"twist\">twist</b> moves each link by itself, the faster way, and joints open as the motion \
             grows.</p>\n<div class=\"pair\">"
        )?;
        let ramp = self.comparison.ramp.as_ref().ok();
        let settled = [ramp.and_then(|ramp| ramp.scene.as_ref()), ramp.and_then(|ramp| ramp.far.as_ref())];
        for (settled, id) in settled.into_iter().zip(["drawing-scene", "drawing-far"]) {
            let Some(settled) = settled else { continue };
            let load = match settled.scale {
                1.0 => "the scene's load".to_string(),
                times => format!("{} times the scene's load", figure(times)),
            };
            let title = format!("At rest under {load}");
            let caption = format!("The effector moves by {} of the radius.", percent(settled.displacement));
            let poses = (&settled.full.poses[..], &settled.reduced);
            self.drawing(html, id, (&title, &caption), poses, settled.scale)?;
        }
        if settled[0].is_none() {
            // The moment at which the two are furthest apart.
            let frames = &self.comparison.transient.frames;
            let apart = |k: usize| -> f64 {
                let both = frames[k].full.iter().zip(&frames[k].reduced[DEFAULT]);
                both.map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max)
            };
            let worst = (0..frames.len()).max_by(|&a, &b| apart(a).total_cmp(&apart(b))).unwrap_or(0);
            let title = format!("In motion, {} s after the start", figure(frames[worst].time));
            let caption = format!(
                "Where full and joint are furthest apart: {} of the radius.",
                percent(apart(worst) / size(self.mechanism))
            );
            let poses = (&frames[worst].full[..], &frames[worst].reduced);
            self.drawing(html, "drawing-moving", (&title, &caption), poses, 1.0)?;
        }
        writeln!(html, "</div>")
    }

    fn drawing(
        &self,
        html: &mut String,
        id: &'static str,
        (title, caption): (&str, &str),
        (full, reduced): (&[Pose], &[Vec<Pose>; 3]),
        scale: f64,
    ) -> std::fmt::Result {
        let rest = State::at_rest(self.mechanism).poses;
        let [rest, full, twist, joint] =
            [&rest, full, &reduced[0], &reduced[DEFAULT]].map(|poses| self.skeleton.place(poses));
        let drawing = Drawing {
            id,
            title: format!("{title}: the mechanism in {}, full, and reduced in two ways", self.start()),
            skeleton: self.skeleton,
            view: &self.places.view,
            figures: vec![
                Figure { name: self.start().trim_start_matches("the "), class: "rest", points: &rest },
                Figure { name: "full", class: "full", points: &full },
                Figure { name: "reduced, twist", class: "twist", points: &twist },
                Figure { name: "reduced, joint", class: "joint dashed", points: &joint },
            ],
            arrows: &self.places.arrows,
            loaded: 1,
            load_scale: scale,
        };
        writeln!(
            html,
            "<figure><h3>{title}</h3>\n{}<figcaption>{caption}</figcaption></figure>",
            drawing.svg()
        )
    }

    /// What the pose is called in which all starts.
    fn start(&self) -> &'static str {
        if self.mechanism.start().is_some() { "the start pose" } else { "the file's pose" }
    }

    fn player(&self, html: &mut String) -> std::fmt::Result {
        let transient = &self.comparison.transient;
        writeln!(
            html,
            "<h2>The motion</h2>\n<p class=\"muted\">From {} at rest, {} in steps of {}. Drag to look from elsewhere.</p>",
            self.start(),
            if self.mechanism.targets().is_empty() {
                "the loads put on at once,"
            } else {
                "following the scene's targets,"
            },
            time(transient.dt * 1e6)
        )?;
        if let Some(why) = &transient.stopped {
            writeln!(html, "<p class=\"note\">It ends early: {}.</p>", escape(why.trim_end_matches('.')))?;
        }
        let links = [("joint", "joint"), ("twist", "twist")];
        html.push_str(&motion::player(self.places.height, "reduced, links by", &links));
        Ok(())
    }

    fn paths(&self, html: &mut String) -> std::fmt::Result {
        let transient = &self.comparison.transient;
        let effector = &self.mechanism.effectors()[transient.effector].name;
        let every = transient.path.len().div_ceil(LINE).max(1);
        let line = |of: &dyn Fn(&Moment) -> f64| -> Vec<[f64; 2]> {
            thinned(&transient.path.iter().map(of).collect::<Vec<_>>(), every, transient.dt)
        };
        let series = |name: &str, class, of: &dyn Fn(&Moment) -> f64| Series {
            name: name.into(),
            class,
            points: line(of),
            mark: Mark::Line,
        };
        let richer = format!("reduced, with {MODES} modes");
        let d = transient.direction;
        let direction = [d.x, d.y, d.z].map(|x| significant((x * 100.0).round() / 100.0, 2)).join(", ");
        let seconds = || Axis { label: "time, s".into(), scale: Scale::Linear, percent: false };
        let path = Plot {
            id: "path",
            title: format!("Displacement of effector {effector} over time"),
            description: format!(
                "Three lines; full and reduced are at most {} of the radius apart.",
                percent(transient.max_error())
            ),
            x: seconds(),
            y: Axis { label: "displacement, m".into(), scale: Scale::Linear, percent: false },
            series: vec![
                series("full", "full wide", &|at| at.along[0]),
                series("reduced", "joint dashed", &|at| at.along[1]),
                series(&richer, "corrected dotted", &|at| at.along[2]),
            ],
            marks: Vec::new(),
        };
        let apart = Plot {
            id: "apart",
            title: "Distance of the effectors from the full simulation's over time".into(),
            description: format!(
                "At most {} and {} at the end.",
                percent(transient.max_error()),
                percent(transient.final_error())
            ),
            x: seconds(),
            y: Axis { label: "distance over radius".into(), scale: Scale::Linear, percent: true },
            series: [
                series("reduced", "joint", &|at| at.error[0]),
                series(&richer, "corrected dotted", &|at| at.error[1]),
            ]
            .into_iter()
            .chain(transient.others.iter().map(|other| Series {
                name: other.engine.into(),
                class: match other.engine {
                    "articulated" => "articulated dashed",
                    "live" => "live",
                    _ => "blended dashed",
                },
                points: thinned(&other.error, every, transient.dt),
                mark: Mark::Line,
            }))
            .collect(),
            marks: Vec::new(),
        };
        let several = if self.mechanism.effectors().len() > 1 { " (the one that moves most)" } else { "" };
        writeln!(
            html,
            "<div class=\"pair\"><figure><h3>Path of effector {}{several}</h3>\n{}<figcaption>Its displacement from the file's pose along ({direction}), the \
             direction in which it goes furthest.</figcaption></figure>\n<figure><h3>Distance from the full simulation</h3>\n{}<figcaption>Of the effector{}. \
             Largest {}; with {MODES} modes {}{}. Modes let links swing while the effector is still; the default model has none.</figcaption></figure></div>",
            escape(effector),
            path.svg(),
            apart.svg(),
            if self.mechanism.effectors().len() > 1 { " that is furthest off" } else { "" },
            percent(transient.max_error()),
            percent(transient.max_errors()[1]),
            transient
                .others
                .iter()
                .map(|o| format!("; {} {}", o.engine, percent(o.max_error())))
                .collect::<String>()
        )
    }

    fn errors(&self, html: &mut String) -> std::fmt::Result {
        writeln!(html, "<h2>Error against displacement</h2>")?;
        let ramp = match &self.comparison.ramp {
            Err(why) => {
                return writeln!(
                    html,
                    "<p class=\"note\">There is no static comparison: {}. The motion above shows what there is.</p>",
                    escape(why.trim_end_matches('.'))
                );
            }
            Ok(ramp) if ramp.samples.is_empty() => {
                let why = ramp.stopped.as_deref().unwrap_or("nothing moves");
                return writeln!(
                    html,
                    "<p class=\"note\">There is no static comparison: {}.</p>",
                    escape(why)
                );
            }
            Ok(ramp) => ramp,
        };
        let (first, last) = (&ramp.samples[0], &ramp.samples[ramp.samples.len() - 1]);
        writeln!(
            html,
            "<p class=\"muted\">At rest under {} to {} times the scene's load, gravity included. Each point is one load; the reduced model is the \
             one made at the file's pose, so the error grows about as the square of the displacement.</p>",
            figure(first.scale),
            figure(last.scale)
        )?;
        if let Some(why) = &ramp.stopped {
            writeln!(html, "<p class=\"note\">The curves end early: {}.</p>", escape(why))?;
        }
        let axis =
            |label: &str| Axis { label: label.into(), scale: Scale::Log { floor: FLOOR }, percent: true };
        let line = |of: &dyn Fn(&Sample) -> f64| {
            ramp.samples.iter().map(|s| [s.displacement, of(s)]).collect::<Vec<_>>()
        };
        let series =
            |k: usize, what: &str, class: &'static str, mark: Mark, of: fn(&LinkError) -> f64| Series {
                name: format!("{}{what}", RECONSTRUCTIONS[k].1),
                class,
                points: line(&|s| of(&s.links[k])),
                mark,
            };
        let mark: Vec<(f64, String)> =
            ramp.at_scene().map(|s| (s.displacement, "scene's load".to_string())).into_iter().collect();
        let errors = Plot {
            id: "error",
            title: "Error against displacement".into(),
            description: format!(
                "Effector error from {} to {} of the radius while the effector moves by {} to {}.",
                percent(first.effector),
                percent(last.effector),
                percent(first.displacement),
                percent(last.displacement)
            ),
            x: axis("displacement of the effector over radius"),
            y: axis("error over radius"),
            series: vec![
                series(0, ", worst link", "twist", Mark::Line, |l| l.max),
                series(1, ", worst link", "joint", Mark::Line, |l| l.max),
                series(2, ", worst link", "corrected dashed", Mark::Line, |l| l.max),
                series(0, ", mean", "twist dotted", Mark::Line, |l| l.mean),
                series(1, ", mean", "joint dotted", Mark::Line, |l| l.mean),
                series(2, ", mean", "corrected dotted", Mark::Line, |l| l.mean),
                Series {
                    name: "effector".into(),
                    class: "effector",
                    points: line(&|s| s.effector),
                    mark: Mark::LineAndDots,
                },
            ],
            marks: mark.clone(),
        };
        let violation = Plot {
            id: "violation",
            title: "Gaps in joints against displacement".into(),
            description: format!(
                "Sum of all gaps over the radius at the largest load: twist {}, joint {}, corrected {}.",
                percent(last.links[0].violation),
                percent(last.links[1].violation),
                percent(last.links[2].violation)
            ),
            x: axis("displacement of the effector over radius"),
            y: axis("sum of gaps over radius"),
            series: vec![
                series(0, "", "twist", Mark::LineAndDots, |l| l.violation),
                series(1, "", "joint", Mark::LineAndDots, |l| l.violation),
                series(2, "", "corrected dashed", Mark::LineAndDots, |l| l.violation),
            ],
            marks: mark,
        };
        let below = "What is below 0.0001 % is drawn at the lower edge.";
        writeln!(
            html,
            "<div class=\"pair\"><figure><h3>Error of effector and links</h3>\n{}<figcaption>Distance from the full simulation. <b>twist</b>: each link by itself; \
             <b>joint</b>: by joint angles; <b>corrected</b>: the same, adjusted until the links end at the effector. {below}</figcaption></figure>\n\
             <figure><h3>Violation: gaps in the joints</h3>\n{}<figcaption>Sum of the gaps in all joints. The full simulation has none. {below}</figcaption></figure></div>",
            errors.svg(),
            violation.svg()
        )?;
        self.samples(html, ramp)?;
        self.engines(html, ramp)
    }

    /// The engines that go further than one linear model, under the same loads.
    fn engines(&self, html: &mut String, ramp: &Ramp) -> std::fmt::Result {
        writeln!(html, "<h2>Further than one linear model</h2>")?;
        let about = match &self.comparison.blended {
            Ok(about) => {
                let models = count(about.models, "linear model", "linear models");
                let from = match (about.of_file, about.asked) {
                    (true, _) => " of its file".into(),
                    (false, Some((bound, displacement))) => format!(
                        ", made in a moment for an error of {} under random loads that move an effector by up to {}",
                        percent(bound),
                        percent(displacement)
                    ),
                    (false, None) => String::new(),
                };
                let error = about.held_out.map_or(String::new(), |(error, loads)| {
                    let loads = count(loads, "other load", "other loads");
                    format!(
                        "; under {loads}, which it was not made with, it is off by {} at most",
                        percent(error)
                    )
                });
                format!("here between {models}{from}{error}")
            }
            Err(why) => format!("but not here: {why}"),
        };
        writeln!(
            html,
            "<p class=\"muted\">The same loads at rest. <b class=\"live\">live</b> makes the linear model anew in every step, at the pose as it is; \
             <b class=\"blended\">blended</b> goes between several made once, {}. Every engine can tell its own error: the estimate is how far one \
             Gauss–Newton step to balance moves a link, and of reduced how far its effector is from its links besides.</p>",
            escape(&about)
        )?;
        let axis =
            |label: &str| Axis { label: label.into(), scale: Scale::Log { floor: FLOOR }, percent: true };
        let series = |name: &str, class, mark, of: &dyn Fn(&Sample) -> Option<f64>| Series {
            name: name.into(),
            class,
            points: ramp.samples.iter().filter_map(|s| Some([s.displacement, of(s)?])).collect(),
            mark,
        };
        let all = vec![
            series("reduced", "joint", Mark::LineAndDots, &|s| Some(s.effector)),
            series("reduced, estimate", "joint dotted", Mark::Line, &|s| s.estimate),
            series("blended", "blended", Mark::LineAndDots, &|s| s.blended.map(|b| b.effector)),
            series("blended, estimate", "blended dotted", Mark::Line, &|s| s.blended.map(|b| b.estimate)),
            series("live", "live", Mark::LineAndDots, &|s| s.live.map(|l| l.effector)),
        ];
        let plot = Plot {
            id: "engines",
            title: "Error of three engines against displacement, with their estimates".into(),
            description: "Lines of the effector's error, dotted ones of what the engine says it is.".into(),
            x: axis("displacement of the effector over radius"),
            y: axis("error of the effector over radius"),
            series: all.into_iter().filter(|series| !series.points.is_empty()).collect(),
            marks: ramp
                .at_scene()
                .map(|s| (s.displacement, "scene's load".to_string()))
                .into_iter()
                .collect(),
        };
        writeln!(
            html,
            "<div class=\"pair\"><figure><h3>Error of the effector at rest</h3>\n{}<figcaption>Solid: distance from the full simulation. Dotted: the engine's \
             own estimate. What is below 0.0001 % is drawn at the lower edge.</figcaption></figure>",
            plot.svg()
        )?;
        html.push_str(
            "<figure><h3>Error and estimate</h3>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">load</th><th scope=\"col\">moved by</th>\
             <th scope=\"col\">reduced</th><th scope=\"col\">blended</th><th scope=\"col\">live</th></tr></thead><tbody>\n",
        );
        let every = ramp.samples.len().div_ceil(ROWS).max(1);
        let last = ramp.samples.len() - 1;
        for (i, s) in ramp.samples.iter().enumerate() {
            if !(last - i).is_multiple_of(every) && s.scale != 1.0 {
                continue;
            }
            write!(
                html,
                "<tr><td>× {}</td><td>{}</td>",
                figure(s.scale),
                escape(&percent_cell(s.displacement))
            )?;
            let of = |a: &AtRest| (a.effector, Some(a.estimate));
            for cell in [Some((s.effector, s.estimate)), s.blended.as_ref().map(of), s.live.as_ref().map(of)]
            {
                match cell {
                    None => html.push_str("<td>–</td>"),
                    Some((error, estimate)) => {
                        let estimate = estimate.map_or("–".into(), percent_cell);
                        let (error, estimate) = (escape(&percent_cell(error)), escape(&estimate));
                        write!(html, "<td>{error}<small>{estimate}</small></td>")?;
                    }
                }
            }
            html.push_str("</tr>\n");
        }
        writeln!(
            html,
            "</tbody></table></div>\n<figcaption>Below each error the engine's own estimate; – where it does not come to rest.</figcaption></figure></div>"
        )
    }

    fn samples(&self, html: &mut String, ramp: &Ramp) -> std::fmt::Result {
        html.push_str(
            "<details><summary>The figures</summary><div class=\"scroll\"><table><thead><tr><th scope=\"col\">load</th><th scope=\"col\">displacement</th>\
             <th scope=\"col\">effector error</th>",
        );
        for (_, name) in RECONSTRUCTIONS {
            write!(
                html,
                "<th scope=\"col\">{name}: worst link</th><th scope=\"col\">mean</th><th scope=\"col\">violation</th>"
            )?;
        }
        html.push_str("</tr></thead><tbody>\n");
        for s in &ramp.samples {
            write!(
                html,
                "<tr><td>× {}</td><td>{}</td><td>{}</td>",
                figure(s.scale),
                escape(&percent_cell(s.displacement)),
                escape(&percent_cell(s.effector))
            )?;
            for l in &s.links {
                for x in [l.max, l.mean, l.violation] {
                    write!(html, "<td>{}</td>", escape(&percent_cell(x)))?;
                }
            }
            html.push_str("</tr>\n");
        }
        writeln!(html, "</tbody></table></div></details>")
    }

    fn speed(&self, html: &mut String) -> std::fmt::Result {
        let speed = &self.comparison.speed;
        let bar = |name: &str, class, us: Option<f64>| {
            let us = us?;
            let faster = speed.full.filter(|_| class != "full").map(|full| full / us);
            let figure = match faster {
                Some(ratio) => format!("{} (× {})", time(us), significant(ratio, 2)),
                None => time(us),
            };
            Some(Bar { name: name.into(), class, value: us, figure })
        };
        let rows: Vec<Bar> = [
            bar("full", "full", speed.full),
            bar("articulated", "articulated", speed.articulated),
            bar("live", "live", speed.live),
            bar("blended", "blended", speed.blended),
            bar("reduced, corrected", "corrected", speed.reduced[2]),
            bar("reduced, joint (default)", "joint", speed.reduced[1]),
            bar("reduced, twist", "twist", speed.reduced[0]),
            bar("reduced, effectors only", "effector", speed.effectors),
        ]
        .into_iter()
        .flatten()
        .collect();
        writeln!(html, "<h2>Speed</h2>")?;
        if rows.is_empty() {
            return writeln!(html, "<p class=\"note\">No step could be timed: the motion stops at once.</p>");
        }
        let chart = bars(
            "speed",
            "Time a step takes",
            &rows.iter().map(|b| format!("{}: {}", b.name, b.figure)).collect::<Vec<_>>().join("; "),
            "time a step (logarithmic)",
            &rows,
            time,
        );
        writeln!(
            html,
            "<div class=\"pair\"><figure><h3>Time a step takes</h3>\n{chart}<figcaption>Median, on one thread, every link placed (but for the \
             last); × is how many times as fast as full.</figcaption></figure>\n<figure><h3>What that buys</h3>\n<table><thead><tr><th \
             scope=\"col\">simulation</th><th scope=\"col\">a step</th><th scope=\"col\">steps in 1 ms</th></tr></thead><tbody>"
        )?;
        for row in &rows {
            let steps = 1e3 / row.value;
            let steps = if steps < 1.0 { "less than 1".to_string() } else { format!("{}", steps.floor()) };
            writeln!(html, "<tr><td>{}</td><td>{}</td><td>{steps}</td></tr>", row.name, time(row.value))?;
        }
        write!(
            html,
            "</tbody></table>\n<figcaption>The model is built once: {} for full, {} for reduced.",
            time(speed.build_full),
            time(speed.build_reduced)
        )?;
        if let (Some(full), Some(reduced)) = (speed.full, speed.reduced[DEFAULT])
            && reduced < full
        {
            let steps = (speed.build_reduced / (full - reduced)).ceil();
            write!(html, " That is won back after {}.", count(steps as usize, "step", "steps"))?;
        }
        writeln!(html, "</figcaption></figure></div>")
    }

    fn frequencies(&self, html: &mut String) -> std::fmt::Result {
        let Frequencies { full, models } = &self.comparison.frequencies;
        writeln!(html, "<h2>Natural frequencies</h2>")?;
        if full.is_empty() {
            return writeln!(html, "<p class=\"note\">The mechanism has none: nothing in it swings.</p>");
        }
        writeln!(
            html,
            "<p class=\"muted\">The lowest of the linear mechanism, in Hz{}, and those of reduced models with their ratio to the full one's: 1 is \
             exact. Modes make a model follow faster motions; the masses below the line are other ways to say what the effector \
             weighs, which papers use.</p>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">model</th><th scope=\"col\">coordinates</th>",
            if self.comparison.free_base { ", the free base held" } else { "" }
        )?;
        for k in 1..=full.len() {
            write!(html, "<th scope=\"col\">f<sub>{k}</sub></th>")?;
        }
        write!(html, "</tr></thead><tbody>\n<tr><td><b class=\"full\">full</b></td><td>–</td>")?;
        for f in full {
            write!(html, "<td>{}</td>", figure(*f))?;
        }
        html.push_str("</tr>\n");
        let mut others = false;
        for row in models {
            // A line between the default mass and the others.
            let class = if row.mass != models[0].mass && !std::mem::replace(&mut others, true) {
                " class=\"others\""
            } else {
                ""
            };
            write!(html, "<tr{class}><td>{}</td>", row.name)?;
            match &row.result {
                Err(why) => {
                    let why = escape(why.lines().next().unwrap_or_default());
                    write!(html, "<td class=\"why\" colspan=\"{}\">{why}</td>", full.len() + 1)?;
                }
                Ok((coordinates, own)) => {
                    write!(html, "<td>{coordinates}</td>")?;
                    for (k, f) in full.iter().enumerate() {
                        match own.get(k) {
                            Some(own) => {
                                write!(
                                    html,
                                    "<td>{}<small>× {}</small></td>",
                                    figure(*own),
                                    significant(own / f, 4)
                                )?;
                            }
                            None => html.push_str("<td>–</td>"),
                        }
                    }
                }
            }
            html.push_str("</tr>\n");
        }
        writeln!(html, "</tbody></table></div>")
    }
}

/// Every so many of some numbers and the last, each with its time.
fn thinned(x: &[f64], every: usize, dt: f64) -> Vec<[f64; 2]> {
    let some = x.iter().enumerate().filter(|(i, _)| i.is_multiple_of(every) || i + 1 == x.len());
    some.map(|(i, x)| [i as f64 * dt, *x]).collect()
}
