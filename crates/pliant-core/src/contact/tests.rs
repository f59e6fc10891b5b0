//! Claim: the exact solver meets Coulomb's law to 1e-6 m/s on at least 95 % of 150 random problems, as a residual says that
//! is computed here from a dense W that none of the solvers' code has seen; it never makes impulses worse, ends in finite
//! numbers, and agrees with Gauss–Seidel where there is one answer.

use nalgebra::{DMatrix, DVector, Matrix3, Matrix3x6, Vector3};

use super::delassus::{Equations, Meeting, Side};
use super::{exact, newton, pgs, residual};
use crate::engine::touch::Push;
use crate::numbers::splitmix64;
use crate::spatial::exp_rotation;

/// A small generator with a fixed seed (splitmix64).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        splitmix64(&mut self.0) as f64 / u64::MAX as f64
    }

    fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::new(self.signed(), self.signed(), self.signed()) * size
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n - 1)
    }

    /// A positive definite matrix with eigenvalues between 1/wide and wide.
    fn positive(&mut self, n: usize, wide: f64) -> DMatrix<f64> {
        let Q = DMatrix::from_fn(n, n, |_, _| self.signed()).qr().q();
        let values = DVector::from_fn(n, |_, _| wide.powf(self.signed()));
        &Q * DMatrix::from_diagonal(&values) * Q.transpose()
    }
}

/// Something that moves: A⁻¹, and the twists of its touched bodies per coordinate.
struct Mover {
    A_inverse: DMatrix<f64>,
    touches: Vec<DMatrix<f64>>,
}

/// A body of a random mass, 0.1 to 10 kg, and inertia, about as large as a hand.
fn free_body(random: &mut Random) -> Mover {
    let mass = 10f64.powf(random.signed());
    let turning = random.positive(3, 3.0) * (100.0 / mass);
    let mut A_inverse = DMatrix::identity(6, 6) / mass;
    A_inverse.view_mut((3, 3), (3, 3)).copy_from(&turning);
    Mover { A_inverse, touches: vec![DMatrix::identity(6, 6)] }
}

/// A compliant block of 2 to 6 coordinates with two effectors, so that no effector moves in more ways than that.
fn block(random: &mut Random) -> Mover {
    let n = 2 + random.below(5);
    let mut touch = || DMatrix::from_fn(6, n, |i, _| random.signed() * if i < 3 { 1.0 } else { 3.0 });
    let touches = vec![touch(), touch()];
    Mover { A_inverse: random.positive(n, 10.0), touches }
}

/// A problem twice: as the solvers have it, and dense.
struct Problem {
    equations: Equations,
    W: DMatrix<f64>,
    b: DVector<f64>,
    softness: Vec<f64>,
    friction: Vec<f64>,
}

/// What a contact is on: mover and touch of its second side, and of its first unless that is the static world.
type Between = ((usize, usize), Option<(usize, usize)>);

impl Problem {
    /// Contacts with random normals, arms, velocities and gaps, half of them soft.
    fn new(random: &mut Random, movers: &[Mover], between: &[Between], friction: f64) -> Problem {
        let n = between.len();
        let sizes: Vec<usize> = movers.iter().map(|m| m.A_inverse.nrows()).collect();
        let first = |mover: usize| sizes[..mover].iter().sum::<usize>();
        let total = first(movers.len());
        let mut A_inverse = DMatrix::zeros(total, total);
        for (i, mover) in movers.iter().enumerate() {
            A_inverse.view_mut((first(i), first(i)), (sizes[i], sizes[i])).copy_from(&mover.A_inverse);
        }
        let mut G = DMatrix::zeros(3 * n, total);
        let mut equations = Equations::default();
        equations.clear(movers.len());
        let mut rows_of: Vec<Vec<DMatrix<f64>>> = movers.iter().map(|_| Vec::new()).collect();
        let velocity = DVector::from_fn(total, |_, _| 2.0 * random.signed());
        for (c, (second, other)) in between.iter().enumerate() {
            let turn = exp_rotation(&random.vector(3.0)).to_rotation_matrix().into_inner();
            let mut sides = [Side::STATIC; 2];
            for (k, (side, sign)) in [(*other, -1.0), (Some(*second), 1.0)].into_iter().enumerate() {
                let Some((mover, touch)) = side else { continue };
                let mut rows = Matrix3x6::zeros();
                rows.fixed_columns_mut::<3>(0).copy_from(&turn);
                let arm = -random.vector(0.15).cross_matrix();
                rows.fixed_columns_mut::<3>(3).copy_from(&(turn * arm));
                let own = (rows * sign) * &movers[mover].touches[touch];
                let mut at = G.view_mut((3 * c, first(mover)), (3, sizes[mover]));
                at += &own;
                rows_of[mover].push(DMatrix::from_row_slice(3, sizes[mover], own.transpose().as_slice()));
                sides[k] = equations.push(mover, c, Push { touch, rows: [Default::default(); 3] });
            }
            equations.meetings.push(Meeting {
                sides,
                free: Vector3::zeros(),
                impulse: Vector3::zeros(),
                friction: friction * random.unit(),
                last: if random.unit() < 0.5 { 1.0 } else { 0.0 },
                load: 0.0,
                now: Vector3::zeros(),
                target: 0.0,
                fastest: 1.0,
                size: 1.0,
                gained: 0.0,
                hits: false,
                bounce: 0.0,
                soft: false,
                supports: false,
                softness: 0.0,
                own: Matrix3::zeros(),
            });
        }
        let W = &G * &A_inverse * G.transpose();
        let mut b = &G * velocity;
        for c in 0..n {
            // Half of them are not there yet.
            b[3 * c] += 0.5 * random.signed().max(0.0);
            equations.meetings[c].free = b.fixed_rows::<3>(3 * c).into();
        }
        for ((part, mover), rows) in equations.parts.iter_mut().zip(movers).zip(&rows_of) {
            let wide = 3 * rows.len();
            part.matrix = vec![0.0; wide * wide];
            for (i, left) in rows.iter().enumerate() {
                for (k, right) in rows.iter().enumerate() {
                    let block = left * &mover.A_inverse * right.transpose();
                    for (a, b) in (0..9).map(|x| (x / 3, x % 3)) {
                        part.matrix[(3 * i + a) * wide + 3 * k + b] = block[(a, b)];
                    }
                }
            }
        }
        equations.prepare(1e-3);
        // What hardly parts, or jams, is neither driven nor soft.
        let own =
            |c: usize| if equations.meetings[c].softness > 0.0 { 1e-3 * W[(3 * c, 3 * c)] } else { 0.0 };
        let softness = (0..n).map(own).collect();
        (0..n).for_each(|c| b[3 * c] = equations.meetings[c].free.x);
        let friction = equations.meetings.iter().map(|m| m.friction).collect();
        Problem { equations, W, b, softness, friction }
    }

    /// 1 to 40 contacts, µ up to 1.5, on one body or block, several bodies, or bodies and a block.
    fn random(seed: u64) -> Problem {
        let random = &mut Random(seed);
        let n = 1 + random.below(40);
        let mut movers = Vec::new();
        match seed % 4 {
            0 => movers.push(free_body(random)),
            1 => movers.push(block(random)),
            2 => (0..2 + random.below(6)).for_each(|_| movers.push(free_body(random))),
            _ => {
                movers.push(block(random));
                (0..1 + random.below(6)).for_each(|_| movers.push(free_body(random)));
            }
        }
        let any = |random: &mut Random| {
            let mover = random.below(movers.len());
            (mover, random.below(movers[mover].touches.len()))
        };
        let between: Vec<Between> = (0..n)
            .map(|_| {
                let second = any(random);
                let first = Some(any(random)).filter(|first| *first != second && random.unit() < 0.7);
                (second, first)
            })
            .collect();
        Problem::new(random, &movers, &between, 1.5)
    }

    fn impulses(&self) -> DVector<f64> {
        let all = self.equations.meetings.iter().flat_map(|m| [m.impulse.x, m.impulse.y, m.impulse.z]);
        DVector::from_iterator(3 * self.equations.meetings.len(), all)
    }

    /// The natural map of Coulomb's law, m/s: the largest change of an impulse by one projected step, times the mean own W.
    fn residual(&self) -> f64 {
        let lambda = self.impulses();
        let u = &self.W * &lambda + &self.b;
        let mut largest = 0.0f64;
        for c in 0..self.friction.len() {
            let (i, w) = (3 * c, (0..3).map(|a| self.W[(3 * c + a, 3 * c + a)]).sum::<f64>() / 3.0);
            let normal = lambda[i] - (u[i] + self.softness[c] * lambda[i]) / w;
            let off = [1, 2].map(|a| lambda[i + a] - u[i + a] / w);
            let out = (off[0].powi(2) + off[1].powi(2)).sqrt() / (self.friction[c] * lambda[i].max(0.0));
            let tangent = if out > 1.0 { off.map(|x| x / out) } else { off };
            let moved = [lambda[i] - normal.max(0.0), lambda[i + 1] - tangent[0], lambda[i + 2] - tangent[1]];
            largest = largest.max(w * moved.iter().map(|x| x * x).sum::<f64>().sqrt());
        }
        largest
    }
}

#[test]
fn exact_meets_the_law_on_random_problems() {
    let problems = || (0..150).map(Problem::random);
    let (mut solved, mut memory) = (0, exact::Memory::default());
    let mut worst = Vec::new();
    for mut problem in problems() {
        exact::solve(&mut problem.equations, 1e-7, &mut memory);
        let (told, own) =
            (residual::largest(&problem.equations, 0..problem.friction.len()), problem.residual());
        // Rounding of sums of up to 120 terms of the size of the velocities, some m/s, and of impulses up to 1e4 N·s.
        assert!((told - own).abs() < 1e-9 + 1e-9 * own, "{told} told, {own} is true");
        if own <= 1e-6 {
            solved += 1;
        }
        worst.push(own);
    }
    worst.sort_by(f64::total_cmp);
    println!("exact: {solved} of 150, the worst {:?}", &worst[144..]);
    assert!(solved >= 143, "{solved} of 150 solved; the worst {:?}", &worst[140..]);
    for sweeps in [20, 50, 200] {
        let mut by_sweeps = Vec::new();
        for mut problem in problems() {
            pgs::solve(&mut problem.equations, sweeps, &mut pgs::Memory::default());
            by_sweeps.push(problem.residual());
        }
        by_sweeps.sort_by(f64::total_cmp);
        let within = |limit: f64| by_sweeps.iter().filter(|r| **r <= limit).count();
        println!(
            "{sweeps} sweeps: {} of 150 to 1e-6, {} to 1e-3, median {:.1e}",
            within(1e-6),
            within(1e-3),
            by_sweeps[75]
        );
        assert!(within(1e-6) < solved, "{sweeps} sweeps do as well: the problems are too easy to tell");
    }
}

/// From any impulses, warm or wild, and with few or no digits asked for.
#[test]
fn exact_makes_nothing_worse() {
    let mut memory = exact::Memory::default();
    for seed in 0..60 {
        let mut problem = Problem::random(1000 + seed);
        let random = &mut Random(seed);
        for c in 0..problem.equations.meetings.len() {
            let size = 10f64.powf(3.0 * random.signed());
            let impulse = random.vector(size);
            problem.equations.set_impulse(c, impulse);
        }
        for tolerance in [0.1, 0.0, f64::NAN] {
            let before = problem.residual();
            exact::solve(&mut problem.equations, tolerance, &mut memory);
            let after = problem.residual();
            assert!(after <= before * (1.0 + 1e-12) + 1e-12, "{seed}: {after} after {before}");
            assert!(problem.impulses().iter().all(|x| x.is_finite()));
        }
    }
}

/// Velocities of any size, and parts that do not move at all.
#[test]
fn exact_ends_in_finite_numbers() {
    let mut memory = exact::Memory::default();
    for (seed, scale) in [1e-300, 1e-30, 1e30, 1e150, 1e300, f64::INFINITY, f64::NAN].into_iter().enumerate()
    {
        let mut problem = Problem::random(seed as u64);
        problem.equations.meetings.iter_mut().for_each(|m| m.free *= scale);
        exact::solve(&mut problem.equations, 1e-6, &mut memory);
        if scale.is_finite() {
            assert!(problem.impulses().iter().all(|x| x.is_finite()), "{scale}");
        }
        let mut rigid = Problem::random(seed as u64);
        rigid.equations.parts.iter_mut().for_each(|p| p.matrix.iter_mut().for_each(|x| *x = 0.0));
        rigid.equations.prepare(1e-3);
        exact::solve(&mut rigid.equations, 1e-6, &mut memory);
        assert!(rigid.impulses().iter().all(|x| x.is_finite()), "{seed}: rigid");
    }
}

/// A chain of bodies on the static world, one contact from each to the next and little friction: W is positive definite and
/// there is one answer.
#[test]
fn exact_and_sweeps_agree() {
    let (mut memory, mut pushed) = (exact::Memory::default(), 0);
    for seed in 0..50 {
        let random = &mut Random(seed);
        let n = 1 + random.below(6);
        let movers: Vec<_> = (0..n).map(|_| free_body(random)).collect();
        let between: Vec<Between> = (0..n).map(|i| ((i, 0), i.checked_sub(1).map(|i| (i, 0)))).collect();
        let mut problem = Problem::new(random, &movers, &between, 0.2);
        pgs::solve(&mut problem.equations, 100_000, &mut pgs::Memory::default());
        let by_sweeps = problem.impulses();
        (0..n).for_each(|c| problem.equations.set_impulse(c, Vector3::zeros()));
        exact::solve(&mut problem.equations, 1e-11, &mut memory);
        let by_newton = problem.impulses();
        // Sweeps end where one changes no velocity by 1e-9; what that leaves is more where they converge slowly.
        let apart = (&problem.W * (&by_newton - &by_sweeps)).amax();
        assert!(apart < 1e-7, "{seed}: velocities {apart} apart");
        assert!(problem.residual() < 1e-10, "{seed}: {}", problem.residual());
        pushed += (0..n).filter(|c| by_newton[3 * c] > 0.0).count();
    }
    assert!(pushed > 50, "only {pushed} contacts pushed");
}

/// The same bits from the same problem, whatever the memory held before.
#[test]
fn exact_gives_the_same_bits() {
    let mut used = exact::Memory::default();
    for seed in 0..20 {
        let (mut one, mut two) = (Problem::random(seed), Problem::random(seed));
        exact::solve(&mut one.equations, 1e-7, &mut used);
        exact::solve(&mut two.equations, 1e-7, &mut exact::Memory::default());
        let bits = |p: &Problem| p.impulses().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&one), bits(&two));
    }
}

/// Where Newton's method says that an island is solved, the law holds to 1e-8 of its fastest velocity; where not, impulses are the bits
/// that they were; and it solves many of those that a few sweeps do not.
#[test]
fn newton_is_right_where_it_says_so() {
    let (mut memory, mut pgs_memory) = (newton::Memory::default(), pgs::Memory::default());
    let (mut solved, mut tried) = (0, 0);
    for mut problem in (0..400).map(|seed| Problem::random(5000 + seed)) {
        let few = problem.equations.islands.len() == 1 && problem.friction.len() <= newton::SMALL;
        if !few || pgs::solve_island(&mut problem.equations, 0, 4, &mut pgs_memory) {
            continue;
        }
        tried += 1;
        let before = problem.impulses();
        if memory.solve(&mut problem.equations, 0) {
            solved += 1;
            let speed = problem.equations.meetings.iter().map(|m| m.free.norm()).fold(0.0, f64::max);
            // Twice: of a cone's bound there are two, μz_n and μλ_n, which are one where the law holds.
            assert!(problem.residual() < 2e-8 * speed, "{} of {speed}", problem.residual());
        } else {
            assert_eq!(problem.impulses(), before);
        }
    }
    println!("newton: {solved} of {tried}");
    assert!(tried > 80 && 2 * solved > tried, "{solved} of {tried}");
}
