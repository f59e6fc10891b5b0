//! A device's point contact driven by a recorded path: `cargo run --release -p pliant-elastic --example probe [path.csv]`.
//!
//! The file has a line for each sample: time in s, then x, y and z in m in the pad's frame, separated by commas; lines that start
//! with a letter or # are skipped. Without a file, a stroke over the pad and down its edge at 1 kHz is made up. Prints the force along the
//! path and how long a call takes.

use std::time::Instant;

use pliant_elastic::nalgebra::Vector3;
use pliant_elastic::{Material, Mesh, Probe, Solid};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = match std::env::args().nth(1) {
        Some(file) => read(&std::fs::read_to_string(&file)?).map_err(|e| format!("{file}: {e}"))?,
        None => stroke(),
    };
    // A pad of 20 × 20 × 12 mm on its bone, as soft as a fingertip.
    let mesh = Mesh::cuboid_with_nodes(Vector3::new(0.010, 0.010, 0.006), 834)?;
    let material = Material::new(1e5, 0.45, 0.01, 1000.0)?;
    let solid = Solid::new(&mesh, &material, |p| p.z < -0.006 + 1e-9, |_| {})?;
    println!("pad of {} nodes that can be loaded, path of {} samples", solid.nodes(), path.len());
    let probe = Probe::new(&solid, 2000.0, 0.4)?;
    let mut state = probe.state();
    let mut times = Vec::with_capacity(path.len());
    let mut last: Option<Vector3<f64>> = None;
    let mut largest_change = 0.0f64;
    println!("{:>8} {:>9} {:>9} {:>9} {:>9}", "time, s", "depth, mm", "fx, N", "fy, N", "fz, N");
    for (k, (t, p)) in path.iter().enumerate() {
        let start = Instant::now();
        let touch = probe.touch(p, &mut state);
        times.push(start.elapsed().as_secs_f64() * 1e6);
        largest_change = largest_change.max(last.map_or(0.0, |l| (touch.force - l).norm()));
        last = Some(touch.force);
        if k % (path.len() / 20).max(1) == 0 {
            let f = touch.force;
            println!("{t:8.3} {:9.3} {:9.4} {:9.4} {:9.4}", 1e3 * touch.depth, f.x, f.y, f.z);
        }
    }
    times.sort_by(f64::total_cmp);
    let part = |q: f64| times[((times.len() - 1) as f64 * q) as usize];
    println!("largest change of the force from sample to sample: {largest_change:.4} N");
    println!(
        "a call takes {:.1} µs at the median, {:.1} µs at 99 %, {:.1} µs at most",
        part(0.5),
        part(0.99),
        part(1.0)
    );
    Ok(())
}

/// Two seconds at 1 kHz: down onto the pad, across it, over its edge and down its side.
fn stroke() -> Vec<(f64, Vector3<f64>)> {
    (0..2000)
        .map(|k| {
            let t = 1e-3 * k as f64;
            let down = 0.001 * (t / 0.4).min(1.0);
            let along = (t - 0.4).max(0.0) * 0.014 - 0.008;
            let over = (along - 0.0085).max(0.0);
            (
                t,
                Vector3::new(
                    along.min(0.0085) + over.min(0.0005),
                    0.002 * (6.0 * t).sin(),
                    0.0065 - 1.5 * down - over,
                ),
            )
        })
        .collect()
}

fn read(text: &str) -> Result<Vec<(f64, Vector3<f64>)>, String> {
    let skipped = |line: &&str| line.is_empty() || line.starts_with(|c: char| c.is_alphabetic() || c == '#');
    let mut path = Vec::new();
    for (k, line) in text.lines().map(str::trim).enumerate().filter(|(_, line)| !skipped(line)) {
        let numbers: Vec<f64> = line.split(',').map(|w| w.trim().parse().unwrap_or(f64::NAN)).collect();
        match numbers[..] {
            [t, x, y, z] if numbers.iter().all(|x| x.is_finite()) => path.push((t, Vector3::new(x, y, z))),
            _ => return Err(format!("line {}: `{line}` is not a time and three coordinates", k + 1)),
        }
    }
    if path.is_empty() { Err("no sample in it".into()) } else { Ok(path) }
}
