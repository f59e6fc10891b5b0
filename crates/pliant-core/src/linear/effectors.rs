//! The frames that a model is reduced to.

use super::error::ReductionError;
use super::reference::Reference;
use crate::mechanism::{BodyId, EffectorId, Mechanism};
use crate::spatial::Pose;

/// A frame where the world touches the mechanism: an effector of the file, or the link frame of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectorFrame {
    /// Its name, or that of the body.
    pub name: String,
    /// The body it sits on.
    pub body: BodyId,
    /// Its frame in the link frame.
    pub frame: Pose,
    /// The effector of the mechanism, if it is one.
    pub id: Option<EffectorId>,
}

/// The effectors of the mechanism, or those that are named.
pub(crate) fn choose(
    mechanism: &Mechanism,
    names: Option<&[String]>,
) -> Result<Vec<EffectorFrame>, ReductionError> {
    let of_file = |e: usize| {
        let effector = &mechanism.effectors()[e];
        EffectorFrame {
            name: effector.name.clone(),
            body: effector.body,
            frame: effector.frame,
            id: Some(mechanism.effector_id(e)),
        }
    };
    let named = names.map_or(mechanism.effectors().len(), <[String]>::len);
    if named == 0 {
        return Err(ReductionError::NoEffector { mechanism: mechanism.name().into() });
    }
    let Some(names) = names else {
        return Ok((0..named).map(of_file).collect());
    };
    let mut chosen: Vec<EffectorFrame> = Vec::new();
    for name in names {
        let effector = match (mechanism.find_effector(name), mechanism.find_body(name)) {
            (Some(id), _) => of_file(id.index()),
            (None, Some(body)) => {
                EffectorFrame { name: name.clone(), body, frame: Pose::identity(), id: None }
            }
            (None, None) => {
                let there: Vec<_> = mechanism.effectors().iter().map(|e| format!("`{}`", e.name)).collect();
                let there = if there.is_empty() { "none".into() } else { there.join(", ") };
                return Err(ReductionError::UnknownEffector { name: name.clone(), there });
            }
        };
        if chosen.iter().any(|c| c.name == effector.name) {
            return Err(ReductionError::Repeated { name: name.clone() });
        }
        chosen.push(effector);
    }
    Ok(chosen)
}

/// The node of an effector and its frame there; `None` if it is welded to the world.
pub(super) fn in_node(reference: &Reference, effector: &EffectorFrame) -> Option<(usize, Pose)> {
    let (node, offset) = reference.place(effector.body);
    Some((node?, offset * effector.frame))
}
