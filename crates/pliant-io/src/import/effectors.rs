//! Where a robot works with the world, where no scene says so: its default effectors.
//!
//! Links that are welded together are one set. Each set at an end of the tree, which carries no other, has one effector:
//! a site with the name of a tool, a link that is named as the robot's own end (`tcp`, `tool0`), any site, a link with the
//! name of a hand or foot, or the last of its links that has a collision shape. Sets further in have one where a frame is
//! named as the robot's own end.
//! The effector of a frame without a shape is on the link with one that it is welded to: contact on that link acts there.
//! Sensors, logos and frames without a shape have none, nor do bodies that nothing holds. Where that leaves nothing, all ends
//! of the tree are taken.

use pliant_core::mechanism::{EffectorDescription, WORLD};
use pliant_core::spatial::Pose;

use super::context::Place;
use super::draft::Draft;
use super::meaning::Tree;

/// Words in the names of frames that are the robot's own end, the best first.
const ENDS: [&str; 10] =
    ["tcp", "tool", "effector", "endeffector", "eef", "ee", "grip", "pinch", "attachment", "fingertip"];

/// Words that name what works at the end of a limb, too.
const HANDS: [&str; 11] =
    ["gripper", "hand", "palm", "foot", "feet", "sole", "toe", "tip", "finger", "flange", "hoof"];

/// Words in the names of what only measures or is looked at.
const SENSORS: [&str; 34] = [
    "imu",
    "camera",
    "cam",
    "lidar",
    "laser",
    "sensor",
    "logo",
    "gyro",
    "accelerometer",
    "velocimeter",
    "magnetometer",
    "gps",
    "radar",
    "sonar",
    "optical",
    "depth",
    "rgb",
    "rgbd",
    "stereo",
    "realsense",
    "kinect",
    "xtion",
    "zed",
    "velodyne",
    "hokuyo",
    "ouster",
    "light",
    "led",
    "marker",
    "mocap",
    "antenna",
    "microphone",
    "speaker",
    "touch",
];

/// Cameras and scanners by their models, whose names have digits.
const SENSOR_MODELS: [&str; 9] = ["d405", "d415", "d435", "d435i", "d455", "t265", "l515", "vlp16", "mid360"];

/// A frame that may be an effector.
struct Candidate {
    effector: EffectorDescription,
    place: Place,
    link: usize,
    is_site: bool,
}

impl Draft {
    /// See the [module](self). Effectors that the draft has are the sites of its file.
    pub(crate) fn add_default_effectors(&mut self) {
        let tree = Tree::new(&self.links, &self.joints);
        let heads = tree.heads(&self.joints);
        let sites = std::mem::take(&mut self.effectors);
        let of_links = tree.order.iter().map(|&i| {
            let (name, place) = (self.links[i].body.name.clone(), self.links[i].place.clone());
            let effector = EffectorDescription { body: name.clone(), name, frame: Pose::identity() };
            Candidate { effector, place, link: i, is_site: false }
        });
        let of_sites = sites.into_iter().filter_map(|(effector, place)| {
            let link = tree.find(&effector.body)?;
            Some(Candidate { effector, place, link, is_site: true })
        });
        let candidates: Vec<Candidate> = of_sites.chain(of_links).collect();
        // Loose bodies are moved by what touches them.
        let mut joined = vec![false; self.links.len()];
        let mut inner = vec![false; self.links.len()];
        for (j, joint) in self.joints.iter().enumerate() {
            let [parent, child] =
                [&joint.description.parent, &joint.description.child].map(|name| tree.find(name));
            [parent, child].into_iter().flatten().for_each(|i| joined[i] = true);
            // What closes a loop carries nothing.
            let carries = child.is_some_and(|i| tree.joint[i] == Some(j));
            if let (true, Some(above), Some(below)) =
                (carries, parent.and_then(|i| heads[i]), child.and_then(|i| heads[i]))
                && above != below
            {
                inner[above] = true;
            }
        }
        let collides = |i: usize| self.links[i].body.shapes.iter().any(|shape| shape.touches);
        let mut chosen: Vec<usize> = Vec::new();
        for &head in tree.order.iter().filter(|i| heads[**i] == Some(**i) && joined[**i]) {
            let is_own =
                |c: &&(usize, &Candidate)| heads[c.1.link] == Some(head) && !is_sensor(&c.1.effector.name);
            let own: Vec<(usize, &Candidate)> =
                candidates.iter().enumerate().filter(|c| is_own(&c)).collect();
            // A link that is named so must be one that something can touch, or a frame next to such a one.
            let solid = own.iter().any(|(_, c)| collides(c.link));
            let fits = |c: &Candidate| {
                let rank = rank(&c.effector.name, !inner[head]);
                let is_end = rank.is_some_and(|rank| rank < ENDS.len());
                match (c.is_site, rank) {
                    (true, Some(rank)) => Some((0, rank)),
                    (false, Some(rank)) if is_end => Some((1, rank)),
                    (true, None) if !inner[head] => Some((2, 0)),
                    (false, Some(rank)) if solid => Some((3, rank)),
                    _ => None,
                }
            };
            let named = own.iter().filter_map(|(k, c)| Some((fits(c)?, *k))).min().map(|(_, k)| k);
            let last_solid = || own.iter().rev().find(|(_, c)| collides(c.link)).map(|(k, _)| *k);
            let best = named.or_else(|| if inner[head] { None } else { last_solid() });
            chosen.extend(best);
        }
        if chosen.is_empty() {
            let ends = |k: &usize| {
                let c = &candidates[*k];
                let carries = |name: &str| self.joints.iter().any(|joint| joint.description.parent == name);
                heads[c.link].is_some() && !c.is_site && !carries(&c.effector.body)
            };
            chosen = (0..candidates.len()).filter(ends).collect();
        }
        chosen.sort_unstable();
        // The nearest link with a shape among those that carry a frame and are welded to it, else the last of them.
        let solid = |link: usize| {
            let carries = std::iter::successors(Some(link), |&i| tree.parent[i]);
            let welded = carries.take_while(|&i| heads[i] == heads[link]);
            let others = || tree.order.iter().rev().copied().filter(|&i| heads[i] == heads[link]);
            welded.chain(others()).find(|&i| collides(i)).unwrap_or(link)
        };
        let effectors = (candidates.into_iter().enumerate())
            .filter(|(k, c)| chosen.binary_search(k).is_ok() && c.effector.body != WORLD)
            .map(|(_, Candidate { effector, place, link, .. })| {
                let [own, on] = [link, solid(link)].map(|i| &self.links[i].body);
                let frame = match own.name == on.name {
                    true => effector.frame,
                    false => on.pose.inverse_times(&own.pose) * effector.frame,
                };
                (EffectorDescription { body: on.name.clone(), frame, ..effector }, place)
            })
            .collect();
        self.effectors = effectors;
    }
}

/// The words of a name in small letters: parted by other signs, by a capital after a small letter, and from digits.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && before.is_lowercase()) {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            words.last_mut().expect("there is one").extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_sensor(name: &str) -> bool {
    let mut parts = name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words(name).iter().any(|word| SENSORS.contains(&word.as_str()))
        || parts.any(|part| SENSOR_MODELS.contains(&part.as_str()))
}

/// How well a name fits an effector, the best first; at the end of a limb more words count. Further in, the frame of a hand
/// (`gripper_frame_link`) is the robot's own end, the last of them.
fn rank(name: &str, at_end: bool) -> Option<usize> {
    let words = words(name);
    let of = |list: &[&str]| list.iter().position(|known| words.iter().any(|word| word == known));
    let hand = of(&HANDS);
    let is_frame = !at_end && words.iter().any(|word| word == "frame");
    let frame = || hand.filter(|_| is_frame).map(|_| ENDS.len() - 1);
    of(&ENDS).or_else(frame).or_else(|| hand.filter(|_| at_end).map(|k| ENDS.len() + k))
}

#[cfg(test)]
mod tests {
    use super::{is_sensor, rank};

    #[test]
    fn names_of_tools_and_of_sensors() {
        for name in [
            "tool0",
            "ee_link",
            "panda_hand_tcp",
            "leftGripperTip",
            "RightFoot",
            "attachment_site",
            "FR_foot",
        ] {
            assert!(rank(name, true).is_some() && !is_sensor(name), "{name}");
        }
        for name in [
            "imu_link",
            "head_camera_rgb_frame",
            "logo",
            "handCamera",
            "lidar3",
            "left_foot_imu",
            "velodyne_motor",
            "D435_head_motor",
            "arm/d455-link",
        ] {
            assert!(is_sensor(name), "{name}");
        }
        for name in ["forearm", "wheel", "footprint", "toolbox", "seed", "cameo", "frame", "d4350"] {
            assert!(rank(name, true).is_none() && !is_sensor(name), "{name}");
        }
        // Further in, a hand is no end: its fingers are.
        assert_eq!((rank("hand", false), rank("tool0", false)), (None, Some(1)));
        // But for the frame in which it works.
        assert!(rank("gripper_frame_link", false).is_some() && rank("base_frame", false).is_none());
        assert!(rank("tcp", true) < rank("tool0", true) && rank("ee", true) < rank("hand", true));
    }
}
