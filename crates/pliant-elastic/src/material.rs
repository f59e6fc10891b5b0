//! The constants of a linear elastic, isotropic material with Kelvin–Voigt damping.

use crate::ElasticError;

/// A linear elastic, isotropic material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    young: f64,
    poisson: f64,
    damping: f64,
    density: f64,
}

impl Material {
    /// Young's modulus in Pa, Poisson's ratio, Kelvin–Voigt damping time in s (stress = E(ε + τ ε̇)) and density in kg/m³.
    pub fn new(young: f64, poisson: f64, damping: f64, density: f64) -> Result<Self, ElasticError> {
        let wrong = |what, value, right| Err(ElasticError::Material { what, value, right });
        if !(young.is_finite() && young > 0.0) {
            return wrong("Young's modulus", young, "it must be positive and finite, in Pa");
        }
        if !(poisson > -1.0 && poisson < 0.5) {
            return wrong(
                "Poisson's ratio",
                poisson,
                "it must be above −1 and below 0.5 (rubber: 0.49); an incompressible solid is not supported",
            );
        }
        if !(damping.is_finite() && damping >= 0.0) {
            return wrong("the damping time", damping, "it must be zero or positive and finite, in s");
        }
        if !(density.is_finite() && density > 0.0) {
            return wrong("the density", density, "it must be positive and finite, in kg/m³");
        }
        Ok(Self { young, poisson, damping, density })
    }

    /// Young's modulus E, Pa.
    pub fn young(&self) -> f64 {
        self.young
    }

    /// Poisson's ratio ν.
    pub fn poisson(&self) -> f64 {
        self.poisson
    }

    /// Kelvin–Voigt damping time τ, s.
    pub fn damping(&self) -> f64 {
        self.damping
    }

    /// Density, kg/m³.
    pub fn density(&self) -> f64 {
        self.density
    }

    /// Lamé's constants (λ, μ), Pa.
    pub fn lame(&self) -> (f64, f64) {
        let (E, p) = (self.young, self.poisson);
        (E * p / ((1.0 + p) * (1.0 - 2.0 * p)), E / (2.0 * (1.0 + p)))
    }
}
