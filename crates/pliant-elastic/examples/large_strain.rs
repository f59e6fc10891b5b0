//! Where the linear solid stops being true: a ball pressed into a bonded layer, and a bar bent between two plates, linear against
//! neo-Hookean, on the same mesh with the same contact. Prints the tables of the README; takes minutes.

use faer::Side;
use faer::prelude::Solve;
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use pliant_elastic::mesh::EDGES;
use pliant_elastic::nalgebra::{Matrix3, Rotation3, Vector3};
use pliant_elastic::{Material, Mesh};

type Field = Vec<Vector3<f64>>;

fn main() {
    ball();
    bar();
}

/// A quarter of a layer of 12 mm under a ball of 10 mm.
fn ball() {
    let axis = graded(0.005, 0.036, 0.0012);
    let z: Vec<f64> = graded(0.003, 0.012, 0.0012).iter().rev().map(|z| -z).collect();
    let mesh = Mesh::grid(&axis, &axis, &z).unwrap();
    println!("| depth over thickness | force, ν 0.3 | force, ν 0.45 |\n|---|---|---|");
    let depths: Vec<f64> = (1..=16).map(|k| 0.00025 * k as f64).collect();
    let mut columns = Vec::new();
    for poisson in [0.3, 0.45] {
        let material = Material::new(1e5, poisson, 0.0, 1000.0).unwrap();
        let curves = [true, false].map(|linear| {
            let mut system = System::new(&mesh, &material, linear);
            for (i, p) in mesh.points().iter().enumerate() {
                let bottom = p.z < -0.012 + 1e-9;
                system.fix(i, [bottom || p.x < 1e-9, bottom || p.y < 1e-9, bottom]);
            }
            let mut u = vec![Vector3::zeros(); mesh.points().len()];
            depths
                .iter()
                .map(|depth| {
                    let centre = Vector3::new(0.0, 0.0, 0.010 - depth);
                    system.solve(&mut u, Some((centre, 0.010))).map(|f| 4.0 * f)
                })
                .collect::<Vec<Option<f64>>>()
        });
        columns.push((0..depths.len()).map(|k| Some(curves[0][k]? / curves[1][k]?)).collect::<Vec<_>>());
    }
    let show = |x: Option<f64>| x.map_or("no solution".into(), |x| format!("{:+.1} %", 100.0 * (x - 1.0)));
    for (k, depth) in depths.iter().enumerate().filter(|(k, _)| [0, 1, 3, 5, 7, 11, 15].contains(k)) {
        println!("| {:.3} | {} | {} |", depth / 0.012, show(columns[0][k]), show(columns[1][k]));
    }
}

/// A bar of 10 × 10 × 30 mm whose ends turn against each other about y and come nearer as on an arc: the moment at an end.
fn bar() {
    let axis = |n: usize, from: f64, to: f64| -> Vec<f64> {
        (0..=n).map(|k| from + (to - from) * k as f64 / n as f64).collect()
    };
    let side = axis(3, -0.005, 0.005);
    let mesh = Mesh::grid(&axis(9, 0.0, 0.03), &side, &side).unwrap();
    println!("\n| bending, degrees | moment, ν 0.3 | moment, ν 0.45 |\n|---|---|---|");
    let angles: Vec<f64> = (1..=12).map(|k| 5.0 * k as f64).collect();
    let mut columns = Vec::new();
    for poisson in [0.3, 0.45] {
        let material = Material::new(1e5, poisson, 0.0, 1000.0).unwrap();
        let curves = [true, false].map(|linear| {
            let mut system = System::new(&mesh, &material, linear);
            let ends: Vec<usize> = (0..mesh.points().len())
                .filter(|&i| mesh.points()[i].x < 1e-9 || mesh.points()[i].x > 0.03 - 1e-9)
                .collect();
            ends.iter().for_each(|&i| system.fix(i, [true; 3]));
            let mut u = vec![Vector3::zeros(); mesh.points().len()];
            angles
                .iter()
                .map(|degrees| {
                    let angle = degrees.to_radians();
                    for &i in ends.iter().filter(|&&i| mesh.points()[i].x > 0.01) {
                        let arm = mesh.points()[i] - Vector3::new(0.03, 0.0, 0.0);
                        // The linear solid's ends turn linearly; the true one's go along the arc of its length.
                        u[i] = if linear {
                            Vector3::new(0.0, 0.0, -0.015 * angle) + Vector3::new(0.0, angle, 0.0).cross(&arm)
                        } else {
                            let radius = 0.03 / angle;
                            let end = Vector3::new(radius * angle.sin(), 0.0, -radius * (1.0 - angle.cos()));
                            end + Rotation3::new(Vector3::new(0.0, angle, 0.0)) * arm - mesh.points()[i]
                        };
                    }
                    system.solve(&mut u, None)?;
                    let forces = system.forces(&u);
                    let moment: Vector3<f64> = ends
                        .iter()
                        .filter(|&&i| mesh.points()[i].x < 1e-9)
                        .map(|&i| mesh.points()[i].cross(&forces[i]))
                        .sum();
                    Some(moment.y)
                })
                .collect::<Vec<Option<f64>>>()
        });
        columns.push((0..angles.len()).map(|k| Some(curves[0][k]? / curves[1][k]?)).collect::<Vec<_>>());
    }
    let show = |x: Option<f64>| x.map_or("no solution".into(), |x| format!("{:+.1} %", 100.0 * (x - 1.0)));
    for (k, angle) in angles.iter().enumerate().filter(|(k, _)| [0, 1, 2, 3, 5, 8, 11].contains(k)) {
        println!("| {angle:.0} | {} | {} |", show(columns[0][k]), show(columns[1][k]));
    }
}

/// From 0 to an end: a spacing up to `fine`, then each cell half as long again.
fn graded(fine: f64, end: f64, spacing: f64) -> Vec<f64> {
    let (mut x, mut step) = (vec![0.0], spacing);
    loop {
        let last = x[x.len() - 1];
        if last >= fine - 1e-9 {
            step *= 1.5;
        }
        if last + 1.5 * step > end {
            x.push(end);
            return x;
        }
        x.push(last + step);
    }
}

/// The equations of a solid whose nodes move by u.
struct System<'a> {
    mesh: &'a Mesh,
    lame: (f64, f64),
    linear: bool,
    fixed: Vec<[bool; 3]>,
    /// Area of the top that belongs to each midside node.
    areas: Vec<f64>,
    /// The lower triangle's pattern.
    starts: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
}

/// Pressure per depth of a node in the ball, Pa/m: a ten-thousandth of the depth at the largest pressure.
const PENALTY: f64 = 2e10;

impl<'a> System<'a> {
    fn new(mesh: &'a Mesh, material: &Material, linear: bool) -> Self {
        let n = mesh.points().len();
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); n];
        for t in mesh.tetrahedra() {
            for &a in t {
                neighbours[a as usize].extend(t.iter().map(|&b| b as usize).filter(|&b| b >= a as usize));
            }
        }
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for (a, list) in neighbours.iter_mut().enumerate() {
            list.sort_unstable();
            list.dedup();
            for axis in 0..3 {
                rows.extend(
                    list.iter().flat_map(|&b| (if a == b { axis } else { 0 }..3).map(move |i| 3 * b + i)),
                );
                starts.push(rows.len());
            }
        }
        let mut areas = vec![0.0; n];
        for t in mesh.boundary().iter().filter(|t| t.iter().all(|&i| mesh.points()[i as usize].z > -1e-9)) {
            let [a, b, c] = t.map(|i| mesh.points()[i as usize]);
            let area = (b - a).cross(&(c - a)).norm() / 2.0;
            for (p, q) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                let edge = mesh.edges().binary_search(&[p.min(q), p.max(q)]).unwrap();
                areas[mesh.corners() + edge] += area / 3.0;
            }
        }
        let values = vec![0.0; rows.len()];
        Self { mesh, lame: material.lame(), linear, fixed: vec![[false; 3]; n], areas, starts, rows, values }
    }

    fn fix(&mut self, node: usize, axes: [bool; 3]) {
        self.fixed[node] = axes;
    }

    /// Stress P and the pieces of its tangent at a gradient F: see `element`.
    fn stress(&self, F: &Matrix3<f64>) -> Option<(Matrix3<f64>, Matrix3<f64>, f64)> {
        let (λ, μ) = self.lame;
        if self.linear {
            let strain = (F + F.transpose()) / 2.0 - Matrix3::identity();
            return Some((
                Matrix3::identity() * (λ * strain.trace()) + strain * (2.0 * μ),
                Matrix3::identity(),
                μ,
            ));
        }
        // Ψ = μ/2 (F:F − 3) − μ ln J + λ/2 (ln J)²
        let J = F.determinant();
        if J <= 0.0 {
            return None;
        }
        let back = F.try_inverse()?.transpose();
        Some(((F - back) * μ + back * (λ * J.ln()), back, μ - λ * J.ln()))
    }

    /// Calls with each element's nodes, shape gradients, weight and F at its four points.
    fn each_point(
        &self,
        u: &Field,
        mut call: impl FnMut(&[u32; 10], &[Vector3<f64>; 10], f64, Matrix3<f64>),
    ) {
        let (far, near) = ((5.0 + 3.0 * 5f64.sqrt()) / 20.0, (5.0 - 5f64.sqrt()) / 20.0);
        for (e, t) in self.mesh.tetrahedra().iter().enumerate() {
            let x = self.mesh.corner_points(e);
            let J = Matrix3::from_columns(&[x[1] - x[0], x[2] - x[0], x[3] - x[0]]);
            let rows = J.try_inverse().unwrap();
            let g = |a: usize| if a == 0 { -rows.row_sum().transpose() } else { rows.row(a - 1).transpose() };
            let g = [g(0), g(1), g(2), g(3)];
            for q in 0..4 {
                let L: [f64; 4] = std::array::from_fn(|a| if a == q { far } else { near });
                let d: [Vector3<f64>; 10] = std::array::from_fn(|a| {
                    if a < 4 {
                        g[a] * (4.0 * L[a] - 1.0)
                    } else {
                        let (i, j) = EDGES[a - 4];
                        (g[j] * L[i] + g[i] * L[j]) * 4.0
                    }
                });
                let F = Matrix3::identity()
                    + (0..10).map(|a| u[t[a] as usize] * d[a].transpose()).sum::<Matrix3<f64>>();
                call(t, &d, J.determinant() / 24.0, F);
            }
        }
    }

    /// Forces that hold all nodes; not finite where an element is inside out.
    fn forces(&self, u: &Field) -> Field {
        let mut f = vec![Vector3::zeros(); u.len()];
        self.each_point(u, |t, d, w, F| {
            let P = self.stress(&F).map_or(Matrix3::repeat(f64::NAN), |s| s.0);
            t.iter().zip(d).for_each(|(&n, d)| f[n as usize] += P * d * w);
        });
        f
    }

    /// The tangent of the forces.
    fn tangent(&mut self, u: &Field) {
        let (λ, μ) = self.lame;
        let (starts, rows) = (self.starts.clone(), self.rows.clone());
        let mut values = vec![0.0; rows.len()];
        self.each_point(u, |t, d, w, F| {
            let Some((_, back, mixed)) = self.stress(&F) else { return };
            let h = d.map(|d| back * d);
            for (a, &na) in t.iter().enumerate() {
                for (b, &nb) in t.iter().enumerate().filter(|&(_, &nb)| nb >= na) {
                    // K_ba = μ (g_a·g_b) I + mixed h_a h_bᵀ + λ h_b h_aᵀ
                    let K = (Matrix3::identity() * (μ * d[a].dot(&d[b]))
                        + h[a] * h[b].transpose() * mixed
                        + h[b] * h[a].transpose() * λ)
                        * w;
                    for axis in 0..3 {
                        let column = 3 * na as usize + axis;
                        let own = &rows[starts[column]..starts[column + 1]];
                        let first = if na == nb { axis } else { 0 };
                        let place = starts[column] + own.binary_search(&(3 * nb as usize + first)).unwrap();
                        (first..3).for_each(|i| values[place + i - first] += K[(i, axis)]);
                    }
                }
            }
        });
        self.values = values;
    }

    /// Newton's method from u; with a ball, the force on it. None where it does not converge.
    fn solve(&mut self, u: &mut Field, ball: Option<(Vector3<f64>, f64)>) -> Option<f64> {
        let mut before = f64::INFINITY;
        for _ in 0..60 {
            let mut f = self.forces(u);
            self.tangent(u);
            let mut down = 0.0;
            if let Some((centre, radius)) = ball {
                for i in 0..u.len() {
                    let r = self.mesh.points()[i] + u[i] - centre;
                    let depth = radius - r.norm();
                    if self.areas[i] > 0.0 && depth > 0.0 {
                        let n = r.normalize();
                        let k = PENALTY * self.areas[i];
                        f[i] -= n * (k * depth);
                        down -= n.z * k * depth;
                        let block = n * n.transpose() * k;
                        for axis in 0..3 {
                            let start = self.starts[3 * i + axis];
                            (axis..3).for_each(|row| self.values[start + row - axis] += block[(row, axis)]);
                        }
                    }
                }
            }
            let free = |i: usize, axis: usize| !self.fixed[i][axis];
            let norm: f64 = (0..u.len())
                .flat_map(|i| (0..3).map(move |a| (i, a)))
                .filter(|&(i, a)| free(i, a))
                .map(|(i, a)| f[i][a].powi(2))
                .sum::<f64>()
                .sqrt();
            if norm.is_nan() {
                return None;
            }
            let scale = f.iter().map(|f| f.norm()).sum::<f64>();
            if norm < 1e-8 * scale.max(1e-9) && before < f64::INFINITY {
                return Some(down);
            }
            // Fixed unknowns get a row of the identity.
            let n = 3 * u.len();
            let is_fixed = |k: usize| self.fixed[k / 3][k % 3];
            for column in 0..n {
                for k in self.starts[column]..self.starts[column + 1] {
                    if is_fixed(column) || is_fixed(self.rows[k]) {
                        self.values[k] = (self.rows[k] == column) as u8 as f64;
                    }
                }
            }
            let symbolic =
                SymbolicSparseColMat::new_checked(n, n, self.starts.clone(), None, self.rows.clone());
            let A = SparseColMat::new(symbolic, self.values.clone());
            let right = faer::Mat::from_fn(n, 1, |k, _| if is_fixed(k) { 0.0 } else { -f[k / 3][k % 3] });
            let step = A.sp_cholesky(Side::Lower).ok()?.solve(&right);
            let largest = (0..n).map(|k| step[(k, 0)].abs()).fold(0.0, f64::max);
            let part = (0.001 / largest).min(1.0);
            (0..n).for_each(|k| u[k / 3][k % 3] += part * step[(k, 0)]);
            before = norm;
        }
        None
    }
}
