//! Claim: what is reported of the nodes of elastic zones is consistent with the contacts, with Coulomb's law and with what touches them; their
//! Green's functions are kept between runs; too fine ones are refused; and a flexure that bends too far is warned of.

use std::fs;

use crate::common::Run;
use serde_json::Value;

fn three(value: &Value) -> [f64; 3] {
    let numbers = value.as_array().expect("a vector").iter().map(|x| x.as_f64().expect("a number"));
    numbers.collect::<Vec<f64>>().try_into().expect("three numbers")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn norm(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// A tip on the pad of the gallery while it begins to slide.
#[test]
fn nodes_of_a_zone_are_reported() {
    let run = Run::new("zones-nodes");
    let simulate =
        ["simulate", "pad", "--duration", "0.55", "--dt", "0.002", "--solver", "exact", "--zone-nodes"];
    let answer = run.json(&simulate, 0);
    let zone = &answer["zones"][0];
    let nodes = list(&zone["touching"]);
    assert!(nodes.len() > 10, "{}", nodes.len());
    // All forces together are those of the contacts on the pad; and each is Coulomb's.
    let mut sum = [0.0; 3];
    let tip = three(&answer["bodies"]["tip"]["position"]);
    let (mut sticking, mut slipping) = (0, 0);
    for node in nodes {
        let force = three(&node["force"]);
        (0..3).for_each(|i| sum[i] += force[i]);
        let (pressure, area) = (number(&node["pressure"]), number(&node["area"]));
        let (traction, slip) = (three(&node["traction"]), three(&node["slip"]));
        assert!((norm(force) - area * pressure.hypot(norm(traction))).abs() < 1e-9 * norm(force));
        assert!(norm(traction) <= 0.5 * pressure * (1.0 + 1e-6), "{node}");
        if node["sticks"] == true {
            sticking += 1;
            assert!(norm(slip) < 1e-7, "{node}");
        } else {
            slipping += 1;
            assert!((norm(traction) / (0.5 * pressure) - 1.0).abs() < 1e-5, "{node}");
            // Friction on the pad is against its sliding.
            let dot: f64 = (0..3).map(|i| traction[i] * slip[i]).sum();
            assert!(dot < -0.99 * norm(traction) * norm(slip), "{node}");
        }
        // It is on the tip, whose radius is 10 mm, at the end of the step.
        let at = three(&node["point"]);
        let away = norm(std::array::from_fn(|i| at[i] - tip[i]));
        assert!((away - 0.01).abs() < 1e-6, "{away}");
        // The surface has the same place.
        let place = number(&node["node"]) as usize;
        assert_eq!(three(&zone["surface"]["points"][place]), at);
        assert_eq!(three(&zone["surface"]["displacements"][place]), three(&node["displacement"]));
    }
    assert!(sticking > 3 && slipping > 3, "{sticking} {slipping}");
    assert_eq!(zone["sticking"], sticking);
    let mut contacts = [0.0; 3];
    for contact in list(&answer["contacts"]) {
        let sign = if contact["second"] == "world" { 1.0 } else { -1.0 };
        let force = three(&contact["force"]);
        (0..3).for_each(|i| contacts[i] += sign * force[i]);
    }
    let off = norm(std::array::from_fn(|i| sum[i] - contacts[i]));
    assert!(off < 1e-9 * norm(contacts), "{sum:?} {contacts:?}");
    let surface = &zone["surface"];
    assert_eq!(list(&surface["points"]).len(), list(&surface["displacements"]).len());
    let corners = list(&surface["triangles"]).iter().flat_map(list);
    assert!(corners.clone().all(|i| number(i) < list(&surface["points"]).len() as f64));

    // People get a row for each; without the option there is none of it.
    let text = run.run(&simulate).out;
    assert_eq!(text.matches(" sticks").count(), sticking, "{text}");
    assert_eq!(text.matches(" slips").count(), slipping, "{text}");
    let without = run.json(&simulate[..8], 0);
    assert!(without["zones"][0].get("touching").is_none() && without["zones"][0].get("surface").is_none());
    run.fails(
        &["simulate", "arm", "--duration", "1", "--dt", "0.01", "--zone-nodes"],
        2,
        &["--zone-nodes", "[[zone]]"],
    );
}

/// The second run takes what the first has kept, with the same answer.
#[test]
fn green_s_functions_are_kept() {
    let run = Run::new("zones-kept");
    let simulate = ["simulate", "pad", "--duration", "0.02", "--dt", "0.002", "--zone-cache", "kept/here"];
    let first = run.json(&simulate, 0);
    let kept = || {
        fs::read_dir(run.folder.join("kept/here"))
            .expect("a folder")
            .map(|entry| entry.expect("a file").path())
    };
    let files: Vec<_> = kept().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let written = fs::metadata(&files[0]).expect("a file").modified().expect("a time");
    let second = run.json(&simulate, 0);
    assert_eq!((&first["bodies"], &first["zones"]), (&second["bodies"], &second["zones"]));
    assert_eq!(
        fs::metadata(&files[0]).expect("a file").modified().expect("a time"),
        written,
        "it was not made again"
    );
    assert_eq!(kept().count(), 1);
    run.file("file", "");
    run.fails(&[&simulate[..7], &["file"]].concat(), 2, &["--zone-cache", "`file`"]);
}

/// A stage that goes as far as it is meant to says nothing; farther, at rest and in motion, there is a warning with its measure.
#[test]
fn a_flexure_beyond_its_range_is_warned_of() {
    let run = Run::new("zones-flexure");
    let measure = |arguments: &[&str]| {
        let answer = run.json(arguments, 0);
        let measures = answer["measures"].as_array().into_iter().flatten();
        let mut found = measures.filter(|warning| warning["kind"] == "beyond range");
        found.next().map(|warning| number(&warning["measure"]))
    };
    assert_eq!(measure(&["statics", "flexure", "--scene-load"]), None);
    let far = measure(&["statics", "flexure", "--load", "stage=60,0,0"]).expect("a warning");
    assert!(far > 1.0, "{far}");
    let simulate = ["simulate", "flexure", "--duration", "0.05", "--dt", "0.001", "--engine", "articulated"];
    let moving = measure(&[&simulate[..], &["--load", "stage=20,0,0"]].concat()).expect("a warning");
    assert!(moving > 1.0, "{moving}");
}

/// What would need more memory than there may be is refused before anything is meshed, with the figure.
#[test]
fn what_is_too_fine_is_refused() {
    let run = Run::new("zones-fine");
    run.json(&["export", "pad", "-o", "pad.toml"], 0);
    let text = fs::read_to_string(run.folder.join("pad.toml")).expect("a scene");
    assert!(text.contains("resolution = 0.0015"), "{text}");
    for resolution in ["0.0002", "0.00003"] {
        run.file("fine.toml", text.replace("resolution = 0.0015", &format!("resolution = {resolution}")));
        run.fails(
            &["simulate", "fine.toml", "--duration", "0.1", "--dt", "0.01"],
            2,
            &["zone `pad`", "lattice cells", "coarser resolution"],
        );
    }
}
