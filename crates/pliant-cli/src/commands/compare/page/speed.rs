//! Speed: the time of a step, and what it buys.

use std::fmt::Write as _;

use pliant::engines::Engine;

use super::Page;
use crate::page::plot::{Bar, bars};
use crate::page::table;
use crate::page::text::{count, figure, significant, time};

impl Page<'_> {
    pub(super) fn speed(&self, html: &mut String) -> std::fmt::Result {
        let speed = &self.comparison.speed;
        let bar = |name: &str, class, us: Option<f64>| {
            let us = us?;
            let figure = match speed.gain(us).filter(|ratio| *ratio != 1.0) {
                Some(ratio) => format!("{} (× {})", time(us), significant(ratio, 2)),
                None => time(us),
            };
            Some(Bar { name: name.into(), class, value: us, figure })
        };
        let rows: Vec<Bar> = [
            bar("full", "full", speed.of(Engine::Full)),
            bar("articulated", "articulated", speed.of(Engine::Articulated)),
            bar("reduced", "reduced", speed.of(Engine::Reduced)),
            bar("blended", "blended", speed.of(Engine::Blended)),
            bar("linear, corrected", "corrected", speed.linear[2]),
            bar("linear, joint (default)", "joint", speed.linear[1]),
            bar("linear, twist", "twist", speed.linear[0]),
            bar("linear, effectors only", "effector", speed.effectors),
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
        let exact = speed.exact().map_or("full", |(engine, _)| engine.name());
        let buys = rows.iter().map(|row| {
            let steps = 1e3 / row.value;
            let steps = if steps < 1.0 { "less than 1".to_string() } else { figure(steps.floor()) };
            vec![row.name.clone(), time(row.value), steps]
        });
        write!(
            html,
            "<div class=\"pair\"><figure><h3>Time a step takes</h3>\n{chart}<figcaption>Median, on one thread, every link placed (but for the \
             last); × is how many times as fast as {exact}.</figcaption></figure>\n<figure><h3>Steps per time</h3>\n{}<figcaption>The model is \
             built once: {} for full, {} for linear.",
            table(["simulation", "a step", "steps in 1 ms"], buys),
            time(speed.build_full),
            time(speed.build_linear)
        )?;
        if let (Some((_, exact)), Some(linear)) = (speed.exact(), speed.of(Engine::Linear))
            && linear < exact
        {
            let steps = (speed.build_linear / (exact - linear)).ceil();
            write!(html, " Building pays off after {}.", count(steps as usize, "step", "steps"))?;
        }
        writeln!(html, "</figcaption></figure></div>")
    }
}
