//! Claim: MJCF files mean here what they mean in MuJoCo itself: mass, freedoms and the poses of all bodies, springs and
//! loops; the small files of `tests/mjcf/files` and real robots.

mod masses;
mod oracle;
mod robots;
mod springs;

use libtest_mimic::Trial;

pub fn trials() -> Vec<Trial> {
    [masses::trials(), robots::trials(), springs::trials()].into_iter().flatten().collect()
}
