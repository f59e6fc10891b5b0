//! `springdamper="t ζ"`: a joint's spring and damper by how the joint alone would swing at `qpos0`, in place of
//! `stiffness` and `damping`. As MuJoCo does: with w the mean over its freedoms of the diagonal of M⁻¹, all joints and free
//! bodies moving and no equality in force, its inertia is I = 1/w, and
//!
//! ```text
//! k = I / (t ζ)²      d = 2 I / t
//! ```

use pliant_core::mechanism::PerFreedom;
use pliant_core::nalgebra::{DMatrix, DVector, Vector6};

use super::actuators::{carried, value};
use super::bodies::Bodies;

/// Gives the joints their springs; none of the file's is in place of them yet.
pub(super) fn apply(bodies: &mut Bodies<'_>) {
    if bodies.spring_dampers.is_empty() {
        return;
    }
    let (columns, M) = mass_matrix(bodies);
    let Some(factor) = M.cholesky() else { return };
    for (connection, position, [time, ratio]) in std::mem::take(&mut bodies.spring_dampers) {
        let own: Vec<usize> =
            (0..columns.len()).filter(|c| columns[*c].joint == Some((connection, position))).collect();
        let softness: f64 = (own.iter())
            .map(|&c| {
                let mut unit = DVector::zeros(columns.len());
                unit[c] = 1.0;
                factor.solve(&unit)[c]
            })
            .sum();
        let inertia = own.len() as f64 / softness;
        let description = &mut bodies.parts.connections[connection].joints[position].description;
        description.stiffness = Some(PerFreedom::All(inertia / (time * ratio).powi(2)));
        description.damping = Some(PerFreedom::All(2.0 * inertia / time));
    }
}

/// A freedom of the tree, as the twist of a unit of it in the world.
struct Column {
    /// The link that it moves.
    link: usize,
    /// Its connection and its place in that; `None` for a free body's.
    joint: Option<(usize, usize)>,
    twist: Vector6<f64>,
    armature: f64,
}

/// M of the tree at `qpos0`: M_ab = S_aᵀ I_b S_b where a carries b, I_b being the inertia of all that b moves.
fn mass_matrix(bodies: &Bodies<'_>) -> (Vec<Column>, DMatrix<f64>) {
    let links = &bodies.parts.links;
    let mut columns = Vec::new();
    for (i, link) in links.iter().enumerate().filter(|(_, link)| link.body.free) {
        let S = link.body.pose.adjoint();
        columns.extend((0..6).map(|k| Column {
            link: i,
            joint: None,
            twist: S.column(k).into(),
            armature: 0.0,
        }));
    }
    for (c, connection) in bodies.parts.connections.iter().enumerate() {
        let Some(link) = bodies.link(&connection.child) else { continue };
        for (j, joint) in connection.joints.iter().enumerate() {
            let description = &joint.description;
            let freedoms = description.kind.freedoms();
            let S = description.frame.adjoint() * description.kind.subspace(&[0.0; 6][..freedoms]);
            columns.extend((0..freedoms).map(|k| Column {
                link,
                joint: Some((c, j)),
                twist: S.column(k).into(),
                armature: value(&description.armature),
            }));
        }
    }
    let parents = bodies.parents();
    let carries = |above: usize, link: usize| {
        std::iter::successors(Some(link), |i| parents[*i]).any(|ancestor| ancestor == above)
    };
    let inertias: Vec<_> = (carried(bodies).iter().zip(links))
        .map(|(inertia, link)| inertia.in_outer(&link.body.pose).matrix())
        .collect();
    let M = DMatrix::from_fn(columns.len(), columns.len(), |a, b| {
        let (one, two) = (&columns[a], &columns[b]);
        let link = match (carries(one.link, two.link), carries(two.link, one.link)) {
            (true, _) => two.link,
            (_, true) => one.link,
            _ => return 0.0,
        };
        one.twist.dot(&(inertias[link] * two.twist)) + if a == b { one.armature } else { 0.0 }
    });
    (columns, M)
}
