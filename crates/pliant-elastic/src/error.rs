//! What can be wrong with a solid: each error names the element, its place and what would be right.

use nalgebra::Vector3;

/// Why an elastic solid could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ElasticError {
    /// A point has a coordinate that is not finite.
    #[error("point {point} is not finite: every coordinate must be a finite number of metres")]
    NotFinite {
        /// Index of the point.
        point: usize,
    },
    /// A triangle or tetrahedron refers to a point that does not exist, or to one point twice.
    #[error(
        "{kind} {element} refers to the points {points:?} of {count}: they must be different and below {count}"
    )]
    BadIndex {
        /// "triangle" or "tetrahedron".
        kind: &'static str,
        /// Index of the element.
        element: usize,
        /// The indices it gives.
        points: Vec<u32>,
        /// How many points there are.
        count: usize,
    },
    /// An edge of the surface has no triangle on its other side.
    #[error(
        "the surface is open: {count} edge(s) lack a triangle on one side, the first from {} to {} (points {edge:?}); \
         close the surface or repair the file",
        at(.from), at(.to)
    )]
    Open {
        /// The first such edge, as indices of points.
        edge: [u32; 2],
        /// Its start.
        from: Vector3<f64>,
        /// Its end.
        to: Vector3<f64>,
        /// How many edges are open.
        count: usize,
    },
    /// Two triangles run along an edge in the same direction.
    #[error(
        "triangles {triangles:?} run along the edge {edge:?} near {} in the same direction: neighbours must be oriented alike, \
         counter-clockwise seen from outside",
        at(.near)
    )]
    Orientation {
        /// The edge, as indices of points.
        edge: [u32; 2],
        /// The triangles.
        triangles: [usize; 2],
        /// Middle of the edge.
        near: Vector3<f64>,
    },
    /// The surface encloses no volume, or its triangles look inwards.
    #[error(
        "the surface encloses {volume:.3e} m³: triangles must be counter-clockwise seen from outside, and the volume positive"
    )]
    Volume {
        /// Signed volume, m³.
        volume: f64,
    },
    /// A size of a shape or a resolution is not a positive finite number.
    #[error("{what} is {value}: it must be positive and finite{hint}")]
    Size {
        /// Which size.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What would be right, or nothing.
        hint: String,
    },
    /// A tetrahedron is turned inside out or flat.
    #[error(
        "tetrahedron {element} near {} has a Jacobian of {jacobian:.3e} m³ and a quality of {quality:.1e}: \
         it must be positive and at least {least:.0e} (1 is regular)",
        at(.near)
    )]
    Element {
        /// Index of the tetrahedron.
        element: usize,
        /// Six times its signed volume, m³.
        jacobian: f64,
        /// Its quality, 1 for a regular one.
        quality: f64,
        /// The least quality that is accepted.
        least: f64,
        /// Its centre.
        near: Vector3<f64>,
    },
    /// A line of a file cannot be read.
    #[error("line {line}: {what}")]
    File {
        /// The line, from 1.
        line: usize,
        /// What is wrong and what would be right.
        what: String,
    },
    /// The mesh is empty.
    #[error("the mesh has no tetrahedron: {hint}")]
    Empty {
        /// What would be right.
        hint: String,
    },
    /// A mesh would have more elements than can be stored.
    #[error(
        "the mesh would have about {elements:.3e} lattice cells, {limit:.1e} at most: choose a coarser resolution than {resolution} m"
    )]
    TooFine {
        /// Cells of the lattice.
        elements: f64,
        /// The limit.
        limit: f64,
        /// The resolution asked for, m.
        resolution: f64,
    },
    /// A mesh misses too much of the surface that it should fill.
    #[error(
        "the mesh holds {kept:.3e} m³ of the {whole:.3e} m³ inside the surface: choose a finer resolution than {resolution} m, \
         or check the surface for walls that cross or lie on each other"
    )]
    Coarse {
        /// Volume of the mesh, m³.
        kept: f64,
        /// Volume of the surface, m³.
        whole: f64,
        /// The resolution asked for, m.
        resolution: f64,
    },
    /// A constant of the material is out of range.
    #[error("{what} is {value}: {right}")]
    Material {
        /// Which constant.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What would be right.
        right: &'static str,
    },
    /// Part of the solid can move without strain.
    #[error(
        "{bonded} node(s) are bonded in the part of the solid near {}: it can still move freely; bond three nodes or more \
         that are not on one line",
        at(.near)
    )]
    Loose {
        /// How many nodes are bonded there.
        bonded: usize,
        /// A node of that part.
        near: Vector3<f64>,
    },
    /// A face that should be rigid has too few nodes.
    #[error(
        "interface {interface} has {nodes} node(s) of the mesh that are not on one line: it needs three; the flexure has {count} \
         interfaces, and needs two or more"
    )]
    Interface {
        /// Index of the interface.
        interface: usize,
        /// Nodes that are in it.
        nodes: usize,
        /// How many interfaces there are.
        count: usize,
    },
    /// Every node of the surface is bonded.
    #[error("all {nodes} nodes of the surface are bonded: no node is left to load")]
    NothingLoadable {
        /// Nodes of the surface.
        nodes: usize,
    },
    /// Two solids have no node in common.
    #[error("solids {} and {} have no loadable node within {tolerance} m of each other: they do not touch, or their meshes differ", .solids[0], .solids[1])]
    NoSeam {
        /// Both solids.
        solids: [usize; 2],
        /// The tolerance, m.
        tolerance: f64,
    },
    /// A seam refers to a solid or a node that does not exist.
    #[error("the seam between solids {} and {} (of {count}) refers to a node that cannot be loaded, or to one solid twice", .solids[0], .solids[1])]
    BadSeam {
        /// Both solids.
        solids: [usize; 2],
        /// How many solids there are.
        count: usize,
    },
    /// A seam joins what other seams join already.
    #[error("the seam between solids {} and {} repeats what other seams join: leave out the nodes that they share", .solids[0], .solids[1])]
    SeamRepeated {
        /// Both solids.
        solids: [usize; 2],
    },
    /// The precomputation would need too much memory.
    #[error("{what} would take {} of memory, {} at most: choose a coarser resolution", gib(*.bytes), gib(*.limit))]
    Memory {
        /// What needs it.
        what: &'static str,
        /// Bytes needed.
        bytes: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// Stored or measured Green's functions are not those of a solid.
    #[error("the Green's functions are not those of an elastic solid: {what} ({value:.3e}); {right}")]
    NotElastic {
        /// What is wrong.
        what: String,
        /// The figure.
        value: f64,
        /// What would be right.
        right: &'static str,
    },
    /// The factorisation met a pivot that is not positive.
    #[error(
        "the stiffness is not positive definite (unknown {unknown}): elements are too flat, or the solid is hardly constrained"
    )]
    Singular {
        /// The unknown at which it was noticed.
        unknown: usize,
    },
}

fn at(p: &Vector3<f64>) -> String {
    format!("({:.6}, {:.6}, {:.6}) m", p.x, p.y, p.z)
}

fn gib(bytes: u64) -> String {
    let b = bytes as f64;
    if b >= 1e8 {
        format!("{:.2} GiB", b / (1u64 << 30) as f64)
    } else {
        format!("{:.2} MiB", b / (1u64 << 20) as f64)
    }
}
