//! Loads to choose and to test by: pairs along the principal compliances, and random ones that move an effector as far as wanted.

use nalgebra::{DMatrix, SymmetricEigen, Vector3};

use super::{Case, Search, Spent};
use crate::algebra::dense::eigen;
use crate::engine::{Inputs, State};
use crate::spatial::Wrench;

/// Random loads move an effector by this part of the largest displacement at least.
const LEAST: f64 = 0.2;

/// How near to a wanted displacement is near enough, relative to it.
const NEAR: f64 = 0.1;

impl Search<'_> {
    /// The loads of the scene, and pairs along the principal compliances of every effector.
    pub(super) fn first_loads(&mut self, cases: &mut Vec<Case>) -> Result<(), Spent> {
        // Displacement of the pairs, over the largest, and how much stiffer than the softest direction the stiffest is.
        const PAIRS: [f64; 2] = [0.5, 1.0];
        const STIFFEST: f64 = 40.0;
        let none = vec![Wrench::ZERO; self.mechanism.effectors().len()];
        if !self.mechanism.loads().is_empty() {
            let mut inputs = Inputs::new(&self.mechanism);
            inputs.add_scene_loads();
            cases.push(Case::new(inputs.effector_loads));
        }
        for e in 0..none.len() {
            // Translations in radii: C of forces times the radius and torques.
            let Some(C) = self.compliance(e) else { continue };
            let SymmetricEigen { eigenvalues, eigenvectors } = eigen::sorted(C);
            let softest = eigenvalues[0];
            for k in (0..6).filter(|&k| eigenvalues[k] * STIFFEST > softest && eigenvalues[k] > 0.0) {
                let u = eigenvectors.column(k);
                let unit =
                    Wrench::new(Vector3::new(u[0], u[1], u[2]) / self.radius, Vector3::new(u[3], u[4], u[5]));
                for part in PAIRS.into_iter().flat_map(|part| [part, -part]) {
                    let mut loads = none.clone();
                    loads[e] = unit * (part * self.sampling.displacement / eigenvalues[k]);
                    cases.extend(self.within_reach(loads)?);
                }
            }
        }
        Ok(())
    }

    /// A load, or half, a quarter or an eighth of it: as much as does not move an effector further than asked, on the motions.
    pub(super) fn within_reach(&mut self, mut loads: Vec<Wrench>) -> Result<Option<Case>, Spent> {
        // How often the load of a pair is halved.
        const HALVES: usize = 4;
        for _ in 0..HALVES {
            if let Some(state) = self.rest_from(&self.rest.clone(), &loads)? {
                let displacement = self.displacement(&state);
                if displacement < (1.0 + NEAR) * self.sampling.displacement {
                    return Ok(Some(Case { state: Some(state), displacement, ..Case::new(loads) }));
                }
            }
            loads.iter_mut().for_each(|load| *load = *load * 0.5);
        }
        Ok(None)
    }

    /// The compliance of an effector at rest, world axes, translations in radii.
    pub(super) fn compliance(&mut self, e: usize) -> Option<DMatrix<f64>> {
        let effector = &self.mechanism.effectors()[e];
        let pose = self.rest.poses[effector.body.index()];
        let arm = (pose * effector.frame).position - pose.position;
        let r = self.radius;
        let tangent = self.tangent.as_mut()?;
        let mut C = DMatrix::zeros(6, 6);
        for k in 0..6 {
            let unit = Vector3::from_fn(|i, _| f64::from(i == k % 3));
            let load = match k < 3 {
                true => Wrench::new(unit / r, arm.cross(&unit) / r),
                false => Wrench::new(Vector3::zeros(), unit),
            };
            let moved = tangent.displacement(&[(effector.body, load)]).ok()?[effector.body.index()];
            let v = (moved.linear + moved.angular.cross(&arm)) / r;
            C.fixed_view_mut::<3, 1>(0, k).copy_from(&v);
            C.fixed_view_mut::<3, 1>(3, k).copy_from(&moved.angular);
        }
        let C = (&C + C.transpose()) * 0.5;
        C.iter().all(|x| x.is_finite()).then_some(C)
    }

    /// How far loads move an effector at most by the tangent at rest, in radii.
    pub(super) fn linear_displacement(&mut self, loads: &[Wrench]) -> f64 {
        let Some(tangent) = self.tangent.as_mut() else { return 0.0 };
        let effectors = self.mechanism.effectors();
        let arm = |e: &crate::mechanism::Effector| {
            let pose = self.rest.poses[e.body.index()];
            (pose * e.frame).position - pose.position
        };
        let on_bodies: Vec<_> = (effectors.iter().zip(loads))
            .map(|(e, w)| (e.body, Wrench::new(w.force, w.torque + arm(e).cross(&w.force))))
            .collect();
        let Ok(moved) = tangent.displacement(&on_bodies) else { return 0.0 };
        let each = effectors.iter().map(|e| {
            let twist = moved[e.body.index()];
            (twist.linear + twist.angular.cross(&arm(e))).norm()
        });
        each.fold(0.0, f64::max) / self.radius
    }

    /// Random loads, forces and torques on all effectors.
    pub(super) fn draw(&mut self, count: usize, cases: &mut Vec<Case>) -> Result<(), Spent> {
        // Torques of random loads over their forces, in radii.
        const LEVER: f64 = 0.3;
        let (mut found, effectors) = (0, self.mechanism.effectors().len());
        for k in 0..2 * count {
            if found == count {
                break;
            }
            let lever = if k % 2 == 0 { 0.0 } else { LEVER * self.radius };
            let unit: Vec<Wrench> = (0..effectors)
                .map(|_| Wrench::new(self.random.direction(), self.random.direction() * lever))
                .collect();
            let part = LEAST + (1.0 - LEAST) * (found + 1) as f64 / count as f64;
            match self.reach(&unit, part * self.sampling.displacement)? {
                Some(case) => {
                    cases.push(case);
                    found += 1;
                }
                None => self.outcome.out_of_reach += 1,
            }
        }
        Ok(())
    }

    /// The load along a direction under which an effector goes as far as wanted on the motions, or as far as it can before a
    /// joint meets its limit, it locks, or the search for an equilibrium fails.
    pub(super) fn reach(&mut self, unit: &[Wrench], wanted: f64) -> Result<Option<Case>, Spent> {
        // Loads tried for a wanted displacement; so many times the load of a linear mechanism are too many.
        const TRIES: usize = 12;
        const LOCKED: f64 = 40.0;
        // Where there is no equilibrium under a load, this part of it is tried next with every motion, and this with fewer, whose
        // largest loads count.
        const LESS_OF_EVERY: f64 = 0.3;
        const LESS: f64 = 0.7;
        let per_load = self.linear_displacement(unit);
        if !(per_load > 0.0 && per_load.is_finite()) {
            return Ok(None);
        }
        let mut scale = wanted / per_load;
        let most = LOCKED * scale;
        let (mut limited, mut last) = (false, self.rest.clone());
        let mut furthest: Option<Case> = None;
        for _ in 0..TRIES {
            let loads: Vec<Wrench> = unit.iter().map(|w| *w * scale).collect();
            let Some(state) = self.rest_on_motions(&last, &loads)? else {
                scale *= if self.outcome.every.is_some() { LESS_OF_EVERY } else { LESS };
                continue;
            };
            last.clone_from(&state);
            let displacement = self.displacement(&state);
            if !self.within_limits(&state) {
                scale *= 0.8;
                limited = true;
                continue;
            }
            let case = Case { state: Some(state), displacement, ..Case::new(loads) };
            if limited || (displacement / wanted - 1.0).abs() < NEAR {
                return Ok(Some(case));
            }
            let before = furthest.as_ref().map_or(LEAST * wanted, |case| case.displacement);
            if displacement > before && displacement < wanted {
                furthest = Some(case);
            }
            scale *= (wanted / displacement).clamp(0.3, 3.0);
            if scale > most {
                break;
            }
        }
        Ok(furthest)
    }

    /// Whether no joint has passed a limit that it does not rest on.
    pub(super) fn within_limits(&self, state: &State) -> bool {
        // A joint that rests as near to a limit, rad or radii, rests on it; the limit then does not bound loads.
        const ON_LIMIT: f64 = 1e-3;
        self.mechanism.joints().iter().all(|joint| {
            joint.coordinates().zip(&joint.freedoms).enumerate().all(|(k, (at, f))| {
                let near = if k < joint.kind.translations() { ON_LIMIT * self.radius } else { ON_LIMIT };
                let (q, rest) = (state.coordinates[at], self.rest.coordinates[at]);
                (q >= f.lower || rest <= f.lower + near) && (q <= f.upper || rest >= f.upper - near)
            })
        })
    }
}
