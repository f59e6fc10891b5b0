//! What there is to draw and to set, for the page: shapes, meshes, joints and effectors.

use pliant_core::contact::{Surface, Surfaces};
use pliant_core::engines::Engine;
use pliant_core::mechanism::{Geometry, Joint, Mechanism, Shape};
use pliant_core::spatial::Pose;
use serde_json::{Value, json};

/// The scene, and the meshes that its shapes name by their place.
pub(crate) fn scene<'s>(
    mechanism: &Mechanism,
    surfaces: &'s Surfaces,
    touches: bool,
) -> (Value, Vec<&'s Surface>) {
    let mut files: Vec<&str> = surfaces.keys().map(String::as_str).collect();
    files.sort_unstable();
    // Elastic zones are drawn as they are at rest.
    let shapes_of = |body| -> Vec<Value> {
        let shapes = mechanism.shapes_of(body).expect("a body of this mechanism");
        shapes.map(|s| shape(s, &files)).collect()
    };
    let bodies: Vec<Value> = (mechanism.body_ids())
        .map(|id| {
            let body = &mechanism[id];
            json!({ "name": body.name, "mass": body.inertia.mass, "shapes": shapes_of(Some(id)) })
        })
        .collect();
    let effectors: Vec<Value> = (mechanism.effectors().iter())
        .map(|e| json!({ "name": e.name, "body": e.body.index(), "frame": pose(&e.frame) }))
        .collect();
    let joints: Vec<Value> = mechanism.joints().iter().map(|j| joint(mechanism, j)).collect();
    let scene = json!({
        "name": mechanism.name(),
        "radius": if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 },
        "mass": mechanism.mass(),
        "touches": touches,
        "engines": Engine::ALL.map(Engine::name),
        "bodies": bodies,
        "world": shapes_of(None),
        "joints": joints,
        "effectors": effectors,
        "meshes": files.len(),
        "warnings": mechanism.warnings(),
    });
    (scene, files.iter().map(|file| &surfaces[*file]).collect())
}

/// Position, then quaternion w, x, y, z.
fn pose(pose: &Pose) -> [f64; 7] {
    let (p, q) = (pose.position, pose.rotation);
    [p.x, p.y, p.z, q.w, q.i, q.j, q.k]
}

fn shape(shape: &Shape, files: &[&str]) -> Value {
    let mut json = match &shape.geometry {
        Geometry::Box { size } => json!({ "size": [size.x, size.y, size.z] }),
        Geometry::Ball { radius } => json!({ "radius": radius }),
        Geometry::Capsule { radius, half_length } | Geometry::Cylinder { radius, half_length } => {
            json!({ "radius": radius, "halfLength": half_length })
        }
        Geometry::Mesh { file, scale } | Geometry::Convex { file, scale } => {
            // A file that cannot be read is not drawn.
            let mesh = files.iter().position(|other| other == file);
            json!({ "mesh": mesh, "scale": [scale.x, scale.y, scale.z] })
        }
        Geometry::Heightfield { size, heights } => json!({ "size": size, "heights": heights }),
        Geometry::Plane => json!({}),
    };
    json["kind"] = shape.geometry.name().into();
    json["pose"] = json!(pose(&shape.pose));
    json["touches"] = shape.touches.into();
    json["color"] = json!(shape.color);
    json
}

/// Infinite numbers have no JSON: `null`.
fn joint(mechanism: &Mechanism, joint: &Joint) -> Value {
    let finite = |x: f64| x.is_finite().then_some(x);
    let freedoms: Vec<Value> = (joint.freedoms.iter().enumerate())
        .map(|(k, freedom)| {
            json!({
                "slides": k < joint.kind.translations(),
                "stiffness": freedom.stiffness,
                "lower": finite(freedom.lower),
                "upper": finite(freedom.upper),
            })
        })
        .collect();
    json!({
        "name": joint.name,
        "parent": joint.parent.map(|parent| parent.index()),
        "child": joint.child.index(),
        "inParent": pose(&mechanism.frame_in_parent(joint)),
        "inChild": pose(&mechanism.frame_in_child(joint)),
        "coordinate": joint.coordinates().start,
        "freedoms": freedoms,
    })
}
