//! A solid between rigid interfaces as a joint: its stiffness and mass condensed to the motions of the interfaces.
//!
//! Nodes of interface i move by its twist (v, ω), linear part first, at its origin o_i: u = v + ω × (x − o_i). All others are free,
//! midside nodes of the surface as well. With N the displacements of all nodes per twist, in static equilibrium inside,
//! K_c = Nᵀ K N (exact) and M_c = Nᵀ M N (Guyan 1965: right for motions much slower than the solid's own with interfaces held).
//!
//! ```
//! use pliant_elastic::{Flexure, Material, Mesh, nalgebra::Vector3};
//!
//! // A bar of 30 mm between two plates.
//! let mesh = Mesh::cuboid(Vector3::new(0.015, 0.003, 0.003), 0.003)?;
//! let plate = |p: &Vector3<f64>| (p.x.abs() > 0.015 - 1e-9).then_some(usize::from(p.x > 0.0));
//! let origins = [Vector3::new(-0.015, 0.0, 0.0), Vector3::new(0.015, 0.0, 0.0)];
//! let bar = Flexure::new(&mesh, &Material::new(1e9, 0.3, 0.0, 1000.0)?, &origins, plate, |_| {})?;
//! let along = bar.stiffness()[(0, 0)]; // N/m of the first plate along x
//! assert!((along / (1e9 * 0.006 * 0.006 / 0.030) - 1.0).abs() < 0.1); // E A / l, and what the plates hold back
//! # Ok::<(), pliant_elastic::ElasticError>(())
//! ```

use nalgebra::{DMatrix, Vector3, Vector6};

use crate::ElasticError;
use crate::cholesky::{Factor, check_memory};
use crate::element;
use crate::material::Material;
use crate::mesh::{Mesh, jacobian};
use crate::ordering::places;
use crate::solid::{check_held, off_one_line};
use crate::stiffness::{Motion, Stiffness, graph};

/// A solid condensed to rigid interfaces.
#[derive(Clone, Debug)]
pub struct Flexure {
    origins: Vec<Vector3<f64>>,
    stiffness: DMatrix<f64>,
    mass: DMatrix<f64>,
    points: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    /// Displacements of the points per twist of each interface, by columns.
    shapes: DMatrix<f64>,
}

impl Flexure {
    /// Condenses a mesh to the interfaces that `interface` assigns its nodes to; each turns about its origin, m.
    ///
    /// `progress` is called with the part that is done, from 0 to 1.
    pub fn new(
        mesh: &Mesh,
        material: &Material,
        origins: &[Vector3<f64>],
        interface: impl Fn(&Vector3<f64>) -> Option<usize>,
        mut progress: impl FnMut(f64),
    ) -> Result<Self, ElasticError> {
        let nodes = mesh.points();
        let of: Vec<Option<usize>> = nodes.iter().map(interface).collect();
        check_interfaces(mesh, origins, &of)?;
        let size = 6 * origins.len();
        check_memory("the motions of the flexure", 8 * 4 * 3 * nodes.len() as u64 * size as u64)?;
        // Free nodes in their order of elimination.
        let free: Vec<usize> = (0..nodes.len()).filter(|&i| of[i].is_none()).collect();
        let mut motion = vec![Motion::Held; nodes.len()];
        free.iter().enumerate().for_each(|(k, &i)| motion[i] = Motion::Own(k as u32));
        let points: Vec<Vector3<f64>> = free.iter().map(|&i| nodes[i]).collect();
        let place = places(&graph(mesh, &motion, free.len()), &points, free.len());
        free.iter().enumerate().for_each(|(k, &i)| motion[i] = Motion::Own(place[k]));
        let stiffness =
            Stiffness::new(mesh, material, &motion, &graph(mesh, &motion, free.len()), free.len());
        progress(0.1);
        let factor = Factor::new(&stiffness.to_sparse())?;
        progress(0.7);
        // Rigid motions of the interfaces, then what the inside adds: K_ff x = −K_fi u_i, solved twice for rounding.
        let mut N = DMatrix::zeros(3 * nodes.len(), size);
        for (node, i) in of.iter().enumerate() {
            if let Some(i) = *i {
                let arm = nodes[node] - origins[i];
                for axis in 0..3 {
                    N[(3 * node + axis, 6 * i + axis)] = 1.0;
                }
                N.fixed_view_mut::<3, 3>(3 * node, 6 * i + 3).copy_from(&(-arm.cross_matrix()));
            }
        }
        let mut right = vec![0.0; 3 * free.len() * size];
        for _ in 0..2 {
            let forces = apply(mesh, material, &N);
            for column in 0..size {
                for (k, &i) in free.iter().enumerate() {
                    let start = 3 * (column * free.len() + place[k] as usize);
                    (0..3).for_each(|axis| right[start + axis] = -forces[(3 * i + axis, column)]);
                }
            }
            if !free.is_empty() {
                factor.solve(&mut right);
            }
            for column in 0..size {
                for (k, &i) in free.iter().enumerate() {
                    let start = 3 * (column * free.len() + place[k] as usize);
                    (0..3).for_each(|axis| N[(3 * i + axis, column)] += right[start + axis]);
                }
            }
        }
        progress(0.9);
        let symmetric = |A: DMatrix<f64>| (&A + A.transpose()) / 2.0;
        let stiffness = symmetric(N.tr_mul(&apply(mesh, material, &N)));
        let mass = symmetric(N.tr_mul(&weigh(mesh, material.density(), &N)));
        let (points, triangles, shapes) = surface(mesh, &N);
        progress(1.0);
        Ok(Self { origins: origins.to_vec(), stiffness, mass, points, triangles, shapes })
    }

    /// How many interfaces it has.
    pub fn interfaces(&self) -> usize {
        self.origins.len()
    }

    /// Where each interface's twist is taken, m.
    pub fn origins(&self) -> &[Vector3<f64>] {
        &self.origins
    }

    /// Wrenches (force, torque) that hold the interfaces, per their twists: six rows and columns for each, symmetric.
    pub fn stiffness(&self) -> &DMatrix<f64> {
        &self.stiffness
    }

    /// Mass condensed to the interfaces, six rows and columns for each, symmetric.
    pub fn mass(&self) -> &DMatrix<f64> {
        &self.mass
    }

    /// The corners of the surface at rest, m.
    pub fn points(&self) -> &[Vector3<f64>] {
        &self.points
    }

    /// Triangles of the surface, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Displacements of all points of the surface for small displacements (v, ω) of the interfaces.
    pub fn displacement(&self, twists: &[Vector6<f64>], displacements: &mut [Vector3<f64>]) {
        displacements.fill(Vector3::zeros());
        for (i, twist) in twists.iter().enumerate() {
            for axis in 0..6 {
                let column = self.shapes.column(6 * i + axis);
                for (u, part) in displacements.iter_mut().zip(column.as_slice().chunks_exact(3)) {
                    *u += Vector3::new(part[0], part[1], part[2]) * twist[axis];
                }
            }
        }
    }
}

/// Two interfaces or more, each with three nodes off one line, and every part of the mesh held by some.
fn check_interfaces(mesh: &Mesh, origins: &[Vector3<f64>], of: &[Option<usize>]) -> Result<(), ElasticError> {
    let count = origins.len();
    crate::surface::check_points(origins)?;
    if let Some(&i) = of.iter().flatten().find(|&&i| i >= count) {
        return Err(ElasticError::Interface { interface: i, nodes: 0, count });
    }
    let size = (0..mesh.corners()).map(|i| (mesh.points()[i] - mesh.points()[0]).norm()).fold(0.0, f64::max);
    for interface in 0..count.max(1) {
        let own: Vec<Vector3<f64>> =
            (0..of.len()).filter(|&i| of[i] == Some(interface)).map(|i| mesh.points()[i]).collect();
        if count < 2 || !off_one_line(&own, size) {
            return Err(ElasticError::Interface { interface, nodes: own.len(), count });
        }
    }
    check_held(mesh, |i| of[i].is_some())
}

/// K u for displacements of all nodes, by columns.
fn apply(mesh: &Mesh, material: &Material, u: &DMatrix<f64>) -> DMatrix<f64> {
    let lame = material.lame();
    let mut f = DMatrix::zeros(u.nrows(), u.ncols());
    for (e, t) in mesh.tetrahedra().iter().enumerate() {
        let K = element::stiffness(&mesh.corner_points(e), lame);
        for column in 0..u.ncols() {
            let own = t.map(|n| u.fixed_view::<3, 1>(3 * n as usize, column).into_owned());
            for (a, &n) in t.iter().enumerate() {
                let sum: Vector3<f64> = (0..10).map(|b| K[a][b] * own[b]).sum();
                let mut target = f.fixed_view_mut::<3, 1>(3 * n as usize, column);
                target += sum;
            }
        }
    }
    f
}

/// M u for accelerations of all nodes, by columns.
fn weigh(mesh: &Mesh, density: f64, u: &DMatrix<f64>) -> DMatrix<f64> {
    let m = element::mass();
    let mut f = DMatrix::zeros(u.nrows(), u.ncols());
    for (e, t) in mesh.tetrahedra().iter().enumerate() {
        let whole = density * jacobian(&mesh.corner_points(e)) / 6.0;
        for column in 0..u.ncols() {
            let own = t.map(|n| u.fixed_view::<3, 1>(3 * n as usize, column).into_owned());
            for (a, &n) in t.iter().enumerate() {
                let sum: Vector3<f64> = (0..10).map(|b| own[b] * (m[a][b] * whole)).sum();
                let mut target = f.fixed_view_mut::<3, 1>(3 * n as usize, column);
                target += sum;
            }
        }
    }
    f
}

/// Corners of the surface, its triangles and the rows of N for them.
fn surface(mesh: &Mesh, N: &DMatrix<f64>) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>, DMatrix<f64>) {
    let mut nodes: Vec<u32> = mesh.boundary().iter().flatten().copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    let place = |i: u32| nodes.binary_search(&i).expect("a corner of the boundary") as u32;
    let triangles = mesh.boundary().iter().map(|t| t.map(place)).collect();
    let points = nodes.iter().map(|&i| mesh.points()[i as usize]).collect();
    let shapes =
        DMatrix::from_fn(3 * nodes.len(), N.ncols(), |r, c| N[(3 * nodes[r / 3] as usize + r % 3, c)]);
    (points, triangles, shapes)
}
