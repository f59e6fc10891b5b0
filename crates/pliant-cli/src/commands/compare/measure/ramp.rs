//! Statics over rising loads: where the full mechanism settles, and where a linear model puts it.

use pliant::engine::{Simulation, State, StaticsSettings, Warning};
use pliant::linear::Model;
use pliant::reduced::Reduction;
use pliant::spatial::Pose;
use pliant::{blended, full};

use super::models::Models;
use super::rest::{AtRest, settles};
use super::{DEFAULT, Effectors, LinkError, SceneLoad, at_limit};
use crate::choices::RECONSTRUCTIONS;
use crate::report::effector_poses;

/// Loads are the scene's times √2ᵏ, from the first k to the last.
const EXPONENTS: std::ops::RangeInclusive<i32> = -12..=14;

/// Displacement, in radii, beyond which no more load is put on.
const FAR: f64 = 1.0;

/// Beyond this multiple of the scene's load, a smaller displacement will do: only stiff mechanisms take more.
const ENOUGH: (f64, f64) = (8.0, 0.3);

/// Displacement, in radii, below which nothing moves: it is shown as less than 0.0001 %.
const STILL: f64 = 1e-6;

/// The displacement that a drawing shows best.
const TELLING: f64 = 0.5;

pub struct Ramp {
    /// From small loads to large ones.
    pub samples: Vec<Sample>,
    pub stopped: Option<String>,
    /// The first load scale at which the full equilibrium is no minimum of energy.
    pub unstable_from: Option<f64>,
    /// The first load scale at which a joint of the full mechanism is at a limit, and its name.
    pub limited_from: Option<(f64, String)>,
    /// Of the linear model under the scene's load.
    pub beyond_limits: Vec<Warning>,
    /// Where everything is under the scene's load, or under the largest part of it that was reached.
    pub scene: Option<Settled>,
    /// The same under the load that moves the effector by about half the radius, if that is another one.
    pub far: Option<Settled>,
}

#[derive(Clone, Debug)]
pub struct Sample {
    /// Loads and gravity over the scene's.
    pub scale: f64,
    /// How far the full simulation's effector moved, over the radius.
    pub displacement: f64,
    /// Distance between the effectors of both, over the radius.
    pub effector: f64,
    /// What one Newton step of the full statics from the linear model's pose says that the error is, over the radius.
    pub estimate: Option<f64>,
    /// The engines `reduced` and `blended`, where they come to rest.
    pub reduced: Option<AtRest>,
    pub blended: Option<AtRest>,
    /// Of the reconstructions.
    pub links: [LinkError; 3],
}

/// Where everything settled.
pub struct Settled {
    /// Loads and gravity over the scene's.
    pub scale: f64,
    /// How far the full simulation's effector moved, over the radius.
    pub displacement: f64,
    pub full: State,
    /// In the linear one, by reconstruction.
    pub linear: [Vec<Pose>; 3],
}

impl Ramp {
    /// The sample under the scene's load.
    pub fn at_scene(&self) -> Option<&Sample> {
        self.samples.iter().find(|sample| sample.scale == 1.0)
    }

    /// Whether an effector moves at all, so that there is something to compare.
    pub fn moves(&self) -> bool {
        self.samples.iter().any(|sample| sample.displacement >= STILL)
    }

    /// Whether more load moves the effectors further, or not at all, all along.
    pub fn rises(&self) -> bool {
        self.samples.windows(2).all(|pair| pair[0].displacement <= pair[1].displacement + STILL)
    }

    /// Load scales between which the full mechanism moves out of all proportion to the load: √2 times as much load,
    /// more than three times as far as under any load before. What hardly moves does not snap.
    pub fn snap(&self) -> Option<[f64; 2]> {
        let mut furthest = 0.0f64;
        self.samples.windows(2).find_map(|pair| {
            furthest = furthest.max(pair[0].displacement);
            (pair[1].displacement > (3.0 * furthest).max(1e-3)).then_some([pair[0].scale, pair[1].scale])
        })
    }
}

/// Raises the load until the effector is far, the scene's load multiplied, or no equilibrium is left.
pub fn measure(models: &Models, model: &Model, tick: &mut dyn FnMut()) -> Result<Ramp, String> {
    let mechanism = &models.mechanism;
    let scene = SceneLoad::new(mechanism);
    let points = Effectors::new(mechanism);
    let of_file = models.reduced.clone();
    let reduced = of_file.or_else(|| Reduction::at_rest(mechanism).build().ok());
    let mut reduced = reduced.map(|model| model.simulate());
    let mut blended = models.blended.as_ref().ok().map(blended::Model::simulate);
    let (mut full, mut linear) = (full::Model::new(mechanism).simulate(), model.simulate());
    let mut ramp = Ramp {
        samples: Vec::new(),
        stopped: None,
        unstable_from: None,
        limited_from: None,
        beyond_limits: Vec::new(),
        scene: None,
        far: None,
    };
    for exponent in EXPONENTS {
        tick();
        let scale = 2f64.powf(0.5 * f64::from(exponent));
        scene.apply(full.inputs_mut(), scale);
        let found = match full.settle(&StaticsSettings::default()) {
            Ok(found) => found,
            Err(error) if ramp.samples.is_empty() => return Err(error.to_string()),
            Err(error) => {
                ramp.stopped = Some(error.to_string());
                break;
            }
        };
        let times = crate::page::text::figure(scale);
        if !found.converged {
            ramp.stopped =
                Some(format!("the full simulation finds no equilibrium under {times} times the load"));
            break;
        }
        if !found.stable && ramp.unstable_from.is_none() {
            ramp.unstable_from = Some(scale);
        }
        if ramp.limited_from.is_none() {
            ramp.limited_from =
                at_limit(mechanism, &full.state().coordinates).map(|joint| (scale, joint.to_string()));
        }
        scene.apply(linear.inputs_mut(), scale);
        if !settles(&mut linear) {
            ramp.stopped =
                Some(format!("the linear model does not come to rest under {times} times the load"));
            break;
        }
        let (at, own) = (effector_poses(&full), effector_poses(&linear));
        let mut links = [LinkError::default(); 3];
        let rebuilt = std::array::from_fn(|k| {
            linear.set_reconstruction(RECONSTRUCTIONS[k].1);
            let state = linear.state();
            links[k] = LinkError::between(mechanism, full.state(), state);
            state.poses.clone()
        });
        let displacement = points.displacement(&at);
        let effector = points.largest(&at, &own);
        linear.set_reconstruction(RECONSTRUCTIONS[DEFAULT].1);
        let estimate = linear.estimate().ok();
        if scale == 1.0 {
            ramp.beyond_limits = Warning::of_limits(mechanism, "linear", linear.state());
        }
        let inputs = full.inputs();
        let reduced = reduced.as_mut().and_then(|s| AtRest::find(s, inputs, &points, &at));
        let blended = blended.as_mut().and_then(|s| AtRest::find(s, inputs, &points, &at));
        ramp.samples.push(Sample {
            scale,
            displacement,
            effector,
            estimate: estimate.filter(|x| x.is_finite()),
            reduced,
            blended,
            links,
        });
        let settled = Settled { scale, displacement, full: full.state().clone(), linear: rebuilt };
        let off = |displacement: f64| (displacement.max(1e-300) / TELLING).ln().abs();
        if scale <= 1.0 {
            ramp.scene = Some(settled);
        } else if ramp.snap().is_none()
            && ramp.far.as_ref().is_none_or(|far| off(displacement) < off(far.displacement))
        {
            ramp.far = Some(settled);
        }
        let enough = scale >= ENOUGH.0 && displacement >= ENOUGH.1;
        if enough || displacement >= FAR && scale >= 1.0 {
            break;
        }
    }
    Ok(ramp)
}
