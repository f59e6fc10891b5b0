//! A body hung on its parent: the rows of its tree joint by their inverse, for the elimination of a step.
//!
//! At the child frame's origin o a motion is (u, ω), and the rows say J (u, ω) = r. With N and S such that J N = I
//! and J S = 0, the body's motion relative to its parent's is N r + S q. At the centre of mass, a motion of o
//! becomes (u + rc×ω, ω).

use nalgebra::Vector3;

use super::assembly::Scene;
use super::model::Joint;
use super::placing::Placed;
use crate::algebra::dense::gauss_jordan;
use crate::algebra::elimination::Carry;

impl Scene<'_> {
    /// How a hinge carries its child, in vectors. With the parent's axes p_k and the rows a = z×p₀, b = z×p₁ and the
    /// coordinate's axis e on ω, the inverse of the three is (b×e, e×a, a×b)/det; a×b = (z·p₂) z. As e is among
    /// them, q is the rate of the coordinate, so that springs need act on it alone.
    #[inline(always)]
    pub(super) fn carry_by_hinge(&self, joint: &Joint, placed: &Placed, carry: &mut Carry) {
        let (p, z, e) = (&placed.linear, &placed.axis, &placed.child[5]);
        let (a, b) = (&placed.child[3], &placed.child[4]);
        let det = z.dot(&p[2]) * z.dot(e);
        let turns = [b.cross(e) / det, e.cross(a) / det, z / z.dot(e)];
        let rc = &placed.arms[0];
        for k in 0..3 {
            carry.basis[k] = [p[k].x, p[k].y, p[k].z, 0.0, 0.0, 0.0];
            let u = rc.cross(&turns[k]);
            carry.basis[3 + k] = [u.x, u.y, u.z, turns[k].x, turns[k].y, turns[k].z];
        }
        let drive = self.drive(joint, 0, placed);
        carry.weights[0] = drive.weight;
        carry.impulses[0] = drive.impulse;
        self.close(joint, placed, carry);
    }

    /// How any joint with rows carries its child: N and S by Gauss and Jordan's elimination of the rows at the
    /// child frame's origin, with the largest number of each as pivot.
    pub(super) fn carry_by_any(&self, joint: &Joint, placed: &Placed, carry: &mut Carry) {
        let m = 6 - joint.kind.freedoms();
        let rc = &placed.arms[0];
        let mut rows: [[f64; 6]; 6] = std::array::from_fn(|i| {
            let (l, a) = (&placed.linear[i], placed.child[i] - rc.cross(&placed.linear[i]));
            [l.x, l.y, l.z, a.x, a.y, a.z]
        });
        // M J = [I, Y] with the columns in the order of `columns`.
        let mut M: [[f64; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
        let mut columns = [0, 1, 2, 3, 4, 5];
        for i in 0..m {
            let largest =
                (i..6).max_by(|&x, &y| rows[i][columns[x]].abs().total_cmp(&rows[i][columns[y]].abs()));
            columns.swap(i, largest.expect("six columns"));
            gauss_jordan::step(&mut rows, &mut M, m, i, columns[i]);
        }
        carry.basis = [[0.0; 6]; 6];
        for k in 0..6 {
            // N = [M; 0] and S = [−Y; I].
            let basis = &mut carry.basis[k];
            for i in 0..m {
                basis[columns[i]] = if k < m { M[i][k] } else { -rows[i][columns[k]] };
            }
            if k >= m {
                basis[columns[k]] = 1.0;
            }
            let [x, y, z, a, b, c] = *basis;
            let u = Vector3::new(x, y, z) + rc.cross(&Vector3::new(a, b, c));
            *basis = [u.x, u.y, u.z, a, b, c];
        }
        carry.weights = [0.0; 6];
        carry.impulses = [0.0; 6];
        self.close(joint, placed, carry);
    }

    /// s = N r, r = −C/h; and the arm of X.
    #[inline(always)]
    fn close(&self, joint: &Joint, placed: &Placed, carry: &mut Carry) {
        let mut s = [0.0; 6];
        for k in 0..6 - joint.kind.freedoms() {
            let r = -self.scheme.closing * placed.residual[k];
            for i in 0..6 {
                s[i] += carry.basis[k][i] * r;
            }
        }
        carry.closing = s;
        carry.arm = (placed.arms[1] - placed.arms[0]).into();
    }
}
