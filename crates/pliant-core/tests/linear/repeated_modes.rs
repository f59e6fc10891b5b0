//! Claim: natural frequencies that a mechanism has several times are found as often as it has them.

use pliant_core::gallery;
use pliant_core::linear::Linearisation;

/// Six equal legs on a held base swing alike.
#[test]
fn every_leg_of_a_hexapod_counts() {
    let mechanism = gallery::hexapod();
    let model = Linearisation::at_rest(&mechanism).build().expect("a model");
    let frequencies = model.full_frequencies(18).expect("frequencies");
    for (legs, of) in frequencies.chunks(6).zip(["lowest", "second", "third"]) {
        for f in legs {
            // Eigenvalues stand still to 1e-12, and the legs differ by the rounding of their directions.
            assert!((f / legs[0] - 1.0).abs() < 1e-9, "{of} frequency of all legs: {legs:?}");
        }
    }
    assert!(frequencies[6] > 1.1 * frequencies[0] && frequencies[12] > 1.1 * frequencies[6]);
}
