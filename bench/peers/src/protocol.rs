//! The driver's lines on stdin, answered with one JSON line each; what they mean is told in `peers/python/peer.py`.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// A simulation that the race can drive.
pub trait Racer {
    /// One step of 1/60 s, with every link's pose.
    fn step(&mut self) -> Result<(), String>;
    /// Where the tip is.
    fn position(&mut self) -> [f64; 3];
    /// Sum of squared rates; `None` if the engine is not to be halted.
    fn speed(&mut self) -> Option<f64>;
    /// Puts all speeds to zero.
    fn halt(&mut self);
}

/// At rest: over the second half of all steps the tip stays within this part of its displacement.
const STAYS: f64 = 1e-3;

/// CPU time of this thread, µs.
pub fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    1e6 * time.tv_sec as f64 + 1e-3 * time.tv_nsec as f64
}

/// Answers until the driver has no more to ask. Displacements are from `home`, where the tip is in the scene file.
pub fn serve(racer: &mut dyn Racer, home: [f64; 3], started: Instant) -> Result<(), Box<dyn Error>> {
    answer(&json!({ "ready": true, "build_seconds": started.elapsed().as_secs_f64() }))?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["block", batches, size] => answer(&block(racer, home, batches.parse()?, size.parse()?))?,
            ["rest", seconds] => answer(&rest(racer, home, seconds.parse()?))?,
            _ => break,
        }
    }
    Ok(())
}

/// One line of JSON.
pub fn answer(value: &Value) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{value}")?;
    Ok(out.flush()?)
}

fn block(racer: &mut dyn Racer, home: [f64; 3], batches: usize, size: usize) -> Value {
    let mut times = Vec::with_capacity(batches);
    let result = (|| {
        (0..size).try_for_each(|_| racer.step())?;
        for _ in 0..batches {
            let start = now();
            (0..size).try_for_each(|_| racer.step())?;
            times.push((now() - start) / size as f64);
        }
        Ok::<(), String>(())
    })();
    json!({ "us": times, "displacement": displacement(racer, home), "stopped": result.err() })
}

fn rest(racer: &mut dyn Racer, home: [f64; 3], seconds: f64) -> Value {
    let end = now() + 1e6 * seconds;
    let (mut count, mut check, mut last, mut spread) = (0u64, 256u64, 0.0, 0.0f64);
    let mut anchor = displacement(racer, home);
    let (mut settled, mut stopped) = (false, None);
    while now() < end {
        stopped = racer.step().err();
        count += 1;
        let at = displacement(racer, home);
        if stopped.is_some() || at.iter().any(|x| !x.is_finite()) {
            break;
        }
        if let Some(speed) = racer.speed() {
            if speed < last {
                racer.halt();
                last = 0.0;
            } else {
                last = speed;
            }
        }
        spread = spread.max(norm([0, 1, 2].map(|i| at[i] - anchor[i])));
        if count == check {
            settled = spread <= STAYS * norm(at);
            if settled {
                break;
            }
            (anchor, spread, check) = (at, 0.0, 2 * check);
        }
    }
    json!({ "displacement": displacement(racer, home), "settled": settled, "steps": count, "stopped": stopped })
}

fn displacement(racer: &mut dyn Racer, home: [f64; 3]) -> [f64; 3] {
    let at = racer.position();
    [0, 1, 2].map(|i| at[i] - home[i])
}

fn norm(x: [f64; 3]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
