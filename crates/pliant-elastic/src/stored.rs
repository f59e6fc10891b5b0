//! Green's functions that come from elsewhere: stored by an earlier run, or measured on a real object.
//!
//! ```
//! use pliant_elastic::{Material, Mesh, Solid, nalgebra::Vector3};
//!
//! let mesh = Mesh::cuboid(Vector3::new(0.010, 0.010, 0.006), 0.004)?;
//! let pad = Solid::new(&mesh, &Material::new(1e5, 0.45, 0.0, 1000.0)?, |p| p.z < -0.006 + 1e-9, |_| {})?;
//! let again = Solid::from_parts(pad.to_parts())?;
//! assert_eq!(again.green(), pad.green());
//! # Ok::<(), pliant_elastic::ElasticError>(())
//! ```

use nalgebra::{Matrix3, Vector3};

use crate::ElasticError;
use crate::cholesky::{check_memory, positive_definite};
use crate::material::Material;
use crate::solid::{Solid, areas};
use crate::surface::check_points;

/// Measured Green's functions may be this far from symmetric, over the largest; they are then made so.
pub const ASYMMETRY: f64 = 0.05;

/// What a solid is made of, to be stored and read again.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidParts {
    /// What it is made of.
    pub material: Material,
    /// Nodes of the surface, m: those that can be loaded first.
    pub points: Vec<Vector3<f64>>,
    /// Triangles of the surface, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// How many of the points can be loaded.
    pub nodes: usize,
    /// Ξ by columns, 3·nodes square, m/N.
    pub green: Vec<f64>,
    /// kg.
    pub mass: f64,
    /// Centre of mass, m.
    pub centre: Vector3<f64>,
    /// Inertia about the centre of mass, kg·m².
    pub inertia: Matrix3<f64>,
}

impl Solid {
    /// What this solid is made of. Copies the Green's functions; [`green`](Self::green) lends them.
    pub fn to_parts(&self) -> SolidParts {
        SolidParts {
            material: *self.material(),
            points: self.points().to_vec(),
            triangles: self.triangles().to_vec(),
            nodes: self.nodes(),
            green: self.green().to_vec(),
            mass: self.mass(),
            centre: self.centre(),
            inertia: self.inertia(),
        }
    }

    /// A solid from stored parts: sizes, indices, finite numbers, symmetry to the bit, and no off-diagonal entry larger than its
    /// diagonal allows.
    pub fn from_parts(parts: SolidParts) -> Result<Self, ElasticError> {
        check_shape(&parts)?;
        let m = 3 * parts.nodes;
        for c in 0..m {
            for r in 0..c {
                let (x, y) = (parts.green[c * m + r], parts.green[r * m + c]);
                if x != y {
                    let what = format!("entries ({r}, {c}) and ({c}, {r}) differ");
                    let right = "store them as they were, or read them as measured";
                    return Err(ElasticError::NotElastic { what, value: (x - y).abs(), right });
                }
            }
        }
        Self::assembled(parts)
    }

    /// A solid from measured Green's functions: made symmetric if they are so within [`ASYMMETRY`], and positive definite.
    pub fn measured(mut parts: SolidParts) -> Result<Self, ElasticError> {
        check_shape(&parts)?;
        let m = 3 * parts.nodes;
        let largest = parts.green.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let mut worst = (0.0, 0, 0);
        for c in 0..m {
            for r in 0..c {
                let (x, y) = (parts.green[c * m + r], parts.green[r * m + c]);
                if (x - y).abs() > worst.0 {
                    worst = ((x - y).abs(), r, c);
                }
                parts.green[c * m + r] = (x + y) / 2.0;
                parts.green[r * m + c] = (x + y) / 2.0;
            }
        }
        if worst.0 > ASYMMETRY * largest {
            let what = format!(
                "entries ({}, {}) and its mirror differ by more than a twentieth of the largest",
                worst.1, worst.2
            );
            let right = "work done in one order of two forces must equal that in the other: check the units and the order of nodes";
            return Err(ElasticError::NotElastic { what, value: worst.0 / largest, right });
        }
        if !positive_definite(&parts.green, m) {
            let what = "they are not positive definite: some forces would release energy".into();
            let right = "measure with less noise, fewer nodes, or add compliance to the diagonal";
            return Err(ElasticError::NotElastic { what, value: largest, right });
        }
        Self::assembled(parts)
    }

    fn assembled(parts: SolidParts) -> Result<Self, ElasticError> {
        let m = 3 * parts.nodes;
        let diagonal = |i: usize| parts.green[i * m + i];
        for c in 0..m {
            for r in 0..=c {
                let bound = diagonal(r) * diagonal(c);
                let x = parts.green[c * m + r];
                if diagonal(c) <= 0.0 || x * x > bound * (1.0 + 1e-9) {
                    let what = format!("entry ({r}, {c}) exceeds what its diagonal allows");
                    let right = "every node must move along a force on it, and less than it along others";
                    return Err(ElasticError::NotElastic { what, value: x, right });
                }
            }
        }
        let areas = areas(&parts.points, &parts.triangles);
        Ok(Self::of_parts(parts, areas))
    }
}

/// Sizes, indices and finite numbers.
fn check_shape(parts: &SolidParts) -> Result<(), ElasticError> {
    check_points(&parts.points)?;
    let count = parts.points.len();
    if parts.nodes == 0 || parts.nodes > count {
        return Err(ElasticError::NothingLoadable { nodes: count });
    }
    for (element, t) in parts.triangles.iter().enumerate() {
        if t.iter().any(|&i| i as usize >= count) || t[0] == t[1] || t[1] == t[2] || t[2] == t[0] {
            return Err(ElasticError::BadIndex { kind: "triangle", element, points: t.to_vec(), count });
        }
    }
    let m = 3 * parts.nodes as u64;
    check_memory("the Green's functions", 2 * 8 * m * m)?;
    let wrong = |what: String, value: f64, right| Err(ElasticError::NotElastic { what, value, right });
    if parts.green.len() as u64 != m * m {
        let right = "there must be (3·nodes)² of them";
        return wrong(
            format!("there are {} for {} nodes", parts.green.len(), parts.nodes),
            parts.green.len() as f64,
            right,
        );
    }
    if let Some(i) = parts.green.iter().position(|x| !x.is_finite()) {
        let place = format!("entry ({}, {}) is not finite", i as u64 % m, i as u64 / m);
        return wrong(place, parts.green[i], "all must be finite, in m/N");
    }
    let inertia = parts.inertia;
    let sound = parts.mass.is_finite()
        && parts.mass > 0.0
        && parts.centre.iter().all(|x| x.is_finite())
        && inertia.iter().all(|x| x.is_finite())
        && inertia == inertia.transpose()
        && inertia.cholesky().is_some();
    if !sound {
        return wrong(
            "mass, centre or inertia".into(),
            parts.mass,
            "the mass must be positive and the inertia positive definite",
        );
    }
    Ok(())
}
