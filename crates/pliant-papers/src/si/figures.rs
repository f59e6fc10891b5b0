//! Si, Guenter 2010, Figures 1 to 4: a chain of 20 tori, a windmill of all pairs of surfaces, a torus chain that slides along a
//! spline, and a board with a mast that slides on a patch. All fall freely, without springs, and keep their energy.

use pliant::articulated::{self, Integrator};
use pliant::engine::{Simulation, State};
use pliant::expression::{Formula, Parameter};
use pliant::gallery;
use pliant::joints::JointKind;
use pliant::mechanism::{Body, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD};
use pliant::nalgebra::{Matrix3, Vector3};
use pliant::spatial::{Pose, SpatialInertia};

use crate::Effort;
use crate::section::{Cell, Section, Sketch, Table, ours};
use crate::sketch::{Loads, Posed, draw};
use pliant_cli::failure::Failure;
use pliant_cli::page::text::figure;

/// Length of a step, s.
const DT: f64 = 5e-4;

/// Points of the spline, m, and where on it the chain starts, 0 to 1; its ends are `LENGTH` apart for the joint's coordinate.
const SPLINE: [[f64; 3]; 7] = [
    [-0.9, 0.0, 0.4],
    [-0.6, 0.3, 0.1],
    [-0.3, -0.3, 0.2],
    [0.0, 0.2, -0.2],
    [0.3, 0.4, 0.1],
    [0.6, -0.2, 0.0],
    [0.9, 0.0, 0.3],
];
const START: f64 = 0.15;
const LENGTH: f64 = 2.0;

/// The rings of the chain on the spline: how many, radii of ring and tube, m, mass, kg.
const RINGS: usize = 5;
const RING: f64 = 0.05;
const TUBE: f64 = 0.01;
const MASS: f64 = 0.1;

/// A scene: its drawing, the moments that are drawn, s.
struct Scene {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    mechanism: Mechanism,
    times: [f64; 3],
}

/// Lets them fall.
pub fn section(effort: &mut Effort) -> Result<Section, Failure> {
    let (mut drawings, mut rows) = (Vec::new(), Vec::new());
    for scene in scenes()? {
        let (drawing, row) = fall(&scene)?;
        drawings.push(drawing);
        rows.push(row);
        effort.tick();
    }
    Ok(Section {
        id: "si-figures",
        title: "Si 2010, Figures 1 to 4: chains of tori, a windmill, slides on a spline and a surface",
        about: "The paper's four scenes, with measures of our own where it states none. No joint has a spring or damper; gravity moves them. Steps are those of \
                Runge and Kutta, so that the energy shows whether the joints are right."
            .into(),
        tables: vec![Table {
            id: "si-figures",
            title: "Energy".into(),
            columns: vec![
                ours("scene", "scene"),
                ours("freedoms", "freedoms"),
                ours("seconds", "time, s"),
                ours("kinetic", "largest kinetic energy, J"),
                ours("drift", "change of the total over that"),
            ],
            rows,
            caption: format!("Steps of {} ms.", DT * 1e3),
        }],
        drawings,
        figures: Vec::new(),
        findings: Vec::new(),
    })
}

fn scenes() -> Result<Vec<Scene>, Failure> {
    Ok(vec![
        Scene {
            id: "si-figure-1",
            title: "Figure 1: a chain of 20 tori",
            about: "Each ring rolls on the one before where their tubes touch; the first is on a universal joint.",
            mechanism: passive(&gallery::torus_chain(20))?,
            times: [0.0, 0.25, 0.5],
        },
        Scene {
            id: "si-figure-2",
            title: "Figure 2: a windmill",
            about: "Eight blades roll on the hub, by turns sphere on sphere, ellipsoid on sphere, torus on sphere and ellipsoid on torus; at each end a torus on a torus.",
            mechanism: passive(&gallery::windmill())?,
            times: [0.0, 0.06, 0.12],
        },
        Scene {
            id: "si-figure-3",
            title: "Figure 3: a torus chain slides along a Bézier spline of 7 points",
            about: "The spline goes through the centre of the first torus, whose axis follows the tangent.",
            mechanism: on_spline()?,
            times: [0.0, 0.25, 0.5],
        },
        Scene {
            id: "si-figure-4",
            title: "Figure 4: a board with a mast slides on a Bézier surface of 25 points",
            about: "The board stays in the tangent plane.",
            mechanism: from_the_rim(&passive(&gallery::surface_slide())?)?,
            times: [0.0, 0.3, 0.6],
        },
    ])
}

/// The board where the patch is steep.
fn from_the_rim(mechanism: &Mechanism) -> Result<Mechanism, Failure> {
    let mut builder = mechanism.to_builder();
    let slide =
        builder.joint_mut("slide").ok_or_else(|| Failure::job("surface-slide has no joint `slide`"))?;
    slide.start = Some([-0.65, -0.6, 0.4].into());
    builder.build().map_err(Failure::job)
}

/// The same mechanism without springs and dampers, under weight.
fn passive(mechanism: &Mechanism) -> Result<Mechanism, Failure> {
    let mut builder = mechanism.to_builder();
    builder.gravity([0.0, 0.0, -9.81]);
    for joint in mechanism.joints() {
        let joint = builder.joint_mut(&joint.name).expect("a joint of this mechanism");
        (joint.stiffness, joint.damping) = (Some(0.0.into()), Some(0.0.into()));
    }
    builder.build().map_err(Failure::job)
}

/// Lets a scene fall, and draws it at its moments.
fn fall(scene: &Scene) -> Result<(Sketch, Vec<Cell>), Failure> {
    let mechanism = &scene.mechanism;
    let failed = |error: &dyn std::fmt::Display| Failure::job(format!("{}: {error}", scene.title));
    let model = articulated::Model::new(mechanism);
    let mut simulation = model.simulate();
    simulation.set_integrator(Integrator::RungeKutta4).map_err(|error| failed(&error))?;
    let start = simulation.energy().total();
    let (mut kinetic, mut drift) = (0.0f64, 0.0f64);
    let mut frames: Vec<State> = vec![simulation.state().clone()];
    for pair in scene.times.windows(2) {
        for _ in 0..((pair[1] - pair[0]) / DT).round() as usize {
            simulation.step(DT).map_err(|error| failed(&error))?;
            let energy = simulation.energy();
            kinetic = kinetic.max(energy.kinetic);
            drift = drift.max((energy.total() - start).abs());
        }
        frames.push(simulation.state().clone());
    }
    let names = scene.times.map(|time| format!("{} s", figure(time)));
    let posed = frames.iter().zip(&names).zip(["rest", "joint", "full"]);
    let posed: Vec<Posed> =
        posed.map(|((state, name), class)| Posed { name, class, poses: &state.poses }).collect();
    let drawing = draw(mechanism, scene.id, (scene.title.into(), scene.about.into()), &posed, Loads::None);
    let row = vec![
        Cell::Word(scene.title.split(':').next().unwrap_or_default().into()),
        Cell::Number(model.speeds() as f64),
        Cell::Number(scene.times[2]),
        Cell::Number(kinetic),
        Cell::Number(drift / kinetic),
    ];
    Ok((drawing, row))
}

/// Rings that hang from one that slides along the spline, its axis along the tangent.
fn on_spline() -> Result<Mechanism, Failure> {
    let compiled = |formula: Formula| formula.compile().map_err(Failure::job);
    let slide = Formula::ready("frame-on-curve").map_err(Failure::job)?;
    let points: Parameter = SPLINE.into();
    let slide = compiled(
        slide
            .parameter("points", points)
            .parameter("start", START)
            .parameter("scale", LENGTH)
            .parameter("up", [0.0, 0.0, 1.0]),
    )?;
    let roll = Formula::ready("torus-torus").map_err(Failure::job)?;
    let sizes = [("ring1", RING), ("tube1", TUBE), ("ring2", RING), ("tube2", TUBE)];
    let roll = compiled(sizes.into_iter().fold(roll, |formula, (name, size)| formula.parameter(name, size)))?;
    let (start, next) = (slide.start(), roll.start());
    let (slide, roll) = (JointKind::from(slide), JointKind::from(roll));
    let mut builder = MechanismBuilder::new("torus chain on a spline");
    // The ring's axis, z, along the tangent, x; its own x then points down, where the next ring touches it.
    let mut at = start * Pose::rotation([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    builder.body(ring("ring0".into(), at));
    builder.joint(
        JointDescription::new("slide", slide, WORLD, "ring0")
            .frame(start)
            .limits((-START * LENGTH, (1.0 - START) * LENGTH)),
    );
    for i in 1..RINGS {
        let (parent, child) = (format!("ring{}", i - 1), format!("ring{i}"));
        let frame = at * next;
        builder.joint(
            JointDescription::new(format!("roll{i}"), roll.clone(), parent, child.clone()).frame(frame),
        );
        at = Pose::new(at.rotation, frame.position);
        builder.body(ring(child, at));
    }
    builder.build().map_err(Failure::job)
}

/// A ring with its axis along z.
fn ring(name: String, pose: Pose) -> Body {
    let about = MASS * (RING * RING + 0.75 * TUBE * TUBE);
    let across = MASS * (0.5 * RING * RING + 0.625 * TUBE * TUBE);
    let inertia = Matrix3::from_diagonal(&Vector3::new(across, across, about));
    let inertia = SpatialInertia { mass: MASS, center_of_mass: Vector3::zeros(), inertia };
    let rim = Shape::new(Geometry::Cylinder { radius: RING + TUBE, half_length: TUBE });
    Body::new(name, pose).inertia(inertia).shape(rim)
}
