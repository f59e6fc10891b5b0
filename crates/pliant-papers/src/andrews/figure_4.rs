//! Andrews 2015, Figure 4: two links whose right one is pulled along x. As they straighten, the compliance along the effector's own
//! x goes to zero: there the mechanism is singular.

use pliant::engine::{Simulation, StaticsSettings};
use pliant::full;
use pliant::gallery;
use pliant::linear::{Linearisation, Reference};
use pliant::mechanism::Mechanism;
use pliant::spatial::{Pose, Wrench};

use crate::Effort;
use crate::section::{Figure, Section};
use crate::sketch::{Loads, Posed, draw};
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Series};
use pliant_cli::page::text::{percent, significant};

/// The elbow's angle where the springs rest, rad; the shoulder's is minus its half, so that the tip is on the x axis.
const BENT: f64 = 1.8;

/// The largest force along x, N, and the three that are drawn.
const MOST: f64 = 6_000.0;
const DRAWN: [f64; 3] = [0.0, 150.0, MOST];

/// One equilibrium.
struct Pulled {
    poses: Vec<Pose>,
    /// From the base to the tip, over the length of both links.
    reach: f64,
    /// Compliance along the effector's x and y, m/N.
    along: f64,
    across: f64,
}

/// Pulls.
pub fn section(effort: &mut Effort) -> Result<Section, Failure> {
    let mechanism = bent()?;
    let model = full::Model::new(&mechanism);
    let drawn = DRAWN.map(|force| pulled(&model, force));
    let [start, middle, end] = drawn;
    let (start, middle, end) = (start?, middle?, end?);
    let points = if effort.quick { 16 } else { 48 };
    let mut lines: [Vec<[f64; 2]>; 2] = Default::default();
    for k in 0..points {
        let force = MOST * (f64::from(k) / f64::from(points - 1)).powi(4);
        let found = pulled(&model, force)?;
        lines[0].push([found.reach, found.along]);
        lines[1].push([found.reach, found.across]);
    }
    effort.tick();
    let named = [("along the effector's x", "full"), ("along its y", "joint")];
    let series = named.into_iter().zip(lines).map(|((name, class), points)| Series {
        name: name.into(),
        class,
        points,
        mark: Mark::LineAndDots,
    });
    let names = DRAWN.map(|force| format!("{} N", significant(force, 3)));
    let posed = [&start, &middle, &end].into_iter().zip(&names).zip(["rest", "joint", "full"]);
    let posed: Vec<Posed> =
        posed.map(|((at, name), class)| Posed { name, class, poses: &at.poses }).collect();
    Ok(Section {
        id: "andrews-figure-4",
        title: "Andrews 2015, Figure 4: a configuration in which the effector cannot give",
        about: "Two links and two hinges with springs, bent at rest, pulled along x at the right end. The effector's x is along the second link. A straight \
                arm has no compliance along itself: a model that inverts its compliance has to leave that direction out."
            .into(),
        tables: Vec::new(),
        drawings: vec![draw(
            &mechanism,
            "andrews-figure-4-drawing",
            (
                "Two links, pulled".into(),
                format!(
                    "At rest and under two forces along x. From the base to the tip: {}, {} and {} of both lengths.",
                    percent(start.reach),
                    percent(middle.reach),
                    percent(end.reach)
                ),
            ),
            &posed,
            Loads::None,
        )],
        figures: vec![Figure {
            title: "Compliance as the arm straightens".into(),
            plot: Plot {
                id: "andrews-figure-4-compliance",
                title: "Compliance of the effector against its reach".into(),
                description: "Along the effector's own x it goes to zero as the arm straightens.".into(),
                x: Axis::linear("reach over length").of_ratios(),
                y: Axis::linear("compliance, m/N"),
                series: series.collect(),
                marks: Vec::new(),
            },
            caption: format!(
                "At equilibria under forces up to {} N along x, with the geometric stiffness of the force. Along x it falls from {} to {} m/N.",
                significant(MOST, 3),
                significant(start.along, 3),
                significant(end.along, 2)
            ),
        }],
        findings: Vec::new(),
    })
}

/// The two links of the gallery, with springs that rest where they are bent.
fn bent() -> Result<Mechanism, Failure> {
    let mut builder = gallery::two_link().to_builder();
    for (joint, rest) in [("shoulder", -0.5 * BENT), ("elbow", BENT)] {
        let joint = builder.joint_mut(joint).ok_or_else(|| Failure::job("two-link has another joint"))?;
        (joint.rest, joint.start) = (Some(rest.into()), Some(rest.into()));
    }
    builder.build().map_err(Failure::job)
}

fn pulled(model: &full::Model, force: f64) -> Result<Pulled, Failure> {
    let mechanism = model.mechanism();
    let tip = mechanism.effector_ids().next().ok_or_else(|| Failure::job("two-link has no effector"))?;
    let mut simulation = model.simulate();
    simulation.set_load(tip, Wrench::force([force, 0.0, 0.0])).map_err(Failure::job)?;
    let found = simulation.settle(&StaticsSettings::default()).map_err(Failure::job)?;
    if !found.converged {
        return Err(Failure::job(format!("two-link: no equilibrium under {force} N")));
    }
    let poses = simulation.state().poses.clone();
    let at = simulation.effector_pose(tip).map_err(Failure::job)?;
    let projection =
        Linearisation::at(Reference::at_equilibrium(&mut simulation)).project().map_err(Failure::job)?;
    let C = projection.compliance();
    Ok(Pulled { poses, reach: at.position.norm(), along: C[(0, 0)], across: C[(1, 1)] })
}
