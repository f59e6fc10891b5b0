//! Drawings of a mechanism as inline SVG: planar ones face-on, others from a corner.
#![allow(missing_docs)] // for `pliant-papers` alone

use std::fmt::Write as _;

use pliant::mechanism::Mechanism;
use pliant::nalgebra::{Matrix3, Vector2, Vector3};

use super::skeleton::Skeleton;
use crate::page::plot::nice;
use crate::page::text::{escape, significant};

/// A direction to look from: right and up of the picture, world axes.
pub struct View {
    pub right: Vector3<f64>,
    pub up: Vector3<f64>,
    /// Whether everything lies in the plane of the picture.
    pub planar: bool,
}

/// Thickness over width below which a mechanism is planar.
const PLANAR: f64 = 1e-3;

impl View {
    /// The one that fits these points.
    pub fn of(points: &[Vector3<f64>]) -> View {
        let middle = points.iter().sum::<Vector3<f64>>() / points.len().max(1) as f64;
        let spread: Matrix3<f64> = points.iter().map(|p| (p - middle) * (p - middle).transpose()).sum();
        let eigen = spread.symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        let [thin, wide, widest] = order.map(|k| eigen.eigenvalues[k].max(0.0).sqrt());
        let corner = Vector3::new(0.55, -1.0, 0.5);
        if widest == 0.0 || thin > PLANAR * widest {
            return View::from(&corner, widest == 0.0);
        }
        if wide <= PLANAR * widest {
            // All on one line: any plane through it will do.
            let along: Vector3<f64> = eigen.eigenvectors.column(order[2]).into();
            let across = along.cross(&Vector3::z());
            let normal = if across.norm() > 1e-6 { across } else { Vector3::y() };
            return View::from(&(normal * normal.dot(&corner).signum()), true);
        }
        let mut normal: Vector3<f64> = eigen.eigenvectors.column(order[0]).into();
        // An axis of the world up to rounding is that axis.
        normal.iter_mut().filter(|x| x.abs() < 1e-6).for_each(|x| *x = 0.0);
        View::from(&(normal * normal.dot(&corner).signum()), true)
    }

    /// From that direction.
    fn from(towards: &Vector3<f64>, planar: bool) -> View {
        let n = towards.normalize();
        let level = n.z.abs() > 0.999;
        let upright = if level { Vector3::y() } else { Vector3::z() };
        let up = (upright - n * n.dot(&upright)).normalize();
        View { right: up.cross(&n), up, planar }
    }

    /// Width and height of these points in the picture.
    pub fn extent(&self, points: &[Vector3<f64>]) -> [f64; 2] {
        let [low, high] = self.bounds(points.iter());
        [high.x - low.x, high.y - low.y].map(|x| x.max(1e-12))
    }

    /// Lowest and highest coordinates of these points in the picture.
    fn bounds<'a>(&self, points: impl Iterator<Item = &'a Vector3<f64>>) -> [Vector2<f64>; 2] {
        let none = [Vector2::repeat(f64::INFINITY), Vector2::repeat(f64::NEG_INFINITY)];
        points.map(|p| self.project(p)).fold(none, |[low, high], p| [low.inf(&p), high.sup(&p)])
    }

    /// A point or direction of the world in the picture, y up.
    fn project(&self, p: &Vector3<f64>) -> Vector2<f64> {
        Vector2::new(p.dot(&self.right), p.dot(&self.up))
    }
}

pub struct Figure<'a> {
    pub name: &'a str,
    pub class: &'static str,
    pub points: &'a [Vector3<f64>],
}

/// Several figures over each other.
pub struct Drawing<'a> {
    /// Unique on the page.
    pub id: &'static str,
    /// For readers that cannot see it.
    pub title: String,
    pub skeleton: &'a Skeleton,
    pub view: &'a View,
    /// What to draw, the last on top.
    pub figures: Vec<Figure<'a>>,
    /// Loads: effector, force or torque in world axes (the longest has length 1), what it says.
    pub arrows: &'a [Arrow],
    /// Which figure carries the arrows.
    pub loaded: usize,
    /// The loads over those of the arrows.
    pub load_scale: f64,
}

pub struct Arrow {
    /// Where it acts, among the effectors.
    pub effector: usize,
    /// Its direction; the longest has length 1.
    pub direction: Vector3<f64>,
    /// How large, N or N·m.
    pub size: f64,
    pub torque: bool,
}

pub fn arrows(mechanism: &Mechanism) -> Vec<Arrow> {
    let of = |part: fn(&pliant::spatial::Wrench) -> Vector3<f64>, torque: bool| -> Vec<Arrow> {
        let vectors = || mechanism.loads().iter().map(|l| (l.effector.index(), part(&l.wrench)));
        let most = vectors().map(|(_, v)| v.norm()).fold(0.0, f64::max);
        let some = vectors().filter(|(_, v)| v.norm() > 1e-9 * most);
        some.map(|(effector, v)| Arrow { effector, direction: v / most, size: v.norm(), torque }).collect()
    };
    let mut all = of(|w| w.force, false);
    all.extend(of(|w| w.torque, true));
    all
}

const WIDTH: f64 = 560.0;
const MARGIN: f64 = 22.0;
/// Space at the foot for the scale bar and the legend.
const FOOT: f64 = 60.0;
/// Length of the longest arrow, px.
const ARROW: f64 = 58.0;

/// How a drawing lies on its paper.
struct Layout {
    scale: f64,
    tall: f64,
    middle: Vector2<f64>,
}

impl Layout {
    fn new(extent: &Vector2<f64>, &[left, right, top, bottom]: &[f64; 4]) -> Layout {
        const TALLEST: f64 = 430.0;
        const SHORTEST: f64 = 90.0;
        let scale = ((WIDTH - left - right) / extent.x).min((TALLEST - top - bottom) / extent.y);
        let tall = (extent.y * scale).max(SHORTEST) + top + bottom;
        Layout { scale, tall, middle: Vector2::new(WIDTH + left - right, tall + top - bottom) * 0.5 }
    }

    /// Where a point, seen from the centre and y up, is on the paper.
    fn at(&self, p: &Vector2<f64>) -> Vector2<f64> {
        Vector2::new(self.middle.x + p.x * self.scale, self.middle.y - p.y * self.scale)
    }
}

impl Drawing<'_> {
    fn carrier(&self, arrow: &Arrow) -> &Vector3<f64> {
        &self.figures[self.loaded].points[self.skeleton.effectors[arrow.effector]]
    }

    pub fn svg(&self) -> String {
        let [low, high] = self.view.bounds(self.figures.iter().flat_map(|f| f.points));
        let extent = (high - low).map(|x| x.max(1e-12));
        let center = (low + high) * 0.5;
        // Arrows and their words are as long as they are, whatever the scale: a second look makes room for those
        // that stick out at [left, right, top, bottom].
        let mut margins = [MARGIN; 4];
        let mut layout = Layout::new(&extent, &margins);
        for _ in 0..2 {
            for arrow in self.arrows {
                let from = layout.at(&(self.view.project(self.carrier(arrow)) - center));
                let by = self.view.project(&arrow.direction) * ARROW;
                let to = from + Vector2::new(by.x, -by.y);
                let word =
                    if by.x.abs() > by.y.abs() { Vector2::new(55.0, 8.0) } else { Vector2::new(25.0, 24.0) };
                let out = [word.x - to.x, to.x + word.x - WIDTH, word.y - to.y, to.y + word.y - layout.tall];
                margins.iter_mut().zip(out).for_each(|(m, out)| *m += out.clamp(0.0, ARROW));
            }
            layout = Layout::new(&extent, &margins);
        }
        let Layout { scale, tall, .. } = layout;
        let at = |p: &Vector3<f64>| layout.at(&(self.view.project(p) - center));
        let mut svg = format!(
            "<svg class=\"drawing\" viewBox=\"0 0 {WIDTH} {:.1}\" role=\"img\" aria-labelledby=\"{id}-t\">\n\
             <title id=\"{id}-t\">{}</title>\n\
             <defs><marker id=\"{id}-head\" viewBox=\"0 0 8 8\" refX=\"6.5\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto-start-reverse\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
            tall + FOOT,
            escape(&self.title),
            id = self.id
        );
        if let Some(first) = self.figures.first() {
            for &p in &self.skeleton.anchors {
                let q = at(&first.points[p]);
                let _ = writeln!(svg, "<path class=\"anchor\" d=\"M{:.1} {:.1}l-6 10h12z\"/>", q.x, q.y);
            }
        }
        if let Some(figure) = self.figures.get(self.loaded) {
            for line in &self.skeleton.outlines {
                let points = line.iter().map(|p| at(&figure.points[*p]));
                let points: Vec<String> = points.map(|p| format!("{:.1},{:.1}", p.x, p.y)).collect();
                let _ = writeln!(svg, "<polyline class=\"outline\" points=\"{}\"/>", points.join(" "));
            }
        }
        if let Some(figure) = self.figures.get(self.loaded) {
            self.shade(&mut svg, figure, at);
        }
        for figure in &self.figures {
            self.draw(&mut svg, figure, at);
        }
        let mut placed: Vec<Vector2<f64>> = Vec::new();
        for arrow in self.arrows {
            let from = at(self.carrier(arrow));
            let by = self.view.project(&arrow.direction) * ARROW;
            let to = from + Vector2::new(by.x, -by.y);
            let class = if arrow.torque { "load torque" } else { "load" };
            let _ = writeln!(
                svg,
                "<path class=\"{class}\" marker-end=\"url(#{}-head)\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
                self.id, from.x, from.y, to.x, to.y
            );
            // Beyond the head, unless another word is there or it would leave the picture.
            let away = if by.norm() > 1.0 { Vector2::new(by.x, -by.y).normalize() } else { Vector2::y() };
            let word = to + away * 12.0;
            let anchor = if away.x > 0.4 {
                "start"
            } else if away.x < -0.4 {
                "end"
            } else {
                "middle"
            };
            let unit = if arrow.torque { "N·m" } else { "N" };
            if placed.iter().all(|p| (p - word).norm() > 16.0) {
                let _ = writeln!(
                    svg,
                    "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{} {unit}</text>",
                    word.x.clamp(4.0, WIDTH - 4.0),
                    (word.y + 4.0).clamp(12.0, tall - 2.0),
                    significant(arrow.size * self.load_scale, 3)
                );
                placed.push(word);
            }
        }
        self.foot(&mut svg, tall, scale);
        svg.push_str("</svg>\n");
        svg
    }

    /// Shapes as triangles, those that look away left out, the farthest first, in steps of brightness.
    fn shade(&self, svg: &mut String, figure: &Figure, at: impl Fn(&Vector3<f64>) -> Vector2<f64>) {
        // Steps of brightness that the page's style has.
        const SHADES: usize = 6;
        let viewer = self.view.right.cross(&self.view.up);
        let light = (self.view.up * 0.5 + self.view.right * 0.3 + viewer * 0.8).normalize();
        let mut seen: Vec<(f64, usize, [Vector2<f64>; 3])> = Vec::new();
        for carried in &self.skeleton.solids {
            let points = carried.place(figure.points);
            for triangle in &carried.solid.triangles {
                let [a, b, c] = triangle.map(|k| points[k as usize]);
                let normal = (b - a).cross(&(c - a));
                if normal.dot(&viewer) > 0.0 {
                    let bright = normal.normalize().dot(&light).max(0.0);
                    let step = (bright * SHADES as f64) as usize;
                    let depth = (a + b + c).dot(&viewer);
                    seen.push((depth, step.min(SHADES - 1), [&a, &b, &c].map(&at)));
                }
            }
        }
        if seen.is_empty() {
            return;
        }
        seen.sort_by(|a, b| a.0.total_cmp(&b.0));
        svg.push_str("<g class=\"solid\">");
        for (_, step, corners) in seen {
            let [a, b, c] = corners.map(|p| format!("{:.1} {:.1}", p.x, p.y));
            let _ = write!(svg, "<path class=\"s{step}\" d=\"M{a}L{b}L{c}z\"/>");
        }
        svg.push_str("</g>\n");
    }

    fn draw(&self, svg: &mut String, figure: &Figure, at: impl Fn(&Vector3<f64>) -> Vector2<f64>) {
        let mut path = String::new();
        for [p, q] in &self.skeleton.segments {
            let (p, q) = (at(&figure.points[*p]), at(&figure.points[*q]));
            let _ = write!(path, "M{:.1} {:.1}L{:.1} {:.1}", p.x, p.y, q.x, q.y);
        }
        let _ = writeln!(svg, "<g class=\"mechanism {}\"><path class=\"link\" d=\"{path}\"/>", figure.class);
        let radius = if self.skeleton.joints.len() > 60 { 1.6 } else { 2.4 };
        for &p in &self.skeleton.joints {
            let p = at(&figure.points[p]);
            let _ =
                write!(svg, "<circle class=\"joint\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"/>", p.x, p.y);
        }
        for &p in &self.skeleton.effectors {
            let p = at(&figure.points[p]);
            let _ = write!(svg, "<circle class=\"effector\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\"/>", p.x, p.y);
        }
        svg.push_str("</g>\n");
    }

    /// Scale bar, and which colour is what.
    fn foot(&self, svg: &mut String, tall: f64, scale: f64) {
        let metres = nice(90.0 / scale);
        let length = metres * scale;
        let y = tall + 12.0;
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M20 {:.1}v8m0 -4h{length:.1}m0 -4v8\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{} m</text>",
            y - 4.0,
            28.0 + length,
            y + 4.0,
            significant(metres, 2)
        );
        let mut left = 20.0;
        let y = tall + 40.0;
        for figure in &self.figures {
            let _ = writeln!(
                svg,
                "<g class=\"mechanism {}\"><path class=\"link\" d=\"M{left:.1} {y:.1}h24\"/></g><text class=\"legend\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                figure.class,
                left + 30.0,
                y + 4.0,
                escape(figure.name)
            );
            left += 30.0 + 6.7 * figure.name.chars().count() as f64 + 18.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::View;
    use pliant::nalgebra::Vector3;

    /// Mechanisms in a plane of the world are seen face-on, with z or else y upwards.
    #[test]
    fn planar_points_are_seen_face_on() {
        let in_plane = |f: fn(f64, f64) -> Vector3<f64>| {
            let points: Vec<_> =
                [(0.0, 0.0), (3.0, 0.1), (1.0, 0.9), (-0.4, 0.3)].map(|(a, b)| f(a, b)).into();
            View::of(&points)
        };
        for (view, right, up) in [
            (in_plane(|a, b| Vector3::new(a, 0.0, b)), Vector3::x(), Vector3::z()),
            (in_plane(|a, b| Vector3::new(a, b, 2.0)), Vector3::x(), Vector3::y()),
            (in_plane(|a, b| Vector3::new(1.0, a, b)), Vector3::y(), Vector3::z()),
        ] {
            assert!(view.planar);
            assert!((view.right - right).norm() < 1e-9 && (view.up - up).norm() < 1e-9);
        }
        let line = View::of(&[Vector3::zeros(), Vector3::x(), Vector3::x() * 2.0]);
        assert!(line.planar && (line.right - Vector3::x()).norm() < 1e-9);
        let solid = View::of(&[Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()]);
        assert!(!solid.planar && solid.up.z > 0.8);
    }
}
