//! Steps in real time, as a clock says.

use pliant_core::engine::Balance;

use super::Session;

/// Steps between two looks at what an engine leaves out.
const BETWEEN_LOOKS: u64 = 16;

/// Steps whose times are kept: of a browser's clock, which reads the same for many, only the mean of many says anything.
const TIMED: usize = 401;
/// The slowest motion but none, of real time: how long it is until the next step stays a time to wait.
const SLOWEST: f64 = 1e-3;
const FASTEST: f64 = 1e3;
/// Simulated time that may be owed, s: what a pause of the machine costs is not caught up.
const MOST_OWED: f64 = 0.1;

impl Session {
    pub(super) fn set_speed(&mut self, factor: f64) -> Result<(), String> {
        if factor != 0.0 && !(SLOWEST..=FASTEST).contains(&factor) {
            return Err(format!(
                "a speed of {factor} times real time is not between {SLOWEST} and {FASTEST}; 0 is as fast as possible"
            ));
        }
        self.speed = factor;
        Ok(())
    }

    /// One step of everything. A step that fails pauses.
    pub(super) fn step(&mut self) -> bool {
        self.load_loose();
        let dt = self.dt;
        let mut stepped = self.running.simulation().step(dt).map_err(|error| error.to_string());
        if let (Ok(()), Some((engine, ghost))) = (&stepped, &mut self.ghost) {
            let name = engine.name();
            stepped = ghost.simulation().step(dt).map_err(|error| format!("the ghost (`{name}`): {error}"));
        }
        match stepped {
            Ok(()) => {
                self.look();
                true
            }
            Err(error) => {
                let error = match self.held.is_some() {
                    true => {
                        self.release();
                        format!("{error}. The mouse spring was released.")
                    }
                    false => {
                        self.playing = false;
                        format!("paused: {error}")
                    }
                };
                if self.stopped.as_ref() != Some(&error) {
                    self.note(true, &error);
                    self.send_status();
                    self.stopped = Some(error);
                }
                false
            }
        }
    }

    /// Says what the engine leaves out, once of each kind. Limits give way under a hand; and what a hand gives is no balance of energy.
    fn look(&mut self) {
        let simulation = self.running.simulation();
        if !simulation.steps().is_multiple_of(BETWEEN_LOOKS) {
            return;
        }
        let mut found = simulation.warnings();
        found.retain(|warning| warning.kind != "limits");
        if self.held.is_none() && !self.loaded.touches() {
            match &mut self.balance {
                Some(balance) => found.extend(balance.look(simulation)),
                None => self.balance = Balance::new(simulation),
            }
        }
        for warning in found {
            if !self.warned.contains(&warning.kind) {
                self.warned.push(warning.kind);
                self.note(false, &warning.text);
            }
        }
    }

    /// Takes the steps that are due, as a clock (s) says, for at most `most` seconds of it.
    pub fn advance(&mut self, most: f64, mut clock: impl FnMut() -> f64) {
        let start = clock();
        let passed = start - self.clock.replace(start).unwrap_or(start);
        if !self.playing {
            (self.measured, self.rate) = ((start, self.running.simulation().time()), 0.0);
            return;
        }
        let endless = self.speed == 0.0;
        self.owed =
            (self.owed + passed.max(0.0) * self.speed).min(MOST_OWED.max(self.dt) * self.speed.max(1.0));
        let mut now = start;
        while (endless || self.owed >= self.dt) && now - start < most {
            if !self.step() {
                self.owed = 0.0;
                break;
            }
            self.owed -= self.dt;
            let after = clock();
            self.times.push_back(after - now);
            if self.times.len() > TIMED {
                self.times.pop_front();
            }
            now = after;
        }
        if endless {
            self.owed = 0.0;
        }
        let (since, then) = self.measured;
        if now - since > 0.5 {
            let time = self.running.simulation().time();
            self.rate = ((time - then) / (now - since)).max(0.0);
            self.measured = (now, time);
        }
    }

    /// How long one of the last steps took, s: the median, which leaves out what else the machine did; or the mean, where a clock that reads
    /// the same before and after a step is too coarse for that. 0 before the first.
    pub(super) fn step_time(&self) -> f64 {
        let mut sorted: Vec<f64> = self.times.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        match sorted.first() {
            None => 0.0,
            Some(0.0) => sorted.iter().sum::<f64>() / sorted.len() as f64,
            Some(_) => sorted[sorted.len() / 2],
        }
    }

    /// Seconds until a step is due; `None` while paused.
    pub fn due(&self) -> Option<f64> {
        self.playing
            .then(|| if self.speed == 0.0 { 0.0 } else { ((self.dt - self.owed) / self.speed).max(0.0) })
    }
}
