//! Claim: what no spring holds is named when a model is made.

use pliant_core::gallery;
use pliant_core::live::Model;
use pliant_core::reduced::ReductionError;

use crate::common;

#[test]
fn what_nothing_holds_is_named() {
    let mechanism = common::edited(&gallery::arm(), |joint| {
        if joint.name == "finger1_2" {
            joint.stiffness = None;
        }
    });
    let error = Model::new(&mechanism).unwrap_err();
    assert_eq!(error, ReductionError::Loose { joint: "finger1_2".into() });
    let mechanism = common::edited(&gallery::arm(), |joint| {
        if joint.name == "arm3" {
            joint.stiffness = None;
        }
    });
    let error = Model::new(&mechanism).unwrap_err().to_string();
    assert!(error.contains("`tip`") && error.contains("`arm3`"), "{error}");
    let error = Model::with_effectors(&mechanism, ["nothing"]).unwrap_err().to_string();
    assert!(error.contains("`nothing`") && error.contains("`tip`"), "{error}");
}
