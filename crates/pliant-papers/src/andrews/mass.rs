//! Where the paper's mass is wrong: lowest natural frequencies of linear models over that of the whole linear mechanism.

use pliant::gallery;
use pliant::linear::Linearisation;

use super::accelerability::{self, Mass};
use crate::Effort;
use crate::section::{Cell, Finding, Table, ours};
use pliant_cli::failure::Failure;
use pliant_cli::page::text::ratio;

const MECHANISMS: [&str; 6] = ["chain:20", "y", "rungs:48", "helix:50", "ladder:48", "arm"];

/// Key, name, mass (`None` is the condensed one) and modes of each model.
const MODELS: [(&str, &str, Option<Mass>, usize); 5] = [
    ("accelerability", "accelerability (paper's)", Some(Mass::Accelerability), 0),
    ("composite_accelerability", "composite accelerability", Some(Mass::CompositeAccelerability), 0),
    ("operational_space", "operational space", Some(Mass::OperationalSpace), 0),
    ("condensed", "condensed (ours)", None, 0),
    ("condensed_4_modes", "condensed, 4 modes", None, 4),
];

/// Builds every model and takes its lowest frequency.
pub fn table(effort: &mut Effort) -> Result<(Table, Finding), Failure> {
    let mut rows = Vec::new();
    let mut all: [Vec<f64>; MODELS.len()] = Default::default();
    for name in MECHANISMS {
        let mechanism = gallery::build(name).map_err(Failure::job)?;
        let rest = Linearisation::at_rest(&mechanism);
        let truth =
            rest.clone().build().and_then(|model| model.full_frequencies(1)).map_err(Failure::job)?[0];
        let mut row = vec![Cell::Word(name.into())];
        for ((_, _, mass, modes), all) in MODELS.iter().zip(&mut all) {
            let model = match mass {
                Some(mass) => accelerability::model(&mechanism, *mass)?,
                None => rest.clone().modes(*modes).build().map_err(Failure::job)?,
            };
            let ratio = model.frequencies()[0] / truth;
            all.push(ratio);
            row.push(Cell::Times(ratio));
        }
        rows.push(row);
        effort.tick();
    }
    let range = |k: usize| {
        let least = all[k].iter().copied().fold(f64::INFINITY, f64::min);
        let most = all[k].iter().copied().fold(0.0, f64::max);
        [least, most].map(ratio).join(" to ")
    };
    let most = all[0].iter().copied().fold(0.0, f64::max);
    let shown = format!(
        "Lowest natural frequency over the true one: {} with the paper's mass, {} with composite inertias, {} condensed.",
        range(0),
        range(1),
        range(3)
    );
    let mut columns = vec![ours("mechanism", "mechanism")];
    columns.extend(MODELS.iter().map(|(key, name, ..)| ours(key, name)));
    let table = Table {
        id: "andrews-mass",
        title: "Lowest natural frequency of a linear model over that of the whole mechanism".into(),
        columns,
        rows,
        caption: "× 1 is right. The paper's effective mass projects the accelerability of each joint; condensation (Guyan 1965) moves all links as in \
                  statics."
            .into(),
    };
    let finding = Finding {
        place: "[A] effective mass",
        claim: "The mass at an effector is taken from the accelerability of joints, each with the inertia of its own link, projected as compliances are. \
                That leaves out what a joint carries and that links move together; condensation has both. This rests on one reading of the paper's M_θ, each joint with \
                its own link's inertia; with the inertia of all that a joint carries it is less wrong."
            .into(),
        shown,
        number: most,
        meaning: "lowest natural frequency with the paper's mass over the true one, worst of six mechanisms",
    };
    Ok((table, finding))
}
