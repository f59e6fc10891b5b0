//! The contact of a point with a solid's surface for a haptic device: a position in, a force out.
//!
//! The force is the gradient of a potential, so that no path around and back gains energy, and the potential is as smooth as its
//! weights, so that the force is smooth across facets. With nodes x_i and outward normals n_i, at a point p
//!
//! W_i = exp(−|p − x_i|²/σ²) / Σ,  φ = Σ W_i n_i·(p − x_i) (the distance, negative inside; Kolluri 2008),
//! c = Σ_ij W_i W_j n_iᵀ Ξ_ij n_j + 1.2/k,  V = φ²/2c inside and 0 outside,  f = −∇V.
//!
//! It is the energy of nodal forces −(φ/c) W_i n_i that move the surface by φ along its normals. k limits the stiffness to what the
//! device can hold. Deep inside, where another side of the solid is as near and the linear solid is not true, the potential
//! becomes constant and the force fades. Friction is a spring from a point that sticks, of constant stiffness, which slips where it passes the cone.
//!
//! ```
//! use pliant_elastic::{Material, Mesh, Probe, Solid, nalgebra::Vector3};
//!
//! let mesh = Mesh::cuboid(Vector3::new(0.010, 0.010, 0.006), 0.004)?;
//! let pad = Solid::new(&mesh, &Material::new(1e5, 0.45, 0.0, 1000.0)?, |p| p.z < -0.006 + 1e-9, |_| {})?;
//! let probe = Probe::new(&pad, 2000.0, 0.4)?; // N/m that the device can display, friction
//! let mut state = probe.state();
//! assert_eq!(probe.touch(&Vector3::new(0.0, 0.0, 0.007), &mut state).force.norm(), 0.0); // above the pad
//! assert!(probe.touch(&Vector3::new(0.0, 0.0, 0.0055), &mut state).force.z > 0.0); // half a millimetre deep
//! # Ok::<(), pliant_elastic::ElasticError>(())
//! ```

use nalgebra::Vector3;

use crate::ElasticError;
use crate::solid::Solid;
use crate::surface::positive;

/// Nodes with less than this part of the largest weight are left out: their step in the force is as small.
const NEGLIGIBLE: f64 = 1e-12;

/// A solid's surface for a haptic device.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Nodes of the solid that can be touched.
    nodes: Vec<usize>,
    points: Vec<Vector3<f64>>,
    normals: Vec<Vector3<f64>>,
    /// n_iᵀ Ξ_ij n_j, by rows.
    compliance: Vec<f64>,
    /// 1/σ².
    sharpness: f64,
    /// 1.2/k.
    softest: f64,
    /// Energy above which the force fades.
    deepest: f64,
    friction: f64,
    tangential: f64,
}

/// What a probe remembers from call to call, and its memory.
#[derive(Clone, Debug)]
pub struct ProbeState {
    /// From the point that sticks to the probe, along the surface.
    stretch: Vector3<f64>,
    last: Option<Vector3<f64>>,
    weights: Vec<(usize, f64)>,
    forces: Vec<(usize, Vector3<f64>)>,
}

/// The force on a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Force on the probe, N; its opposite acts at the probe's position on what the solid is bonded to.
    pub force: Vector3<f64>,
    /// How deep the probe is below the surface at rest, m; negative outside.
    pub depth: f64,
    /// Energy stored by the normal force, J.
    pub energy: f64,
    /// Whether the probe is too deep, so that the force is less than the solid's.
    pub fades: bool,
    /// Whether the friction's point slipped.
    pub slips: bool,
}

impl Probe {
    /// A probe of a solid; `stiffness` (N/m) is the most that the device can display, `friction` the coefficient.
    pub fn new(solid: &Solid, stiffness: f64, friction: f64) -> Result<Self, ElasticError> {
        let size = |what, value, hint: &str| Err(ElasticError::Size { what, value, hint: hint.into() });
        if !(stiffness.is_finite() && stiffness > 0.0) {
            return size("the device's stiffness", stiffness, ", in N/m");
        }
        if !(friction.is_finite() && friction >= 0.0) {
            return size("the coefficient of friction", friction, " or zero");
        }
        let mut normals = vec![Vector3::zeros(); solid.points().len()];
        let (mut length, mut edges) = (0.0, 0.0);
        for t in solid.triangles() {
            let [a, b, c] = t.map(|i| solid.points()[i as usize]);
            let area = (b - a).cross(&(c - a));
            t.iter().for_each(|&i| normals[i as usize] += area);
            length += (b - a).norm() + (c - b).norm() + (a - c).norm();
            edges += 3.0;
        }
        // Corners of triangles that move: midside nodes of seams are none, and a bonded side is the bone's, not to be touched.
        let nodes: Vec<usize> = (0..solid.nodes()).filter(|&i| normals[i] != Vector3::zeros()).collect();
        let normals: Vec<Vector3<f64>> = nodes.iter().map(|&i| normals[i].normalize()).collect();
        let points: Vec<Vector3<f64>> = nodes.iter().map(|&i| solid.points()[i]).collect();
        // Wide enough that several nodes carry the force wherever the probe is, and that the force is smooth around edges of the solid.
        let edge: f64 = length / edges;
        let volume: f64 = solid.mass() / solid.material().density();
        let width = (1.2 * edge).max(0.1 * volume.cbrt());
        positive("the width of the probe", width)?;
        let n = points.len();
        let mut compliance = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                compliance[i * n + j] = normals[i].dot(&(solid.block(nodes[i], nodes[j]) * normals[j]));
            }
        }
        // Mindlin: along the surface of a half-space c_t/c_n = (2 − ν)/(2 − 2ν); with the softest node's compliance the spring is
        // softer than any node.
        // Near edges |∇φ| exceeds one: a fifth more compliance keeps the stiffness below the device's (measured, not proven).
        let softest = 1.2 / stiffness;
        let poisson = solid.material().poisson();
        let largest = (0..n).map(|i| compliance[i * n + i]).fold(0.0, f64::max);
        // The energy at a depth of half the width, at the surface's median compliance: deeper, other sides come near.
        let mut spread: Vec<f64> = (0..n)
            .map(|k| {
                let weight = |i: usize| (-(points[i] - points[k]).norm_squared() / (width * width)).exp();
                let near: Vec<(usize, f64)> = (0..n).map(|i| (i, weight(i))).filter(|w| w.1 > 1e-6).collect();
                let sum: f64 = near.iter().map(|w| w.1).sum();
                let row = |i: usize| near.iter().map(|&(j, w)| compliance[i * n + j] * w).sum::<f64>();
                near.iter().map(|&(i, w)| row(i) * w).sum::<f64>() / (sum * sum)
            })
            .collect();
        spread.sort_by(f64::total_cmp);
        let deepest = (0.5 * width).powi(2) / (2.0 * (spread[n / 2] + softest));
        let tangential = 1.0 / ((largest + softest) * (2.0 - poisson) / (2.0 - 2.0 * poisson));
        Ok(Self {
            nodes,
            points,
            normals,
            compliance,
            sharpness: 1.0 / (width * width),
            softest,
            deepest,
            friction,
            tangential,
        })
    }

    /// A state that touches nothing.
    pub fn state(&self) -> ProbeState {
        ProbeState {
            stretch: Vector3::zeros(),
            last: None,
            weights: Vec::with_capacity(self.points.len()),
            forces: Vec::with_capacity(self.points.len()),
        }
    }

    /// The force on a probe at a position in the solid's frame. A position that is not finite gives no force.
    pub fn touch(&self, p: &Vector3<f64>, state: &mut ProbeState) -> Touch {
        let free = Touch { force: Vector3::zeros(), depth: 0.0, energy: 0.0, fades: false, slips: false };
        state.weights.clear();
        state.forces.clear();
        if !p.iter().all(|x| x.abs() < 1e9) {
            (state.last, state.stretch) = (None, Vector3::zeros());
            return free;
        }
        // W_i: only differences of the squared distances matter, so that they are as good deep inside as on the surface.
        let nearest = self.points.iter().map(|x| (p - x).norm_squared()).fold(f64::INFINITY, f64::min);
        let reach = nearest - NEGLIGIBLE.ln() / self.sharpness;
        let mut sum = 0.0;
        for (i, x) in self.points.iter().enumerate() {
            let square = (p - x).norm_squared();
            if square < reach {
                let weight = (-(square - nearest) * self.sharpness).exp();
                sum += weight;
                state.weights.push((i, weight));
            }
        }
        let mut mean = Vector3::zeros();
        for (i, weight) in &mut state.weights {
            *weight /= sum;
            mean += self.points[*i] * *weight;
        }
        // ∇W_i = 2 W_i (x_i − x̄)/σ²
        let gradient = |i: usize, weight: f64| (self.points[i] - mean) * (2.0 * weight * self.sharpness);
        let (mut φ, mut dφ) = (0.0, Vector3::zeros());
        for &(i, weight) in &state.weights {
            let height = self.normals[i].dot(&(p - self.points[i]));
            φ += weight * height;
            dφ += self.normals[i] * weight + gradient(i, weight) * height;
        }
        if φ >= 0.0 {
            (state.last, state.stretch) = (None, Vector3::zeros());
            return Touch { depth: -φ, ..free };
        }
        let (mut c, mut dc) = (self.softest, Vector3::zeros());
        for &(i, weight) in &state.weights {
            let row = &self.compliance[i * self.points.len()..][..self.points.len()];
            let along: f64 = state.weights.iter().map(|&(j, other)| row[j] * other).sum();
            c += weight * along;
            dc += gradient(i, weight) * (2.0 * along);
        }
        let (energy, kept) = self.faded(φ * φ / (2.0 * c));
        let normal = (dφ * (-φ / c) + dc * (φ * φ / (2.0 * c * c))) * kept;
        for &(i, weight) in &state.weights {
            state.forces.push((self.nodes[i], self.normals[i] * (φ / c * weight * kept)));
        }
        let (tangential, slips) = self.friction(p, &normal, state);
        Touch { force: normal + tangential, depth: -φ, energy, fades: kept < 1.0, slips }
    }

    /// An energy as it is up to a limit E, constant from 4 E on, and its derivative: 1 − smoothstep in between.
    fn faded(&self, energy: f64) -> (f64, f64) {
        let s = ((energy / self.deepest - 1.0) / 3.0).clamp(0.0, 1.0);
        let kept = 1.0 - s * s * (3.0 - 2.0 * s);
        let whole = self.deepest * (1.0 + 3.0 * (s - s.powi(3) + s.powi(4) / 2.0));
        (if s == 0.0 { energy } else { whole }, kept)
    }

    /// The spring from the point that sticks: it follows the probe where the force would leave the cone.
    fn friction(
        &self,
        p: &Vector3<f64>,
        normal: &Vector3<f64>,
        state: &mut ProbeState,
    ) -> (Vector3<f64>, bool) {
        let size = normal.norm();
        let limit = self.friction * size;
        let mut stretch = state.stretch + state.last.map_or(Vector3::zeros(), |last| p - last);
        if size > 0.0 {
            stretch -= normal * (normal.dot(&stretch) / (size * size));
        }
        let pull = self.tangential * stretch.norm();
        let slips = pull > limit;
        if slips {
            stretch *= limit / pull;
        }
        (state.last, state.stretch) = (Some(*p), stretch);
        (stretch * -self.tangential, slips)
    }
}

impl ProbeState {
    /// The normal forces on the solid's nodes of the last touch, for the displacement of its surface
    /// ([`Solid::displacement`]).
    pub fn forces(&self) -> &[(usize, Vector3<f64>)] {
        &self.forces
    }
}
