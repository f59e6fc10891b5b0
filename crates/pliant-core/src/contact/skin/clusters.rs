//! Nodes of a surface in clusters, so that those near a shape are found without asking all of them: a cluster whose ball is out of reach has
//! none.

use nalgebra::Vector3;

/// Nodes of a cluster, at most.
const MOST: usize = 16;

/// Nodes near each other, and a ball around them.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub middle: Vector3<f64>,
    pub radius: f64,
    pub nodes: Vec<u32>,
}

/// Halves the points across the longest edge of their box until few are together.
pub(super) fn clusters(points: &[Vector3<f64>]) -> Vec<Cluster> {
    let mut waiting = vec![(0..points.len() as u32).collect::<Vec<u32>>()];
    let mut clusters = Vec::new();
    while let Some(mut nodes) = waiting.pop() {
        let at = |node: &u32| points[*node as usize];
        let low = nodes.iter().map(at).fold(Vector3::repeat(f64::INFINITY), |m, p| m.inf(&p));
        let high = nodes.iter().map(at).fold(Vector3::repeat(f64::NEG_INFINITY), |m, p| m.sup(&p));
        if nodes.len() > MOST {
            let axis = (high - low).imax();
            nodes.sort_by(|a, b| at(a)[axis].total_cmp(&at(b)[axis]));
            let rest = nodes.split_off(nodes.len() / 2);
            waiting.extend([rest, nodes]);
        } else if !nodes.is_empty() {
            let middle = (low + high) * 0.5;
            let radius = nodes.iter().map(|node| (at(node) - middle).norm()).fold(0.0, f64::max);
            clusters.push(Cluster { middle, radius, nodes });
        }
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_in_the_ball_of_its_one_cluster() {
        let mut seed = 7u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        // Also one of each size around the largest cluster, and many in one place.
        for count in [0, 1, MOST - 1, MOST, MOST + 1, 865] {
            for spread in [1.0, 0.0] {
                let points: Vec<_> =
                    (0..count).map(|_| Vector3::new(random(), 0.1 * random(), random()) * spread).collect();
                let mut seen = vec![0; count];
                for cluster in clusters(&points) {
                    assert!(cluster.nodes.len() <= MOST && cluster.nodes.len() >= MOST.min(count) / 2);
                    for node in cluster.nodes {
                        seen[node as usize] += 1;
                        assert!((points[node as usize] - cluster.middle).norm() <= cluster.radius);
                    }
                }
                assert!(seen.iter().all(|times| *times == 1));
            }
        }
    }
}
