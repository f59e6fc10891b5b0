//! Where the paper's angular spring is wrong: the derivative of its angle vector.
//!
//! With R = R_a R₀ R_bᵀ, e = φu = log R and c = (φ/2) cot(φ/2), a small turn δ of body a changes e by B δ:
//!
//! ```text
//! B = c I + (1 − c) u uᵀ − (φ/2)[u]×              and in Hernandez 2011, eq. 7, φ/sin φ in place of the 1
//! ```

use pliant::nalgebra::{Matrix3, Vector3};
use pliant::spatial::{exp_rotation, log_rotation, skew};

use crate::section::{Figure, Finding};
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Scale, Series};
use pliant_cli::page::text::significant;

/// B with a number along the axis.
fn derivative(u: &Vector3<f64>, angle: f64, along: f64) -> Matrix3<f64> {
    let c = 0.5 * angle / (0.5 * angle).tan();
    Matrix3::identity() * c + u * u.transpose() * (along - c) - skew(u) * (0.5 * angle)
}

/// The same by central differences of sixth order: exact to 1e-12 with these steps.
fn differences(u: &Vector3<f64>, angle: f64) -> Matrix3<f64> {
    let R = exp_rotation(&(u * angle));
    let h = 0.01;
    Matrix3::from_columns(&[0, 1, 2].map(|k| {
        let odd = |m: f64| {
            let turned = |sign: f64| log_rotation(&(exp_rotation(&(Vector3::ith(k, sign * m * h))) * R));
            turned(1.0) - turned(-1.0)
        };
        (odd(1.0) * 45.0 - odd(2.0) * 9.0 + odd(3.0)) / (60.0 * h)
    }))
}

/// Sweeps the angle.
pub fn figure() -> Result<(Figure, Finding), Failure> {
    let u = Vector3::new(1.0, 2.0, -0.5).normalize();
    let error = |angle: f64, along: f64| (derivative(&u, angle, along) - differences(&u, angle)).norm();
    let angles = (1..=29).map(|k| 0.1 * f64::from(k));
    let [printed, right]: [Vec<[f64; 2]>; 2] = [
        angles.clone().map(|a| [a, error(a, a / a.sin())]).collect(),
        angles.map(|a| [a, error(a, 1.0)]).collect(),
    ];
    let at = |points: &[[f64; 2]], angle: f64| {
        points.iter().find(|p| (p[0] - angle).abs() < 1e-9).map_or(f64::NAN, |p| p[1])
    };
    let (one, two) = (at(&printed, 1.0), at(&printed, 2.0));
    let most = right.iter().map(|p| p[1]).fold(0.0, f64::max);
    let series =
        |name: &str, class, points| Series { name: name.into(), class, points, mark: Mark::LineAndDots };
    let figure = Figure {
        title: "Derivative of an angular spring".into(),
        plot: Plot {
            id: "hernandez-eq-7",
            title: "Error of the derivative of an angular spring against its angle".into(),
            description: "As printed in eq. 7 and corrected, against finite differences.".into(),
            x: Axis { label: "angle φ of the spring, rad".into(), scale: Scale::Linear, percent: false },
            y: Axis {
                label: "error of ∂e/∂θ, rad/rad".into(),
                scale: Scale::Log { floor: 1e-15 },
                percent: false,
            },
            series: vec![series("eq. 7 as printed", "load", printed), series("corrected", "full", right)],
            marks: Vec::new(),
        },
        caption: "Against finite differences of the logarithm; what is left of the corrected one is theirs."
            .into(),
    };
    let finding = Finding {
        place: "[H] eq. 7",
        claim: "The derivative of a ball joint's angular spring has φ/sin φ along its axis where 1 belongs: turning further about the axis changes the \
                angle by just as much."
            .into(),
        shown: format!(
            "Against finite differences eq. 7 is off by {} at 1 rad and {} at 2 rad, corrected by less than {} up to 2.9 rad.",
            significant(one, 3),
            significant(two, 3),
            significant(most * 1.05, 1)
        ),
        number: two,
        meaning: "error of the derivative at 2 rad, as printed, rad/rad",
    };
    Ok((figure, finding))
}
