//! A solid bonded to something rigid: how each node of its surface moves under a force on any other (Green's functions).
//!
//! [James 2002, §3]: with the bonded nodes held, u = Ξ f. Loads act at the corners of the surface; a midside node of the
//! surface is the mean of its two corners, so that the surface stays one of flat triangles, a force on a corner is shared out
//! consistently, and Ξ = (Tᵀ K T)⁻¹ is symmetric. Inside, the quadratic nodes are free.

use nalgebra::{Matrix3, Matrix6x3, Vector3};

use crate::ElasticError;
use crate::cholesky::{Factor, check_memory, inverse};
use crate::material::Material;
use crate::mesh::{Mesh, jacobian};
use crate::ordering::places;
use crate::stiffness::{Motion, Stiffness, graph};
use crate::stored::SolidParts;

/// Green's functions of a solid's surface.
#[derive(Clone, Debug)]
pub struct Solid {
    material: Material,
    points: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    areas: Vec<f64>,
    /// The first of `points` that are not bonded.
    nodes: usize,
    /// Ξ by columns, 3·nodes square, symmetric.
    green: Vec<f64>,
    mass: f64,
    centre: Vector3<f64>,
    inertia: Matrix3<f64>,
}

impl Solid {
    /// The Green's functions of a mesh whose nodes are held where `bonded` says so.
    ///
    /// `progress` is called with the part that is done, from 0 to 1.
    pub fn new(
        mesh: &Mesh,
        material: &Material,
        bonded: impl Fn(&Vector3<f64>) -> bool,
        progress: impl FnMut(f64),
    ) -> Result<Self, ElasticError> {
        Self::with_seams(mesh, material, bonded, |_| false, progress)
    }

    /// The same with faces that will be joined to other solids, where `seam` holds for all corners: inside them, midside nodes
    /// are nodes of their own, so that joined solids are one.
    pub fn with_seams(
        mesh: &Mesh,
        material: &Material,
        bonded: impl Fn(&Vector3<f64>) -> bool,
        seam: impl Fn(&Vector3<f64>) -> bool,
        mut progress: impl FnMut(f64),
    ) -> Result<Self, ElasticError> {
        let tied = Tied::new(mesh, bonded, seam)?;
        let nodes = tied.surface.iter().take_while(|s| s.1).count();
        if nodes == 0 {
            return Err(ElasticError::NothingLoadable { nodes: tied.surface.len() });
        }
        let m = 3 * nodes;
        check_memory("the Green's functions", 3 * 8 * (m as u64) * (m as u64))?;
        progress(0.02);
        let (stiffness, first) = tied.stiffness(mesh, material);
        progress(0.08);
        let factor = Factor::new(&stiffness.to_sparse())?;
        progress(0.7);
        let corner = factor.corner(3 * first);
        drop(factor);
        let green = inverse(corner, m);
        progress(1.0);
        let (points, triangles, areas) = tied.surface_of(mesh);
        let (mass, centre, inertia) = inertia(mesh, material.density());
        Ok(Self { material: *material, points, triangles, areas, nodes, green, mass, centre, inertia })
    }

    pub(crate) fn of_parts(parts: SolidParts, areas: Vec<f64>) -> Self {
        let SolidParts { material, points, triangles, nodes, green, mass, centre, inertia } = parts;
        Self { material, points, triangles, areas, nodes, green, mass, centre, inertia }
    }

    /// All Green's functions, column after column: 3·nodes square, symmetric, m/N. For files.
    pub fn green(&self) -> &[f64] {
        &self.green
    }

    /// What it is made of.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// How many nodes of the surface can be loaded; they are the first of [`points`](Self::points), bonded ones follow.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The corners of the surface at rest, m: those that can be loaded, midside nodes of seams, then those that are bonded and do
    /// not move.
    pub fn points(&self) -> &[Vector3<f64>] {
        &self.points
    }

    /// Triangles of the surface, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Area that belongs to a node of the surface, a third of the triangles around it, m²; none for midside nodes of seams.
    pub fn area(&self, node: usize) -> f64 {
        self.areas[node]
    }

    /// Ξ_ij: displacement of node i per force on node j, m/N.
    pub fn block(&self, i: usize, j: usize) -> Matrix3<f64> {
        let m = 3 * self.nodes;
        Matrix3::from_fn(|r, c| self.green[(3 * j + c) * m + 3 * i + r])
    }

    /// Displacements (x, y, z of each loadable node in turn) per force on one node along an axis, m/N.
    pub fn column(&self, node: usize, axis: usize) -> &[f64] {
        let m = 3 * self.nodes;
        &self.green[(3 * node + axis) * m..][..m]
    }

    /// Displacements of all points of the surface under forces on some nodes, N and m.
    ///
    /// `displacements` has the length of [`points`](Self::points); those of bonded points are zero.
    pub fn displacement(&self, forces: &[(usize, Vector3<f64>)], displacements: &mut [Vector3<f64>]) {
        let (moving, bonded) = displacements.split_at_mut(self.nodes);
        bonded.fill(Vector3::zeros());
        moving.fill(Vector3::zeros());
        for &(node, f) in forces {
            let [x, y, z] = [0, 1, 2].map(|axis| self.column(node, axis).chunks_exact(3));
            for (((u, x), y), z) in moving.iter_mut().zip(x).zip(y).zip(z) {
                u.x += x[0] * f.x + y[0] * f.y + z[0] * f.z;
                u.y += x[1] * f.x + y[1] * f.y + z[1] * f.z;
                u.z += x[2] * f.x + y[2] * f.y + z[2] * f.z;
            }
        }
    }

    /// The largest displacement gradient along the surface, and its triangle: how far from small strains and rotations it is.
    ///
    /// Under a ball on a bonded layer, 0.3 goes with an error of the force of 1 to 2 %, 0.4 with up to 8 %, 0.6 with up to 24 %.
    pub fn largest_gradient(&self, displacements: &[Vector3<f64>]) -> (f64, usize) {
        let mut largest = (0.0, 0);
        for (k, t) in self.triangles.iter().enumerate() {
            let [a, b, c] = t.map(|i| self.points[i as usize]);
            let [u, v, w] = t.map(|i| displacements[i as usize]);
            let n = (b - a).cross(&(c - a));
            let square = n.norm_squared();
            // ∇L_b = (c − a) × n/|n|² turned into the triangle, and its like for c.
            let (gb, gc) = ((c - a).cross(&n) / square, n.cross(&(b - a)) / square);
            let gradient = (v - u) * gb.transpose() + (w - u) * gc.transpose();
            // The largest of |G t| over unit t: the larger eigenvalue of GᵀG in the plane.
            let G = gradient.transpose() * gradient;
            let (trace, minors) = (G.trace(), (G.trace().powi(2) - (G * G).trace()) / 2.0);
            let size = ((trace + (trace * trace - 4.0 * minors).max(0.0).sqrt()) / 2.0).sqrt();
            if size > largest.0 {
                largest = (size, k);
            }
        }
        largest
    }

    /// The wrench (force, torque about the origin of the solid's frame) that a force on a node passes on to what the solid is
    /// bonded to: w = map · f.
    ///
    /// In linear elasticity the torque's arm is the point at rest, and equilibrium makes the map exact for any mesh.
    pub fn reaction(&self, node: usize) -> Matrix6x3<f64> {
        let mut map = Matrix6x3::zeros();
        map.fixed_view_mut::<3, 3>(0, 0).fill_with_identity();
        map.fixed_view_mut::<3, 3>(3, 0).copy_from(&self.points[node].cross_matrix());
        map
    }

    /// Mass of the whole solid, kg.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Centre of mass, m.
    pub fn centre(&self) -> Vector3<f64> {
        self.centre
    }

    /// Inertia about the centre of mass, kg·m².
    pub fn inertia(&self) -> Matrix3<f64> {
        self.inertia
    }
}

/// How the nodes of a mesh move whose surface's midside nodes are tied to their corners.
struct Tied {
    /// Motion of each node of the mesh, inner unknowns first, then those of the surface.
    motion: Vec<Motion>,
    /// Nodes of the surface, and whether they can be loaded: those first, corners before midside nodes.
    surface: Vec<(u32, bool)>,
    /// Unknown nodes inside, and in all.
    inner: usize,
    unknowns: usize,
}

impl Tied {
    fn new(
        mesh: &Mesh,
        bonded: impl Fn(&Vector3<f64>) -> bool,
        seam: impl Fn(&Vector3<f64>) -> bool,
    ) -> Result<Self, ElasticError> {
        let points = mesh.points();
        let held: Vec<bool> = points.iter().map(bonded).collect();
        let in_seam = |t: &&[u32; 3]| t.iter().all(|&i| seam(&points[i as usize]));
        let on_surface = nodes_of(mesh, mesh.boundary().iter());
        // Midside nodes of seams that no other face has.
        let outside = nodes_of(mesh, mesh.boundary().iter().filter(|t| !in_seam(t)));
        let own_middle = |i: usize| i >= mesh.corners() && on_surface[i] && !outside[i];
        let mut motion = vec![Motion::Held; points.len()];
        let mut unknowns = 0;
        let mut number = |slot: &mut Motion| {
            *slot = Motion::Own(unknowns);
            unknowns += 1;
        };
        // Inner nodes, then corners of the surface.
        (0..points.len()).filter(|&i| !held[i] && !on_surface[i]).for_each(|i| number(&mut motion[i]));
        let loadable: Vec<usize> = (0..points.len())
            .filter(|&i| !held[i] && on_surface[i] && (i < mesh.corners() || own_middle(i)))
            .collect();
        loadable.iter().for_each(|&i| number(&mut motion[i]));
        let inner = (0..points.len()).filter(|&i| !held[i] && !on_surface[i]).count();
        for (k, edge) in mesh.edges().iter().enumerate() {
            if on_surface[mesh.corners() + k] && !own_middle(mesh.corners() + k) {
                motion[mesh.corners() + k] = Motion::Mean(edge.map(|i| match motion[i as usize] {
                    Motion::Own(unknown) => Some(unknown),
                    _ => None,
                }));
            }
        }
        check_held(mesh, |i| matches!(motion[i], Motion::Held | Motion::Mean([None, None])))?;
        let fixed = (0..mesh.corners()).filter(|&i| on_surface[i] && held[i]);
        let surface =
            loadable.iter().map(|&i| (i as u32, true)).chain(fixed.map(|i| (i as u32, false))).collect();
        Ok(Self { motion, surface, inner, unknowns: unknowns as usize })
    }

    /// The stiffness in its order of elimination, and how many unknowns of it are inside.
    fn stiffness(&self, mesh: &Mesh, material: &Material) -> (Stiffness, usize) {
        let before = graph(mesh, &self.motion, self.unknowns);
        let mut points = vec![Vector3::zeros(); self.unknowns];
        for (node, motion) in self.motion.iter().enumerate() {
            if let Motion::Own(i) = motion {
                points[*i as usize] = mesh.points()[node];
            }
        }
        let place = places(&before, &points, self.inner);
        let moved = |i: u32| place[i as usize];
        let motion: Vec<Motion> = self
            .motion
            .iter()
            .map(|m| match *m {
                Motion::Held => Motion::Held,
                Motion::Own(i) => Motion::Own(moved(i)),
                Motion::Mean(two) => Motion::Mean(two.map(|i| i.map(moved))),
            })
            .collect();
        let after = graph(mesh, &motion, self.unknowns);
        (Stiffness::new(mesh, material, &motion, &after, self.unknowns), self.inner)
    }

    /// Points, triangles and areas of the surface.
    fn surface_of(&self, mesh: &Mesh) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>, Vec<f64>) {
        let points: Vec<Vector3<f64>> = self.surface.iter().map(|s| mesh.points()[s.0 as usize]).collect();
        let mut place = vec![u32::MAX; mesh.points().len()];
        self.surface.iter().enumerate().for_each(|(k, s)| place[s.0 as usize] = k as u32);
        let triangles: Vec<[u32; 3]> = mesh.boundary().iter().map(|t| t.map(|i| place[i as usize])).collect();
        let areas = areas(&points, &triangles);
        (points, triangles, areas)
    }
}

/// A third of the triangles around each point.
pub(crate) fn areas(points: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Vec<f64> {
    let mut areas = vec![0.0; points.len()];
    for t in triangles {
        let [a, b, c] = t.map(|i| points[i as usize]);
        let third = (b - a).cross(&(c - a)).norm() / 6.0;
        t.iter().for_each(|&i| areas[i as usize] += third);
    }
    areas
}

/// Whether each node of a mesh, corner or midside, is on some of the triangles of its boundary.
fn nodes_of<'a>(mesh: &Mesh, triangles: impl Iterator<Item = &'a [u32; 3]>) -> Vec<bool> {
    let mut on = vec![false; mesh.points().len()];
    for &[a, b, c] in triangles {
        for (p, q) in [(a, b), (b, c), (c, a)] {
            on[p as usize] = true;
            let edge =
                mesh.edges().binary_search(&[p.min(q), p.max(q)]).expect("an edge of a face is an edge");
            on[mesh.corners() + edge] = true;
        }
    }
    on
}

/// Each connected part must have three held nodes that are not on one line.
pub(crate) fn check_held(mesh: &Mesh, held: impl Fn(usize) -> bool) -> Result<(), ElasticError> {
    for part in parts(mesh) {
        let points = |i: &u32| mesh.points()[*i as usize];
        let held: Vec<Vector3<f64>> = part.iter().filter(|&&i| held(i as usize)).map(points).collect();
        let first = points(&part[0]);
        let size = part.iter().map(|i| (points(i) - first).norm()).fold(0.0, f64::max);
        if !off_one_line(&held, size) {
            return Err(ElasticError::Loose { bonded: held.len(), near: first });
        }
    }
    Ok(())
}

/// Whether points are not all on one line, by a part of some size.
pub(crate) fn off_one_line(points: &[Vector3<f64>], size: f64) -> bool {
    points.first().is_some_and(|a| {
        let longest =
            points.iter().map(|p| p - a).max_by(|p, q| p.norm().total_cmp(&q.norm())).unwrap_or_default();
        let along = longest.try_normalize(0.0).unwrap_or_default();
        points.iter().any(|p| (p - a).cross(&along).norm() > 1e-6 * size)
    })
}

/// Nodes of each connected part, in the sequence of their first node.
fn parts(mesh: &Mesh) -> Vec<Vec<u32>> {
    let mut root: Vec<u32> = (0..mesh.points().len() as u32).collect();
    fn find(root: &mut [u32], mut i: u32) -> u32 {
        while root[i as usize] != i {
            root[i as usize] = root[root[i as usize] as usize];
            i = root[i as usize];
        }
        i
    }
    for t in mesh.tetrahedra() {
        for &n in &t[1..] {
            let (a, b) = (find(&mut root, t[0]), find(&mut root, n));
            root[a.max(b) as usize] = a.min(b);
        }
    }
    let mut of = std::collections::BTreeMap::<u32, Vec<u32>>::new();
    for i in 0..root.len() as u32 {
        of.entry(find(&mut root, i)).or_default().push(i);
    }
    of.into_values().collect()
}

/// Mass, centre and inertia about it: each tetrahedron has ∫ x xᵀ = V/20 (Σ x_a x_aᵀ + 16 c cᵀ).
fn inertia(mesh: &Mesh, density: f64) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let origin = mesh.points()[0];
    let (mut mass, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for e in 0..mesh.tetrahedra().len() {
        let x = mesh.corner_points(e).map(|p| p - origin);
        let m = density * jacobian(&x) / 6.0;
        let c = x.iter().sum::<Vector3<f64>>() / 4.0;
        mass += m;
        first += c * m;
        second += (x.iter().map(|p| p * p.transpose()).sum::<Matrix3<f64>>() + c * c.transpose() * 16.0)
            * (m / 20.0);
    }
    let centre = first / mass;
    second -= centre * centre.transpose() * mass;
    second = (second + second.transpose()) / 2.0;
    (mass, centre + origin, Matrix3::identity() * second.trace() - second)
}
