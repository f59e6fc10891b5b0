//! Several joints of one link: one joint of the right kind where they are exactly that, else a chain with
//! links in between.

use std::collections::{HashMap, HashSet};

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, JointDescription, PerFreedom};
use pliant_core::nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use pliant_core::spatial::Pose;

use super::context::Place;
use super::parts::{Connection, Joint, Link};

/// How exactly axes must be parallel, at right angles or on one point to count as such.
const EXACT: f64 = 1e-9;

/// One joint for each step from parent to child, none of a name that there is already; steps that need a link of their own get one.
pub(super) fn chain(
    connection: Connection,
    coupled: &HashSet<&str>,
    index: &HashMap<String, usize>,
    links: &mut Vec<Link>,
    joints: &mut Vec<Joint>,
    names: &mut HashSet<String>,
) {
    let Connection { mut parent, child, joints: steps } = connection;
    let (pose, place) = match index.get(&child).map(|i| &links[*i]) {
        Some(link) => (link.body.pose, link.place.clone()),
        None => (Pose::identity(), steps.first().map_or(Place::START, |step| step.place.clone())),
    };
    let mut steps = if steps.len() > 1 { merge(steps, coupled) } else { steps };
    if steps.is_empty() {
        let mut name = child.clone();
        while !names.insert(name.clone()) {
            name.push('_');
        }
        let mut weld = Joint::new(name, JointKind::Fixed, place.clone());
        weld.description.frame = pose;
        steps.push(weld);
    }
    let last = steps.len() - 1;
    for (i, mut step) in steps.into_iter().enumerate() {
        let next = if i == last {
            child.clone()
        } else {
            let between = format!("{child}:{}", step.description.name);
            links.push(Link { body: Body::new(between.as_str(), pose), place: step.place.clone() });
            between
        };
        step.description.parent = std::mem::replace(&mut parent, next.clone());
        step.description.child = next;
        joints.push(step);
    }
}

/// Neighbours that together are one joint of the library become it.
fn merge(steps: Vec<Joint>, coupled: &HashSet<&str>) -> Vec<Joint> {
    let mut merged = Vec::new();
    let mut rest = steps.as_slice();
    while let Some(first) = rest.first() {
        let alone =
            |count: usize| rest[..count].iter().all(|j| !coupled.contains(j.description.name.as_str()));
        let (joint, taken) = if rest.len() >= 3
            && alone(3)
            && let Some(planar) = planar(&rest[..3])
        {
            (planar, 3)
        } else if rest.len() >= 2
            && alone(2)
            && let Some(pair) = universal(&rest[..2]).or_else(|| cylindrical(&rest[..2]))
        {
            (pair, 2)
        } else {
            (first.clone(), 1)
        };
        merged.push(joint);
        rest = &rest[taken..];
    }
    merged
}

fn axis(joint: &Joint) -> Vector3<f64> {
    joint.description.frame.rotation * Vector3::z()
}

/// The frame with these axes, the third being their product.
fn frame(x: Vector3<f64>, y: Vector3<f64>, origin: Vector3<f64>) -> Pose {
    let R = Matrix3::from_columns(&[x, y, x.cross(&y)]);
    let rotation = Rotation3::from_matrix_unchecked(R);
    Pose::new(UnitQuaternion::from_rotation_matrix(&rotation), origin)
}

/// Two hinges at right angles through one point.
fn universal(steps: &[Joint]) -> Option<Joint> {
    let [a, b] = steps else { return None };
    if [a, b].iter().any(|j| j.description.kind != JointKind::Hinge) {
        return None;
    }
    let (x, y) = (axis(a), axis(b));
    let apart = b.description.frame.position - a.description.frame.position;
    let scale = 1.0 + apart.norm();
    if x.dot(&y).abs() > EXACT || apart.dot(&x.cross(&y)).abs() > EXACT * scale {
        return None;
    }
    // The point on the first axis that is nearest to the second.
    let origin = a.description.frame.position + x * apart.dot(&x);
    Some(joined(steps, &[0, 1], JointKind::Universal, frame(x, y, origin)))
}

/// A slider and a hinge along one line, in any order.
fn cylindrical(steps: &[Joint]) -> Option<Joint> {
    let kinds: Vec<&JointKind> = steps.iter().map(|j| &j.description.kind).collect();
    let order = match kinds[..] {
        [JointKind::Prismatic, JointKind::Hinge] => [0, 1],
        [JointKind::Hinge, JointKind::Prismatic] => [1, 0],
        _ => return None,
    };
    let hinge = &steps[order[1]];
    // A slider has no place, only a direction.
    let along = axis(&steps[order[0]]);
    if (along - axis(hinge)).norm() > EXACT {
        return None;
    }
    Some(joined(steps, &order, JointKind::Cylindrical, hinge.description.frame))
}

/// Two sliders at right angles, then a hinge across both.
fn planar(steps: &[Joint]) -> Option<Joint> {
    let kinds: Vec<&JointKind> = steps.iter().map(|j| &j.description.kind).collect();
    if kinds[..] != [&JointKind::Prismatic, &JointKind::Prismatic, &JointKind::Hinge] {
        return None;
    }
    let (x, y, z) = (axis(&steps[0]), axis(&steps[1]), axis(&steps[2]));
    if x.dot(&y).abs() > EXACT || (x.cross(&y) - z).norm() > EXACT {
        return None;
    }
    Some(joined(steps, &[0, 1, 2], JointKind::Planar, frame(x, y, steps[2].description.frame.position)))
}

/// One joint of several of one freedom each, whose freedoms are the new one's in this order.
fn joined(steps: &[Joint], order: &[usize], kind: JointKind, frame: Pose) -> Joint {
    fn each<T: Copy + PartialEq>(
        steps: &[Joint],
        order: &[usize],
        absent: T,
        value: impl Fn(&JointDescription) -> Option<&PerFreedom<T>>,
    ) -> Option<PerFreedom<T>> {
        let values: Vec<T> = (order.iter())
            .map(|i| match value(&steps[*i].description) {
                Some(PerFreedom::All(x)) => *x,
                Some(PerFreedom::Each(list)) => list.first().copied().unwrap_or(absent),
                None => absent,
            })
            .collect();
        values.iter().any(|x| *x != absent).then_some(PerFreedom::Each(values))
    }
    let names: Vec<&str> = steps.iter().map(|step| step.description.name.as_str()).collect();
    let mut joint = Joint::new(names.join("+"), kind, steps[0].place.clone());
    joint.default_spring = steps.iter().all(|step| step.default_spring);
    joint.description.frame = frame;
    joint.description.stiffness = each(steps, order, 0.0, |d| d.stiffness.as_ref());
    joint.description.damping = each(steps, order, 0.0, |d| d.damping.as_ref());
    joint.description.rest = each(steps, order, 0.0, |d| d.rest.as_ref());
    joint.description.armature = each(steps, order, 0.0, |d| d.armature.as_ref());
    joint.description.friction = each(steps, order, 0.0, |d| d.friction.as_ref());
    joint.description.torque_limit = each(steps, order, f64::INFINITY, |d| d.torque_limit.as_ref());
    joint.description.linear_to = each(steps, order, f64::INFINITY, |d| d.linear_to.as_ref());
    joint.description.start = each(steps, order, 0.0, |d| d.start.as_ref());
    joint.description.limits = each(steps, order, (f64::NEG_INFINITY, f64::INFINITY), |d| d.limits.as_ref());
    joint
}

#[cfg(test)]
mod tests {
    //! Claim: whatever is merged moves as the steps did, and what would not is left a chain.

    use super::super::parts;
    use super::*;

    fn step(kind: JointKind, axis: [f64; 3], position: [f64; 3]) -> Joint {
        let mut joint = Joint::new(format!("{}{axis:?}", kind.name()), kind, Place::START);
        joint.description.frame = Pose::with_z_along(axis.into(), position.into());
        joint
    }

    /// Where the steps bring the child, whose frame is the world's at zero.
    fn moved(steps: &[Joint], q: &[f64]) -> Pose {
        let mut rest = q;
        steps.iter().fold(Pose::identity(), |pose, step| {
            let (own, others) = rest.split_at(step.description.kind.freedoms());
            rest = others;
            let frame = step.description.frame;
            pose * frame * step.description.kind.transform(own) * frame.inverse()
        })
    }

    #[track_caller]
    fn assert_merged(steps: &[Joint], kinds: &[JointKind], order: &[usize]) -> Vec<Joint> {
        let merged = merge(steps.to_vec(), &HashSet::new());
        let found: Vec<JointKind> = merged.iter().map(|joint| joint.description.kind.clone()).collect();
        assert_eq!(found, kinds);
        let q = [0.3, -0.7, 1.1, 0.2];
        let reordered: Vec<f64> = order.iter().map(|i| q[*i]).collect();
        let (a, b) = (moved(steps, &q[..steps.len()]), moved(&merged, &reordered));
        assert!((a.position - b.position).norm() < 1e-14, "{a:?} {b:?}");
        assert!(a.rotation.angle_to(&b.rotation) < 1e-7, "{a:?} {b:?}");
        merged
    }

    use JointKind::{Cylindrical, Hinge, Planar, Prismatic, Universal};

    #[test]
    fn two_hinges_through_one_point_at_right_angles() {
        // The axes meet at (0.5, 1, 2), away from both frames.
        let steps =
            [step(Hinge, [2.0, 0.0, 0.0], [9.0, 1.0, 2.0]), step(Hinge, [0.0, 0.6, 0.8], [0.5, 1.6, 2.8])];
        assert_merged(&steps, &[Universal], &[0, 1]);
        let skew = [steps[0].clone(), step(Hinge, [0.0, 0.6, 0.8], [0.5, 1.6, 2.9])];
        assert_merged(&skew, &[Hinge, Hinge], &[0, 1]);
        let slanted = [steps[0].clone(), step(Hinge, [0.1, 0.6, 0.8], [0.5, 1.6, 2.8])];
        assert_merged(&slanted, &[Hinge, Hinge], &[0, 1]);
    }

    #[test]
    fn three_hinges_are_a_universal_joint_and_one_more() {
        let steps =
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| step(Hinge, axis, [0.0; 3]));
        assert_merged(&steps, &[Universal, Hinge], &[0, 1, 2]);
    }

    #[test]
    fn a_slider_and_a_hinge_on_one_axis() {
        let (slide, turn) =
            (step(Prismatic, [0.0, 3.0, 4.0], [7.0; 3]), step(Hinge, [0.0, 3.0, 4.0], [1.0, 2.0, 3.0]));
        assert_merged(&[slide.clone(), turn.clone()], &[Cylindrical], &[0, 1]);
        assert_merged(&[turn.clone(), slide], &[Cylindrical], &[1, 0]);
        let other_way = step(Prismatic, [0.0, -3.0, -4.0], [0.0; 3]);
        assert_merged(&[turn, other_way], &[Hinge, Prismatic], &[0, 1]);
    }

    #[test]
    fn two_sliders_and_a_hinge_across_them() {
        let mut steps = [
            step(Prismatic, [0.0, 1.0, 0.0], [5.0; 3]),
            step(Prismatic, [0.0, 0.0, 1.0], [0.0; 3]),
            step(Hinge, [1.0, 0.0, 0.0], [1.0, 2.0, 3.0]),
        ];
        steps[1].description.stiffness = Some(PerFreedom::All(3.0));
        steps[2].description.limits = Some(PerFreedom::All((-1.0, 1.0)));
        let merged = assert_merged(&steps, &[Planar], &[0, 1, 2]);
        let joint = &merged[0].description;
        assert_eq!(joint.stiffness, Some(PerFreedom::Each(vec![0.0, 3.0, 0.0])));
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(joint.limits, Some(PerFreedom::Each(vec![free, free, (-1.0, 1.0)])));
        assert_eq!(joint.damping, None);
        // The hinge the other way round is another motion.
        let turned = [steps[0].clone(), steps[1].clone(), step(Hinge, [-1.0, 0.0, 0.0], [1.0, 2.0, 3.0])];
        assert_merged(&turned, &[Prismatic, Prismatic, Hinge], &[0, 1, 2]);
    }

    #[test]
    fn coupled_joints_stay_themselves() {
        let steps = [step(Hinge, [1.0, 0.0, 0.0], [0.0; 3]), step(Hinge, [0.0, 1.0, 0.0], [0.0; 3])];
        let name = steps[1].description.name.clone();
        assert_eq!(merge(steps.to_vec(), &HashSet::from([name.as_str()])).len(), 2);
    }

    #[test]
    fn what_is_left_gets_links_in_between() {
        let joints =
            vec![step(Hinge, [1.0, 0.0, 0.0], [0.0; 3]), step(Hinge, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])];
        let names: Vec<String> = joints.iter().map(|joint| joint.description.name.clone()).collect();
        let pose = Pose::translation([1.0, 2.0, 3.0]);
        let mut links = vec![Link { body: Body::new("child", pose), place: Place::START }];
        let mut made = Vec::new();
        let connection = Connection { parent: "world".into(), child: "child".into(), joints };
        let index = parts::index(&links);
        chain(
            connection,
            &HashSet::new(),
            &index,
            &mut links,
            &mut made,
            &mut HashSet::from(["tool".to_string()]),
        );
        let between = format!("child:{}", names[0]);
        assert_eq!((links[1].body.name.as_str(), links[1].body.pose), (between.as_str(), pose));
        let ends = made.iter().map(|j| (j.description.parent.as_str(), j.description.child.as_str()));
        assert_eq!(ends.collect::<Vec<_>>(), [("world", between.as_str()), (between.as_str(), "child")]);
        // No joint at all is a weld.
        chain(
            Connection { parent: "child".into(), child: "tool".into(), joints: vec![] },
            &HashSet::new(),
            &index,
            &mut links,
            &mut made,
            &mut HashSet::from(["tool".to_string()]),
        );
        assert_eq!(
            (&made[2].description.kind, made[2].description.name.as_str()),
            (&JointKind::Fixed, "tool_")
        );
    }
}
