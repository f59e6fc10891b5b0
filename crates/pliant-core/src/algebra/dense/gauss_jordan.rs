//! Gauss and Jordan's elimination of small matrices, next to a matrix X that every step is applied to as well: A ends as I, X
//! as A⁻¹X (Golub and Van Loan 2013, §3.2).

type Square = [[f64; 6]; 6];

/// One step among the first m rows: row i over its pivot in a column, and as much of it taken from the others that this
/// column is zero there.
#[inline(always)]
pub(crate) fn step(A: &mut Square, X: &mut Square, m: usize, i: usize, column: usize) {
    let inverse = 1.0 / A[i][column];
    for j in 0..6 {
        A[i][j] *= inverse;
        X[i][j] *= inverse;
    }
    for r in (0..m).filter(|&r| r != i) {
        let l = A[r][column];
        for j in 0..6 {
            A[r][j] -= l * A[i][j];
            X[r][j] -= l * X[i][j];
        }
    }
}

/// The inverse of the first d rows and columns of a positive definite matrix that is zero elsewhere; or the first pivot that
/// is not positive.
pub(crate) fn inverse(D: &Square, d: usize) -> Result<Square, usize> {
    let (mut A, mut X) = (*D, [[0.0; 6]; 6]);
    (0..d).for_each(|k| X[k][k] = 1.0);
    for k in 0..d {
        // What elimination leaves of a pivot that should be zero is rounding of what was there.
        if A[k][k].is_nan() || A[k][k] <= 1e-14 * D[k][k] {
            return Err(k);
        }
        step(&mut A, &mut X, d, k, k);
    }
    Ok(X)
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    /// D D⁻¹ = I, and a matrix of lower rank is refused at the pivot that is lost.
    #[test]
    fn inverts_what_is_definite() {
        for d in 1..=6 {
            let B = DMatrix::from_fn(d, d, |i, k| (1.3 * i as f64 + 2.1 * (k * i) as f64 + 0.7).sin());
            let D = &B * B.transpose() + DMatrix::identity(d, d) * 0.1;
            let square = |M: &DMatrix<f64>| -> Square {
                std::array::from_fn(|i| std::array::from_fn(|j| M.get((i, j)).copied().unwrap_or(0.0)))
            };
            let X = inverse(&square(&D), d).unwrap();
            let X = DMatrix::from_fn(d, d, |i, j| X[i][j]);
            // Condition numbers here reach 1e2.
            assert!((&D * X - DMatrix::identity(d, d)).amax() < 1e-13, "{d}");
            if d > 1 {
                let mut singular = D.clone();
                singular.set_row(d - 1, &D.row(0));
                singular.set_column(d - 1, &singular.column(0).into_owned());
                singular[(d - 1, d - 1)] = D[(0, 0)];
                assert_eq!(inverse(&square(&singular), d), Err(d - 1));
            }
        }
    }
}
