//! Where the paper's step is unstable: forces of joints held in place while bodies turn.
//!
//! A chain of 20 links on passive ball joints hangs and is kicked. The step of Hernandez 2011, §3, in maximal coordinates,
//! one iteration, with J of the start of the step:
//!
//! ```text
//! [ M  Jᵀ ] [ v⁺ ]   [ M v + h f ]        J M⁻¹Jᵀ λ = C/h + J(v + h M⁻¹f),   v⁺ = v + M⁻¹(h f − Jᵀλ)
//! [ J  0  ] [ λ  ] = [ −C/h      ]
//! ```
//!
//! It takes no notice that Jᵀλ changes as bodies turn; the full engine adds that as geometric stiffness.

use pliant::engine::{Simulation, State};
use pliant::full;
use pliant::joints::JointKind;
use pliant::mechanism::{Body, JointDescription, Mechanism, MechanismBuilder, WORLD};
use pliant::nalgebra::{DMatrix, DVector, Matrix3, UnitQuaternion, Vector3};
use pliant::spatial::{Pose, SpatialInertia, Twist, exp_rotation, skew};

use crate::section::{Figure, Finding};
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Scale, Series};
use pliant_cli::page::text::significant;

const LINKS: usize = 20;
/// Length and mass of a link, m and kg.
const LENGTH: f64 = 0.1;
const MASS: f64 = 0.1;
const SECTION: f64 = 0.02;
const DT: f64 = 1.0 / 60.0;
const GRAVITY: f64 = 9.81;
/// Speed of the last link after the kick, m/s, along x.
const KICK: f64 = 0.1;
/// A motion with so much kinetic energy, J, has blown up.
const BLOWN_UP: f64 = 1e4;

/// The height of a link's middle.
fn height(link: usize) -> f64 {
    -LENGTH * (link as f64 + 0.5)
}

fn inertia() -> SpatialInertia {
    SpatialInertia::of_box(MASS, [SECTION, SECTION, LENGTH])
}

/// The chain, hanging along −z.
fn chain() -> Result<Mechanism, Failure> {
    let mut builder = MechanismBuilder::new("ball chain");
    let mut parent = WORLD.to_string();
    for i in 0..LINKS {
        let name = format!("link{i}");
        builder.body(Body::new(&name, Pose::translation([0.0, 0.0, height(i)])).inertia(inertia()));
        let joint = JointDescription::new(&name, JointKind::Ball, parent, &name);
        builder.joint(joint.axis(Vector3::new(0.0, 0.0, -LENGTH * i as f64), Vector3::z()));
        parent = name;
    }
    builder.build().map_err(Failure::job)
}

/// Kinetic energy, J, at the start and after each step, as the full engine moves. Hanging is where the chain has least
/// energy: it can never be more than that of the kick.
fn engine(steps: usize) -> Result<Vec<[f64; 2]>, Failure> {
    let mechanism = chain()?;
    let model = full::Model::new(&mechanism);
    let mut simulation = model.simulate();
    simulation.set_iterations(1).map_err(Failure::job)?;
    let mut state = State::at_rest(&mechanism);
    state.twists[LINKS - 1] = Twist::new(Vector3::x() * KICK, Vector3::zeros());
    simulation.set_state(&state).map_err(Failure::job)?;
    let mut path = vec![[0.0, simulation.energy().kinetic]];
    for step in 1..=steps {
        simulation.step(DT).map_err(Failure::job)?;
        path.push([step as f64 * DT, simulation.energy().kinetic]);
    }
    Ok(path)
}

/// A link of the step with forces held.
struct Link {
    position: Vector3<f64>,
    rotation: UnitQuaternion<f64>,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
}

/// The same with forces held.
fn held(steps: usize) -> Option<Vec<[f64; 2]>> {
    let I = inertia().inertia;
    let mut links: Vec<Link> = (0..LINKS)
        .map(|i| Link {
            position: Vector3::new(0.0, 0.0, height(i)),
            rotation: UnitQuaternion::identity(),
            velocity: Vector3::zeros(),
            spin: Vector3::zeros(),
        })
        .collect();
    links[LINKS - 1].velocity.x = KICK;
    let turned = |link: &Link| -> Matrix3<f64> {
        let R = link.rotation.to_rotation_matrix().into_inner();
        R * I * R.transpose()
    };
    let kinetic = |links: &[Link]| -> f64 {
        let of = |link: &Link| {
            0.5 * MASS * link.velocity.norm_squared() + 0.5 * link.spin.dot(&(turned(link) * link.spin))
        };
        links.iter().map(of).sum()
    };
    let mut path = vec![[0.0, kinetic(&links)]];
    let n = 3 * LINKS;
    for step in 1..=steps {
        // v + h M⁻¹f, and C and J of each joint: the upper end of a link on the lower end of the one above.
        let mut J = DMatrix::<f64>::zeros(n, 2 * n);
        let mut C = DVector::<f64>::zeros(n);
        let mut v = DVector::<f64>::zeros(2 * n);
        let mut inverse_mass = DMatrix::<f64>::zeros(2 * n, 2 * n);
        for (i, link) in links.iter().enumerate() {
            let M = turned(link);
            let inverse = M.try_inverse()?;
            let turn = link.spin - inverse * link.spin.cross(&(M * link.spin)) * DT;
            v.fixed_rows_mut::<3>(6 * i).copy_from(&(link.velocity - Vector3::z() * (GRAVITY * DT)));
            v.fixed_rows_mut::<3>(6 * i + 3).copy_from(&turn);
            inverse_mass.fixed_view_mut::<3, 3>(6 * i, 6 * i).fill_diagonal(1.0 / MASS);
            inverse_mass.fixed_view_mut::<3, 3>(6 * i + 3, 6 * i + 3).copy_from(&inverse);
            let up = link.rotation * Vector3::new(0.0, 0.0, 0.5 * LENGTH);
            let mut open = link.position + up;
            J.fixed_view_mut::<3, 3>(3 * i, 6 * i).fill_diagonal(1.0);
            J.fixed_view_mut::<3, 3>(3 * i, 6 * i + 3).copy_from(&-skew(&up));
            if i > 0 {
                let down = links[i - 1].rotation * Vector3::new(0.0, 0.0, -0.5 * LENGTH);
                open -= links[i - 1].position + down;
                J.fixed_view_mut::<3, 3>(3 * i, 6 * i - 6).fill_diagonal(-1.0);
                J.fixed_view_mut::<3, 3>(3 * i, 6 * i - 3).copy_from(&skew(&down));
            }
            C.fixed_rows_mut::<3>(3 * i).copy_from(&open);
        }
        // J M⁻¹Jᵀ λ = C/h + J v
        let half = &inverse_mass * J.transpose();
        let lambda = (&J * &half).cholesky()?.solve(&(C / DT + &J * &v));
        v -= half * lambda;
        for (i, link) in links.iter_mut().enumerate() {
            link.velocity = v.fixed_rows::<3>(6 * i).into();
            link.spin = v.fixed_rows::<3>(6 * i + 3).into();
            link.position += link.velocity * DT;
            link.rotation = exp_rotation(&(link.spin * DT)) * link.rotation;
            link.rotation.renormalize();
        }
        let now = kinetic(&links);
        path.push([step as f64 * DT, now]);
        if !now.is_finite() || now > BLOWN_UP {
            path.last_mut()?[1] = now.min(BLOWN_UP);
            return Some(path);
        }
    }
    Some(path)
}

/// Swings both.
pub fn figure(quick: bool) -> Result<(Figure, Finding), Failure> {
    let steps = if quick { 120 } else { 300 };
    let ours = engine(steps)?;
    let theirs =
        held(steps).ok_or_else(|| Failure::job("the chain with forces held has no matrix to solve"))?;
    let start = theirs[0][1];
    let [most, most_of_ours] = [&theirs, &ours].map(|path| path.iter().map(|p| p[1]).fold(0.0, f64::max));
    let rises = theirs.iter().find(|p| p[1] > 10.0 * start).map_or(f64::NAN, |p| p[0]);
    let series = |name: &str, class, points| Series { name: name.into(), class, points, mark: Mark::Line };
    let figure = Figure {
        title: "A hanging chain of balls, kicked".into(),
        plot: Plot {
            id: "hernandez-held-forces",
            title: "Kinetic energy of a hanging chain of ball joints over time".into(),
            description: "With the forces of joints held during a step, and with geometric stiffness.".into(),
            x: Axis { label: "time, s".into(), scale: Scale::Linear, percent: false },
            y: Axis { label: "kinetic energy, J".into(), scale: Scale::Log { floor: 1e-8 }, percent: false },
            series: vec![
                series("forces held (paper)", "load", theirs),
                series("with geometric stiffness (full)", "full", ours),
            ],
            marks: Vec::new(),
        },
        caption: format!(
            "{LINKS} links of {LENGTH} m, the last one kicked with {KICK} m/s, steps of 1/60 s, one iteration. A chain that hangs has its least \
             energy: in motion it can never have more kinetic energy than the kick gave it."
        ),
    };
    let finding = Finding {
        place: "[H] §3",
        claim: "Forces of joints are held while bodies turn in a step. Under tension that is a spring of the wrong sign, and the step is unstable where \
                h²·tension·lever over inertia is above about 4; geometric stiffness mends it."
            .into(),
        shown: format!(
            "A hanging chain of {LINKS} balls at 1/60 s: its kinetic energy passes ten times that of the kick after {} s and reaches {} times; in the full engine \
             {}.",
            significant(rises, 2),
            significant(most / start, 2),
            match most_of_ours > start * (1.0 + 1e-9) {
                true => format!("it never passes {} times that", significant(most_of_ours / start, 3)),
                false => "it is never more than the kick gave".into(),
            }
        ),
        number: most / start,
        meaning: "largest kinetic energy over that of the kick, forces held",
    };
    Ok((figure, finding))
}
