//! Drawings of mechanisms in several poses, over each other.

use pliant::mechanism::Mechanism;
use pliant::spatial::Pose;
use pliant_cli::drawing::{Arrow, Drawing, Figure, View, arrows};
use pliant_cli::skeleton::Skeleton;

use crate::section::Sketch;

/// A pose of all links with its name in the legend and its class in the style sheet.
pub struct Posed<'a> {
    pub name: &'a str,
    pub class: &'static str,
    pub poses: &'a [Pose],
}

/// Which loads are drawn.
pub enum Loads {
    /// None.
    None,
    /// So many times the scene's, at the pose of this number.
    Scene { times: f64, on: usize },
}

/// Draws them, the last on top; thin outlines are those of the last.
pub fn draw(
    mechanism: &Mechanism,
    id: &'static str,
    (title, caption): (String, String),
    posed: &[Posed],
    loads: Loads,
) -> Sketch {
    let skeleton = Skeleton::new(mechanism);
    let points: Vec<Vec<_>> = posed.iter().map(|one| skeleton.place(one.poses)).collect();
    let view = View::of(&points.concat());
    let none: &[Arrow] = &[];
    let scene = arrows(mechanism);
    let (arrows, loaded, load_scale) = match loads {
        Loads::None => (none, posed.len() - 1, 1.0),
        Loads::Scene { times, on } => (&scene[..], on, times),
    };
    let figures = posed.iter().zip(&points);
    let drawing = Drawing {
        id,
        title: title.clone(),
        skeleton: &skeleton,
        view: &view,
        figures: figures.map(|(one, points)| Figure { name: one.name, class: one.class, points }).collect(),
        arrows,
        loaded,
        load_scale,
    };
    Sketch { id, title, svg: drawing.svg(), caption }
}
