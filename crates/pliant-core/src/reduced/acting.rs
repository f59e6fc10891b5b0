//! What acts on links: dead loads and spring couplings, as wrenches along the motions.

use nalgebra::{Matrix6, Vector3};

use super::basis::Basis;
use super::placing::{Places, Six};
use super::tree::{BASE, Tree};
use crate::algebra::three::{cross, minus, plus, six};
use crate::engine::Inputs;
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench};

/// Calls with the link, the point and the force and torque of every dead load.
pub(super) fn each_load(
    tree: &Tree,
    places: &Places,
    inputs: &Inputs,
    mut push: impl FnMut(usize, Vector3<f64>, &Wrench),
) {
    let mut dead = |body: BodyId, frame: &Pose, load: &Wrench| {
        if let (Some(n), offset) = tree.place(body) {
            push(n, (places.pose(n) * offset * *frame).position, load);
        }
    };
    for (e, load) in inputs.effector_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
        let effector = &tree.mechanism.effectors()[e];
        dead(effector.body, &effector.frame, load);
    }
    for b in loaded(&inputs.body_loads) {
        dead(tree.mechanism.body_id(b), &Pose::identity(), &inputs.body_loads[b]);
    }
}

/// Calls with the link, the point and the wrench of every spring coupling, without its damper.
pub(super) fn each_spring(
    tree: &Tree,
    places: &Places,
    inputs: &Inputs,
    mut pull: impl FnMut(usize, Vector3<f64>, &Wrench),
) {
    for spring in &inputs.springs {
        let (Some(link), offset) = tree.place(spring.body) else { continue };
        let at = places.pose(link) * offset * spring.frame;
        pull(link, at.position, &spring.wrench(&at, &Twist::ZERO));
    }
}

/// Which bodies have a load: where none of eight has one, these take as few instructions as there are numbers.
pub(super) fn loaded(loads: &[Wrench]) -> impl Iterator<Item = usize> {
    // Of the bits of a number but its sign.
    let bits = |w: &Wrench| w.force.iter().chain(&w.torque).fold(0, |all, x| all | x.to_bits() << 1);
    (loads.chunks(8).enumerate())
        .filter(move |(_, eight)| eight.iter().fold(0, |all, w| all | bits(w)) != 0)
        .flat_map(move |(k, eight)| {
            (0..eight.len()).filter(move |i| bits(&eight[*i]) != 0).map(move |i| 8 * k + i)
        })
}

/// ΘᵀJᵀ of a link: how it moves with each motion at P, six rows of `stride`.
pub(super) fn jacobian(tree: &Tree, basis: &Basis, places: &Places, n: usize, J: &mut [f64]) {
    J.fill(0.0);
    let mut at = n;
    while at != BASE {
        let link = &tree.links[at];
        for i in link.first..link.first + link.count {
            let s = places.axis(tree, i);
            for (k, row) in J.chunks_exact_mut(basis.stride.max(1)).enumerate().filter(|(k, _)| s[*k] != 0.0)
            {
                row.iter_mut().zip(basis.row(i)).for_each(|(J, theta)| *J += s[k] * theta);
            }
        }
        at = link.parent;
    }
}

/// The twist that the base has at the end of a step, at P; none where the tree is free.
#[inline]
pub(super) fn base_at_point(places: &Places, inputs: &Inputs) -> Six {
    if !places.floats.is_empty() {
        return [0.0; 6];
    }
    let (arm, twist) = (minus(places.point, inputs.base.position.into()), &inputs.base_twist);
    let w: [f64; 3] = twist.angular.into();
    six(plus(twist.linear.into(), cross::<false, _>(w, arm)), w)
}

/// Adds JᵀWJ of a frame at an arm from P to a matrix; `J` is that of its link at P, and becomes that of the frame.
pub(super) fn add_spring(
    matrix: &mut [f64],
    n: usize,
    J: &mut [f64],
    stride: usize,
    arm: &Vector3<f64>,
    W: &Matrix6<f64>,
) {
    shift(J, stride, arm);
    for a in 0..n {
        let row: [f64; 6] =
            std::array::from_fn(|i| (0..6).map(|k| W[(i, k)] * J[k * stride + a]).sum::<f64>());
        for b in 0..n {
            matrix[b * n + a] += (0..6).map(|i| J[i * stride + b] * row[i]).sum::<f64>();
        }
    }
}

/// Rows of motion at P, at a point that is an arm from it: v + ω × arm.
fn shift(J: &mut [f64], stride: usize, arm: &Vector3<f64>) {
    for k in 0..stride {
        let w = Vector3::new(J[3 * stride + k], J[4 * stride + k], J[5 * stride + k]).cross(arm);
        (0..3).for_each(|i| J[i * stride + k] += w[i]);
    }
}
