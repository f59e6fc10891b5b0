//! Claim: the compliance of a mechanism that rests on a pad, by differences of rests under loads, is that of the linear model and the pad's
//! Green's functions together.

use pliant_core::contact::{Scene, Surfaces};
use pliant_core::engine::Simulation;
use pliant_core::engines::Engine;
use pliant_core::joints::JointKind;
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{
    Body, EffectorDescription, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD,
    ZoneDescription,
};
use pliant_core::nalgebra::{DMatrix, Matrix3, Matrix6, Vector3, Vector6};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench, log_rotation};

const PAD: [f64; 3] = [0.01, 0.01, 0.006];

fn cuboid(size: [f64; 3]) -> Shape {
    Shape { friction: Some(5.0), ..Shape::new(Geometry::Box { size: size.into() }) }
}

/// An arm of three links whose last ends in a plate on a pad; its effector is in the middle of the plate's lower face.
fn arm() -> Mechanism {
    let mut builder = MechanismBuilder::new("arm on a pad");
    let places = [[-0.2, 0.0, 0.15], [-0.1, 0.03, 0.12], [-0.03, 0.01, 0.08]];
    let axes = [[0.0, 1.0, 0.2], [0.3, 1.0, -0.5], [1.0, 0.2, 0.4]];
    let mut parent = WORLD.to_string();
    for (k, (place, axis)) in places.into_iter().zip(axes).enumerate() {
        let name = format!("link {k}");
        let at = if k == 2 { [0.0, 0.0, 0.5 * PAD[2]] } else { place };
        let mut body = Body::new(&name, Pose::translation(at));
        if k == 2 {
            body = body.shape(cuboid([0.02, 0.02, 0.01]).at(Pose::translation([0.0, 0.0, 0.005])));
        }
        builder.body(body.inertia(SpatialInertia::of_box(0.02, [0.02; 3])));
        let joint = JointDescription::new(format!("joint {k}"), JointKind::Hinge, &parent, &name);
        builder.joint(joint.axis(place.into(), axis.into()).stiffness(20.0).damping(0.1));
        parent = name;
    }
    builder.effector(EffectorDescription { name: "plate".into(), body: parent, frame: Pose::identity() });
    let mut zone = ZoneDescription::new("pad", WORLD, cuboid(PAD)).elasticity(1e5, 0.4);
    zone.resolution = Some(2.6e-3);
    zone.bonded = Some(cuboid([0.1, 0.1, 0.01]).at(Pose::translation([0.0, 0.0, -0.5 * PAD[2] - 0.005])));
    builder.zone(zone);
    builder.build().unwrap()
}

#[test]
fn compliance_at_a_pad_is_that_of_mechanism_and_pad() {
    let mechanism = arm();
    let plate = mechanism.find_effector("plate").unwrap();
    let linear = Linearisation::at_rest(&mechanism).project().unwrap();
    let C = Matrix6::from_fn(|i, k| linear.compliance()[(i, k)]);
    for engine in [Engine::Full, Engine::Articulated] {
        // Where it rests under a load: the effector, and the nodes that touch.
        let rest = |load: Vector6<f64>| {
            let mut scene =
                Scene::new(&mechanism, Surfaces::new(), |held| engine.simulate(held).unwrap()).unwrap();
            let press = Vector6::new(0.0, 0.0, -0.05, 0.0, 0.0, 0.0);
            for part in [press, press + load] {
                scene.inputs_mut().set_gravity([0.0; 3]).unwrap();
                scene.inputs_mut().set_load(plate, Wrench::from_vector(&part)).unwrap();
                assert!(scene.rest().unwrap().converged);
            }
            let pose = scene.effector_pose(plate).unwrap();
            let mut nodes: Vec<u32> =
                scene.world().zones().next().unwrap().1.loads().iter().map(|(node, _)| *node).collect();
            nodes.sort_unstable();
            (scene, pose, nodes)
        };
        let (scene, middle, nodes) = rest(Vector6::zeros());
        assert!(nodes.len() >= 9, "{nodes:?}");
        // The stiffness of the pad at the plate: its nodes that touch go with it.
        let (_, zone) = scene.world().zones().next().unwrap();
        let solid = zone.solid();
        let n = nodes.len();
        let W = DMatrix::from_fn(3 * n, 3 * n, |i, k| {
            solid.block(nodes[i / 3] as usize, nodes[k / 3] as usize)[(i % 3, k % 3)]
        });
        let mut A = DMatrix::zeros(3 * n, 6);
        for (i, node) in nodes.iter().enumerate() {
            let arm = zone.pose.transform_point(&solid.points()[*node as usize]) - middle.position;
            A.view_mut((3 * i, 0), (3, 3)).copy_from(&Matrix3::identity());
            A.view_mut((3 * i, 3), (3, 3)).copy_from(&-arm.cross_matrix());
        }
        let K = A.transpose() * W.lu().solve(&A).unwrap();
        let K = Matrix6::from_fn(|i, k| K[(i, k)]);
        let expected = (Matrix6::identity() + C * K).lu().solve(&C).unwrap();
        // The pad is most of the stiffness.
        assert!((0..3).all(|i| expected[(i, i)] < 0.8 * C[(i, i)]));
        // Steps that keep all nodes on the plate.
        for i in 0..6 {
            let step = Vector6::ith(i, if i < 3 { 5e-3 } else { 1e-5 });
            let sides = [rest(step), rest(-step)];
            sides.iter().for_each(|side| assert_eq!(side.2, nodes, "load {i}"));
            let moved: Vector3<f64> = sides[0].1.position - sides[1].1.position;
            let turned = log_rotation(&(sides[0].1.rotation * sides[1].1.rotation.inverse()));
            let column = Vector6::from_iterator(moved.iter().chain(turned.iter()).copied()) / (2.0 * step[i]);
            for k in 0..6 {
                let scale = (expected[(k, k)] * expected[(i, i)]).sqrt();
                let off = (column[k] - expected[(k, i)]) / scale;
                // Rests are found to 1e-8 radii; the load that presses the plate on takes part in the stiffness.
                assert!(off.abs() < 1e-3, "{engine:?}, ({k}, {i}): {} for {}", column[k], expected[(k, i)]);
            }
        }
    }
}
