//! Spring leg: a running robot's leg in the xz plane, with two leaf springs and the rod that couples shin and tarsus.
//!
//! ```text
//!      H ● hip        ● motor, sprung hinge        z up, x forward, hinges about y
//!      │╲ K ● knee    ◆ leaf spring, a stiff hinge
//!      │ ╲ ◆ S        ○ passive hinge
//!  rod │  ╲ shin      the achilles rod goes from H to X, on the heel spring of the tarsus: without springs
//!      X○─◆○ T        the tarsus would stay parallel to the thigh, nearly
//!        ╱ tarsus
//!       ● foot
//! ```
//! Distances and stiffnesses of Agility's description of its robot Cassie: 120 mm from hip to knee, 77 mm on to
//! the shin's spring of 1500 N·m/rad, a shin of 435 mm, a tarsus of 410 mm, a heel spring of 120 mm and
//! 1250 N·m/rad, a rod of 501 mm; the toe is left out. Gravity acts; the ground pushes the foot up with half
//! the robot's weight.

use nalgebra::Vector3;

use super::link::{Link, effector, finish, load, passive_hinge};
use crate::mechanism::{Mechanism, MechanismBuilder, WORLD};

/// Of the motors, N·m/rad and N·m·s/rad, with their rotors, kg·m².
const MOTOR: [f64; 3] = [2000.0, 40.0, 0.093];

/// A leg with leaf springs.
pub fn spring_leg() -> Mechanism {
    // In the thigh's frame, x down and y forward: the knee is turned by −45°, and the tarsus then by 58°.
    let place = |down: f64, forward: f64| Vector3::new(forward, 0.0, -down);
    let turned = |degrees: f64, x: f64, y: f64| {
        let (s, c) = f64::to_radians(degrees).sin_cos();
        place(c * x - s * y, s * x + c * y)
    };
    let (H, K) = (place(0.0, 0.0), place(0.12, 0.0));
    let S = K + turned(-45.0, 0.06068, 0.04741);
    let T = S + turned(-45.0, 0.43476, 0.02);
    let heel = T + turned(13.0, -0.01269, -0.03059);
    let X = place(0.7922, -0.60599).normalize() * 0.5012;
    let foot = T + turned(13.0, 0.408, -0.04);

    let mut builder = MechanismBuilder::new("spring-leg");
    let tarsus = Link::new(T, foot).mass(0.9).section(0.04);
    for (name, link, mass, section) in [
        ("thigh", Link::new(H, K), 5.5, 0.08),
        ("knee", Link::new(K, S), 0.95, 0.05),
        ("shin", Link::new(S, T), 0.58, 0.04),
        ("heel_spring", Link::new(heel, X), 0.13, 0.02),
        ("achilles", Link::new(H, X), 0.16, 0.015),
    ] {
        builder.body(link.mass(mass).section(section).body(name));
    }
    builder.body(tarsus.body("tarsus"));
    for (name, parent, child, at) in [
        ("hip", WORLD, "thigh", H),
        ("knee", "thigh", "knee", K),
        ("shin_spring", "knee", "shin", S),
        ("tarsus", "shin", "tarsus", T),
        ("heel_spring", "tarsus", "heel_spring", heel),
        ("achilles", "thigh", "achilles", H),
        ("achilles_end", "achilles", "heel_spring", X),
    ] {
        let hinge = passive_hinge(name, parent, child, at, Vector3::y());
        let [stiffness, damping, rotor] = MOTOR;
        builder.joint(match name {
            "hip" | "knee" => hinge.stiffness(stiffness).damping(damping).armature(rotor),
            "shin_spring" => hinge.stiffness(1500.0).damping(10.0),
            "heel_spring" => hinge.stiffness(1250.0).damping(10.0),
            _ => hinge,
        });
    }
    builder.effector(effector("foot", "tarsus", tarsus.end()));
    builder.load(load("foot", [0.0, 0.0, 160.0]));
    finish(builder)
}
