//! Real robots against MuJoCo itself.

use crate::oracle::Answer;

#[test]
fn real_robots_are_as_in_mujoco() {
    let text = std::fs::read_to_string("/work/wheels-mjcf/oracle.txt").unwrap();
    let (mut same, mut failed, mut other) = (0, 0, 0);
    for answer in Answer::parse(&text) {
        let path = std::path::Path::new("/work/wheels-mjcf").join(&answer.file);
        let start = std::time::Instant::now();
        match pliant_io::load(&path) {
            Err(error) => {
                failed += 1;
                println!("FAILED {}: {}", answer.file, error.to_string().lines().take(8).collect::<Vec<_>>().join("\n    "));
            }
            Ok(mechanism) => {
                let differences = answer.differences(&mechanism);
                if differences.is_empty() {
                    same += 1;
                } else {
                    other += 1;
                    println!("{}: {} differences", answer.file, differences.len());
                    differences.iter().take(4).for_each(|d| println!("    {d}"));
                    if std::env::var("W").is_ok() {
                        mechanism.warnings().iter().take(9).for_each(|d| println!("    W {d}"));
                    }
                }
            }
        }
        if start.elapsed().as_secs_f64() > 1.0 { println!("SLOW {} {:?}", answer.file, start.elapsed()); }
    }
    println!("{same} same, {other} differ, {failed} failed");
}
