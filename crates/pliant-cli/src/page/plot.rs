//! Small plots as SVG: lines and points over linear or logarithmic axes, and bars.
//!
//! Colours and dashes are classes of the style sheet, so that they follow its light and dark schemes; a plot in a file of
//! its own has the sheet in it.

use std::fmt::Write as _;

use super::svg_file;
use super::text::{escape, listed, power_of_ten, significant};

/// How numbers are laid out along an axis.
#[derive(Clone, Copy, PartialEq)]
pub enum Scale {
    Linear,
    /// Evenly, labelled at whole numbers only.
    Whole,
    /// By powers of ten; what is below the floor is drawn at the edge.
    Log {
        /// The smallest number that is drawn as more than zero.
        floor: f64,
    },
}

pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    pub scale: Scale,
    /// Whether numbers are ratios, to be labelled in per cent.
    pub percent: bool,
}

impl Axis {
    /// Even, with what it shows and its unit.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Linear, percent: false }
    }

    /// By powers of ten, down to a floor.
    pub fn log(label: impl Into<String>, floor: f64) -> Axis {
        Axis { label: label.into(), scale: Scale::Log { floor }, percent: false }
    }

    /// Of ratios, labelled in per cent.
    pub fn of_ratios(self) -> Axis {
        Axis { percent: true, ..self }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Mark {
    Line,
    /// Joined, each with a dot.
    LineAndDots,
    /// Each by itself.
    Dots,
    /// Joined two by two: from where to where something is.
    Spans,
}

#[derive(Clone)]
pub struct Series {
    pub name: String,
    pub class: &'static str,
    pub points: Vec<[f64; 2]>,
    pub mark: Mark,
}

pub struct Plot {
    /// Unique on the page.
    pub id: &'static str,
    /// For readers that cannot see it.
    pub title: String,
    /// The same, in a sentence.
    pub description: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Vertical lines with a word.
    pub marks: Vec<(f64, String)>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 86.0;
const RIGHT: f64 = 26.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 46.0;
/// Height of a row of the legend, and width of its swatch.
const ROW: f64 = 18.0;
const SWATCH: f64 = 30.0;

/// Numbers of an axis laid out between two pixels.
struct Ruler {
    scale: Scale,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    ticks: Vec<(f64, String)>,
    minor: Vec<f64>,
}

impl Ruler {
    fn new(axis: &Axis, values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Ruler {
        let finite = values.filter(|v| v.is_finite());
        let label = |v: f64| match axis.percent {
            true => format!("{} %", significant(100.0 * v, 3)),
            false => significant(v, 3),
        };
        let most = finite.clone().fold(f64::NEG_INFINITY, f64::max);
        let least = finite.clone().fold(f64::INFINITY, f64::min);
        match axis.scale {
            Scale::Log { floor } => {
                let above = |v: &f64| *v >= floor;
                let least = finite.clone().filter(above).fold(f64::INFINITY, f64::min).min(most.max(floor));
                let any_below = finite.clone().any(|v| v < floor);
                let low = if any_below { floor.log10() } else { least.max(floor).log10() };
                let (low, high) = (whole(low, -1.0), whole(most.max(floor).log10(), 1.0));
                let high = if high <= low { low + 1.0 } else { high };
                let every = ((high - low) / 7.0).ceil().max(1.0) as i32;
                let decades: Vec<i32> = (low as i32..=high as i32).collect();
                let first = decades[0];
                let shown = || decades.iter().copied().filter(|d| (*d - first) % every == 0);
                let label = |d: i32| label(format!("1e{d}").parse().unwrap_or(0.0));
                // Where one is 10⁻⁶, all are such powers.
                let powers = !axis.percent && shown().any(|d| label(d).starts_with("1·"));
                let label = |d: i32| match powers {
                    true => power_of_ten(d),
                    // 10⁶ %, not 1·10⁶ %.
                    false => label(d).trim_start_matches("1·").to_string(),
                };
                let ticks: Vec<(f64, String)> = shown().map(|d| (10f64.powi(d), label(d))).collect();
                let minor = decades
                    .iter()
                    .filter(|_| every == 1 && high - low < 6.0)
                    .flat_map(|d| (2..10).map(move |m| f64::from(m) * 10f64.powi(*d)));
                let minor = minor.filter(|v| v.log10() < high).collect();
                Ruler { scale: axis.scale, low, high, from, to, ticks, minor }
            }
            Scale::Linear | Scale::Whole => {
                let (least, most) = if least <= most { (least, most) } else { (0.0, 1.0) };
                let span = if most > least { most - least } else { most.abs().max(1e-12) };
                let step = nice(span / 5.0);
                let step = if axis.scale == Scale::Whole { step.ceil() } else { step };
                let low = (least / step + 1e-9).floor() * step;
                let high = (most / step - 1e-9).ceil() * step;
                let high = if high <= low { low + step } else { high };
                let count = ((high - low) / step).round() as usize;
                let first = (low / step).round();
                let ticks = (0..=count).map(|k| (first + k as f64) * step).map(|v| (v, label(v))).collect();
                Ruler { scale: axis.scale, low, high, from, to, ticks, minor: Vec::new() }
            }
        }
    }

    /// Ends where the data do, if it is linear.
    fn tight(mut self, values: impl Iterator<Item = f64>) -> Ruler {
        if !matches!(self.scale, Scale::Log { .. }) {
            let most = values.fold(self.low, f64::max);
            self.high = if most > self.low { most } else { self.high };
            self.ticks.retain(|(v, _)| *v <= self.high * (1.0 + 1e-9));
        }
        self
    }

    fn at(&self, value: f64) -> f64 {
        let v = match self.scale {
            Scale::Linear | Scale::Whole => value,
            Scale::Log { .. } => value.max(1e-300).log10(),
        };
        let t = ((v - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + t * (self.to - self.from)
    }
}

impl Ruler {
    /// Draws it below a plot: lines upwards, ticks and its label. The vertical axis begins it.
    fn draw_below(&self, svg: &mut String, foot: f64, label: &str) {
        for (v, label) in &self.ticks {
            let at = self.at(*v);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{at:.1} {TOP}V{foot}\"/><text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                foot + 17.0
            );
        }
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{} {TOP}V{foot}H{:.1}\"/>\n\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            self.from,
            self.to,
            0.5 * (self.from + self.to),
            foot + 37.0,
            escape(label)
        );
    }
}

/// The whole number at or beyond x, with a little tolerance.
fn whole(x: f64, direction: f64) -> f64 {
    if direction > 0.0 { (x - 1e-9).ceil() } else { (x + 1e-9).floor() }
}

/// 1, 2 or 5 times a power of ten, about x.
pub fn nice(x: f64) -> f64 {
    let power = 10f64.powf(x.log10().floor());
    let m = x / power;
    power
        * if m < 1.5 {
            1.0
        } else if m < 3.5 {
            2.0
        } else if m < 7.5 {
            5.0
        } else {
            10.0
        }
}

fn head(id: &str, title: &str, description: &str, height: f64) -> String {
    format!(
        "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n\
         <title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>\n",
        escape(title),
        escape(description)
    )
}

impl Plot {
    /// An element with a heading and a caption.
    pub fn figure(&self, heading: &str, caption: &str) -> String {
        format!("<figure><h3>{heading}</h3>\n{}<figcaption>{caption}</figcaption></figure>\n", self.svg())
    }

    /// The plot, as a file of its own.
    pub fn file(&self) -> String {
        svg_file(&self.svg())
    }

    pub fn svg(&self) -> String {
        let (x, y) = self.rulers();
        let distinct = self.distinct(&x, &y);
        let rows = legend_rows(&distinct);
        let foot = TOP + HEIGHT;
        let height = foot + BOTTOM + ROW * rows.len() as f64 + 4.0;
        let mut svg = head(self.id, &self.title, &self.description, height);
        for v in &y.minor {
            let at = y.at(*v);
            let _ = writeln!(svg, "<path class=\"minor\" d=\"M{LEFT} {at:.1}H{:.1}\"/>", WIDTH - RIGHT);
        }
        for v in &x.minor {
            let at = x.at(*v);
            let _ = writeln!(svg, "<path class=\"minor\" d=\"M{at:.1} {TOP}V{foot}\"/>");
        }
        for (v, label) in &y.ticks {
            let at = y.at(*v);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{:.1}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                WIDTH - RIGHT,
                LEFT - 7.0,
                at + 4.0
            );
        }
        x.draw_below(&mut svg, foot, &self.x.label);
        let middle = TOP + 0.5 * HEIGHT;
        let _ = writeln!(
            svg,
            "<text class=\"label\" transform=\"translate(13 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(&self.y.label)
        );
        for (v, word) in &self.marks {
            let at = x.at(*v);
            let late = at > LEFT + 90.0;
            let _ = writeln!(
                svg,
                "<path class=\"mark\" d=\"M{at:.1} {TOP}V{foot}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\">{}</text>",
                if late { at - 5.0 } else { at + 5.0 },
                TOP + 13.0,
                if late { "end" } else { "start" },
                escape(word)
            );
        }
        for series in &distinct {
            self.draw(&mut svg, series, &x, &y);
        }
        for (row, entries) in rows.iter().enumerate() {
            let at = foot + BOTTOM + ROW * (row as f64 + 0.5);
            for (left, series) in entries {
                let (wide, middle) = (SWATCH - 6.0, left + 0.5 * (SWATCH - 6.0));
                let swatch = match series.mark {
                    Mark::Line | Mark::LineAndDots => {
                        format!("<path class=\"line {}\" d=\"M{left:.1} {at:.1}h{wide:.1}\"/>", series.class)
                    }
                    Mark::Dots => dot(series, middle, at, ""),
                    Mark::Spans => span(series, [middle, at - 6.0], [middle, at + 6.0]),
                };
                let _ = writeln!(
                    svg,
                    "{swatch}<text class=\"legend\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    left + SWATCH,
                    at + 4.0,
                    escape(&series.name)
                );
            }
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The series, those lines that lie on each other as one, named after all of them, so that none seems to be missing.
    fn distinct(&self, x: &Ruler, y: &Ruler) -> Vec<Series> {
        let mut distinct: Vec<(Series, Vec<String>)> = Vec::new();
        let drawn = |s: &Series| s.points.iter().map(|p| [x.at(p[0]), y.at(p[1])]).collect::<Vec<_>>();
        let line = |s: &Series| {
            let named = !s.name.is_empty() && s.points.len() > 1;
            named && matches!(s.mark, Mark::Line | Mark::LineAndDots)
        };
        for series in &self.series {
            let same = |(first, _): &&mut (Series, _)| {
                line(first) && line(series) && alike(&drawn(first), &drawn(series))
            };
            match distinct.iter_mut().find(same) {
                Some((_, names)) => names.push(series.name.clone()),
                None => distinct.push((series.clone(), vec![series.name.clone()])),
            }
        }
        distinct.into_iter().map(|(series, names)| Series { name: listed(&names), ..series }).collect()
    }

    /// How both axes are laid out.
    fn rulers(&self) -> (Ruler, Ruler) {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let x = Ruler::new(
            &self.x,
            all().map(|p| p[0]).chain(self.marks.iter().map(|m| m.0)),
            LEFT,
            WIDTH - RIGHT,
        );
        let x = x.tight(all().map(|p| p[0]));
        (x, Ruler::new(&self.y, all().map(|p| p[1]), TOP + HEIGHT, TOP))
    }

    fn draw(&self, svg: &mut String, series: &Series, x: &Ruler, y: &Ruler) {
        let finite: Vec<[f64; 2]> =
            series.points.iter().copied().filter(|p| p.iter().all(|v| v.is_finite())).collect();
        let place = |p: &[f64; 2]| [x.at(p[0]), y.at(p[1])];
        if series.mark == Mark::Spans {
            for pair in finite.chunks_exact(2) {
                let _ = writeln!(svg, "{}", span(series, place(&pair[0]), place(&pair[1])));
            }
            return;
        }
        if series.mark != Mark::Dots && !finite.is_empty() {
            let mut path = String::new();
            for (k, [x, y]) in finite.iter().map(place).enumerate() {
                let _ = write!(path, "{}{x:.1} {y:.1}", if k == 0 { 'M' } else { 'L' });
            }
            let _ = writeln!(svg, "<path class=\"line {}\" d=\"{path}\"/>", series.class);
        }
        if series.mark == Mark::Line {
            return;
        }
        let number = |axis: &Axis, v: f64| match axis.percent {
            true => format!("{} %", significant(100.0 * v, 3)),
            false => significant(v, 3),
        };
        for p in &finite {
            let words = format!("{}: {} at {}", series.name, number(&self.y, p[1]), number(&self.x, p[0]));
            let [x, y] = place(p);
            let _ = writeln!(svg, "{}", dot(series, x, y, &words));
        }
    }
}

/// Entries with their left ends, row by row.
fn legend_rows(series: &[Series]) -> Vec<Vec<(f64, &Series)>> {
    // Width of a letter.
    const LETTER: f64 = 7.1;
    let mut rows: Vec<Vec<(f64, &Series)>> = Vec::new();
    let mut left = f64::INFINITY;
    for series in series.iter().filter(|series| !series.name.is_empty()) {
        let width = SWATCH + LETTER * series.name.chars().count() as f64 + 20.0;
        if left + width > WIDTH {
            rows.push(Vec::new());
            left = 16.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((left, series));
        }
        left += width;
    }
    rows
}

/// Whether two lines of as many points, as they are drawn, are nowhere apart.
fn alike(a: &[[f64; 2]], b: &[[f64; 2]]) -> bool {
    // Lines that are nowhere further apart than this are drawn as one: they are 2 wide.
    const COINCIDE: f64 = 1.5;
    // To the stretches of the other line next to it: where both are steep, they are near though one is above the other.
    let near = |(k, p): (usize, &[f64; 2])| {
        let beside = &b[k.saturating_sub(1)..(k + 2).min(b.len())];
        beside.windows(2).any(|ends| apart(p, &ends[0], &ends[1]) < COINCIDE)
    };
    a.len() == b.len() && a.iter().enumerate().all(near)
}

/// How far a point is from a line between two others.
fn apart(p: &[f64; 2], from: &[f64; 2], to: &[f64; 2]) -> f64 {
    let [along, off] = [[to[0] - from[0], to[1] - from[1]], [p[0] - from[0], p[1] - from[1]]];
    let square = along[0] * along[0] + along[1] * along[1];
    let t = if square > 0.0 { (along[0] * off[0] + along[1] * off[1]) / square } else { 0.0 };
    let t = t.clamp(0.0, 1.0);
    (off[0] - t * along[0]).hypot(off[1] - t * along[1])
}

/// A dot, larger where no line leads to it.
fn dot(series: &Series, x: f64, y: f64, words: &str) -> String {
    let radius = if series.mark == Mark::Dots { 4.0 } else { 2.4 };
    let title = if words.is_empty() { String::new() } else { format!("<title>{}</title>", escape(words)) };
    format!(
        "<circle class=\"dot {}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\">{title}</circle>",
        series.class
    )
}

/// A line between two places, with a bar across each end.
fn span(series: &Series, from: [f64; 2], to: [f64; 2]) -> String {
    let ends = [from, to].map(|[x, y]| format!("M{:.1} {y:.1}h7", x - 3.5)).concat();
    format!(
        "<path class=\"line span {}\" d=\"M{:.1} {:.1}L{:.1} {:.1}{ends}\"/>",
        series.class, from[0], from[1], to[0], to[1]
    )
}

pub struct Bar {
    pub name: String,
    pub class: &'static str,
    pub value: f64,
    pub figure: String,
}

/// Horizontal bars over a logarithmic axis.
pub fn bars(
    id: &'static str,
    title: &str,
    description: &str,
    label: &str,
    bars: &[Bar],
    tick: fn(f64) -> String,
) -> String {
    const NAMES: f64 = 190.0;
    const FIGURES: f64 = 130.0;
    const PITCH: f64 = 34.0;
    let foot = TOP + PITCH * bars.len() as f64;
    let mut x = Ruler::new(&Axis::log(label, 1e-9), bars.iter().map(|b| b.value), NAMES, WIDTH - FIGURES);
    let mut svg = head(id, title, description, foot + BOTTOM);
    x.ticks.iter_mut().for_each(|(v, label)| *label = tick(*v));
    x.draw_below(&mut svg, foot, label);
    for (k, bar) in bars.iter().enumerate() {
        let top = TOP + PITCH * k as f64 + 7.0;
        let (to, middle) = (x.at(bar.value), top + 0.5 * (PITCH - 14.0) + 4.5);
        let _ = writeln!(
            svg,
            "<text class=\"legend\" x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"bar {}\" x=\"{NAMES}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\
             <text class=\"figure\" x=\"{:.1}\" y=\"{middle:.1}\">{}</text>",
            NAMES - 9.0,
            escape(&bar.name),
            bar.class,
            (to - NAMES).max(1.0),
            PITCH - 14.0,
            to + 8.0,
            escape(&bar.figure)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::{Axis, Mark, Plot, Ruler, Series, nice};

    fn labels(axis: Axis, values: &[f64]) -> Vec<String> {
        let ruler = Ruler::new(&axis, values.iter().copied(), 0.0, 1.0);
        ruler.ticks.into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round_and_hold_the_data() {
        let ruler = Ruler::new(&Axis::linear(""), [-0.013, 0.094].into_iter(), 0.0, 100.0);
        let labels: Vec<&str> = ruler.ticks.iter().map(|t| t.1.as_str()).collect();
        assert_eq!(labels, ["−0.02", "0", "0.02", "0.04", "0.06", "0.08", "0.1"]);
        assert!((ruler.at(0.04) - 50.0).abs() < 1e-9);
        assert_eq!([nice(0.7), nice(0.3), nice(13.0), nice(90.0)], [0.5, 0.2, 10.0, 100.0]);
    }

    #[test]
    fn powers_of_ten_are_written_alike() {
        let labels = |values: &[f64]| labels(Axis::log("", 1e-12), values);
        assert_eq!(labels(&[0.02, 40.0]), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(&[2e-6, 4.0]), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1", "10"]);
    }

    #[test]
    fn lines_that_lie_on_each_other_are_one() {
        let line = |name: &str, end: f64| Series {
            name: name.into(),
            class: "",
            points: vec![[0.0, 0.0], [1.0, end]],
            mark: Mark::Line,
        };
        let drawn = |series: Vec<Series>| -> Vec<String> {
            let (title, description) = (String::new(), String::new());
            let (x, y) = (Axis::linear(""), Axis::linear(""));
            let plot = Plot { id: "p", title, description, x, y, series, marks: Vec::new() };
            let (x, y) = plot.rulers();
            let names: Vec<String> = plot.distinct(&x, &y).into_iter().map(|series| series.name).collect();
            // Each in the drawing and in the legend.
            assert_eq!(plot.svg().matches("class=\"line ").count(), 2 * names.len());
            names
        };
        assert_eq!(drawn(vec![line("a", 1.0), line("b", 0.9)]), ["a", "b"]);
        assert_eq!(drawn(vec![line("a", 1.0), line("b", 0.999)]), ["a and b"]);
        let five = vec![line("a", 1.0), line("b", 0.5), line("c", 1.0), line("d", 1.0), line("e", 0.5)];
        assert_eq!(drawn(five), ["a, c and d", "b and e"]);
    }

    #[test]
    fn powers_of_ten_hold_the_data_and_what_is_below_the_floor() {
        let labels = |values: &[f64]| labels(Axis::log("", 1e-6).of_ratios(), values);
        assert_eq!(labels(&[0.002, 0.4]), ["0.1 %", "1 %", "10 %", "100 %"]);
        assert_eq!(labels(&[0.0, 3e-4]).first().map(String::as_str), Some("0.0001 %"));
        assert_eq!(labels(&[0.0, 0.0]), ["0.0001 %", "0.001 %"]);
    }
}
