//! Where the links are, how they move and what their joints let them do: forward kinematics, parents first.
//!
//! Twists are in world axes at one common point P, so that nothing changes frame along the tree:
//!
//! ```text
//! H_c = H_p·Xp·X(θ)·Xc⁻¹,  ξ_c = ξ_p + Σ s_k θ̇_k,  s_k = Ad(joint frame) S_k      [Si 2010, eq. 12]
//! β_c = β_p + ξ_p × Σ s_k θ̇_k + Ad Ṡθ̇                                             acceleration at θ̈ = 0
//! ```

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::model::{BASE, Link, Model};
use super::rows::{Row, V3, ZERO, add, angular, cross, fma, linear, minus, plus, row, turn};
use crate::joints::JointKind;
use crate::spatial::{Pose, Twist, exp};

/// A link in motion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The node's rotation (x, y, z, w) and position.
    pub rotation: [f64; 4],
    pub position: V3,
    /// ξ and β at P.
    pub twist: Row,
    pub bias: Row,
}

impl Place {
    pub const EMPTY: Place =
        Place { rotation: [0.0, 0.0, 0.0, 1.0], position: [0.0; 3], twist: ZERO, bias: ZERO };

    /// The node's frame in the world.
    #[inline(always)]
    pub fn pose(&self) -> Pose {
        let [x, y, z, w] = self.rotation;
        Pose::new(UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z)), self.position.into())
    }

    /// The rotation's columns.
    #[inline(always)]
    pub fn columns<const FUSED: bool>(&self) -> [V3; 3] {
        matrix::<FUSED>(self.rotation)
    }

    /// Where a point of the node's frame is in the world.
    #[inline(always)]
    pub fn point(&self, x: V3) -> V3 {
        plus(self.position, turn::<false>(&self.columns::<false>(), x))
    }
}

/// A free base in motion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Float {
    pub pose: Pose,
    /// World axes, at the node's origin.
    pub twist: Twist,
}

impl Float {
    /// Goes on along a twist at P for h seconds.
    pub fn advance(&mut self, twist: &Row, point: V3, h: f64) {
        let point = Vector3::from(point);
        let (v, w) = (Vector3::from(linear(twist)), Vector3::from(angular(twist)));
        let moved =
            exp(&Twist::new(v * h, w * h)) * Pose::new(self.pose.rotation, self.pose.position - point);
        self.pose = Pose::new(moved.rotation, moved.position + point);
        self.pose.rotation.renormalize_fast();
        self.twist = Twist::new(v + w.cross(&moved.position), w);
    }
}

/// All links in motion.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub links: Vec<Place>,
    /// Sines and cosines of half of each coordinate, four by four.
    halves: Vec<[[f64; 4]; 2]>,
    /// s of each freedom.
    pub axes: Vec<Row>,
    /// P.
    pub point: V3,
    /// The base's twist at P.
    pub base: Row,
}

impl Places {
    pub fn new(model: &Model) -> Places {
        Places {
            links: vec![Place::EMPTY; model.links.len()],
            halves: vec![[[0.0; 4]; 2]; model.freedoms.len().div_ceil(4)],
            axes: vec![ZERO; model.freedoms.len()],
            point: [0.0; 3],
            base: ZERO,
        }
    }

    /// Puts all links where the coordinates θ and rates θ̇ have them, on a base with a twist (world axes, at its
    /// origin).
    pub fn put(
        &mut self,
        model: &Model,
        base: &Pose,
        twist: &Twist,
        floats: &[Float],
        theta: &[f64],
        rates: &[f64],
    ) {
        #[cfg(target_arch = "x86_64")]
        if model.fused {
            #[allow(unsafe_code)]
            // SAFETY: `fused` is set only after avx2 and fma were found on this machine.
            return unsafe { self.put_avx2(model, base, twist, floats, theta, rates) };
        }
        self.put_lanes::<false>(model, base, twist, floats, theta, rates);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn put_avx2(
        &mut self,
        model: &Model,
        base: &Pose,
        twist: &Twist,
        floats: &[Float],
        theta: &[f64],
        rates: &[f64],
    ) {
        self.put_lanes::<true>(model, base, twist, floats, theta, rates);
    }

    #[inline(always)]
    fn put_lanes<const FUSED: bool>(
        &mut self,
        model: &Model,
        base: &Pose,
        twist: &Twist,
        floats: &[Float],
        theta: &[f64],
        rates: &[f64],
    ) {
        // P goes with the base, or with a free one.
        let point = match floats.first() {
            Some(float) => float.pose.transform_point(&model.center_in_float),
            None => base.transform_point(&model.center),
        };
        self.point = point.into();
        let arm = point - base.position;
        self.base = row((twist.linear + twist.angular.cross(&arm)).into(), twist.angular.into());
        let mut root =
            Place { rotation: base.rotation.coords.into(), position: base.position.into(), ..Place::EMPTY };
        root.twist = self.base;
        let (blocks, rest) = theta.as_chunks();
        for (to, q) in self.halves.iter_mut().zip(blocks) {
            *to = sines_cosines::<FUSED>(q);
        }
        if let (Some(to), false) = (self.halves.last_mut(), rest.is_empty()) {
            let mut q = [0.0; 4];
            q[..rest.len()].copy_from_slice(rest);
            *to = sines_cosines::<FUSED>(&q);
        }
        for n in 0..model.links.len() {
            let link = &model.links[n];
            let (before, rest) = self.links.split_at_mut(n);
            let parent = if link.parent == BASE { &root } else { &before[link.parent] };
            let range = link.first..link.first + link.count;
            let (q, rate) = (&theta[range.clone()], &rates[range.clone()]);
            let place = &mut rest[0];
            let axes = &mut self.axes[range];
            if link.joint.is_none() {
                place_float(&floats[link.float], &self.point, place);
            } else if matches!(link.kind, JointKind::Hinge) {
                let [s, c] = &self.halves[link.first / 4];
                let half = (s[link.first % 4], c[link.first % 4]);
                place_hinge::<FUSED>(link, parent, &self.point, half, rate[0], place, &mut axes[0]);
            } else {
                place_any(link, &model.frames[n], parent, &self.point, q, rate, place, axes);
            }
        }
    }
}

/// The place of a free base.
fn place_float(float: &Float, point: &V3, place: &mut Place) {
    place.rotation = float.pose.rotation.coords.into();
    place.position = float.pose.position.into();
    let (v, w) = (float.twist.linear.into(), float.twist.angular.into());
    place.twist = row(plus(v, cross::<false>(w, minus(*point, place.position))), w);
    place.bias = ZERO;
}

/// The place of a link on a hinge, whose half angle has this sine and cosine.
#[inline(always)]
fn place_hinge<const FUSED: bool>(
    link: &Link,
    parent: &Place,
    point: &V3,
    (s, c): (f64, f64),
    rate: f64,
    place: &mut Place,
    axis: &mut Row,
) {
    let [q0, q1] = &link.hinge.rotation;
    place.rotation =
        product::<FUSED>(parent.rotation, std::array::from_fn(|i| fma::<FUSED>(s, q1[i], c * q0[i])));
    // cos θ = 1 − 2 sin²h, sin θ = 2 sin h cos h
    let (C, S) = (fma::<FUSED>(-2.0 * s, s, 1.0), 2.0 * s * c);
    let [t0, t1, t2] = &link.hinge.step;
    let t = std::array::from_fn(|i| fma::<FUSED>(S, t2[i], fma::<FUSED>(C, t1[i], t0[i])));
    let R = matrix::<FUSED>(place.rotation);
    place.position = plus(parent.position, turn::<FUSED>(&R, t));
    let a = turn::<FUSED>(&R, link.hinge.axis);
    let at = minus(plus(place.position, turn::<FUSED>(&R, link.hinge.point)), *point);
    *axis = row(cross::<FUSED>(at, a), a);
    place.twist = parent.twist;
    add::<FUSED>(&mut place.twist, rate, axis);
    place.bias = parent.bias;
    add::<FUSED>(&mut place.bias, rate, &bracket::<FUSED>(&parent.twist, axis));
}

/// The place of a link on any joint.
#[allow(clippy::too_many_arguments)]
#[inline(never)]
fn place_any(
    link: &Link,
    (outer, inner): &(Pose, Pose),
    parent: &Place,
    point: &V3,
    q: &[f64],
    rate: &[f64],
    place: &mut Place,
    axes: &mut [Row],
) {
    let (X, S, bias) = link.kind.motion(q, rate);
    let joint = parent.pose() * *outer * X;
    let mut pose = joint * *inner;
    pose.rotation.renormalize_fast();
    place.rotation = pose.rotation.coords.into();
    place.position = pose.position.into();
    let at_point = |twist: &Twist| {
        let outer = Pose::new(joint.rotation, joint.position - Vector3::from(*point)).twist_to_outer(twist);
        row(outer.linear.into(), outer.angular.into())
    };
    let mut own = ZERO;
    for (k, axis) in axes.iter_mut().enumerate() {
        *axis = at_point(&Twist::from_vector(&S.column(k).into()));
        add::<false>(&mut own, rate[k], axis);
    }
    place.twist = parent.twist;
    add::<false>(&mut place.twist, 1.0, &own);
    place.bias = parent.bias;
    add::<false>(&mut place.bias, 1.0, &bracket::<false>(&parent.twist, &own));
    add::<false>(&mut place.bias, 1.0, &at_point(&bias));
}

/// ξ × s = (ω×v_s + v×ω_s, ω×ω_s).
#[inline(always)]
pub(super) fn bracket<const FUSED: bool>(x: &Row, s: &Row) -> Row {
    let (v, w) = (linear(x), angular(x));
    let turned = cross::<FUSED>(w, linear(s));
    row(plus(turned, cross::<FUSED>(v, angular(s))), cross::<FUSED>(w, angular(s)))
}

/// The largest angle, rad, for the series below.
const SERIES: f64 = 1.0;

/// sin h and cos h of h = q/2: power series up to [`SERIES`], where the first terms left out, h¹⁹/19! and h²⁰/20!, are
/// below rounding; beyond, the library's.
#[inline(always)]
fn sines_cosines<const FUSED: bool>(q: &[f64; 4]) -> [[f64; 4]; 2] {
    const SINE: [f64; 9] = inverse_factorials(1);
    const COSINE: [f64; 9] = inverse_factorials(2);
    let h = q.map(|q| 0.5 * q);
    let x = h.map(|h| h * h);
    let (mut s, mut c) = ([SINE[8]; 4], [COSINE[8]; 4]);
    for k in (0..8).rev() {
        for i in 0..4 {
            s[i] = fma::<FUSED>(s[i], x[i], SINE[k]);
            c[i] = fma::<FUSED>(c[i], x[i], COSINE[k]);
        }
    }
    for i in 0..4 {
        s[i] *= h[i];
        c[i] = fma::<FUSED>(-c[i], x[i], 1.0);
    }
    if h.iter().any(|h| h.abs() > SERIES) {
        for i in (0..4).filter(|&i| h[i].abs() > SERIES) {
            (s[i], c[i]) = h[i].sin_cos();
        }
    }
    [s, c]
}

/// (−1)^k/(2k + first)!.
const fn inverse_factorials(first: usize) -> [f64; 9] {
    let mut series = [0.0; 9];
    let mut factorial = 1.0;
    let (mut n, mut k) = (0, 0);
    while k < series.len() {
        while n < 2 * k + first {
            n += 1;
            factorial *= n as f64;
        }
        series[k] = if k % 2 == 0 { 1.0 / factorial } else { -1.0 / factorial };
        k += 1;
    }
    series
}

/// p ⊗ q of quaternions x, y, z, w.
#[inline(always)]
fn product<const FUSED: bool>(p: [f64; 4], q: [f64; 4]) -> [f64; 4] {
    let sum = |a: f64, b: f64, c: f64, d: f64| fma::<FUSED>(a, b, c * d);
    [
        sum(p[3], q[0], p[0], q[3]) + sum(p[1], q[2], -p[2], q[1]),
        sum(p[3], q[1], p[1], q[3]) + sum(p[2], q[0], -p[0], q[2]),
        sum(p[3], q[2], p[2], q[3]) + sum(p[0], q[1], -p[1], q[0]),
        sum(p[3], q[3], -p[0], q[0]) - sum(p[1], q[1], p[2], q[2]),
    ]
}

/// The columns of a unit quaternion's matrix: R = I + 2w\[u\] + 2\[u\]².
#[inline(always)]
fn matrix<const FUSED: bool>([x, y, z, w]: [f64; 4]) -> [V3; 3] {
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        [1.0 - fma::<FUSED>(y, y2, z * z2), fma::<FUSED>(x, y2, wz), fma::<FUSED>(x, z2, -wy)],
        [fma::<FUSED>(x, y2, -wz), 1.0 - fma::<FUSED>(x, x2, z * z2), fma::<FUSED>(y, z2, wx)],
        [fma::<FUSED>(x, z2, wy), fma::<FUSED>(y, z2, -wx), 1.0 - fma::<FUSED>(x, x2, y * y2)],
    ]
}
