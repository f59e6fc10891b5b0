//! What the entries share: a straight link between two points, and short words for the elements.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use super::Size;
use crate::expression::{Formula, Parameter};
use crate::joints::JointKind;
use crate::mechanism::{
    Body, EffectorDescription, Geometry, JointDescription, LoadDescription, Mechanism, MechanismBuilder,
    Shape,
};
use crate::spatial::{Pose, SpatialInertia, Wrench};

/// Stiffness of a hinge unless an entry says otherwise, N·m/rad.
pub(super) const STIFFNESS: f64 = 1000.0;
/// Damping of a hinge unless an entry says otherwise, N·m·s/rad.
pub(super) const DAMPING: f64 = 1.0;
/// Mass of a link unless an entry says otherwise, kg.
pub(super) const MASS: f64 = 0.1;
/// Side of a link's square section unless an entry says otherwise, m.
pub(super) const SECTION: f64 = 0.02;

/// No gravity: what bends the mechanism is its load.
pub(super) const WEIGHTLESS: [f64; 3] = [0.0; 3];

/// A straight link with a square section. Its frame sits at mid-link, the centre of mass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub from: Vector3<f64>,
    pub to: Vector3<f64>,
    /// kg.
    pub mass: f64,
    /// Side of the section, m.
    pub section: f64,
}

impl Link {
    /// A link of the usual mass and section.
    pub fn new(from: Vector3<f64>, to: Vector3<f64>) -> Link {
        Link { from, to, mass: MASS, section: SECTION }
    }

    pub fn mass(self, mass: f64) -> Link {
        Link { mass, ..self }
    }

    pub fn section(self, section: f64) -> Link {
        Link { section, ..self }
    }

    pub fn length(&self) -> f64 {
        (self.to - self.from).norm()
    }

    /// Columns x, y, z: x along the link, y = up × x, z = x × y.
    pub fn axes(&self) -> Matrix3<f64> {
        let x = (self.to - self.from).normalize();
        // World z is no use as up for a link that stands upright.
        let up = if x.z.abs() < 0.9 { Vector3::z() } else { Vector3::y() };
        let y = up.cross(&x).normalize();
        Matrix3::from_columns(&[x, y, x.cross(&y)])
    }

    /// The axis about which link number `i` of a row turns: its y for even, its z for odd numbers.
    pub fn alternating_axis(&self, i: usize) -> Vector3<f64> {
        self.axes().column(1 + i % 2).into()
    }

    pub fn pose(&self) -> Pose {
        Pose::new(rotation(self.axes()), (self.from + self.to) * 0.5)
    }

    /// The far end, in the link frame.
    pub fn end(&self) -> Pose {
        Pose::translation([0.5 * self.length(), 0.0, 0.0])
    }

    /// Its near and its far half.
    pub fn halves(&self) -> [Link; 2] {
        let middle = (self.from + self.to) * 0.5;
        let half = Link { mass: 0.5 * self.mass, ..*self };
        [Link { to: middle, ..half }, Link { from: middle, ..half }]
    }

    /// Drawn as a part of another body.
    pub fn on(&self, body: &Pose) -> Shape {
        box_shape([self.length(), self.section, self.section]).at(body.inverse_times(&self.pose()))
    }

    /// The body: inertia and shape of a box.
    pub fn body(&self, name: impl Into<String>) -> Body {
        box_body(name, self.pose(), self.mass, [self.length(), self.section, self.section])
    }
}

/// The rotation whose columns are these unit vectors, square to each other.
pub(super) fn rotation(axes: Matrix3<f64>) -> UnitQuaternion<f64> {
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes))
}

/// A solid box centred on its frame, drawn as what it is.
pub(super) fn box_body(name: impl Into<String>, pose: Pose, mass: f64, size: [f64; 3]) -> Body {
    Body::new(name, pose).inertia(SpatialInertia::of_box(mass, size)).shape(box_shape(size))
}

pub(super) fn box_shape(size: [f64; 3]) -> Shape {
    Shape::new(Geometry::Box { size: size.into() })
}

/// A mechanism of `links` links in equal stages, without gravity, with 100 N along x at the effector `tip`, which is on a body of the last stage.
pub(super) fn staged(
    name: &str,
    size: &Size,
    links: usize,
    stage: impl Fn(&mut MechanismBuilder, usize),
    tip: impl Fn(usize) -> String,
) -> Mechanism {
    size.check(name, links);
    let stages = links / size.multiple;
    let mut builder = MechanismBuilder::new(format!("{name}:{links}"));
    builder.gravity(WEIGHTLESS);
    (0..stages).for_each(|i| stage(&mut builder, i));
    builder.effector(effector("tip", tip(stages - 1), Pose::identity()));
    builder.load(load("tip", [100.0, 0.0, 0.0]));
    finish(builder)
}

/// A passive hinge at a point, about an axis.
pub(super) fn passive_hinge(
    name: impl Into<String>,
    parent: impl Into<String>,
    child: impl Into<String>,
    position: Vector3<f64>,
    axis: Vector3<f64>,
) -> JointDescription {
    JointDescription::new(name, JointKind::Hinge, parent, child).axis(position, axis)
}

/// A hinge of the usual stiffness and damping at a point, about an axis.
pub(super) fn hinge(
    name: impl Into<String>,
    parent: impl Into<String>,
    child: impl Into<String>,
    position: Vector3<f64>,
    axis: Vector3<f64>,
) -> JointDescription {
    passive_hinge(name, parent, child, position, axis).stiffness(STIFFNESS).damping(DAMPING)
}

/// A passive ball joint at a point.
pub(super) fn ball(
    name: impl Into<String>,
    parent: impl Into<String>,
    child: impl Into<String>,
    position: Vector3<f64>,
) -> JointDescription {
    JointDescription::new(name, JointKind::Ball, parent, child)
        .frame(Pose::new(UnitQuaternion::identity(), position))
}

/// A passive universal joint at the near end of a link, square to it: the link does not spin.
pub(super) fn universal(
    name: impl Into<String>,
    parent: impl Into<String>,
    child: impl Into<String>,
    link: &Link,
) -> JointDescription {
    JointDescription::new(name, JointKind::Universal, parent, child).axis(link.from, link.to - link.from)
}

/// A passive slide along a link, from its near end.
pub(super) fn slide(
    name: impl Into<String>,
    parent: impl Into<String>,
    child: impl Into<String>,
    link: &Link,
) -> JointDescription {
    JointDescription::new(name, JointKind::Prismatic, parent, child).axis(link.from, link.to - link.from)
}

/// A ready joint with its parameters, and G(0): where it puts the child's frame in the parent's.
pub(super) fn ready<const N: usize>(name: &str, parameters: [(&str, Parameter); N]) -> (JointKind, Pose) {
    let formula = Formula::ready(name);
    let formula =
        parameters.into_iter().fold(formula, |f, (name, value)| f.map(|f| f.parameter(name, value)));
    let expression = formula.and_then(Formula::compile).unwrap_or_else(|error| panic!("{name}: {error}"));
    let start = expression.start();
    (JointKind::from(expression), start)
}

/// A weld to the world.
pub(super) fn weld(child: &str, position: Vector3<f64>) -> JointDescription {
    JointDescription::new(child, JointKind::Fixed, crate::mechanism::WORLD, child)
        .frame(Pose::new(UnitQuaternion::identity(), position))
}

pub(super) fn effector(name: &str, body: impl Into<String>, frame: Pose) -> EffectorDescription {
    EffectorDescription { name: name.into(), body: body.into(), frame }
}

/// A force on an effector, world axes, N.
pub(super) fn load(effector: &str, force: [f64; 3]) -> LoadDescription {
    LoadDescription { effector: effector.into(), wrench: Wrench::force(force) }
}

/// The mechanism of a builder that an entry filled.
pub(super) fn finish(builder: MechanismBuilder) -> Mechanism {
    builder.build().unwrap_or_else(|defects| panic!("the gallery is valid: {defects}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steepest link that still has world z as its up has y level; a steeper one need not.
    #[test]
    fn up_changes_where_a_link_stands_upright() {
        let y = |z: f64| Link::new(Vector3::zeros(), Vector3::new((1.0 - z * z).sqrt(), 0.0, z)).axes();
        assert!((y(0.899).column(1) - Vector3::y()).norm() < 1e-15);
        assert!((y(0.901).column(1) - Vector3::y()).norm() > 1.0);
        for z in [-1.0, -0.9, 0.0, 0.3, 0.899, 0.901, 1.0] {
            assert!((y(z).transpose() * y(z) - Matrix3::identity()).norm() < 1e-15);
            assert!((y(z).determinant() - 1.0).abs() < 1e-15);
        }
    }
}
