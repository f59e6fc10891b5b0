//! Vectors and matrices of a graph's values.

use super::graph::{Graph, Node};

/// Three values.
pub(super) type Vector = [Node; 3];
/// Nine values, row by row.
pub(super) type Matrix = [Vector; 3];

impl Graph {
    pub(super) fn vector(&mut self, v: [f64; 3]) -> Vector {
        v.map(|x| self.constant(x))
    }

    pub(super) fn add_vectors(&mut self, a: &Vector, b: &Vector) -> Vector {
        std::array::from_fn(|i| self.add(a[i], b[i]))
    }

    pub(super) fn subtract_vectors(&mut self, a: &Vector, b: &Vector) -> Vector {
        std::array::from_fn(|i| self.subtract(a[i], b[i]))
    }

    pub(super) fn negate_vector(&mut self, a: &Vector) -> Vector {
        a.map(|x| self.negate(x))
    }

    pub(super) fn scale(&mut self, s: Node, a: &Vector) -> Vector {
        a.map(|x| self.multiply(s, x))
    }

    pub(super) fn dot(&mut self, a: &Vector, b: &Vector) -> Node {
        let [x, y, z]: [Node; 3] = std::array::from_fn(|i| self.multiply(a[i], b[i]));
        let sum = self.add(x, y);
        self.add(sum, z)
    }

    pub(super) fn cross(&mut self, a: &Vector, b: &Vector) -> Vector {
        std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let (left, right) = (self.multiply(a[j], b[k]), self.multiply(a[k], b[j]));
            self.subtract(left, right)
        })
    }

    /// a / |a|
    pub(super) fn normalize(&mut self, a: &Vector) -> Vector {
        let square = self.dot(a, a);
        let length = self.root(square);
        a.map(|x| self.divide(x, length))
    }

    /// M a
    pub(super) fn apply(&mut self, M: &Matrix, a: &Vector) -> Vector {
        std::array::from_fn(|i| self.dot(&M[i], a))
    }

    /// Mᵀ a
    pub(super) fn apply_transposed(&mut self, M: &Matrix, a: &Vector) -> Vector {
        std::array::from_fn(|j| self.dot(&column(M, j), a))
    }

    /// A B
    pub(super) fn multiply_matrices(&mut self, A: &Matrix, B: &Matrix) -> Matrix {
        std::array::from_fn(|i| std::array::from_fn(|j| self.dot(&A[i], &column(B, j))))
    }
}

/// A column of a matrix.
pub(super) fn column(M: &Matrix, j: usize) -> Vector {
    std::array::from_fn(|i| M[i][j])
}

/// The transpose.
pub(super) fn transposed(M: &Matrix) -> Matrix {
    std::array::from_fn(|i| column(M, i))
}
