//! Claim: the builder never panics and never hangs, whatever it is given: names swapped, lists of the
//! wrong length, numbers that are none.

use pliant_core::joints::JointKind;
use pliant_core::mechanism::*;
use pliant_core::nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use pliant_core::numbers::splitmix64;
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

/// A small generator (SplitMix64), so that the garbage is the same every time.
struct Garbage(u64);

impl Garbage {
    fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn number(&mut self) -> f64 {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300, -1e300, 1e-310, f64::MAX];
        match self.below(12) {
            0 => self.pick(&odd),
            1 => f64::from_bits(self.next()),
            2 => 0.0,
            _ => self.below(2_000) as f64 / 1_000.0 - 0.5,
        }
    }

    fn numbers(&mut self, most: usize) -> Vec<f64> {
        (0..self.below(most + 1)).map(|_| self.number()).collect()
    }

    fn name(&mut self) -> String {
        self.pick(&["a", "b", "c", "d", "e", "world", "", "\u{7}", "aa", "ä→\u{10ffff}"]).to_string()
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.number())
    }

    fn pose(&mut self) -> Pose {
        if self.below(2) == 0 {
            return Pose::with_z_along(self.vector(), self.vector());
        }
        let q = Quaternion::new(self.number(), self.number(), self.number(), self.number());
        Pose::new(UnitQuaternion::new_unchecked(q), self.vector())
    }

    fn inertia(&mut self) -> SpatialInertia {
        match self.below(4) {
            0 => SpatialInertia {
                mass: self.number(),
                center_of_mass: self.vector(),
                inertia: Matrix3::from_fn(|_, _| self.number()),
            },
            1 => SpatialInertia { mass: self.number(), ..SpatialInertia::ZERO },
            _ => SpatialInertia::of_box(1.0, [0.1, 0.2, 0.3]),
        }
    }

    fn per_freedom(&mut self) -> Option<PerFreedom<f64>> {
        match self.below(6) {
            0 => Some(PerFreedom::All(self.number())),
            1 => Some(PerFreedom::Each(self.numbers(7))),
            _ => None,
        }
    }

    fn geometry(&mut self) -> Geometry {
        let (radius, half_length) = (self.number(), self.number());
        match self.below(5) {
            0 => Geometry::Box { size: self.vector() },
            1 => Geometry::Ball { radius },
            2 => Geometry::Capsule { radius, half_length },
            3 => Geometry::Mesh { file: self.name(), scale: self.vector() },
            _ => Geometry::Heightfield {
                size: [self.number(), self.number()],
                heights: (0..self.below(4)).map(|_| self.numbers(3)).collect(),
            },
        }
    }

    fn shape(&mut self) -> Shape {
        let density = if self.below(2) == 0 { Some(self.number()) } else { None };
        Shape { density, friction: density, ..Shape::new(self.geometry()).at(self.pose()) }
    }

    fn joint(&mut self) -> JointDescription {
        let (name, kind) = (self.name(), self.pick(&JointKind::ALL));
        let limits = match self.below(6) {
            0 => Some(PerFreedom::All((self.number(), self.number()))),
            1 => Some(PerFreedom::Each((0..self.below(7)).map(|_| (self.number(), self.number())).collect())),
            _ => None,
        };
        JointDescription {
            frame: self.pose(),
            stiffness: self.per_freedom(),
            damping: self.per_freedom(),
            rest: self.per_freedom(),
            start: None,
            armature: self.per_freedom(),
            friction: self.per_freedom(),
            torque_limit: self.per_freedom(),
            limits,
            ..JointDescription::new(name, kind, self.name(), self.name())
        }
    }

    fn builder(&mut self) -> MechanismBuilder {
        let mut builder = MechanismBuilder::new(self.name());
        builder.gravity([self.number(), self.number(), self.number()]);
        for _ in 0..self.below(6) {
            let mut body = Body::new(self.name(), self.pose()).inertia(self.inertia());
            body.free = self.below(3) == 0;
            body.shapes = (0..self.below(3)).map(|_| self.shape()).collect();
            builder.body(body);
        }
        for _ in 0..self.below(8) {
            builder.joint(self.joint());
        }
        for _ in 0..self.below(3) {
            builder.effector(EffectorDescription {
                name: self.name(),
                body: self.name(),
                frame: self.pose(),
            });
            builder.coupling(CouplingDescription {
                joint: self.name(),
                of: self.name(),
                ratio: self.number(),
                offset: self.number(),
            });
            let wrench = Wrench::new(self.vector(), self.vector());
            builder.load(LoadDescription { effector: self.name(), wrench });
            builder.target(TargetDescription {
                joint: self.name(),
                time: self.numbers(3),
                position: (0..self.below(4)).map(|_| self.numbers(7)).collect(),
            });
            builder.world_shape(self.shape());
        }
        builder
    }
}

/// Whatever comes in, an answer comes out: a list of defects, or a mechanism that can be asked.
#[test]
fn garbage_never_panics() {
    let mut garbage = Garbage(3);
    let mut legal = 0;
    for _ in 0..2_000 {
        match garbage.builder().build() {
            Ok(mechanism) => {
                legal += 1;
                assert!(!mechanism.summary().radius.is_nan());
            }
            Err(invalid) => {
                assert!(!invalid.defects.is_empty());
                assert!(invalid.defects.iter().all(|d| !d.message.is_empty() && !d.help.is_empty()));
            }
        }
    }
    assert!(legal < 2_000, "garbage should mostly be refused");
}
