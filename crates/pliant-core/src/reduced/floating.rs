//! Trees on free bases, stepped in axes that turn with them: [`crate::engine::whole`], as the articulated engine does.

use nalgebra::{Matrix3, Vector3};

use super::model::Constants;
use super::momentum::Carried;
use super::placing::{Places, Turns};
use crate::algebra::lanes::Lanes;
use crate::engine::whole::{Turning, Whole};
use crate::spatial::{Pose, Twist, exp_rotation};

/// Memory of a step; empty if there is no free base.
#[derive(Clone, Debug)]
pub(super) struct Floating {
    /// The links of each tree, its free base first.
    trees: Vec<Vec<usize>>,
    /// Of each tree; `None` where its inertia does not define how it turns: then it is stepped in world axes.
    turnings: Vec<Option<Turning>>,
    /// Twice the kinetic energy of the solution without that of the centre of mass.
    vis: Vec<f64>,
    /// How fast the axes of each block of links turn, world axes.
    pub rates: Vec<[Lanes; 3]>,
    /// The most that a tree with joints turned in a step so far, rad.
    pub largest_turn: f64,
}

fn three(x: &[Lanes; 3], l: usize) -> Vector3<f64> {
    Vector3::new(x[0][l], x[1][l], x[2][l])
}

fn set(x: &mut [Lanes; 3], l: usize, to: &Vector3<f64>) {
    (0..3).for_each(|i| x[i][l] = to[i]);
}

fn matrix(S: &[Lanes; 6], l: usize) -> Matrix3<f64> {
    let S = S.map(|x| x[l]);
    Matrix3::new(S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5])
}

impl Floating {
    pub fn new(model: &Constants) -> Floating {
        let trees = model.tree.mechanism.order().free_trees();
        let blocks = if trees.is_empty() { 0 } else { model.tree.joints.len() };
        Floating {
            turnings: vec![None; trees.len()],
            vis: vec![0.0; trees.len()],
            rates: vec![[Lanes::ZERO; 3]; blocks],
            trees,
            largest_turn: 0.0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// Where a link's centre of mass is, and its inertia about it.
    fn place(model: &Constants, places: &Places, n: usize) -> (Vector3<f64>, Matrix3<f64>) {
        let R = places.pose(n).rotation_matrix();
        let center = Vector3::from(places.point) + three(&places.blocks[n / 4].center, n % 4);
        (center, R * matrix(&model.tree.weights[n / 4].inertia, n % 4) * R.transpose())
    }

    /// Turns momenta back, at the pose of the start, into `back`.
    pub fn start(
        &mut self,
        model: &Constants,
        places: &Places,
        carried: &[Carried],
        back: &mut [Carried],
        h: f64,
    ) {
        back.copy_from_slice(carried);
        self.rates.fill([Lanes::ZERO; 3]);
        for (tree, turning) in self.trees.iter().zip(&mut self.turnings) {
            let mut whole = Whole::about(places.pose(tree[0]).position);
            for &n in tree {
                let (center, inertia) = Floating::place(model, places, n);
                let own = &carried[n / 4];
                let (velocity, momentum) = (three(&own.velocity, n % 4), three(&own.angular, n % 4));
                let mass = model.tree.weights[n / 4].mass[n % 4];
                whole.add(mass, &center, &velocity, &momentum, &inertia, &Vector3::zeros());
            }
            *turning = Turning::new(&whole, h);
            let Some(turning) = turning else { continue };
            if tree.len() > 1 {
                self.largest_turn = self.largest_turn.max(turning.angle());
            }
            for &n in tree {
                let own = &mut back[n / 4];
                let (velocity, momentum) =
                    turning.back(&three(&own.velocity, n % 4), &three(&own.angular, n % 4));
                set(&mut own.velocity, n % 4, &velocity);
                set(&mut own.angular, n % 4, &momentum);
                set(&mut self.rates[n / 4], n % 4, &turning.rate);
            }
        }
    }

    /// What the end of a step will give back to a point of a link.
    pub fn lost_at(&self, n: usize, point: &Vector3<f64>) -> Twist {
        let tree = self.trees.iter().position(|tree| tree.binary_search(&n).is_ok());
        tree.and_then(|t| self.turnings[t].as_ref()).map_or(Twist::ZERO, |turning| turning.lost_at(point))
    }

    /// Takes what the step does to the whole, from the twists at its end, and where bases end; `back` has K of the step.
    pub fn turn(
        &mut self,
        model: &Constants,
        places: &Places,
        end: &Turns,
        back: &[Carried],
        h: f64,
        bases: &mut [Pose],
    ) {
        let memory = self.turnings.iter_mut().zip(bases).zip(&mut self.vis);
        for (tree, ((turning, base), vis)) in self.trees.iter().zip(memory) {
            let pose = places.pose(tree[0]);
            let twist = |n: usize| {
                let own = end.twists[n / 4].map(|x| x[n % 4]);
                (Vector3::new(own[0], own[1], own[2]), Vector3::new(own[3], own[4], own[5]))
            };
            let velocity_at = |n: usize, point: &Vector3<f64>| {
                let (v, w) = twist(n);
                v + w.cross(&(point - Vector3::from(places.point)))
            };
            let Some(turning) = turning else {
                // Its centre of mass goes straight on while it turns.
                let own = &model.tree.mechanism.order().nodes()[tree[0]].inertia.center_of_mass;
                let center = pose.transform_point(own);
                let mut rotation = exp_rotation(&(twist(tree[0]).1 * h)) * pose.rotation;
                rotation.renormalize_fast();
                let position = center + velocity_at(tree[0], &center) * h - rotation * own;
                *base = Pose { rotation, position };
                continue;
            };
            let (mut whole, mut start) = (Whole::about(pose.position), Whole::about(pose.position));
            for &n in tree {
                let (center, inertia) = Floating::place(model, places, n);
                let (own, mass) = (&back[n / 4], model.tree.weights[n / 4].mass[n % 4]);
                let w = twist(n).1;
                let momentum = matrix(&own.middle, n % 4) * w;
                whole.add(mass, &center, &velocity_at(n, &center), &momentum, &inertia, &w);
                let (velocity, momentum) = (three(&own.velocity, n % 4), three(&own.angular, n % 4));
                start.add(mass, &center, &velocity, &momentum, &inertia, &w);
            }
            let turned = |whole: &Whole| whole.angular(&Matrix3::identity());
            turning.pass(whole.velocity(), turned(&whole) - turned(&start), h);
            *vis = whole.vis() - whole.velocity().norm_squared() * whole.mass();
            let turn = exp_rotation(&((twist(tree[0]).1 - turning.rate) * h));
            *base = turning.moved(&Pose { rotation: turn * pose.rotation, ..pose });
        }
    }

    /// Turns momenta forth, where links are placed for the end; how far each tree has to be moved then.
    pub fn end(&self, model: &Constants, places: &Places, carried: &mut [Carried], bases: &mut [Pose]) {
        for ((tree, base), (turning, vis)) in
            self.trees.iter().zip(bases).zip(self.turnings.iter().zip(&self.vis))
        {
            let Some(turning) = turning else { continue };
            let mut whole = Whole::about(turning.center);
            for &n in tree {
                let (center, inertia) = Floating::place(model, places, n);
                let own = &mut carried[n / 4];
                let (velocity, momentum) =
                    turning.forth(&three(&own.velocity, n % 4), &three(&own.angular, n % 4));
                set(&mut own.velocity, n % 4, &velocity);
                set(&mut own.angular, n % 4, &momentum);
                let R = places.pose(n).rotation_matrix();
                let inverse = matrix(&model.tree.weights[n / 4].inverse, n % 4);
                let rate = R * (inverse * (R.transpose() * momentum));
                let mass = model.tree.weights[n / 4].mass[n % 4];
                whole.add(mass, &center, &velocity, &momentum, &inertia, &rate);
            }
            let end = turning.end(&whole, *vis);
            for &n in tree {
                let (center, inertia) = Floating::place(model, places, n);
                let own = &mut carried[n / 4];
                let (velocity, momentum) =
                    end.apply(&center, &three(&own.velocity, n % 4), &three(&own.angular, n % 4), &inertia);
                set(&mut own.velocity, n % 4, &velocity);
                set(&mut own.angular, n % 4, &momentum);
            }
            base.position += end.shift;
        }
    }
}
