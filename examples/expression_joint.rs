//! A joint given by a formula: a carriage on a helical rail, held by springs.

use pliant::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rail = Formula::new("rotate_z(turn) * translate(radius, 0, pitch * turn)")
        .angle("turn")
        .parameter("radius", 0.2) // m
        .parameter("pitch", 0.05) // m/rad
        .compile()?;
    let mut builder = MechanismBuilder::new("rail");
    let carriage = Body::new("carriage", Pose::translation([0.2, 0.0, 0.0]));
    builder.body(carriage.inertia(SpatialInertia::of_box(0.5, [0.05; 3])));
    builder.joint(
        JointDescription::new("rail", JointKind::from(rail), "world", "carriage")
            .frame(Pose::translation([0.2, 0.0, 0.0]))
            .stiffness(2.0) // N·m/rad
            .damping(0.1),
    );
    let mechanism = builder.build()?;

    // Along the rail, a turn of 1 rad lifts the carriage by the pitch: 2 N·m/rad hold 0.5 kg · 9.81 m/s² · 0.05 m.
    let mut simulation = articulated::Model::new(&mechanism).simulate();
    simulation.settle(&Default::default())?;
    let turn = simulation.state().coordinates[0];
    println!("its weight turns it by {turn:.4} rad");
    assert!((turn + 0.5 * 9.81 * 0.05 / 2.0).abs() < 1e-6);
    Ok(())
}
