//! Tendon finger: three phalanges pulled by one tendon that runs over a pulley at every joint.
//!
//! ```text
//!          ○ ← tip           z up, x to the right, hinges about y: the finger curls to the right
//!          │ distal          ● joint with a weak spring that opens it, and a pulley of radius r
//!          ●                 ▮ a slide for each joint, on the slide of the joint before: coupled to the joint,
//!          │ middle            it moves by r θ, so that the last one moves by the tendon's length,
//!          ●                   r₀θ₀ + r₁θ₁ + r₂θ₂
//!          │ proximal        ↓ the motor: a stiff slide between the last one and the world, which closes a loop
//!     ═════●═▮▮▮═↓═
//! ```
//! Underactuated as Hirose's gripper and its successors: one motor for three joints. Free, all joints turn by
//! Fr/k; where something stops one, the others go on. Phalanges of 45, 28 and 22 mm, pulleys of 9, 7
//! and 5 mm. The motor pulls the tendon by 6 mm; gravity acts, and 0.5 N push the tip back.

use nalgebra::Vector3;

use super::link::{Link, effector, finish, load, passive_hinge, slide};
use crate::mechanism::{CouplingDescription, Mechanism, MechanismBuilder, WORLD};

/// Name, length, m, and radius of the pulley, m.
const PHALANGES: [(&str, f64, f64); 3] =
    [("proximal", 0.045, 0.009), ("middle", 0.028, 0.007), ("distal", 0.022, 0.005)];
/// Of the spring that opens a joint, N·m/rad and N·m·s/rad.
const STIFFNESS: f64 = 0.05;
const DAMPING: f64 = 2e-3;
/// Of the motor with its tendon, N/m and N·s/m.
const TENDON: [f64; 2] = [5000.0, 50.0];

/// A finger whose three joints share one tendon.
pub fn tendon_finger() -> Mechanism {
    let mut builder = MechanismBuilder::new("tendon-finger");
    parts(&mut builder, 0.006);
    builder.load(load("tip", [-0.5, 0.0, 0.0]));
    finish(builder)
}

/// Finger and tendon, pulled by so many metres.
pub(super) fn parts(builder: &mut MechanismBuilder, pulled: f64) {
    let (mut from, mut parent, mut before) = (Vector3::zeros(), WORLD.to_string(), WORLD.to_string());
    // The slides lie below the finger.
    let line = Link::new(-Vector3::z() * 0.02, -Vector3::z() * 0.03).mass(0.005).section(0.005);
    for (name, length, radius) in PHALANGES {
        let phalanx = Link::new(from, from + Vector3::z() * length).mass(0.02).section(0.012);
        builder.body(phalanx.body(name));
        let hinge = passive_hinge(name, parent, name, from, Vector3::y());
        builder.joint(hinge.stiffness(STIFFNESS).damping(DAMPING).armature(1e-6));
        let tendon = format!("{name}_tendon");
        builder.body(line.body(&tendon)).joint(slide(&tendon, before, &tendon, &line));
        let (joint, of) = (tendon.clone(), name.to_string());
        builder.coupling(CouplingDescription { joint, of, ratio: radius, offset: 0.0 });
        (from, parent, before) = (phalanx.to, name.to_string(), tendon);
        if name == "distal" {
            builder.effector(effector("tip", name, phalanx.end()));
        }
    }
    let [stiffness, damping] = TENDON;
    builder.joint(slide("motor", WORLD, before, &line).stiffness(stiffness).damping(damping).rest(pulled));
}
