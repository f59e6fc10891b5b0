//! Boxes cut into cells of six tetrahedra (Kuhn 1960), mirrored from cell to cell so that the mesh has the box's symmetries.

use nalgebra::Vector3;

use super::Mesh;
use crate::ElasticError;
use crate::surface::positive;

/// Cells of a grid at most: of a cube the factor needs more than the memory limit from some 3e4 on, of a layer its surface does.
const LIMIT: f64 = 1e5;

impl Mesh {
    /// A box about the origin with half its edges along x, y and z, cut into cells with edges of about `resolution`, m.
    pub fn cuboid(half_extents: Vector3<f64>, resolution: f64) -> Result<Self, ElasticError> {
        for (i, what) in
            ["half the box along x", "half the box along y", "half the box along z"].into_iter().enumerate()
        {
            positive(what, half_extents[i])?;
        }
        positive("the resolution", resolution)?;
        let cells = half_extents.map(|h| (2.0 * h / resolution).round().max(1.0));
        if cells.product() > LIMIT {
            return Err(ElasticError::TooFine { elements: cells.product(), limit: LIMIT, resolution });
        }
        let along = |i: usize| -> Vec<f64> {
            let n = cells[i] as usize;
            (0..=n).map(|k| half_extents[i] * (2.0 * k as f64 / n as f64 - 1.0)).collect()
        };
        Self::grid(&along(0), &along(1), &along(2))
    }

    /// A box cut at the given rising coordinates, m: cells may be finer where more happens.
    pub fn grid(x: &[f64], y: &[f64], z: &[f64]) -> Result<Self, ElasticError> {
        let [nx, ny, nz] = [x.len(), y.len(), z.len()];
        if nx < 2 || ny < 2 || nz < 2 {
            return Err(ElasticError::Empty { hint: "give two coordinates or more along each axis".into() });
        }
        for (axis, what) in [(x, "a cell along x"), (y, "a cell along y"), (z, "a cell along z")] {
            for pair in axis.windows(2) {
                positive(what, pair[1] - pair[0])?;
            }
        }
        let mut points = Vec::with_capacity(nx * ny * nz);
        for &c in z {
            for &b in y {
                points.extend(x.iter().map(|&a| Vector3::new(a, b, c)));
            }
        }
        let node = |i: usize, j: usize, k: usize| (i + nx * (j + ny * k)) as u32;
        let mut tetrahedra = Vec::with_capacity(6 * (nx - 1) * (ny - 1) * (nz - 1));
        for k in 0..nz - 1 {
            for j in 0..ny - 1 {
                for i in 0..nx - 1 {
                    // Odd cells are mirrored: the diagonals of a shared face agree.
                    let corner = |d: [usize; 3]| {
                        node(i + (d[0] ^ (i & 1)), j + (d[1] ^ (j & 1)), k + (d[2] ^ (k & 1)))
                    };
                    let mirrored = (i + j + k) % 2 == 1;
                    // One tetrahedron for each order in which the axes are walked from one corner to the opposite.
                    for (order, even) in PATHS {
                        let mut d = [0; 3];
                        let mut t = [corner(d); 4];
                        for (step, axis) in order.into_iter().enumerate() {
                            d[axis] = 1;
                            t[step + 1] = corner(d);
                        }
                        if even == mirrored {
                            t.swap(2, 3);
                        }
                        tetrahedra.push(t);
                    }
                }
            }
        }
        Self::new(&points, &tetrahedra)
    }
}

/// The orders of the axes, and whether each is an even permutation: its tetrahedron then has a positive Jacobian.
const PATHS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([0, 2, 1], false),
    ([2, 1, 0], false),
    ([1, 0, 2], false),
];
