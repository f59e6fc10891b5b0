//! Weights of control points, and polynomials in pieces, as values of a graph.

use super::graph::{Graph, Node};

impl Graph {
    /// Bernstein's polynomials of degree n: C(n, i) uⁱ (1 − u)ⁿ⁻ⁱ.
    pub(super) fn bernstein(&mut self, u: Node, n: usize) -> Vec<Node> {
        let one = self.constant(1.0);
        let w = self.subtract(one, u);
        let powers = |graph: &mut Graph, base: Node| {
            let mut list = vec![one];
            for i in 0..n {
                list.push(graph.multiply(list[i], base));
            }
            list
        };
        let (us, ws) = (powers(self, u), powers(self, w));
        let mut choose = 1.0;
        (0..=n)
            .map(|i| {
                let (c, product) = (self.constant(choose), self.multiply(us[i], ws[n - i]));
                choose = choose * (n - i) as f64 / (i + 1) as f64;
                self.multiply(c, product)
            })
            .collect()
    }

    /// Basis functions of a B-spline of degree p on increasing knots: as many as knots − p − 1. Beyond the
    /// first and last knot of its range, u follows the first and last piece.
    ///
    /// Each is a polynomial in u − (left end) on each span between knots p … n, found by the recursion of Cox
    /// and de Boor on polynomials; the span of u selects the coefficients.
    pub(super) fn basis(&mut self, u: Node, p: usize, knots: &[f64]) -> Vec<Node> {
        let n = knots.len() - p - 1;
        let spans: Vec<usize> = (p..n).filter(|i| knots[*i] < knots[i + 1]).collect();
        let breaks: Vec<f64> = spans[1..].iter().map(|i| knots[*i]).collect();
        let starts: Vec<Node> = spans.iter().map(|i| self.constant(knots[*i])).collect();
        let start = self.choose(u, &breaks, &starts);
        let t = self.subtract(u, start);
        let pieces: Vec<Vec<Vec<f64>>> = spans.iter().map(|span| span_basis(p, knots, *span)).collect();
        (0..n)
            .map(|i| {
                let coefficients: Vec<Node> = (0..=p)
                    .map(|power| {
                        let each: Vec<Node> =
                            pieces.iter().map(|piece| self.constant(piece[i][power])).collect();
                        self.choose(u, &breaks, &each)
                    })
                    .collect();
                self.polynomial(t, &coefficients)
            })
            .collect()
    }

    /// The entry whose piece holds x: entry i up to, not including, break i.
    pub(super) fn choose(&mut self, x: Node, breaks: &[f64], entries: &[Node]) -> Node {
        let mut value = entries[breaks.len()];
        for (at, entry) in breaks.iter().zip(entries).rev() {
            let at = self.constant(*at);
            let below = self.less(x, at);
            value = self.select(below, *entry, value);
        }
        value
    }

    /// Horner: c₀ + x(c₁ + x(c₂ + …)).
    pub(super) fn polynomial(&mut self, x: Node, coefficients: &[Node]) -> Node {
        let mut value = self.constant(0.0);
        for c in coefficients.iter().rev() {
            let product = self.multiply(value, x);
            value = self.add(product, *c);
        }
        value
    }

    /// Σ w P
    pub(super) fn weighted(&mut self, weights: &[Node], points: &[[Node; 3]]) -> [Node; 3] {
        let mut sum = self.vector([0.0; 3]);
        for (w, point) in weights.iter().zip(points) {
            let part = self.scale(*w, point);
            sum = self.add_vectors(&sum, &part);
        }
        sum
    }
}

/// The knots of a spline that starts and ends at its first and last point, evenly spaced from 0 to 1.
pub(super) fn even_knots(degree: usize, points: usize) -> Vec<f64> {
    let pieces = points - degree;
    let inner = (0..=pieces).map(|i| i as f64 / pieces as f64);
    std::iter::repeat_n(0.0, degree).chain(inner).chain(std::iter::repeat_n(1.0, degree)).collect()
}

/// The basis functions on one span as polynomials in t = u − knots\[span\], ascending: Cox and de Boor,
///
/// N_{i,p} = (u − k_i)/(k_{i+p} − k_i) N_{i,p−1} + (k_{i+p+1} − u)/(k_{i+p+1} − k_{i+1}) N_{i+1,p−1},
///
/// with 0/0 = 0.
fn span_basis(p: usize, knots: &[f64], span: usize) -> Vec<Vec<f64>> {
    let mut N: Vec<Vec<f64>> = (0..knots.len() - 1).map(|i| vec![f64::from(i == span)]).collect();
    for q in 1..=p {
        N = (0..knots.len() - 1 - q)
            .map(|i| {
                let mut sum = vec![0.0; q + 1];
                // Adds (a + b t) N / width.
                let mut add = |N: &[f64], a: f64, b: f64, width: f64| {
                    if width > 0.0 {
                        for (power, c) in N.iter().enumerate() {
                            sum[power] += a * c / width;
                            sum[power + 1] += b * c / width;
                        }
                    }
                };
                add(&N[i], knots[span] - knots[i], 1.0, knots[i + q] - knots[i]);
                add(&N[i + 1], knots[i + q + 1] - knots[span], -1.0, knots[i + q + 1] - knots[i + 1]);
                sum
            })
            .collect();
    }
    N
}
