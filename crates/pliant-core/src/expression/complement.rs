//! An orthonormal complement N of the columns of S, which varies smoothly with S; and its rate.
//!
//! S = Q [U; 0] with Q = H₁ … H_d of Householder's reflections; N is the last 6 − d columns of Q. Reflection i takes
//! the rest of column i onto an axis. Which axis, and on which side, is chosen once, in the file's pose, where
//! the column leans on it most; then Q is smooth in S until a column points against its axis. There, and
//! only there, the other side is taken and N jumps.
//!
//! The reflection that takes x to s|x| a is 1 − 2 v vᵀ/vᵀv with v = x − s|x| a and s = −(side).

use nalgebra::{Matrix6, Vector6};

/// Below this part of |x|, v is too short to give a direction.
const AGAINST: f64 = 1e-3;

/// The axis and side of each column.
pub(super) type Axes = [(usize, f64); 6];

/// Axes for all columns: of those not yet taken, the one on which the rest of the column leans most.
pub(super) fn axes(S: &Matrix6<f64>, d: usize) -> Axes {
    let mut axes = [(0, 1.0); 6];
    let mut A = *S;
    for i in 0..d {
        let taken = |row: usize| axes[..i].iter().any(|(axis, _)| *axis == row);
        let free = (0..6).filter(|row| !taken(*row));
        let axis = free.max_by(|a, b| A[(*a, i)].abs().total_cmp(&A[(*b, i)].abs())).unwrap_or(0);
        axes[i] = (axis, if A[(axis, i)] < 0.0 { -1.0 } else { 1.0 });
        if let Some((v, scale)) = reflection(&A, i, &axes) {
            A -= v * (v.transpose() * A) * scale;
        }
    }
    axes
}

/// v and 2/vᵀv of reflection i, from the columns as the earlier ones have left them.
fn reflection(A: &Matrix6<f64>, i: usize, axes: &Axes) -> Option<(Vector6<f64>, f64)> {
    let x = rest(A, i, axes);
    let norm = x.norm();
    let (axis, side) = axes[i];
    let side = if norm + side * x[axis] < AGAINST * norm { -side } else { side };
    let mut v = x;
    v[axis] += side * norm;
    let square = v.norm_squared();
    (square > 0.0).then(|| (v, 2.0 / square))
}

/// Column i without what lies on the axes of the columns before it.
fn rest(A: &Matrix6<f64>, i: usize, axes: &Axes) -> Vector6<f64> {
    let mut x: Vector6<f64> = A.column(i).into_owned();
    axes[..i].iter().for_each(|(axis, _)| x[*axis] = 0.0);
    x
}

/// Axes that no column took, in order.
fn left(axes: &Axes, d: usize) -> impl Iterator<Item = usize> + '_ {
    (0..6).filter(move |row| !axes[..d].iter().any(|(axis, _)| axis == row))
}

/// Nᵀx: the reflections of x, on the axes that no column took.
pub(super) fn across(S: &Matrix6<f64>, d: usize, axes: &Axes, x: &Vector6<f64>) -> Vector6<f64> {
    let (mut A, mut x) = (*S, *x);
    for i in 0..d {
        let Some((v, scale)) = reflection(&A, i, axes) else { continue };
        for j in i + 1..d {
            let along = scale * v.dot(&A.column(j));
            A.column_mut(j).axpy(-along, &v, 1.0);
        }
        x -= v * (scale * v.dot(&x));
    }
    let mut out = Vector6::zeros();
    left(axes, d).enumerate().for_each(|(k, row)| out[k] = x[row]);
    out
}

/// N, 6×(6−d).
pub(super) fn complement(S: &Matrix6<f64>, d: usize, axes: &Axes) -> Matrix6<f64> {
    let mut A = *S;
    let mut reflections = [(Vector6::zeros(), 0.0); 6];
    for i in 0..d {
        if let Some((v, scale)) = reflection(&A, i, axes) {
            A -= v * (v.transpose() * A) * scale;
            reflections[i] = (v, scale);
        }
    }
    let mut N = Matrix6::zeros();
    left(axes, d).enumerate().for_each(|(k, row)| N[(row, k)] = 1.0);
    for (v, scale) in reflections[..d].iter().rev() {
        N -= v * (v.transpose() * N) * *scale;
    }
    N
}

/// Ṅ for S and Ṡ: the same, each line with its derivative below it.
pub(super) fn complement_rate(S: &Matrix6<f64>, rate: &Matrix6<f64>, d: usize, axes: &Axes) -> Matrix6<f64> {
    let (mut A, mut dA) = (*S, *rate);
    let mut reflections = [(Vector6::zeros(), 0.0, Vector6::zeros(), 0.0); 6];
    for i in 0..d {
        let Some((v, scale)) = reflection(&A, i, axes) else { continue };
        // |x|˙ = x·ẋ/|x|; v̇ = ẋ ± |x|˙ a; (2/vᵀv)˙ = −(2/vᵀv)² v·v̇.
        let (x, dx) = (rest(&A, i, axes), rest(&dA, i, axes));
        let axis = axes[i].0;
        let norm = x.norm();
        let side = (v[axis] - x[axis]) / norm;
        let mut dv = dx;
        dv[axis] += side * x.dot(&dx) / norm;
        let dscale = -scale * scale * v.dot(&dv);
        let (across, dacross) = (v.transpose() * A, dv.transpose() * A + v.transpose() * dA);
        dA -= dv * across * scale + v * dacross * scale + v * across * dscale;
        A -= v * across * scale;
        reflections[i] = (v, scale, dv, dscale);
    }
    let (mut N, mut dN) = (Matrix6::zeros(), Matrix6::zeros());
    left(axes, d).enumerate().for_each(|(k, row)| N[(row, k)] = 1.0);
    for (v, scale, dv, dscale) in reflections[..d].iter().rev() {
        let (across, dacross) = (v.transpose() * N, dv.transpose() * N + v.transpose() * dN);
        dN -= dv * across * *scale + v * dacross * *scale + v * across * *dscale;
        N -= v * across * *scale;
    }
    dN
}

/// The first column that depends on those before it, by Gram and Schmidt, lengths in units of `length`.
pub(super) fn dependent_column(S: &Matrix6<f64>, d: usize, length: f64, tolerance: f64) -> Option<usize> {
    let mut Q = *S;
    Q.fixed_rows_mut::<3>(0).scale_mut(1.0 / length);
    let largest = (0..d).map(|k| Q.column(k).norm()).fold(0.0, f64::max);
    for k in 0..d {
        // Twice is enough.
        for _ in 0..2 {
            for j in 0..k {
                let along = Q.column(j).dot(&Q.column(k));
                let q = Q.column(j).into_owned();
                Q.column_mut(k).axpy(-along, &q, 1.0);
            }
        }
        let norm = Q.column(k).norm();
        if norm.is_nan() || norm <= tolerance * largest {
            return Some(k);
        }
        Q.column_mut(k).scale_mut(1.0 / norm);
    }
    None
}
