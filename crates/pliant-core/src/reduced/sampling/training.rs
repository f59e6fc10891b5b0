//! Motions where the error is largest, and other loads that show it.

use super::{AIM, Case, Search, Spent};
use crate::engine::Inputs;

/// A motion that leaves more than this of the error does not help.
const HELPS: f64 = 0.9;

impl Search<'_> {
    /// Adds motions where the error is largest, until it is within the aim under all loads.
    ///
    /// The indicator of a load is the one last computed for it: only the worst is asked for again before it gives a
    /// motion, and all when none seems to be left.
    pub(super) fn train(&mut self, cases: &mut Vec<Case>) -> Result<(), Spent> {
        let aim = AIM * self.sampling.max_error;
        let mut known = false;
        loop {
            let left = (0..cases.len()).filter(|&i| !cases[i].hopeless && cases[i].off > aim);
            let worst = left.max_by(|a, b| cases[*a].off.total_cmp(&cases[*b].off).then(b.cmp(a)));
            let Some(at) = worst else {
                if known {
                    return Ok(());
                }
                self.ask_all(cases)?;
                known = true;
                continue;
            };
            if !known {
                let before = cases[at].off;
                self.ask(&mut cases[at])?;
                if cases[at].off < before {
                    continue;
                }
            }
            self.now.worst = cases[at].off;
            if cases[at].truth.is_none() {
                let near = cases[at].state.clone();
                let loads = cases[at].loads.clone();
                let truth = match near {
                    Some(near) => self.rest_of_mechanism(&near, &loads)?,
                    None => None,
                };
                cases[at].truth = match truth {
                    Some(truth) => Some(truth),
                    None => self.rest_of_mechanism(&self.rest.clone(), &loads)?,
                };
            }
            let Some(truth) = &cases[at].truth else {
                let case = cases.remove(at);
                self.outcome.unsolved.push(case.loads);
                continue;
            };
            let from = cases[at].state.as_ref().unwrap_or(&self.rest);
            let beyond: Vec<f64> =
                truth.coordinates.iter().zip(&from.coordinates).map(|(a, b)| a - b).collect();
            let before = cases[at].off;
            match self.model.with_motion(&beyond) {
                Some(model) => {
                    self.model = model;
                    self.now.motions = self.model.motions();
                    self.outcome.samples.push(cases[at].loads.clone());
                    self.ask(&mut cases[at])?;
                    cases[at].hopeless = cases[at].off.is_infinite() || cases[at].off > HELPS * before;
                    known = false;
                }
                None => cases[at].hopeless = true,
            }
        }
    }

    pub(super) fn ask_all(&mut self, cases: &mut [Case]) -> Result<(), Spent> {
        cases.iter_mut().try_for_each(|case| self.ask(case))?;
        self.now.worst = cases.iter().map(|case| case.off).fold(0.0, f64::max);
        Ok(())
    }

    /// How far the motions are off under the load of a case.
    pub(super) fn ask(&mut self, case: &mut Case) -> Result<(), Spent> {
        let last = case.state.as_ref().unwrap_or(&self.rest).clone();
        case.state = self.rest_on_motions(&last, &case.loads)?;
        if let (None, Some(truth)) = (&case.state, &case.truth) {
            case.state = self.rest_from(truth, &case.loads)?;
        }
        let Some(state) = &case.state else {
            case.off = f64::INFINITY;
            return Ok(());
        };
        let mut inputs = Inputs::new(&self.mechanism);
        inputs.effector_loads.clone_from(&case.loads);
        case.off = self.full.distance(state, &inputs).unwrap_or(f64::INFINITY);
        if let Some(truth) = &case.truth {
            case.off = case.off.max(self.apart(state, truth));
        }
        Ok(())
    }

    /// Loads that nothing was chosen by, with how far the motions are from the full statics.
    pub(super) fn test(&mut self, others: &mut Vec<Case>) -> Result<(), Spent> {
        let mut drawn = Vec::new();
        let ended = self.draw(self.sampling.loads, &mut drawn);
        for mut case in drawn {
            let own = case.state.clone().expect("it was drawn with it");
            let Some(truth) = self.rest_of_mechanism(&self.rest.clone(), &case.loads)? else {
                self.outcome.unsolved.push(case.loads);
                continue;
            };
            case.off = self.apart(&own, &truth);
            if case.off > self.sampling.max_error {
                // Another equilibrium than that of the start is no error of the motions, if it is one of the mechanism.
                let near = self.rest_of_mechanism(&own, &case.loads)?;
                if near.is_some_and(|near| self.apart(&own, &near) < 0.1 * case.off) {
                    self.outcome.several.push(case.loads);
                    continue;
                }
            }
            case.displacement = self.displacement(&truth);
            case.truth = Some(truth);
            others.push(case);
        }
        ended
    }

    pub(super) fn report(&mut self, cases: &mut Vec<Case>, others: &[Case]) {
        let outcome = &mut self.outcome;
        let (restless, known) = std::mem::take(cases).into_iter().partition(|case| case.off.is_infinite());
        *cases = known;
        outcome.unsettled.extend(restless.into_iter().map(|case: Case| case.loads));
        let mut errors: Vec<f64> = others.iter().map(|case| case.off).collect();
        errors.sort_by(f64::total_cmp);
        outcome.error = cases.iter().map(|case| case.off).fold(0.0, f64::max);
        outcome.held_out = errors.last().copied().unwrap_or(0.0);
        outcome.held_out_median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
        outcome.tested = errors.len();
        outcome.within = errors.iter().filter(|error| **error <= self.sampling.max_error).count();
        if let Some(worst) = others.iter().max_by(|a, b| a.off.total_cmp(&b.off)) {
            (outcome.worst_loads, outcome.worst_displacement) = (worst.loads.clone(), worst.displacement);
        }
    }
}
