//! `<actuator>`: what pulls a joint to a place is a spring, as PD control is.
//!
//! On a length L = s q + L0 (of a joint, s = 1 and L0 its `ref`) with gear g, the force on the joint is
//! g s (k_g u + b0 + b1 g L + b2 g s q̇): a spring of stiffness −b1 (g s)² at rest where the bracket is zero,
//! and a damper −b2 (g s)². The control u is that of the key frame, or zero.

use pliant_core::mechanism::{JointDescription, PerFreedom};
use pliant_core::spatial::SpatialInertia;

use super::bodies::Bodies;
use super::joints::first_of;
use super::replicate::Copies;
use super::tendons::{self, Length, Tendons};
use crate::import::context::Context;
use crate::import::xml::Element;

/// Actuators whose defaults all others share.
const KINDS: [&str; 12] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "orientation",
    "pid",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
];

/// An actuator, as classes and its own element build it up.
#[derive(Clone, Debug)]
struct Actuator {
    gain: f64,
    bias: [f64; 3],
    /// Whether gain and bias are those of a spring at all.
    linear: bool,
    affine: bool,
    filtered: bool,
    damp_ratio: f64,
    gear: f64,
    armature: f64,
    damping: f64,
    range: Option<[f64; 2]>,
    inherit: f64,
    limited: Option<bool>,
    force_range: Option<[f64; 2]>,
    force_limited: Option<bool>,
}

impl Actuator {
    fn new() -> Actuator {
        Actuator {
            gain: 1.0,
            bias: [0.0; 3],
            linear: true,
            affine: false,
            filtered: false,
            damp_ratio: 0.0,
            gear: 1.0,
            armature: 0.0,
            damping: 0.0,
            range: None,
            inherit: 0.0,
            limited: None,
            force_range: None,
            force_limited: None,
        }
    }

    /// Takes over what an element says.
    fn take(&mut self, element: &Element, context: &mut Context) {
        if let Some(gear) = element.numbers("gear", context).and_then(|gear| gear.first().copied()) {
            self.gear = gear;
        }
        self.range = element.vector("ctrlrange", context).or(self.range);
        match element.value("ctrllimited").map(str::trim) {
            None => {}
            Some("auto") => self.limited = None,
            Some(_) => self.limited = element.flag("ctrllimited", context),
        }
        self.inherit = element.number("inheritrange", context).unwrap_or(self.inherit);
        self.armature = element.number("armature", context).unwrap_or(self.armature);
        if element.attribute("damping").is_some() {
            self.damping = first_of(element, "damping", context);
        }
        self.force_range = element.vector("forcerange", context).or(self.force_range);
        match element.value("forcelimited").map(str::trim) {
            None => {}
            Some("auto") => self.force_limited = None,
            Some(_) => self.force_limited = element.flag("forcelimited", context),
        }
        match element.name.as_str() {
            "position" => {
                let kp = element.number("kp", context).unwrap_or(self.gain);
                let kv = element.number("kv", context);
                (self.linear, self.affine, self.gain) = (true, true, kp);
                self.bias = [0.0, -kp, kv.map_or(self.bias[2], |kv| -kv)];
                if let Some(ratio) = element.number("dampratio", context) {
                    (self.damp_ratio, self.bias[2]) = (ratio, 0.0);
                }
                if element.number("timeconst", context).is_some_and(|t| t > 0.0) {
                    self.filtered = true;
                }
            }
            "velocity" => {
                let kv = element.number("kv", context).unwrap_or(self.gain);
                (self.linear, self.affine, self.gain, self.bias) = (true, true, kv, [0.0, 0.0, -kv]);
            }
            "motor" => (self.linear, self.affine, self.gain, self.bias) = (true, false, 1.0, [0.0; 3]),
            "general" => {
                if let Some(gain) = element.numbers("gainprm", context).and_then(|g| g.first().copied()) {
                    self.gain = gain;
                }
                for (to, from) in
                    self.bias.iter_mut().zip(element.numbers("biasprm", context).unwrap_or_default())
                {
                    *to = from;
                }
                if let Some(kind) = element.value("biastype") {
                    self.affine = kind.trim() == "affine";
                    self.linear &= matches!(kind.trim(), "affine" | "none");
                }
                if let Some(kind) = element.value("gaintype") {
                    self.linear &= kind.trim() == "fixed";
                }
                if let Some(kind) = element.value("dyntype") {
                    self.filtered = matches!(kind.trim(), "filter" | "filterexact");
                    self.linear &= self.filtered || kind.trim() == "none";
                }
            }
            _ => self.linear = false,
        }
    }
}

/// Reads all `<actuator>` elements; `controls` are the name of the key frame and what it sets, in the order of the file.
pub(super) fn read(
    root: &Element,
    bodies: &mut Bodies<'_>,
    copies: &Copies,
    tendons: &Tendons,
    controls: Option<(&str, &[f64])>,
    context: &mut Context,
) {
    let mut number = 0;
    let mut springs = 0;
    let mut inertias = None;
    for element in root.all("actuator").flat_map(|section| &section.children) {
        for element in copies.of_reference(element, &["joint", "jointinparent"]) {
            let control = controls.and_then(|(_, list)| list.get(number).copied()).unwrap_or(0.0);
            number += 1;
            let mut actuator = Actuator::new();
            let defaults = bodies.defaults.of(&element, None, &KINDS, context);
            defaults.into_iter().chain([&element]).for_each(|part| actuator.take(part, context));
            let Some(Length { joint, slope, offset }) = length(&element, bodies, tendons) else {
                warn_of_transmission(&element, context);
                continue;
            };
            let Some((connection, position, _)) = bodies.joints.get(&joint).copied() else {
                context.warning_of("actuator of no joint", element.place_of("joint"), || {
                    format!("{}: `{joint}` is not a joint with one freedom; it was left out", element.what())
                });
                continue;
            };
            let kind = &bodies.parts.connections[connection].joints[position].description.kind;
            if kind.freedoms() != 1 {
                context.warning_of("actuator of a ball", &element.place, || {
                    format!("{}: `{joint}` has more than one freedom; it was left out", element.what())
                });
                continue;
            }
            let g2 = (actuator.gear * slope).powi(2);
            let [b0, b1, b2] = if actuator.affine { actuator.bias } else { [0.0; 3] };
            let sprung = actuator.linear && (b1 * g2 < 0.0 || b2 * g2 < 0.0);
            if !sprung {
                context.warning_of(element.name.clone(), &element.place, || {
                    format!("{} commands a force, not a position; it was left out", element.what())
                });
            }
            let stiffness = -b1 * g2;
            let mut damping = -b2 * g2 + actuator.damping * g2;
            if sprung && actuator.damp_ratio > 0.0 && stiffness > 0.0 {
                // Critical damping of what the joint carries at qpos0.
                let inertias = inertias.get_or_insert_with(|| carried(bodies));
                let mass = felt(&inertias[..], bodies, connection, position);
                damping += actuator.damp_ratio * 2.0 * (stiffness * mass).sqrt();
            }
            if !sprung {
                damping = actuator.damping * g2;
            }
            let parts = &mut bodies.parts.connections[connection].joints[position];
            let description = &mut parts.description;
            let own = value(&description.damping) + actuator.damping * g2;
            let alone = value(&description.stiffness) == 0.0 && own == 0.0;
            add(&mut description.armature, actuator.armature * g2);
            add(&mut description.damping, damping);
            if !sprung {
                continue;
            }
            if b1 * g2 >= 0.0 {
                context.warning_of("velocity actuator", &element.place, || {
                    format!("<{}> was read as a damper", element.name)
                });
                continue;
            }
            if actuator.filtered {
                context.warning_of("actuator filter", &element.place, || {
                    format!("the filter of {} is not supported and was left out", element.what())
                });
            }
            // That of another actuator would bound this one too.
            let other = description.torque_limit.take().and(Some(Ok(0.0))).filter(|_| !alone);
            match actuator.torque_limit(slope, bodies.compiler.auto_limits).or(other) {
                None => {}
                // A torque limit bounds spring and damper of a joint together: its own must not be among them.
                Some(Ok(most)) if alone => description.torque_limit = Some(PerFreedom::All(most)),
                Some(limit) => {
                    let why = match limit {
                        Ok(_) => "next to a spring or damper of the joint's own",
                        Err(()) => "not the same both ways",
                    };
                    context.warning_of("force limit", &element.place, || {
                        format!(
                            "the force limit of {}, {why}, is not supported and was left out",
                            element.what()
                        )
                    });
                }
            }
            let control = actuator.clamp(control, description, offset, bodies.compiler.auto_limits);
            let length = (actuator.gain * control + b0) / (-b1 * actuator.gear);
            let rest = (length - offset) / slope;
            add_spring(description, stiffness, rest);
            parts.default_spring = false;
            springs += 1;
        }
    }
    if springs > 0 {
        let at = match controls {
            Some((key, _)) => format!("where {key} sets them"),
            None => "at control zero".into(),
        };
        let became = match springs {
            1 => "1 actuator that controls a position became a spring".to_string(),
            more => format!("{more} actuators that control a position became springs"),
        };
        context.note(format!("{became}, {at}"));
    }
}

/// The length that an actuator acts on, if it moves with one joint.
fn length(element: &Element, bodies: &Bodies<'_>, tendons: &Tendons) -> Option<Length> {
    if let Some(joint) = element.value("joint").or(element.value("jointinparent")) {
        let reference = bodies.joints.get(joint).map_or(0.0, |(_, _, reference)| *reference);
        return Some(Length { joint: joint.to_string(), slope: 1.0, offset: reference });
    }
    tendons::length(&tendons.get(element.value("tendon")?)?.terms, bodies)
}

fn warn_of_transmission(element: &Element, context: &mut Context) {
    let transmissions = ["tendon", "site", "body", "cranksite", "plugin"];
    let on = transmissions.into_iter().find(|name| element.attribute(name).is_some());
    let on = on.map_or(String::new(), |on| format!(" on a {on}"));
    context.warning_of(format!("{}{on}", element.name), &element.place, || {
        format!("<{}>{on} is not supported and was left out", element.name)
    });
}

impl Actuator {
    /// The most that it applies to a joint whose coordinate moves its length by a slope, N or N·m; an error where that is not the same
    /// both ways, nothing where it has no limit.
    fn torque_limit(&self, slope: f64, auto: bool) -> Option<Result<f64, ()>> {
        let [lower, upper] = self.force_range?;
        if !self.force_limited.unwrap_or(auto && lower < upper) {
            return None;
        }
        let same = upper > 0.0 && (lower + upper).abs() <= 1e-9 * upper;
        Some(if same { Ok(upper * (self.gear * slope).abs()) } else { Err(()) })
    }

    /// A control within its range.
    fn clamp(&self, control: f64, joint: &JointDescription, reference: f64, auto: bool) -> f64 {
        let mut range = self.range;
        if let (true, Some(PerFreedom::All((lower, upper)))) = (self.inherit > 0.0, &joint.limits) {
            let (middle, half) = (0.5 * (lower + upper) + reference, 0.5 * (upper - lower) * self.inherit);
            range = Some([middle - half, middle + half]);
        }
        match range {
            Some([lower, upper]) if self.limited.unwrap_or(auto) && lower < upper => {
                control.clamp(lower, upper)
            }
            _ => control,
        }
    }
}

pub(super) fn value(values: &Option<PerFreedom<f64>>) -> f64 {
    match values {
        Some(PerFreedom::All(x)) => *x,
        Some(PerFreedom::Each(list)) => list.first().copied().unwrap_or(0.0),
        None => 0.0,
    }
}

pub(super) fn add(to: &mut Option<PerFreedom<f64>>, more: f64) {
    if more > 0.0 {
        *to = Some(PerFreedom::All(value(to) + more));
    }
}

/// Two springs on one joint are one: k = Σ k_i, at rest at Σ k_i r_i / k.
pub(super) fn add_spring(description: &mut JointDescription, stiffness: f64, rest: f64) {
    let (k, r) = (value(&description.stiffness), value(&description.rest));
    let sum = k + stiffness;
    let rest = (k * r + stiffness * rest) / sum;
    description.stiffness = Some(PerFreedom::All(sum));
    description.rest = Some(PerFreedom::All(rest)).filter(|_| rest != 0.0);
}

/// The inertia of each link with all that it carries, in its frame.
pub(super) fn carried(bodies: &Bodies<'_>) -> Vec<SpatialInertia> {
    let links = &bodies.parts.links;
    let mut inertias: Vec<SpatialInertia> = links.iter().map(|link| link.body.inertia).collect();
    let parents = bodies.parents();
    for i in (0..links.len()).rev() {
        if let Some(p) = parents[i] {
            let offset = links[p].body.pose.inverse_times(&links[i].body.pose);
            inertias[p] = inertias[p].welded(&inertias[i].in_outer(&offset));
        }
    }
    inertias
}

/// What a joint feels of it, with its armature: Sᵀ M S + a.
fn felt(inertias: &[SpatialInertia], bodies: &Bodies<'_>, connection: usize, position: usize) -> f64 {
    let connection = &bodies.parts.connections[connection];
    let description = &connection.joints[position].description;
    let Some(child) = bodies.link(&connection.child) else { return 0.0 };
    let offset = description.frame.inverse_times(&bodies.parts.links[child].body.pose);
    let M = inertias[child].in_outer(&offset).matrix();
    let S = description.kind.subspace(&[0.0]);
    (S.column(0).transpose() * M * S.column(0))[0] + value(&description.armature)
}
