//! Speed: the time of a step, and what it buys.

use std::fmt::Write as _;

use pliant::engines::Engine;

use super::Page;
use crate::page::plot::{Bar, bars};
use crate::page::text::{count, figure, significant, time};

impl Page<'_> {
    pub(super) fn speed(&self, html: &mut String) -> std::fmt::Result {
        let speed = &self.comparison.speed;
        let bar = |name: &str, class, us: Option<f64>| {
            let us = us?;
            let faster = speed.of(Engine::Full).filter(|_| class != "full").map(|full| full / us);
            let figure = match faster {
                Some(ratio) => format!("{} (× {})", time(us), significant(ratio, 2)),
                None => time(us),
            };
            Some(Bar { name: name.into(), class, value: us, figure })
        };
        let rows: Vec<Bar> = [
            bar("full", "full", speed.of(Engine::Full)),
            bar("articulated", "articulated", speed.of(Engine::Articulated)),
            bar("live", "live", speed.of(Engine::Live)),
            bar("blended", "blended", speed.of(Engine::Blended)),
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
            let steps = if steps < 1.0 { "less than 1".to_string() } else { figure(steps.floor()) };
            writeln!(html, "<tr><td>{}</td><td>{}</td><td>{steps}</td></tr>", row.name, time(row.value))?;
        }
        write!(
            html,
            "</tbody></table>\n<figcaption>The model is built once: {} for full, {} for reduced.",
            time(speed.build_full),
            time(speed.build_reduced)
        )?;
        if let (Some(full), Some(reduced)) = (speed.of(Engine::Full), speed.of(Engine::Reduced))
            && reduced < full
        {
            let steps = (speed.build_reduced / (full - reduced)).ceil();
            write!(html, " That is won back after {}.", count(steps as usize, "step", "steps"))?;
        }
        writeln!(html, "</figcaption></figure></div>")
    }
}
