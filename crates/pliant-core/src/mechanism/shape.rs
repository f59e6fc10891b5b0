//! Shapes of bodies and of the world.

use nalgebra::{Matrix3, Vector3};

use crate::spatial::{Pose, SpatialInertia};

/// What a shape looks like, in its own frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// A box with these full edge lengths, m.
    Box {
        /// Edge lengths along x, y, z.
        size: Vector3<f64>,
    },
    /// A ball, m.
    Ball {
        /// Radius.
        radius: f64,
    },
    /// A capsule along z: a cylinder of length 2·half_length with a half ball at each end, m.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half the length between the centres of the half balls.
        half_length: f64,
    },
    /// A cylinder along z, m.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half the length.
        half_length: f64,
    },
    /// A surface from a file.
    Mesh {
        /// Path, relative to the scene file.
        file: String,
        /// Factors along x, y, z.
        scale: Vector3<f64>,
    },
    /// The convex hull of a file's points.
    Convex {
        /// Path, relative to the scene file.
        file: String,
        /// Factors along x, y, z.
        scale: Vector3<f64>,
    },
    /// Heights over a rectangle centred on the frame, m.
    Heightfield {
        /// Lengths along x and y.
        size: [f64; 2],
        /// Rows along y, from −y to +y, each from −x to +x.
        heights: Vec<Vec<f64>>,
    },
    /// All below z = 0, without an end: of the world only.
    Plane,
}

impl Geometry {
    /// The word of the scene file.
    pub fn name(&self) -> &'static str {
        match self {
            Geometry::Box { .. } => "box",
            Geometry::Ball { .. } => "ball",
            Geometry::Capsule { .. } => "capsule",
            Geometry::Cylinder { .. } => "cylinder",
            Geometry::Mesh { .. } => "mesh",
            Geometry::Convex { .. } => "convex",
            Geometry::Heightfield { .. } => "heightfield",
            Geometry::Plane => "plane",
        }
    }

    /// Volume (m³) and the diagonal of the inertia about the centre per unit of density, for the
    /// shapes whose volume is known without a file.
    fn solid(&self) -> Option<(f64, Vector3<f64>)> {
        use std::f64::consts::PI;
        match *self {
            Geometry::Box { size } => {
                let s = size.component_mul(&size) * (size.product() / 12.0);
                Some((size.product(), Vector3::new(s.y + s.z, s.x + s.z, s.x + s.y)))
            }
            Geometry::Ball { radius: r } => {
                let volume = 4.0 / 3.0 * PI * r.powi(3);
                Some((volume, Vector3::repeat(0.4 * volume * r * r)))
            }
            Geometry::Cylinder { radius: r, half_length: h } => {
                let volume = 2.0 * PI * r * r * h;
                let across = volume * (r * r / 4.0 + h * h / 3.0);
                Some((volume, Vector3::new(across, across, 0.5 * volume * r * r)))
            }
            Geometry::Capsule { radius: r, half_length: h } => {
                // A cylinder and two half balls; the centre of a half ball is 3r/8 from its flat face:
                // I⊥ = V_b (2/5 r² + h² + 3/4 h r).
                let (c, b) = (2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r.powi(3));
                let across = c * (r * r / 4.0 + h * h / 3.0) + b * (0.4 * r * r + h * h + 0.75 * h * r);
                Some((c + b, Vector3::new(across, across, 0.5 * c * r * r + 0.4 * b * r * r)))
            }
            Geometry::Mesh { .. }
            | Geometry::Convex { .. }
            | Geometry::Heightfield { .. }
            | Geometry::Plane => None,
        }
    }
}

/// A geometry somewhere on a body, with what it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// What it looks like.
    pub geometry: Geometry,
    /// Its frame in the link frame (in the world for a world shape).
    pub pose: Pose,
    /// Density, kg/m³: the body's mass comes from it where the body gives none.
    pub density: Option<f64>,
    /// Coulomb friction coefficient.
    pub friction: Option<f64>,
    /// What part of the speed of a bounce is left, 0 to 1.
    pub restitution: Option<f64>,
    /// Whether it can be touched; one that cannot is for drawing only.
    pub touches: bool,
    /// Colour in drawings: red, green, blue and opacity, each from 0 to 1 (sRGB).
    pub color: Option<[f64; 4]>,
}

impl Shape {
    /// A geometry on the link frame itself.
    pub fn new(geometry: Geometry) -> Shape {
        let (density, friction, restitution, color) = (None, None, None, None);
        Shape { geometry, pose: Pose::identity(), density, friction, restitution, touches: true, color }
    }

    /// At this pose in the link frame.
    pub fn at(mut self, pose: Pose) -> Shape {
        self.pose = pose;
        self
    }

    /// Inertia in the link frame from density and volume; `None` without a density or for a
    /// geometry whose volume is in a file.
    pub fn inertia(&self) -> Option<SpatialInertia> {
        let density = self.density?;
        let (volume, diagonal) = self.geometry.solid()?;
        let own = SpatialInertia {
            mass: density * volume,
            center_of_mass: Vector3::zeros(),
            inertia: Matrix3::from_diagonal(&(diagonal * density)),
        };
        Some(own.in_outer(&self.pose))
    }
}
