//! The stiffness and mass of one straight tetrahedron with ten nodes (T10).
//!
//! With barycentric coordinates L_a of constant gradient g_a: corners N_a = L_a(2L_a − 1), ∇N_a = (4L_a − 1) g_a; midsides
//! N_ab = 4 L_a L_b, ∇N_ab = 4(L_a g_b + L_b g_a). Gradients are linear, so that the stiffness
//! K_ab = ∫ λ ∇N_a ∇N_bᵀ + μ(∇N_b ∇N_aᵀ + (∇N_a·∇N_b) I) is exact with the four points of degree 2.

use nalgebra::{Matrix3, Vector3};

use crate::mesh::{EDGES, jacobian};

/// Gradients of the barycentric coordinates, and the volume.
pub(crate) fn gradients(x: &[Vector3<f64>; 4]) -> ([Vector3<f64>; 4], f64) {
    let six_volumes = jacobian(x);
    let [a, b, c] = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
    let g1 = b.cross(&c) / six_volumes;
    let g2 = c.cross(&a) / six_volumes;
    let g3 = a.cross(&b) / six_volumes;
    ([-(g1 + g2 + g3), g1, g2, g3], six_volumes / 6.0)
}

/// Gradients of the ten shape functions at barycentric coordinates L.
pub(crate) fn shape_gradients(g: &[Vector3<f64>; 4], L: &[f64; 4]) -> [Vector3<f64>; 10] {
    let mut out = [Vector3::zeros(); 10];
    for a in 0..4 {
        out[a] = g[a] * (4.0 * L[a] - 1.0);
    }
    for (k, &(a, b)) in EDGES.iter().enumerate() {
        out[4 + k] = (g[b] * L[a] + g[a] * L[b]) * 4.0;
    }
    out
}

/// The blocks K_ab of an element, a ≥ b.
pub(crate) fn stiffness(x: &[Vector3<f64>; 4], lame: (f64, f64)) -> [[Matrix3<f64>; 10]; 10] {
    let (λ, μ) = lame;
    let (g, volume) = gradients(x);
    let mut K = [[Matrix3::zeros(); 10]; 10];
    // Keast's four points of degree 2: (5 + 3√5)/20 and (5 − √5)/20, equal weights.
    let far = (5.0 + 3.0 * 5f64.sqrt()) / 20.0;
    let near = (5.0 - 5f64.sqrt()) / 20.0;
    for q in 0..4 {
        let L: [f64; 4] = std::array::from_fn(|a| if a == q { far } else { near });
        let d = shape_gradients(&g, &L);
        let w = volume / 4.0;
        for a in 0..10 {
            for b in 0..=a {
                let outer = d[a] * d[b].transpose();
                let dot = outer.trace() * w * μ;
                let block = &mut K[a][b];
                *block += outer * (w * λ) + outer.transpose() * (w * μ);
                block[(0, 0)] += dot;
                block[(1, 1)] += dot;
                block[(2, 2)] += dot;
            }
        }
    }
    for a in 0..10 {
        for b in a + 1..10 {
            K[a][b] = K[b][a].transpose();
        }
    }
    K
}

/// ∫ N_a N_b over a tetrahedron of volume 1, by ∫ L₀^i L₁^j L₂^k L₃^l = 6 i! j! k! l! / (3 + i + j + k + l)! of its volume.
pub(crate) fn mass() -> [[f64; 10]; 10] {
    let factorial = |n: usize| (1..=n).product::<usize>() as f64;
    // N_a as terms: coefficient and powers.
    let terms = |a: usize| -> Vec<(f64, [usize; 4])> {
        let mut powers = [0; 4];
        if a < 4 {
            powers[a] = 1;
            let once = powers;
            powers[a] = 2;
            vec![(2.0, powers), (-1.0, once)]
        } else {
            let (i, j) = EDGES[a - 4];
            (powers[i], powers[j]) = (1, 1);
            vec![(4.0, powers)]
        }
    };
    std::array::from_fn(|a| {
        std::array::from_fn(|b| {
            let mut sum = 0.0;
            for (ca, pa) in terms(a) {
                for (cb, pb) in terms(b) {
                    let powers: [usize; 4] = std::array::from_fn(|i| pa[i] + pb[i]);
                    let top: f64 = powers.iter().map(|&n| factorial(n)).product();
                    sum += ca * cb * 6.0 * top / factorial(3 + powers.iter().sum::<usize>());
                }
            }
            sum
        })
    })
}
