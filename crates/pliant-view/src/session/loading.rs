//! Another scene in the place of the present one, and the same scene again after a defect.

use super::Session;
use crate::running::Loaded;

impl Session {
    /// Another scene, from its start, with the engine and the step of before where the scene takes them, and else with its own engine; or
    /// what is wrong with its file, while the last good one moves on.
    pub fn load(&mut self, loaded: Result<Loaded, String>) {
        match loaded.and_then(|loaded| self.take_over(loaded)) {
            Ok((made, notes)) => {
                self.become_other(made);
                notes.iter().for_each(|note| self.note(true, note));
            }
            Err(error) => {
                self.broken = Some(error);
                self.send_status();
            }
        }
    }

    /// The same scene from its start, paused, after a defect of the program, with what is said of that.
    pub fn rebuild(&mut self, words: &str) {
        let ghost = self.ghost.as_ref().map(|(engine, _)| *engine);
        let loaded = Loaded { engine: self.engine, ghost, ..self.loaded.clone() };
        let broken = self.broken.take();
        self.playing = false;
        self.note(true, words);
        if let Ok((made, notes)) = self.take_over(loaded) {
            self.become_other(made);
            notes.iter().for_each(|note| self.note(true, note));
        }
        self.broken = broken;
        self.send_status();
    }

    /// A session of another scene, as near to this one as the scene takes it, with notes of what had to go. The error is that of this
    /// session's engine.
    fn take_over(&self, loaded: Loaded) -> Result<(Session, Vec<String>), String> {
        let (own, ghost) = (self.engine, self.ghost.as_ref().map(|(engine, _)| *engine));
        let with = |engine, ghost| Session::new(Loaded { engine, ghost, ..loaded.clone() }, self.dt);
        let refused = match with(own, ghost) {
            Ok(made) => return Ok((made, Vec::new())),
            Err(error) => error,
        };
        let without_ghost = format!("the ghost was removed: {refused}");
        if ghost.is_some()
            && let Ok(made) = with(own, None)
        {
            return Ok((made, vec![without_ghost]));
        }
        if loaded.engine == own {
            return Err(refused);
        }
        let made = with(loaded.engine, None).map_err(|_| refused.clone())?;
        let (old, new, gone) =
            (own.name(), loaded.engine.name(), if ghost.is_some() { " without a ghost" } else { "" });
        let note = format!("`{new}` simulates now{gone}, as `{old}` does not support the scene: {refused}");
        Ok((made, vec![note]))
    }

    fn become_other(&mut self, made: Session) {
        let (playing, speed, frame) = (self.playing, self.speed, self.frame);
        let outbox = std::mem::take(&mut self.outbox);
        *self = Session { playing, speed, frame, outbox, ..made };
        self.send_scene();
    }
}
