//! Transforms with their motion: pose G(q), the columns of S with G⁻¹Ġ = S q̇, and Ṡq̇.
//!
//! Simple transforms are differentiated as they stand. Products and inverses carry the motion of their factors
//! along, as a recursion over a chain does; with Ad as in `spatial`:
//!
//! ```text
//! G = A B:   S = Ad(B⁻¹) S_A + S_B    Ṡq̇ = Ad(B⁻¹) Ṡ_Aq̇ + Ṡ_Bq̇ + ad(Ad(B⁻¹)V_A) V_B
//! G = A⁻¹:   S = −Ad(A) S_A           Ṡq̇ = −Ad(A) Ṡ_Aq̇
//! ```
//!
//! The second line holds because ad(V)V = 0.

use super::graph::{Graph, Node};
use super::jet::Derivative;
use super::vector::{Matrix, Vector, column, transposed};

/// A twist (v, ω) of a graph's values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Twist {
    pub linear: Vector,
    pub angular: Vector,
}

/// A pose that depends on the coordinates, and how it moves with them.
#[derive(Clone, Debug)]
pub(super) struct Transform {
    /// R, row by row.
    pub rotation: Matrix,
    /// p
    pub position: Vector,
    /// S, column by column.
    pub subspace: Vec<Twist>,
    /// V = S q̇
    pub velocity: Twist,
    /// Ṡq̇
    pub bias: Twist,
}

/// A graph whose inputs are coordinates and their rates, with its derivatives along each coordinate and along
/// the motion.
#[derive(Clone, Debug)]
pub(super) struct Space {
    pub graph: Graph,
    pub along: Vec<Derivative>,
    pub motion: Derivative,
}

impl Space {
    /// Of d freedoms: inputs 0..d are the coordinates, d..2d their rates.
    pub fn new(d: usize) -> Space {
        let mut graph = Graph::default();
        let along = (0..d).map(|k| Derivative::along_input(&mut graph, k)).collect();
        let motion = Derivative::along_motion(&mut graph, d);
        Space { graph, along, motion }
    }

    /// The derivative of a vector along coordinate k.
    pub fn along(&mut self, k: usize, v: &Vector) -> Vector {
        v.map(|x| self.along[k].of(&mut self.graph, x))
    }

    /// The rate of a vector.
    pub fn rate(&mut self, v: &Vector) -> Vector {
        v.map(|x| self.motion.of(&mut self.graph, x))
    }

    fn zero(&mut self) -> Twist {
        let zero = self.graph.vector([0.0; 3]);
        Twist { linear: zero, angular: zero }
    }

    /// Moved by p, not turned: S = (∂p, 0), Ṡq̇ = (p̈, 0).
    pub fn translation(&mut self, p: Vector) -> Transform {
        let zero = self.graph.vector([0.0; 3]);
        let subspace =
            (0..self.along.len()).map(|k| Twist { linear: self.along(k, &p), angular: zero }).collect();
        let rate = self.rate(&p);
        let second = self.rate(&rate);
        Transform {
            rotation: identity(&mut self.graph),
            position: p,
            subspace,
            velocity: Twist { linear: rate, angular: zero },
            bias: Twist { linear: second, angular: zero },
        }
    }

    /// Turned by an angle about an axis of length one. If the axis is constant, S = (0, n ∂φ), Ṡq̇ = (0, n φ̈).
    pub fn rotation(&mut self, n: Vector, angle: Node) -> Transform {
        let rotation = rotation_matrix(&mut self.graph, &n, angle);
        let zero = self.graph.vector([0.0; 3]);
        if n.iter().any(|x| self.graph.value(*x).is_none()) {
            return self.frame(rotation, zero);
        }
        let slopes: Vec<Node> =
            (0..self.along.len()).map(|k| self.along[k].of(&mut self.graph, angle)).collect();
        let rate = self.motion.of(&mut self.graph, angle);
        let second = self.motion.of(&mut self.graph, rate);
        let mut about = |slope: Node| Twist { linear: zero, angular: self.graph.scale(slope, &n) };
        Transform {
            rotation,
            position: zero,
            subspace: slopes.into_iter().map(&mut about).collect(),
            velocity: about(rate),
            bias: about(second),
        }
    }

    /// Any rotation matrix and position. With columns c of R:
    ///
    /// ω = (c₃·c₂', c₁·c₃', c₂·c₁') from \[ω\]× = RᵀR', v = Rᵀp'; and from RᵀR̈ = \[ω̇\]× + \[ω\]×²
    ///
    /// ω̇ = (c₃·c̈₂ − ω₂ω₃, c₁·c̈₃ − ω₃ω₁, c₂·c̈₁ − ω₁ω₂), v̇ = Rᵀp̈ − ω×v.
    pub fn frame(&mut self, R: Matrix, p: Vector) -> Transform {
        let columns = transposed(&R);
        let subspace = (0..self.along.len())
            .map(|k| {
                let change = columns.map(|c| self.along(k, &c));
                let linear = self.along(k, &p);
                Twist {
                    linear: self.graph.apply_transposed(&R, &linear),
                    angular: turning(&mut self.graph, &columns, &change),
                }
            })
            .collect();
        let rates = columns.map(|c| self.rate(&c));
        let seconds = rates.map(|c| self.rate(&c));
        let rate = self.rate(&p);
        let second = self.rate(&rate);
        let graph = &mut self.graph;
        let angular = turning(graph, &columns, &rates);
        let linear = graph.apply_transposed(&R, &rate);
        let whole = turning(graph, &columns, &seconds);
        let [x, y, z] = angular;
        let squares = [graph.multiply(y, z), graph.multiply(z, x), graph.multiply(x, y)];
        let around = graph.cross(&angular, &linear);
        let pushed = graph.apply_transposed(&R, &second);
        let bias = Twist {
            linear: graph.subtract_vectors(&pushed, &around),
            angular: graph.subtract_vectors(&whole, &squares),
        };
        Transform { rotation: R, position: p, subspace, velocity: Twist { linear, angular }, bias }
    }

    /// A B
    pub fn product(&mut self, A: &Transform, B: &Transform) -> Transform {
        let graph = &mut self.graph;
        let carried = graph.apply(&A.rotation, &B.position);
        let subspace = (A.subspace.iter().zip(&B.subspace))
            .map(|(a, b)| {
                let a = to_local(graph, B, a);
                add(graph, &a, b)
            })
            .collect();
        let outer = to_local(graph, B, &A.velocity);
        let bias = to_local(graph, B, &A.bias);
        let bias = add(graph, &bias, &B.bias);
        let turned = bracket(graph, &outer, &B.velocity);
        Transform {
            rotation: graph.multiply_matrices(&A.rotation, &B.rotation),
            position: graph.add_vectors(&carried, &A.position),
            subspace,
            velocity: add(graph, &outer, &B.velocity),
            bias: add(graph, &bias, &turned),
        }
    }

    /// A⁻¹
    pub fn inverse(&mut self, A: &Transform) -> Transform {
        let graph = &mut self.graph;
        let back = graph.apply_transposed(&A.rotation, &A.position);
        let mut against = |twist: &Twist| {
            let outer = to_outer(graph, A, twist);
            Twist { linear: graph.negate_vector(&outer.linear), angular: graph.negate_vector(&outer.angular) }
        };
        let subspace = A.subspace.iter().map(&mut against).collect();
        let (velocity, bias) = (against(&A.velocity), against(&A.bias));
        Transform {
            rotation: transposed(&A.rotation),
            position: graph.negate_vector(&back),
            subspace,
            velocity,
            bias,
        }
    }

    /// The pose that is always the same.
    pub fn identity(&mut self) -> Transform {
        let zero = self.zero();
        self.translation(zero.linear)
    }
}

/// (c₃·d₂, c₁·d₃, c₂·d₁)
fn turning(graph: &mut Graph, c: &Matrix, d: &Matrix) -> Vector {
    [graph.dot(&c[2], &d[1]), graph.dot(&c[0], &d[2]), graph.dot(&c[1], &d[0])]
}

fn add(graph: &mut Graph, a: &Twist, b: &Twist) -> Twist {
    Twist {
        linear: graph.add_vectors(&a.linear, &b.linear),
        angular: graph.add_vectors(&a.angular, &b.angular),
    }
}

/// Ad(B⁻¹) ξ = (Rᵀ(v + ω×p), Rᵀω)
fn to_local(graph: &mut Graph, B: &Transform, twist: &Twist) -> Twist {
    let arm = graph.cross(&twist.angular, &B.position);
    let at = graph.add_vectors(&twist.linear, &arm);
    Twist {
        linear: graph.apply_transposed(&B.rotation, &at),
        angular: graph.apply_transposed(&B.rotation, &twist.angular),
    }
}

/// Ad(A) ξ = (R v + p×Rω, Rω)
fn to_outer(graph: &mut Graph, A: &Transform, twist: &Twist) -> Twist {
    let angular = graph.apply(&A.rotation, &twist.angular);
    let arm = graph.cross(&A.position, &angular);
    let linear = graph.apply(&A.rotation, &twist.linear);
    Twist { linear: graph.add_vectors(&linear, &arm), angular }
}

/// ad(ξ)ζ = (ω×v' + v×ω', ω×ω')
fn bracket(graph: &mut Graph, a: &Twist, b: &Twist) -> Twist {
    let (left, right) = (graph.cross(&a.angular, &b.linear), graph.cross(&a.linear, &b.angular));
    Twist { linear: graph.add_vectors(&left, &right), angular: graph.cross(&a.angular, &b.angular) }
}

fn identity(graph: &mut Graph) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| graph.constant(f64::from(i == j))))
}

/// R = cos φ 1 + sin φ \[n\]× + (1 − cos φ) n nᵀ. The entry of an axis along x, y or z is 1.
fn rotation_matrix(graph: &mut Graph, n: &Vector, angle: Node) -> Matrix {
    let (s, c) = match graph.value(angle).and_then(quarters) {
        Some((s, c)) => (graph.constant(s), graph.constant(c)),
        None => (graph.sine(angle), graph.cosine(angle)),
    };
    let one = graph.constant(1.0);
    let rest = graph.subtract(one, c);
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let pair = graph.multiply(n[i], n[j]);
            if i == j {
                return if graph.value(pair) == Some(1.0) {
                    one
                } else {
                    let along = graph.multiply(rest, pair);
                    graph.add(c, along)
                };
            }
            let along = graph.multiply(rest, pair);
            // [n]×: row i, column j holds ∓ the third component.
            let third = graph.multiply(s, n[3 - i - j]);
            if (j + 3 - i) % 3 == 1 { graph.subtract(along, third) } else { graph.add(along, third) }
        })
    })
}

/// Sine and cosine of a whole number of quarter turns, which f64 holds only nearly.
fn quarters(angle: f64) -> Option<(f64, f64)> {
    let turns = (angle / std::f64::consts::FRAC_PI_2).round();
    let whole = turns.abs() <= 8.0 && turns * std::f64::consts::FRAC_PI_2 == angle;
    let (s, c) = [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][(turns as i64).rem_euclid(4) as usize];
    whole.then_some((s, c))
}

/// The columns of S as a list of values, then what follows.
pub(super) fn numbers(twist: &Twist) -> impl Iterator<Item = Node> + '_ {
    twist.linear.iter().chain(&twist.angular).copied()
}

/// R column by column, then p.
pub(super) fn pose_numbers(rotation: &Matrix, position: &Vector) -> Vec<Node> {
    (0..3).flat_map(|j| column(rotation, j)).chain(*position).collect()
}
