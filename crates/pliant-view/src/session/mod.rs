//! A session: one mechanism that moves, and what a person does to it. Commands come in as messages, what the page draws goes out as
//! messages; time passes only by [`Session::advance`].
//!
//! A command that cannot be done leaves everything as it was and sends a note that says why. A step that fails pauses the session, its
//! state unchanged.

mod clock;
mod dragging;
mod ellipsoids;
mod loading;
mod models;
mod settings;
mod showing;

use std::collections::VecDeque;

use pliant_core::blended;
use pliant_core::engine::{Balance, State};
use pliant_core::engines::Engine;
use pliant_core::mechanism::Apart;
use pliant_core::nalgebra::Vector3;

use crate::protocol::{self, Command, Lists};
use crate::running::{Loaded, Running};
use dragging::Held;
use settings::Scaled;

/// The shortest and longest step that can be set, s.
const STEPS: [f64; 2] = [1e-6, 0.1];

/// One mechanism in motion, and what a person does to it.
#[derive(Debug)]
pub struct Session {
    loaded: Loaded,
    apart: Apart,
    engine: Engine,
    running: Running,
    ghost: Option<(Engine, Running)>,
    dt: f64,
    playing: bool,
    /// Seconds simulated in a second; 0 is as fast as possible.
    speed: f64,
    held: Option<Held>,
    /// Of each effector at rest, m/N, once they are asked for.
    compliances: Option<Vec<f64>>,
    scaled: Scaled,
    /// The linear models of `blended`, kept when another engine simulates; `None` before the first.
    models: Option<blended::Model>,
    saved: Option<State>,
    /// Compliance at the effectors, columns of 3×3 matrices, and the frame it was found for; `None` while nobody asks.
    ellipsoids: Option<(u32, Vec<f32>)>,
    /// What is wrong with the scene file, while the last good one moves.
    broken: Option<String>,
    outbox: VecDeque<Vec<u8>>,
    frame: u32,
    lists: Lists,
    /// Of the last steps, s.
    times: VecDeque<f64>,
    /// Clock at the last call, and what is owed, s.
    clock: Option<f64>,
    owed: f64,
    /// Clock and simulated time at the last measurement of the rate.
    measured: (f64, f64),
    rate: f64,
    /// Why the last step was not taken, said once.
    stopped: Option<String>,
    /// The energy since a person last changed something, and kinds of warnings that were said.
    balance: Option<Balance>,
    warned: Vec<&'static str>,
}

impl Session {
    /// Of a mechanism where it starts, playing in real time, in steps of dt seconds. The error says why the engine does not take it.
    pub fn new(loaded: Loaded, dt: f64) -> Result<Session, String> {
        let apart = loaded.mechanism.take_apart();
        let running = Running::new(loaded.engine, &loaded, &apart, &loaded.inputs, dt, None)?;
        let mut session = Session {
            engine: loaded.engine,
            running,
            ghost: None,
            apart,
            dt: checked_step(dt)?,
            playing: true,
            speed: 1.0,
            held: None,
            compliances: None,
            scaled: Scaled::default(),
            models: None,
            saved: None,
            ellipsoids: None,
            broken: None,
            outbox: VecDeque::new(),
            frame: 0,
            lists: Lists::default(),
            times: VecDeque::new(),
            clock: None,
            owed: 0.0,
            measured: (0.0, 0.0),
            rate: 0.0,
            stopped: None,
            balance: None,
            warned: Vec::new(),
            loaded,
        };
        if let Some(ghost) = session.loaded.ghost {
            session.set_ghost(Some(ghost))?;
        }
        session.keep_models();
        Ok(session)
    }

    /// Number of steps taken.
    pub fn steps(&mut self) -> u64 {
        self.running.simulation().steps()
    }

    /// Whether time passes.
    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// A message that waits to be sent, the oldest first. Frames are not among them.
    pub fn next_message(&mut self) -> Option<Vec<u8>> {
        self.outbox.pop_front()
    }

    /// Says something to the page.
    pub fn note(&mut self, is_error: bool, words: &str) {
        self.outbox.push_back(protocol::note(is_error, words));
    }

    /// Does what a message of the page asks; what is no message, or cannot be done, changes nothing and is answered by a note.
    pub fn take(&mut self, message: &[u8]) {
        let Some(command) = Command::read(message) else {
            return self.note(true, "a message that this version does not know: load the page again");
        };
        if !matches!(command, Command::Drawn { .. }) {
            self.balance = None;
        }
        match self.obey(command) {
            Ok(()) => {}
            Err(error) => self.note(true, &error),
        }
        // Nothing of these is in it, and they come often.
        if !matches!(command, Command::Drawn { .. } | Command::Pull { .. } | Command::Target { .. }) {
            self.send_status();
        }
    }

    fn obey(&mut self, command: Command) -> Result<(), String> {
        match command {
            Command::Hello {} => {
                // What an earlier page held it does not hold any more.
                self.release();
                self.send_scene();
            }
            Command::Drawn { .. } => {}
            Command::Play { on } => self.play(on != 0),
            Command::Step {} => {
                self.play(false);
                self.step();
            }
            Command::Reset {} => self.reset()?,
            Command::Speed { factor } => self.set_speed(factor)?,
            Command::Engine { engine } => self.set_engine(engine_at(engine)?)?,
            Command::Ghost { engine: 255 } => self.set_ghost(None)?,
            Command::Ghost { engine } => self.set_ghost(Some(engine_at(engine)?))?,
            Command::TimeStep { dt } => self.dt = checked_step(dt)?,
            Command::Gravity { x, y, z } => {
                if Vector3::new(x, y, z).norm() > 1e3 {
                    return Err("gravity above 1000 m/s² is not supported here".into());
                }
                self.each_input(|simulation| {
                    simulation.inputs_mut().set_gravity([x, y, z]).map_err(|e| e.to_string())
                })?;
            }
            Command::Grab { body, x, y, z, stiffness } => {
                self.grab(body, Vector3::new(x, y, z), stiffness)?
            }
            Command::Pull { x, y, z } => self.pull(Vector3::new(x, y, z))?,
            Command::Release {} => self.release(),
            Command::Target { joint, freedom, value } => self.set_target(joint, freedom, value)?,
            Command::Scale { stiffness, damping } => {
                self.scale_joints(Scaled { stiffness, damping, ..self.scaled })?
            }
            Command::Torques { on } => self.scale_joints(Scaled { torques: on != 0, ..self.scaled })?,
            Command::AddModel {} => self.add_model()?,
            Command::ForgetModels {} => self.forget_models()?,
            Command::Save {} => self.saved = Some(self.running.simulation().state().clone()),
            Command::Restore {} => {
                let saved = self.saved.clone().ok_or("no pose was saved")?;
                self.set_state(&saved)?;
            }
            Command::SceneFile {} => self.send_file()?,
            Command::Ellipsoids { on } => self.set_ellipsoids(on != 0)?,
        }
        Ok(())
    }

    fn play(&mut self, on: bool) {
        self.playing = on;
        self.owed = 0.0;
        self.stopped = None;
    }
}

fn engine_at(place: u8) -> Result<Engine, String> {
    Engine::ALL.get(place as usize).copied().ok_or_else(|| "there is no such engine".into())
}

fn checked_step(dt: f64) -> Result<f64, String> {
    match (STEPS[0]..=STEPS[1]).contains(&dt) {
        true => Ok(dt),
        false => Err(format!("a step of {dt} s is not between {} and {} s", STEPS[0], STEPS[1])),
    }
}
