//! Couplings as engines solve them: of joints that follow each other in a row, each against the fastest of them.
//!
//! Couplings θ_b = r θ_a + c of a row of joints a, b, … say of each that it is ρ times the first and an offset. Where ratios are far from
//! one, rows of neighbours say it badly: θ_b = 10⁻⁵ θ_a and θ_c = 10⁵ θ_b are two rows of which each is nearly θ_b = 0, and their difference,
//! θ_c = θ_a, is lost in rounding. Against the fastest joint m, the one with the largest |ρ|, the rows are
//!
//! ```text
//! θ_i = (ρ_i/ρ_m) θ_m + c_i − (ρ_i/ρ_m) c_m,      |ρ_i/ρ_m| ≤ 1
//! ```
//! each with a one at a joint that no other row has: as far from each other as rows can be, whatever the ratios.

use super::order::Order;
use super::{Coupling, Joint, JointId};

/// Couplings of joints of which none is faster than another by this factor stay as they are written. A coupling of two joints is turned
/// round by the same rule: θ_b = 10⁵ θ_a, where nothing else holds b, is a row that is all but θ_a = 0.
const ALIKE: f64 = 10.0;

/// The rows of couplings of a mechanism of a radius: as many as there are couplings.
pub(super) fn coupled(couplings: &[Coupling], joints: &[Joint], order: &Order, radius: f64) -> Vec<Coupling> {
    let mut rows = couplings.to_vec();
    // Of each joint: where it is among those of its group, θ = ρ θ_first + c.
    let mut seen: Vec<Option<(usize, f64, f64)>> = vec![None; joints.len()];
    for first in 0..couplings.len() {
        if seen[couplings[first].of.index()].is_some() {
            continue;
        }
        // All joints that couplings connect with this one.
        seen[couplings[first].of.index()] = Some((first, 1.0, 0.0));
        let (mut members, mut group) = (vec![couplings[first].of], Vec::new());
        let mut found = true;
        while found {
            found = false;
            for (k, coupling) in couplings.iter().enumerate() {
                let at = |joint: JointId| seen[joint.index()];
                let (new, place) = match (at(coupling.joint), at(coupling.of)) {
                    (None, Some((g, rho, c))) if g == first => {
                        (coupling.joint, (g, coupling.ratio * rho, coupling.ratio * c + coupling.offset))
                    }
                    (Some((g, rho, c)), None) if g == first => {
                        (coupling.of, (g, rho / coupling.ratio, (c - coupling.offset) / coupling.ratio))
                    }
                    _ => continue,
                };
                seen[new.index()] = Some(place);
                members.push(new);
                group.push(k);
                found = true;
            }
        }
        let unit = |joint: &JointId| if joints[joint.index()].kind.translations() > 0 { radius } else { 1.0 };
        let speed =
            |joint: &JointId| seen[joint.index()].map_or(f64::NAN, |(_, rho, _)| rho.abs() / unit(joint));
        let Some(fastest) = members.iter().max_by(|a, b| speed(a).total_cmp(&speed(b))).copied() else {
            continue;
        };
        // A coupling of a joint that cannot move is left out, as the mechanism's warnings say: the others stay as they are.
        let node = |body| order.node_of(body);
        let moves = |joint: &JointId| {
            let joint = &joints[joint.index()];
            node(joint.child) != joint.parent.and_then(node)
        };
        let known = |joint: &JointId| {
            let place = seen[joint.index()];
            place.is_some_and(|(_, rho, c)| rho != 0.0 && rho.is_finite() && c.is_finite())
        };
        let slowest = members.iter().map(speed).fold(f64::INFINITY, f64::min);
        let alike = slowest * ALIKE > speed(&fastest);
        if alike || !members.iter().all(|joint| moves(joint) && known(joint)) {
            continue;
        }
        let Some((_, top, above)) = seen[fastest.index()] else { continue };
        let others = members.iter().filter(|joint| **joint != fastest);
        for (k, &joint) in group.iter().zip(others) {
            let Some((_, rho, c)) = seen[joint.index()] else { continue };
            let ratio = rho / top;
            rows[*k] = Coupling { joint, of: fastest, ratio, offset: c - ratio * above };
        }
    }
    rows
}
