//! `<compiler>`: how numbers, orientations and inertias of the file are to be read.

use pliant_core::nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};
use pliant_core::spatial::Pose;

use crate::import::context::Context;
use crate::import::xml::Element;

/// Where inertias come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InertiaSource {
    /// From `<inertial>`, and from the geoms where there is none.
    Auto,
    /// From the geoms.
    Geoms,
    /// From `<inertial>`.
    Inertial,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    /// Angles are degrees.
    pub(super) degree: bool,
    /// Axes of euler angles, and whether each turns about the fixed axis.
    pub(super) euler: [(usize, bool); 3],
    /// A range alone makes a limit.
    pub(super) auto_limits: bool,
    /// Where inertias come from.
    pub(super) inertia: InertiaSource,
    /// Groups of geoms that count for inertia, first and last.
    pub(super) inertia_groups: (f64, f64),
    /// Least mass of a body, kg.
    pub(super) least_mass: f64,
    /// Least principal moment of a body, kg·m².
    pub(super) least_inertia: f64,
    /// An impossible inertia becomes its mean.
    pub(super) balance: bool,
    /// Mass of everything, kg.
    pub(super) total_mass: Option<f64>,
    /// Folder of meshes.
    pub(super) mesh_folder: String,
    /// Only the last part of a mesh's path counts.
    pub(super) strip_path: bool,
}

impl Default for Compiler {
    fn default() -> Compiler {
        Compiler {
            degree: true,
            euler: [(0, false), (1, false), (2, false)],
            auto_limits: true,
            inertia: InertiaSource::Auto,
            inertia_groups: (0.0, 5.0),
            least_mass: 0.0,
            least_inertia: 0.0,
            balance: false,
            total_mass: None,
            mesh_folder: String::new(),
            strip_path: false,
        }
    }
}

impl Compiler {
    /// Of all `<compiler>` elements; later ones win.
    pub(super) fn read(root: &Element, context: &mut Context) -> Compiler {
        let mut compiler = Compiler::default();
        for element in root.all("compiler") {
            compiler.take(element, context);
        }
        compiler
    }

    fn take(&mut self, element: &Element, context: &mut Context) {
        element.check_attributes(
            &[
                "alignfree",
                "angle",
                "assetdir",
                "autolimits",
                "balanceinertia",
                "boundinertia",
                "boundmass",
                "conflict",
                "convexhull",
                "coordinate",
                "discardvisual",
                "eulerseq",
                "exactmeshinertia",
                "fitaabb",
                "fusestatic",
                "inertiafromgeom",
                "inertiagrouprange",
                "meshdir",
                "passthrough",
                "savecanonical",
                "savecompiled",
                "saveinertial",
                "settotalmass",
                "strippath",
                "texturedir",
                "usethread",
            ],
            context,
        );
        let mut word = |name: &str, words: &[&str]| {
            let value = element.value(name)?.trim();
            if !words.contains(&value) {
                let message = format!("<compiler>: `{name}` is `{value}`");
                context.error(element.place_of(name), message, words.join(" or "));
            }
            Some(value)
        };
        if let Some(angle) = word("angle", &["degree", "radian"]) {
            self.degree = angle != "radian";
        }
        word("coordinate", &["local"]);
        if let Some(inertia) = word("inertiafromgeom", &["auto", "true", "false"]) {
            self.inertia = match inertia {
                "true" => InertiaSource::Geoms,
                "false" => InertiaSource::Inertial,
                _ => InertiaSource::Auto,
            };
        }
        if let Some(sequence) = element.value("eulerseq") {
            match euler_sequence(sequence.trim()) {
                Some(axes) => self.euler = axes,
                None => {
                    let message = format!("<compiler>: `eulerseq` is `{sequence}`");
                    let help = "three of x, y, z (carried axes) or X, Y, Z (fixed axes)";
                    context.error(element.place_of("eulerseq"), message, help);
                }
            }
        }
        let mut flag = |name: &str| element.flag(name, context);
        self.auto_limits = flag("autolimits").unwrap_or(self.auto_limits);
        self.balance = flag("balanceinertia").unwrap_or(self.balance);
        self.strip_path = flag("strippath").unwrap_or(self.strip_path);
        if flag("alignfree") == Some(true) {
            context.warning_of("alignfree", element.place_of("alignfree"), || {
                "`alignfree` was left out: free bodies keep their own frames".into()
            });
        }
        if let Some([first, last]) = element.vector("inertiagrouprange", context) {
            self.inertia_groups = (first, last);
        }
        self.least_mass = element.number("boundmass", context).unwrap_or(self.least_mass);
        self.least_inertia = element.number("boundinertia", context).unwrap_or(self.least_inertia);
        if let Some(total) = element.number("settotalmass", context) {
            self.total_mass = Some(total).filter(|mass| *mass > 0.0);
        }
        for name in ["assetdir", "meshdir"] {
            if let Some(folder) = element.value(name) {
                self.mesh_folder = folder.to_string();
            }
        }
    }

    /// An angle of the file, rad.
    pub(super) fn angle(&self, angle: f64) -> f64 {
        if self.degree { angle.to_radians() } else { angle }
    }

    /// `pos` and the orientation of an element.
    pub(super) fn pose(&self, element: &Element, context: &mut Context) -> Pose {
        let position = element.vector::<3>("pos", context).unwrap_or_default();
        Pose::new(self.rotation(element, context), position.into())
    }

    /// The orientation of an element: `axisangle`, `xyaxes`, `zaxis` or `euler` come before `quat`.
    pub(super) fn rotation(&self, element: &Element, context: &mut Context) -> UnitQuaternion<f64> {
        let zero = |name: &str, context: &mut Context| {
            let message = format!("{}: `{name}` has no direction", element.what());
            context.error(element.place_of(name), message, "numbers that are not all zero");
            UnitQuaternion::identity()
        };
        if let Some([x, y, z, angle]) = element.vector("axisangle", context) {
            return match Vector3::new(x, y, z).try_normalize(1e-150) {
                Some(axis) => Pose::rotation(axis.into(), self.angle(angle)).rotation,
                None => zero("axisangle", context),
            };
        }
        if let Some([a, b, c, d, e, f]) = element.vector("xyaxes", context) {
            let Some(x) = Vector3::new(a, b, c).try_normalize(1e-150) else { return zero("xyaxes", context) };
            let y = Vector3::new(d, e, f);
            let Some(y) = (y - x * x.dot(&y)).try_normalize(1e-150) else { return zero("xyaxes", context) };
            let R = Matrix3::from_columns(&[x, y, x.cross(&y)]);
            return UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(R));
        }
        if let Some(axis) = element.vector::<3>("zaxis", context) {
            return match Vector3::from(axis).try_normalize(1e-150) {
                Some(axis) => Pose::with_z_along(axis, Vector3::zeros()).rotation,
                None => zero("zaxis", context),
            };
        }
        if let Some(angles) = element.vector::<3>("euler", context) {
            return self.euler_rotation(angles);
        }
        match element.vector::<4>("quat", context) {
            Some([w, x, y, z]) => {
                let q = Quaternion::new(w, x, y, z);
                let size = q.coords.amax();
                if size > 0.0 { UnitQuaternion::new_normalize(q / size) } else { zero("quat", context) }
            }
            None => UnitQuaternion::identity(),
        }
    }

    /// Turns one after another, about carried or fixed axes.
    pub(super) fn euler_rotation(&self, angles: [f64; 3]) -> UnitQuaternion<f64> {
        let mut rotation = UnitQuaternion::identity();
        for ((axis, fixed), angle) in self.euler.into_iter().zip(angles) {
            let mut direction = [0.0; 3];
            direction[axis] = 1.0;
            let turn = Pose::rotation(direction, self.angle(angle)).rotation;
            rotation = if fixed { turn * rotation } else { rotation * turn };
        }
        rotation
    }
}

fn euler_sequence(text: &str) -> Option<[(usize, bool); 3]> {
    let axes: Option<Vec<_>> = (text.chars())
        .map(|c| "xyz".find(c.to_ascii_lowercase()).map(|axis| (axis, c.is_ascii_uppercase())))
        .collect();
    axes?.try_into().ok()
}
