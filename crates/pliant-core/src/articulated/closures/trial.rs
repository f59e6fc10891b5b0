//! Which closures have to wait for more freedoms than they have rows: those that lose digits where the mechanism starts.

use super::Closing;
use crate::articulated::model::{Constants, Motion};
use crate::articulated::step::{Workspace, solve_only};
use crate::engine::{Inputs, State};

/// The step of the trial, s.
const STEP: f64 = 1.0 / 60.0;

/// Rounds at most: with each, closures that had others to lean on before may have to wait as well.
const ROUNDS: usize = 8;

/// Makes closures patient until none loses digits in a first step; all of them if that ends nowhere.
pub fn find_patient(model: &mut Constants) {
    if model.closures.is_empty() {
        return;
    }
    let freedoms: Vec<usize> = (model.nodes.iter())
        .map(|node| match node.motion {
            Motion::Hinge => 1,
            Motion::General(g) | Motion::Free(g) => model.general[g].freedoms,
        })
        .collect();
    let mut state = State::at_rest(&model.mechanism);
    let inputs = Inputs::new(&model.mechanism);
    let every: Vec<usize> = (0..model.closures.len()).collect();
    for round in 0..=ROUNDS {
        let mut work = Workspace::new(model, &state);
        work.closing.doubts = Some(Vec::new());
        // A first step that has no solution is reported by the first step.
        let solved = solve_only(model, &inputs, STEP, &mut state, &mut work).is_ok();
        let Closing { doubts, .. } = work.closing;
        let doubts = if solved && round < ROUNDS { doubts.unwrap_or_default() } else { every.clone() };
        let nodes = std::mem::take(&mut model.nodes);
        let changed = model.closures.be_patient(&nodes, &freedoms, &doubts);
        if !changed && !doubts.is_empty() {
            // Patience alone does not help these: others leave them nothing, unless all wait.
            model.closures.be_patient(&nodes, &freedoms, &every);
        }
        model.nodes = nodes;
        if !changed || doubts.len() == every.len() {
            return;
        }
    }
}
