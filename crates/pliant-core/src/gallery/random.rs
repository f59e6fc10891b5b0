//! Random mechanisms: what tests of identities run on. The same seed and options give the same
//! mechanism.
//!
//! Bodies come one after the other, each on a parent among those before it, so that no joints go
//! round in a circle; some get a second parent, which closes a loop. In the end bodies and joints are
//! shuffled: nothing may rely on parents being listed first.

use nalgebra::Vector3;

use super::link::finish;
use crate::joints::JointKind;
use crate::mechanism::{
    Body, EffectorDescription, JointDescription, LoadDescription, Mechanism, MechanismBuilder, WORLD,
};
use crate::numbers::Numbers;
use crate::spatial::{Pose, SpatialInertia, Wrench};

/// Where freedoms without a spring may appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passive {
    /// Nowhere: every freedom is sprung.
    Never,
    /// Only in the joints that were added to close loops: springs hold every body without them, so
    /// that there is an equilibrium.
    InLoops,
    /// In any joint.
    Anywhere,
}

/// What [`random`] mechanisms look like.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomOptions {
    /// Number of bodies.
    pub bodies: usize,
    /// Probability that a body gets a second parent, 0 to 1.
    pub loops: f64,
    /// Where passive freedoms may appear.
    pub passive: Passive,
    /// Kinds of the joints that carry bodies, drawn evenly. Must not be empty.
    pub kinds: Vec<JointKind>,
    /// Kinds of the joints that close loops, drawn evenly. Must not be empty.
    pub loop_kinds: Vec<JointKind>,
    /// 0 is a chain: every body hangs on the one before; 1 is a bush: on any of those before.
    pub bushiness: f64,
    /// Whether the first body, and now and then another, is a free base.
    pub free_bases: bool,
    /// Number of effectors, each with a load.
    pub effectors: usize,
    /// Probability that a body is massless and welded to its parent, 0 to 1.
    pub massless: f64,
    /// Whether some freedoms have limits.
    pub limits: bool,
    /// Whether some springs are relaxed elsewhere than in the file's pose.
    pub rests: bool,
    /// Whether some freedoms have rotor inertia.
    pub armatures: bool,
}

impl Default for RandomOptions {
    fn default() -> RandomOptions {
        RandomOptions {
            bodies: 12,
            loops: 0.2,
            passive: Passive::InLoops,
            kinds: JointKind::ALL.to_vec(),
            loop_kinds: JointKind::ALL.to_vec(),
            bushiness: 0.3,
            free_bases: false,
            effectors: 2,
            massless: 0.05,
            limits: true,
            rests: true,
            armatures: true,
        }
    }
}

/// How often a freedom has a limit, a moved rest, a rotor, or no spring where it may have none.
const SOMETIMES: f64 = 0.25;
/// How often a body hangs on the world, or is one more free base.
const SELDOM: f64 = 0.05;
/// Angles stay within this of the file's pose, rad, and translations within a tenth as many m.
const REACH: f64 = 1.0;

/// A random mechanism in standard gravity: random poses, axes, masses and inertias, stiffness from
/// 10 to 10⁴ N·m/rad or N/m.
///
/// # Panics
/// If there are no bodies, or a list of kinds is empty.
pub fn random(seed: u64, options: &RandomOptions) -> Mechanism {
    assert!(options.bodies > 0, "a mechanism needs at least one body");
    assert!(
        !options.kinds.is_empty() && !options.loop_kinds.is_empty(),
        "a random mechanism needs kinds of joints to choose from"
    );
    let mut growth = Growth {
        numbers: Numbers(seed),
        options,
        bodies: Vec::with_capacity(options.bodies),
        joints: Vec::with_capacity(options.bodies),
    };
    for i in 0..options.bodies {
        growth.grow(i);
    }
    growth.finish(seed)
}

/// A mechanism while it grows; parents come first.
struct Growth<'a> {
    numbers: Numbers,
    options: &'a RandomOptions,
    bodies: Vec<Body>,
    joints: Vec<JointDescription>,
}

impl Growth<'_> {
    fn grow(&mut self, i: usize) {
        let free = self.options.free_bases && (i == 0 || self.numbers.chance(SELDOM));
        if free {
            let pose = self.pose_near(None);
            let inertia = inertia(&mut self.numbers);
            self.bodies.push(Body::new(format!("body{i}"), pose).inertia(inertia).free());
            return;
        }
        let parent = self.parent(i);
        let pose = self.pose_near(parent);
        let mut body = Body::new(format!("body{i}"), pose);
        let massless = self.numbers.chance(self.options.massless);
        let kind = if massless { JointKind::Fixed } else { self.numbers.one_of(&self.options.kinds) };
        if !massless {
            body = body.inertia(inertia(&mut self.numbers));
        }
        self.bodies.push(body);
        self.carry(format!("joint{i}"), kind, parent, i, self.options.passive == Passive::Anywhere);

        if self.numbers.chance(self.options.loops) {
            let second = self.numbers.below(i + 1).checked_sub(1);
            let kind = self.numbers.one_of(&self.options.loop_kinds);
            self.carry(format!("loop{i}"), kind, second, i, self.options.passive != Passive::Never);
        }
    }

    /// A body before number `i`; `None` is the world.
    fn parent(&mut self, i: usize) -> Option<usize> {
        if i == 0 || self.numbers.chance(SELDOM) {
            None
        } else if self.numbers.chance(self.options.bushiness) {
            Some(self.numbers.below(i))
        } else {
            Some(i - 1)
        }
    }

    fn pose_near(&mut self, parent: Option<usize>) -> Pose {
        let start = parent.map_or(Vector3::zeros(), |p| self.bodies[p].pose.position);
        let step = self.numbers.direction() * self.numbers.between(0.1, 0.3);
        Pose::new(self.numbers.rotation(), start + step)
    }

    /// Adds a joint somewhere near the middle of the two bodies.
    fn carry(&mut self, name: String, kind: JointKind, parent: Option<usize>, child: usize, passive: bool) {
        let here = self.bodies[child].pose.position;
        let there = parent.map_or(Vector3::zeros(), |p| self.bodies[p].pose.position);
        let aside = self.numbers.direction() * 0.05;
        let frame = Pose::new(self.numbers.rotation(), (here + there) * 0.5 + aside);
        let parent = parent.map_or(WORLD, |p| self.bodies[p].name.as_str());
        let joint = JointDescription::new(name, kind, parent, &self.bodies[child].name).frame(frame);
        let joint = self.springs(joint, passive);
        self.joints.push(joint);
    }

    fn springs(&mut self, mut joint: JointDescription, passive: bool) -> JointDescription {
        let count = joint.kind.freedoms();
        if count == 0 {
            return joint;
        }
        let numbers = &mut self.numbers;
        let reach: Vec<f64> =
            (0..count).map(|k| if k < joint.kind.translations() { 0.1 * REACH } else { REACH }).collect();

        // A joint is as likely to be passive throughout as in some of its freedoms only.
        let all_passive = passive && numbers.chance(SOMETIMES);
        let stiffness: Vec<f64> = (0..count)
            .map(|_| {
                let none = all_passive || (passive && numbers.chance(SOMETIMES));
                if none { 0.0 } else { numbers.logarithmic(10.0, 1e4) }
            })
            .collect();
        let damping: Vec<f64> =
            stiffness.iter().map(|k| numbers.logarithmic(1e-3, 1e-1) * k.max(1.0)).collect();
        joint = joint.stiffness(stiffness).damping(damping);
        if self.options.limits && numbers.chance(SOMETIMES) {
            let limits: Vec<(f64, f64)> = reach
                .iter()
                .map(|r| (-r * numbers.between(0.3, 1.0), r * numbers.between(0.3, 1.0)))
                .collect();
            joint = joint.limits(limits);
        }
        if self.options.rests && numbers.chance(SOMETIMES) {
            let rests: Vec<f64> = reach.iter().map(|r| r * numbers.between(-0.2, 0.2)).collect();
            joint = joint.rest(rests);
        }
        if self.options.armatures && numbers.chance(SOMETIMES) {
            let armatures: Vec<f64> = (0..count).map(|_| numbers.logarithmic(1e-4, 1e-1)).collect();
            joint = joint.armature(armatures);
        }
        joint
    }

    fn finish(mut self, seed: u64) -> Mechanism {
        let mut builder = MechanismBuilder::new(format!("random {seed}"));
        for i in 0..self.options.effectors {
            let body = self.bodies[self.numbers.below(self.bodies.len())].name.clone();
            let frame = if self.numbers.chance(0.5) {
                Pose::identity()
            } else {
                Pose::new(self.numbers.rotation(), self.numbers.direction() * 0.1)
            };
            let name = format!("effector{i}");
            let force = self.numbers.direction() * self.numbers.logarithmic(0.1, 10.0);
            let torque = self.numbers.direction() * self.numbers.logarithmic(0.01, 1.0);
            builder.load(LoadDescription { effector: name.clone(), wrench: Wrench::new(force, torque) });
            builder.effector(EffectorDescription { name, body, frame });
        }
        self.numbers.shuffle(&mut self.bodies);
        self.numbers.shuffle(&mut self.joints);
        for body in self.bodies {
            builder.body(body);
        }
        for joint in self.joints {
            builder.joint(joint);
        }
        finish(builder)
    }
}

/// Of a box of any proportions, turned and moved: such an inertia is always that of a rigid body.
fn inertia(numbers: &mut Numbers) -> SpatialInertia {
    let mass = numbers.logarithmic(0.05, 5.0);
    let size = [numbers.between(0.02, 0.2), numbers.between(0.02, 0.2), numbers.between(0.02, 0.2)];
    let offset = Pose::new(numbers.rotation(), numbers.direction() * numbers.between(0.0, 0.05));
    SpatialInertia::of_box(mass, size).in_outer(&offset)
}
