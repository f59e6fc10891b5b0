//! `<keyframe>`: the controls of the key frame `home` say where position actuators hold their joints. The
//! file's own pose (`qpos0`) stays the pose of the mechanism.

use crate::import::context::Context;
use crate::import::xml::Element;

/// The controls of the key frame `home`, if there is one that gives them.
pub(super) fn home(root: &Element, context: &mut Context) -> Option<Vec<f64>> {
    let keys: Vec<&Element> = root.all("keyframe").flat_map(|section| section.all("key")).collect();
    let home = keys.into_iter().find(|key| key.value("name") == Some("home"))?;
    if home.attribute("qpos").is_some() {
        let line = context.line(&home.place);
        context
            .note(format!("{line}: the pose of the key frame `home` is not used: the file's own pose stays"));
    }
    home.numbers("ctrl", context)
}
