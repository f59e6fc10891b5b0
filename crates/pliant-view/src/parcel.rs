//! A scene with all that is needed to simulate it, as one text: what a page without a server has in it. Numbers keep every bit.

use pliant_core::contact::{Solver, Surface};
use pliant_core::engine::Inputs;
use pliant_core::engines::{CONTACT_STEP, Engine};
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::{DMatrix, Vector6};
use pliant_core::spatial::Wrench;
use pliant_io::{import, scene};
use serde_json::{Map, Value, json};

use crate::running::Loaded;

/// The name of the scene in a parcel, where something is wrong with it.
const FILE: &str = "scene.toml";

/// Length of a step where nothing touches, s, unless another is given.
pub const ALONE: f64 = 1.0 / 120.0;

/// Sweeps over all contacts in a step, at most.
const MOST_SWEEPS: u64 = 100_000;

/// The text of a scene, to be simulated in steps of dt seconds.
pub fn pack(loaded: &Loaded, dt: f64) -> String {
    let Loaded { mechanism, inputs, .. } = loaded;
    let six = |wrench: Wrench| wrench.to_vector().as_slice().to_vec();
    let effectors = mechanism.effector_ids().map(|id| inputs.load(id).unwrap_or(Wrench::ZERO));
    let bodies = mechanism.body_ids().map(|id| inputs.body_load(id).unwrap_or(Wrench::ZERO));
    let surfaces: Map<String, Value> = (loaded.surfaces.iter())
        .map(|(file, surface)| {
            (file.clone(), json!({ "points": surface.points, "triangles": surface.triangles }))
        })
        .collect();
    json!({
        "scene": scene::write(mechanism),
        "dt": dt,
        "engine": loaded.engine.name(),
        "ghost": loaded.ghost.map(Engine::name),
        "contact": loaded.contact,
        "solver": match loaded.solver {
            Solver::Pgs { sweeps } => json!({ "sweeps": sweeps }),
            Solver::Exact { tolerance } => json!({ "tolerance": tolerance }),
        },
        "gravity": inputs.gravity().as_slice(),
        "effectorLoads": effectors.map(six).collect::<Vec<_>>(),
        "bodyLoads": bodies.map(six).collect::<Vec<_>>(),
        "motions": loaded.motions.as_ref().map(|motions| json!({ "rows": motions.nrows(), "columns": motions.as_slice() })),
        "surfaces": surfaces,
    })
    .to_string()
}

/// A file that is dropped on the page, read by its extension: a scene, or a robot, whose meshes are not there.
fn dropped(name: &str, text: &str) -> Result<Mechanism, String> {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    let read = match extension.as_deref() {
        Some("toml") => scene::read(text, name),
        Some("urdf" | "xml" | "sdf") => import::read(text, name, &import::Options::default()),
        _ => {
            return Err(format!(
                "cannot read `{name}`: a page reads scene files (.toml) and robot files (.urdf, .xml, .sdf); a page of another file is \
                 written by the program `pliant`"
            ));
        }
    };
    read.map_err(|error| error.to_string())
}

/// The scene of a text and its step, s: of a parcel, or of a file that is dropped, `{"file": name, "text": text}`.
pub fn unpack(text: &str) -> Result<(Loaded, f64), String> {
    let wrong = |what: &str| format!("the page's scene is damaged: {what}");
    let parcel: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    if let (Some(name), Some(text)) = (parcel["file"].as_str(), parcel["text"].as_str()) {
        let loaded = Loaded::of(dropped(name, text)?);
        let dt = if loaded.touches() { CONTACT_STEP } else { ALONE };
        return Ok((loaded, dt));
    }
    let name = |value: &Value| value.as_str().map(str::parse::<Engine>).transpose();
    let scene = parcel["scene"].as_str().ok_or_else(|| wrong("it has no scene"))?;
    let mechanism = scene::read(scene, FILE).map_err(|error| error.to_string())?;
    let mut inputs = Inputs::new(&mechanism);
    let set = |error: pliant_core::engine::InputError| wrong(&error.to_string());
    if let [x, y, z] = numbers(&parcel["gravity"])[..] {
        inputs.set_gravity([x, y, z]).map_err(set)?;
    }
    let wrench = |value: &Value| -> Result<Wrench, String> {
        let six: [f64; 6] =
            numbers(value).try_into().map_err(|_| wrong("a load does not have six numbers"))?;
        Ok(Wrench::from_vector(&Vector6::from(six)))
    };
    for (id, load) in mechanism.effector_ids().zip(list(&parcel["effectorLoads"])) {
        inputs.set_load(id, wrench(load)?).map_err(set)?;
    }
    for (id, load) in mechanism.body_ids().zip(list(&parcel["bodyLoads"])) {
        inputs.set_body_load(id, wrench(load)?).map_err(set)?;
    }
    let mut surfaces = pliant_core::contact::Surfaces::new();
    for (file, surface) in parcel["surfaces"].as_object().into_iter().flatten() {
        let of = |key: &str| surface[key].clone();
        let points = serde_json::from_value(of("points")).map_err(|error| wrong(&error.to_string()))?;
        let triangles = serde_json::from_value(of("triangles")).map_err(|error| wrong(&error.to_string()))?;
        let surface = Surface { points, triangles };
        if surface.triangles.iter().flatten().any(|corner| *corner as usize >= surface.points.len()) {
            return Err(wrong(&format!("a triangle of `{file}` refers to a missing point")));
        }
        surfaces.insert(file.clone(), surface);
    }
    let columns = numbers(&parcel["motions"]["columns"]);
    let motions = match parcel["motions"]["rows"].as_u64() {
        Some(rows) if rows > 0 && columns.len().is_multiple_of(rows as usize) => {
            Some(DMatrix::from_vec(rows as usize, columns.len() / rows as usize, columns))
        }
        Some(_) => return Err(wrong("its motions have rows of different lengths")),
        None => None,
    };
    let solver = match (parcel["solver"]["sweeps"].as_u64(), parcel["solver"]["tolerance"].as_f64()) {
        (Some(sweeps), _) if sweeps > MOST_SWEEPS => return Err(wrong("its solver takes too many sweeps")),
        (Some(sweeps), _) => Solver::Pgs { sweeps: sweeps as usize },
        (None, Some(tolerance)) => Solver::Exact { tolerance },
        (None, None) => Solver::default(),
    };
    let engine = name(&parcel["engine"])?.ok_or_else(|| wrong("it has no engine"))?;
    let dt = parcel["dt"].as_f64().ok_or_else(|| wrong("it has no step"))?;
    let contact = parcel["contact"].as_bool().unwrap_or(true);
    let ghost = name(&parcel["ghost"])?;
    Ok((Loaded { mechanism, surfaces, motions, inputs, contact, solver, engine, ghost }, dt))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().filter_map(Value::as_f64).collect()
}
