//! Green's functions against a dense solve that shares no code: strain–displacement matrices in Voigt's notation, a product
//! Gauss rule on the tetrahedron, ties and supports as dense matrices, LU. And what the bonded nodes hold.

use pliant_elastic::mesh::EDGES;
use pliant_elastic::nalgebra::{DMatrix, DVector, Matrix3, Matrix6, SMatrix, Vector3};
use pliant_elastic::{Material, Mesh, Solid, Surface};

use crate::common::{Random, material};

/// The stiffness of all nodes of a mesh.
pub fn stiffness(mesh: &Mesh, material: &Material) -> DMatrix<f64> {
    let (λ, μ) = material.lame();
    let mut D = Matrix6::<f64>::zeros();
    for i in 0..3 {
        for j in 0..3 {
            D[(i, j)] = λ;
        }
        D[(i, i)] += 2.0 * μ;
        D[(i + 3, i + 3)] = μ;
    }
    let n = mesh.points().len();
    let mut K = DMatrix::zeros(3 * n, 3 * n);
    // Gauss–Legendre with three points on 0…1.
    let s = (3.0f64 / 5.0).sqrt() / 2.0;
    let gauss = [(0.5 - s, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.5 + s, 5.0 / 18.0)];
    for t in mesh.tetrahedra() {
        let x: Vec<Vector3<f64>> = (0..4).map(|i| mesh.points()[t[i] as usize]).collect();
        let J = Matrix3::from_columns(&[x[1] - x[0], x[2] - x[0], x[3] - x[0]]);
        let inverse = J.try_inverse().unwrap();
        for (a, wa) in gauss {
            for (b, wb) in gauss {
                for (c, wc) in gauss {
                    // The cube onto the tetrahedron: r = a, s = b(1 − a), t = c(1 − a)(1 − b).
                    let L = [a, b * (1.0 - a), c * (1.0 - a) * (1.0 - b)];
                    let weight = wa * wb * wc * (1.0 - a).powi(2) * (1.0 - b) * J.determinant();
                    // Derivatives along r, s, t of the ten shapes by central differences, exact for quadratics.
                    let mut B = SMatrix::<f64, 6, 30>::zeros();
                    for k in 0..10 {
                        let local = Vector3::from_fn(|axis, _| {
                            let at = |sign: f64| {
                                let mut moved = L;
                                moved[axis] += sign * 0.25;
                                shape(k, &moved)
                            };
                            (at(1.0) - at(-1.0)) / 0.5
                        });
                        let g = inverse.transpose() * local;
                        for i in 0..3 {
                            B[(i, 3 * k + i)] = g[i];
                        }
                        for (row, (i, j)) in [(3, (0, 1)), (4, (1, 2)), (5, (0, 2))] {
                            B[(row, 3 * k + i)] = g[j];
                            B[(row, 3 * k + j)] = g[i];
                        }
                    }
                    let Ke = B.transpose() * D * B * weight;
                    for p in 0..30 {
                        for q in 0..30 {
                            K[(3 * t[p / 3] as usize + p % 3, 3 * t[q / 3] as usize + q % 3)] += Ke[(p, q)];
                        }
                    }
                }
            }
        }
    }
    K
}

fn shape(k: usize, L: &[f64; 3]) -> f64 {
    let b = [1.0 - L[0] - L[1] - L[2], L[0], L[1], L[2]];
    if k < 4 { b[k] * (2.0 * b[k] - 1.0) } else { 4.0 * b[EDGES[k - 4].0] * b[EDGES[k - 4].1] }
}

/// Which nodes of a mesh are on its boundary, midsides by the edges of its triangles.
pub fn boundary(mesh: &Mesh) -> Vec<bool> {
    let mut on = vec![false; mesh.points().len()];
    for t in mesh.boundary() {
        for k in 0..3 {
            let (p, q) = (t[k], t[(k + 1) % 3]);
            on[p as usize] = true;
            let edge = mesh.edges().iter().position(|e| *e == [p.min(q), p.max(q)]).unwrap();
            on[mesh.corners() + edge] = true;
        }
    }
    on
}

/// T of u = T q: columns for each loadable corner of the surface (those first) and each free inner node.
pub fn ties(mesh: &Mesh, held: impl Fn(&Vector3<f64>) -> bool) -> (DMatrix<f64>, Vec<usize>) {
    let on = boundary(mesh);
    let n = mesh.points().len();
    let free: Vec<usize> = (0..n).filter(|&i| !held(&mesh.points()[i])).collect();
    let surface: Vec<usize> = free.iter().copied().filter(|&i| on[i] && i < mesh.corners()).collect();
    let inner: Vec<usize> = free.iter().copied().filter(|&i| !on[i]).collect();
    let mut T = DMatrix::zeros(3 * n, 3 * (surface.len() + inner.len()));
    for (column, &node) in surface.iter().chain(&inner).enumerate() {
        for axis in 0..3 {
            T[(3 * node + axis, 3 * column + axis)] = 1.0;
        }
        if on[node] {
            for (k, edge) in mesh.edges().iter().enumerate() {
                let middle = mesh.corners() + k;
                if on[middle] && edge.contains(&(node as u32)) {
                    for axis in 0..3 {
                        T[(3 * middle + axis, 3 * column + axis)] = 0.5;
                    }
                }
            }
        }
    }
    (T, surface)
}

fn meshes() -> Vec<(&'static str, Mesh, f64)> {
    let block = Mesh::cuboid(Vector3::new(0.01, 0.008, 0.006), 0.006).unwrap();
    let ball = Mesh::from_surface(&Surface::ball(0.01).unwrap(), 0.007).unwrap();
    let capsule = Mesh::from_surface(&Surface::capsule(0.01, 0.006).unwrap(), 0.006).unwrap();
    vec![("block", block, -0.006), ("ball", ball, -0.004), ("capsule", capsule, -0.010)]
}

#[test]
fn every_block_equals_a_dense_solve() {
    for (name, mesh, level) in meshes() {
        for poisson in [0.3, 0.45] {
            let material = material(poisson);
            let held = |p: &Vector3<f64>| p.z <= level + 1e-9;
            let solid = Solid::new(&mesh, &material, held, |_| {}).unwrap();
            let (T, surface) = ties(&mesh, held);
            assert_eq!(surface.len(), solid.nodes());
            let K = stiffness(&mesh, &material);
            let reduced = T.transpose() * &K * &T;
            let mut right = DMatrix::zeros(reduced.nrows(), 3 * surface.len());
            right.fill_with_identity();
            let q = reduced.clone().lu().solve(&right).unwrap();
            let largest = q.rows(0, 3 * surface.len()).amax();
            let mut worst = 0.0f64;
            for i in 0..surface.len() {
                assert_eq!(solid.points()[i], mesh.points()[surface[i]], "{name}");
                for j in 0..surface.len() {
                    let dense = q.fixed_view::<3, 3>(3 * i, 3 * j);
                    worst = worst.max((solid.block(i, j) - dense).amax());
                    assert_eq!(solid.block(i, j), solid.block(j, i).transpose());
                    for axis in 0..3 {
                        assert_eq!(
                            solid.column(j, axis)[3 * i..3 * i + 3],
                            solid.block(i, j).as_slice()[3 * axis..3 * axis + 3]
                        );
                    }
                }
            }
            // Both solves lose the condition of the stiffness, about 1e4, times rounding.
            assert!(worst < 1e-11 * largest, "{name}: {:e}", worst / largest);

            // Reactions of the bonded nodes and ties: what they hold is minus what is applied, as a force and a torque.
            let mut random = Random(5);
            let node = random.below(surface.len());
            let f = random.vector();
            let mut load = DVector::zeros(T.ncols());
            load.fixed_rows_mut::<3>(3 * node).copy_from(&f);
            let u = &T * reduced.lu().solve(&load).unwrap();
            let all = K * u;
            let (mut force, mut torque) = (Vector3::zeros(), Vector3::zeros());
            let on = boundary(&mesh);
            for i in 0..mesh.points().len() {
                let own = Vector3::new(all[3 * i], all[3 * i + 1], all[3 * i + 2]);
                // A tied midside passes half of its force to each corner.
                let shares = match i.checked_sub(mesh.corners()) {
                    Some(k) if on[i] => mesh.edges()[k].map(|c| (c as usize, 0.5)).to_vec(),
                    _ => vec![(i, 1.0)],
                };
                for (holder, share) in shares {
                    let p = mesh.points()[holder];
                    if held(&p) {
                        force -= own * share;
                        torque -= p.cross(&own) * share;
                    }
                }
            }
            let map = solid.reaction(node) * f;
            assert!((force - map.fixed_rows::<3>(0)).norm() < 1e-10, "{name}: {force:?} {map:?}");
            assert!((torque - map.fixed_rows::<3>(3)).norm() < 1e-12, "{name}: {torque:?} {map:?}");
        }
    }
}

#[test]
fn mass_centre_and_inertia_of_a_box() {
    let half = Vector3::new(0.01, 0.008, 0.006);
    let shift = Vector3::new(0.3, -0.2, 0.1);
    let mesh = Mesh::cuboid(half, 0.004).unwrap();
    let points: Vec<_> = mesh.points()[..mesh.corners()].iter().map(|p| p + shift).collect();
    let tetrahedra: Vec<[u32; 4]> = mesh.tetrahedra().iter().map(|t| [t[0], t[1], t[2], t[3]]).collect();
    let mesh = Mesh::new(&points, &tetrahedra).unwrap();
    let solid = Solid::new(&mesh, &material(0.3), |p| p.z < 0.0945, |_| {}).unwrap();
    let mass = 1000.0 * 8.0 * half.product();
    assert!((solid.mass() / mass - 1.0).abs() < 1e-12);
    assert!((solid.centre() - shift).norm() < 1e-13);
    let square = half.component_mul(&half) * (mass / 3.0);
    let exact = Matrix3::from_diagonal(&(Vector3::repeat(square.sum()) - square));
    assert!((solid.inertia() - exact).amax() < 1e-12 * exact.amax());
    assert!((solid.material().density() - 1000.0).abs() < 1e-12);
    let area: f64 = (0..solid.points().len()).map(|i| solid.area(i)).sum();
    let whole = 8.0 * (half.x * half.y + half.y * half.z + half.z * half.x);
    assert!((area / whole - 1.0).abs() < 1e-12);
}

#[test]
fn same_bits_every_time() {
    let make = || {
        let mesh = Mesh::from_surface(&Surface::capsule(0.01, 0.006).unwrap(), 0.003).unwrap();
        Solid::new(&mesh, &material(0.45), |p| p.z < -0.009, |_| {}).unwrap()
    };
    let (a, b) = (make(), std::thread::spawn(make).join().unwrap());
    assert_eq!(a.points(), b.points());
    assert!(a.green().iter().zip(b.green()).all(|(x, y)| x.to_bits() == y.to_bits()));
}
