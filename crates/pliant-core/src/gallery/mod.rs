//! The gallery: mechanisms to try things on, one definition for tests, benches, docs and viewer.
//!
//! Each entry is a function here, and a name on the command line with its size after a colon where
//! it has one: [`helix`]`(400)` is `helix:400`. The name of the mechanism is that name, size
//! included. Lengths in m, masses in kg, z up.
//!
//! ```
//! use pliant_core::gallery;
//!
//! assert_eq!(gallery::build("helix:400")?, gallery::helix(400));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive_gripper;
mod arm;
mod chain;
mod closed_loop;
mod delta;
mod dragged_arm;
mod excavator;
mod fin_ray;
mod firefighters;
mod flexure;
mod four_bar;
mod graph;
mod gripper;
mod hand;
mod helix;
mod hexapod;
mod ladder;
mod link;
mod random;
mod rungs;
mod scenes;
mod size;
mod spline_slide;
mod spring_leg;
mod stewart;
mod surface_slide;
mod tendon_finger;
mod torus_chain;
mod two_link;
mod windmill;
mod y;

pub use adaptive_gripper::adaptive_gripper;
pub use arm::arm;
pub use chain::chain;
pub use closed_loop::closed_loop;
pub use delta::delta;
pub use dragged_arm::dragged_arm;
pub use excavator::excavator;
pub use fin_ray::fin_ray;
pub use firefighters::firefighters;
pub use flexure::flexure;
pub use four_bar::four_bar;
pub use graph::graph;
pub use gripper::gripper;
pub use hand::hand;
pub use helix::helix;
pub use hexapod::hexapod;
pub use ladder::ladder;
pub use random::{Passive, RandomOptions, random};
pub use rungs::rungs;
pub use scenes::{
    Fingertips, Grasped, Thickness, adaptive_grasp, bridge_heap, fin_ray_post, finger, firefighters_catch,
    gripper_pick, hand_grasp, hexapod_terrain, humanoid_stands, pad, peg_in_hole, soft_gripper, soft_hand,
    tendon_wrap, tray_carries,
};
pub use size::{LARGEST_SIZE, Size};
pub use spline_slide::spline_slide;
pub use spring_leg::spring_leg;
pub use stewart::stewart;
pub use surface_slide::surface_slide;
pub use tendon_finger::tendon_finger;
pub use torus_chain::torus_chain;
pub use two_link::two_link;
pub use windmill::windmill;
pub use y::y;

use crate::mechanism::Mechanism;
use crate::words::closest;

/// One line of the gallery.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Which sizes it takes; `None` if it has only one.
    pub size: Option<Size>,
    make: fn(usize) -> Mechanism,
}

impl Entry {
    /// The mechanism at its default size.
    pub fn build(&self) -> Mechanism {
        (self.make)(self.size.map_or(0, |size| size.default))
    }
}

const fn sized(name: &'static str, size: Size, make: fn(usize) -> Mechanism, about: &'static str) -> Entry {
    Entry { name, about, size: Some(size), make }
}

const fn unsized_entry(name: &'static str, make: fn(usize) -> Mechanism, about: &'static str) -> Entry {
    Entry { name, about, size: None, make }
}

static ENTRIES: [Entry; 27] = [
    sized("chain", chain::SIZE, chain, "links in a row along x, sagging under gravity"),
    sized("helix", helix::SIZE, helix, "links wound into a helix, pulled down at the tip"),
    sized(
        "ladder",
        ladder::SIZE,
        ladder,
        "two rails and rungs closed by passive ball joints, pushed sideways",
    ),
    sized(
        "rungs",
        rungs::SIZE,
        rungs,
        "stages of two rails between rungs, every hinge sprung, pushed sideways",
    ),
    sized(
        "loop",
        closed_loop::SIZE,
        closed_loop,
        "hexagonal rings stacked on their vertices, pushed sideways",
    ),
    unsized_entry("two-link", |_| two_link(), "two links in a plane, the smallest compliant arm"),
    unsized_entry("y", |_| y(), "a stem with two arms, pulled at one of them"),
    unsized_entry("graph", |_| graph(), "nine bodies with branches and a loop, two effectors"),
    unsized_entry("four-bar", |_| four_bar(), "crank, coupler and rocker: one spring holds the loop"),
    unsized_entry(
        "arm",
        |_| arm(),
        "an arm of eight links with three fingers of four, loaded at a fingertip",
    ),
    unsized_entry("gripper", |_| gripper(), "two parallelogram fingers that move as mirror images"),
    unsized_entry("hand", |_| hand(), "sixteen bones with limits, pressing with the index finger"),
    unsized_entry("hexapod", |_| hexapod(), "a six-legged robot standing on a free base"),
    unsized_entry(
        "firefighters",
        |_| firefighters(),
        "two people hold a trampoline, and something lands on it",
    ),
    sized(
        "torus-chain",
        torus_chain::SIZE,
        torus_chain,
        "rings that roll on each other, four freedoms each, pulled at the tip",
    ),
    unsized_entry("windmill", |_| windmill(), "spheres, ellipsoids and tori roll on a turning hub"),
    unsized_entry(
        "spline-slide",
        |_| spline_slide(),
        "rings hang from a carriage on a curve of seven points",
    ),
    unsized_entry("surface-slide", |_| surface_slide(), "a board with a mast slides on a patch of 25 points"),
    unsized_entry(
        "adaptive-gripper",
        |_| adaptive_gripper(),
        "two fingers of four links and two freedoms that pinch or envelop",
    ),
    unsized_entry("delta", |_| delta(), "three arms with parallelograms move a platform that does not turn"),
    unsized_entry("stewart", |_| stewart(), "a platform on six sprung legs"),
    unsized_entry("excavator", |_| excavator(), "boom, stick and bucket, each moved by a cylinder"),
    unsized_entry("fin-ray", |_| fin_ray(), "a finger of flanks and ribs that bends toward what pushes it"),
    unsized_entry("spring-leg", |_| spring_leg(), "a runner's leg with leaf springs at shin and heel"),
    unsized_entry("tendon-finger", |_| tendon_finger(), "three phalanges pulled by one tendon"),
    unsized_entry("flexure", |_| flexure(), "a stage on two leaves, cut from one plate, pushed sideways"),
    unsized_entry("dragged-arm", |_| dragged_arm(), "a human arm whose hand a device drags along a path"),
];

static SCENES: [Entry; 17] = [
    unsized_entry("hexapod-terrain", |_| hexapod_terrain(), "the hexapod walks over uneven ground"),
    unsized_entry("firefighters-catch", |_| firefighters_catch(), "somebody falls on the trampoline"),
    unsized_entry("hand-grasp", |_| hand_grasp(Grasped::Ball), "the hand grasps a ball and lifts it"),
    unsized_entry("hand-grasp-box", |_| hand_grasp(Grasped::Box), "the hand grasps a box and lifts it"),
    unsized_entry("gripper-pick", |_| gripper_pick(), "the gripper picks up a block"),
    unsized_entry("peg-in-hole", |_| peg_in_hole(), "a peg on a soft wrist finds its hole"),
    unsized_entry("bridge-heap", |_| bridge_heap(), "bodies fall on a bridge of rungs"),
    unsized_entry(
        "adaptive-thin",
        |_| adaptive_grasp(Thickness::Thin),
        "the adaptive gripper pinches a plate and lifts it",
    ),
    unsized_entry(
        "adaptive-thick",
        |_| adaptive_grasp(Thickness::Thick),
        "the adaptive gripper envelops a round bar and lifts it",
    ),
    unsized_entry("fin-ray-post", |_| fin_ray_post(), "the fin-ray finger bends around a post"),
    unsized_entry("tendon-wrap", |_| tendon_wrap(), "the tendon finger wraps around a post"),
    unsized_entry("humanoid-stands", |_| humanoid_stands(), "a humanoid robot stands on two flat feet"),
    unsized_entry("tray-carries", |_| tray_carries(), "an arm carries a block in a bowl, its only effector"),
    unsized_entry("pad", |_| pad(), "a round tip presses on a soft pad, and then slides"),
    unsized_entry(
        "soft-gripper",
        |_| soft_gripper(Fingertips::Soft),
        "the gripper with soft fingertips holds a bar off its middle",
    ),
    unsized_entry("finger", |_| finger(), "three bones in soft pads bend around a bar"),
    unsized_entry("soft-hand", |_| soft_hand(), "the hand with soft fingertips grasps a ball and lifts it"),
];

/// Every mechanism, in the order of the documentation.
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}

/// Every scene of contact: mechanisms with a world to touch or bodies that nothing holds.
pub fn scenes() -> &'static [Entry] {
    &SCENES
}

/// A gallery name, or a size, that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GalleryError {
    message: String,
}

/// The mechanism of a gallery name with optional size, such as `helix:400`.
///
/// ```
/// use pliant_core::gallery;
///
/// let mechanism = gallery::build("helix:12")?;
/// assert_eq!(mechanism.bodies().len(), 12);
///
/// let error = gallery::build("helx").unwrap_err();
/// assert!(error.to_string().contains("did you mean `helix`?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build(name: &str) -> Result<Mechanism, GalleryError> {
    let (name, size) = match name.split_once(':') {
        Some((name, size)) => (name, Some(size)),
        None => (name, None),
    };
    let entry = find(name)?;
    match (entry.size, size) {
        (_, None) => Ok(entry.build()),
        (Some(sizes), Some(text)) => {
            let size = parse_size(name, text)?;
            match sizes.defect(name, size) {
                None => Ok((entry.make)(size)),
                Some(message) => Err(GalleryError { message }),
            }
        }
        (None, Some(text)) => Err(GalleryError {
            message: format!("`{name}:{text}`: `{name}` has only one size; write `{name}`"),
        }),
    }
}

fn find(name: &str) -> Result<&'static Entry, GalleryError> {
    let all = || ENTRIES.iter().chain(&SCENES);
    if let Some(entry) = all().find(|entry| entry.name == name) {
        return Ok(entry);
    }
    let names: Vec<&str> = all().map(|entry| entry.name).collect();
    let guess = match closest(name, names.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    let message = format!("there is no `{name}` in the gallery{guess} (it has {})", names.join(", "));
    Err(GalleryError { message })
}

fn parse_size(name: &str, text: &str) -> Result<usize, GalleryError> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        let message = format!("`{name}:{text}`: the size is not a whole number, as in `{name}:100`");
        return Err(GalleryError { message });
    }
    // Digits can only fail to be a number by being too many.
    text.parse().map_err(|_| GalleryError { message: size::too_large(name, text) })
}
