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

    /// A B-spline of degree p on knots that do not decrease. Beyond the first and last knot of its range, u follows the
    /// first and last piece.
    ///
    /// On each span between knots p … n it is a polynomial in t = u − (left end), whose coefficients are those of the p + 1
    /// basis functions that are not zero there, times their points; the span of u selects them.
    pub(super) fn spline(&mut self, u: Node, p: usize, knots: &[f64], points: &[[Node; 3]]) -> [Node; 3] {
        let spans: Vec<usize> = (p..points.len()).filter(|i| knots[*i] < knots[i + 1]).collect();
        let breaks: Vec<f64> = spans[1..].iter().map(|i| knots[*i]).collect();
        let starts: Vec<Node> = spans.iter().map(|i| self.constant(knots[*i])).collect();
        let start = self.choose(u, &breaks, &starts);
        let t = self.subtract(u, start);
        // By span, then by power.
        let pieces: Vec<Vec<[Node; 3]>> = (spans.iter())
            .map(|span| {
                let basis = span_basis(p, knots, *span);
                let coefficient = |power: usize| {
                    let weights: Vec<Node> = basis.iter().map(|N| self.constant(N[power])).collect();
                    self.weighted(&weights, &points[span - p..=*span])
                };
                (0..=p).map(coefficient).collect()
            })
            .collect();
        std::array::from_fn(|axis| {
            let coefficients: Vec<Node> = (0..=p)
                .map(|power| {
                    let each: Vec<Node> = pieces.iter().map(|piece| piece[power][axis]).collect();
                    self.choose(u, &breaks, &each)
                })
                .collect();
            self.polynomial(t, &coefficients)
        })
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

/// The basis functions span − p … span, which are all that are not zero on a span, as polynomials in t = u − knots\[span\],
/// ascending: Cox and de Boor,
///
/// N_{i,q} = (u − k_i)/(k_{i+q} − k_i) N_{i,q−1} + (k_{i+q+1} − u)/(k_{i+q+1} − k_{i+1}) N_{i+1,q−1}.
fn span_basis(p: usize, knots: &[f64], span: usize) -> Vec<Vec<f64>> {
    let at = knots[span];
    // Functions span − q … span of degree q.
    let mut N = vec![vec![1.0]];
    for q in 1..=p {
        let mut next = vec![vec![0.0; q + 1]; q + 1];
        for (j, lower) in N.iter().enumerate() {
            // Of degree q − 1: function i, in the second part of i − 1 and in the first of i.
            let i = span + 1 - q + j;
            let width = knots[i + q] - knots[i];
            for (power, c) in lower.iter().enumerate() {
                next[j][power] += (knots[i + q] - at) * c / width;
                next[j][power + 1] -= c / width;
                next[j + 1][power] += (at - knots[i]) * c / width;
                next[j + 1][power + 1] += c / width;
            }
        }
        N = next;
    }
    N
}
