//! Where a soft surface touches, or is about to: its nodes at a shape, and at another soft surface.

use nalgebra::{Matrix3, Vector3};
use parry3d_f64::query::PointQueryWithLocation;

use super::distance::Target;
use super::{AtRest, Between, Near, Skin, Skins, Spot};
use crate::contact::collider::{Collider, Form};
use crate::contact::convert::{from_vector, vector};
use crate::contact::narrow::{Narrow, Point};
use crate::contact::pairs::{Pair, Thing};
use crate::spatial::{Pose, Twist};

/// Nodes that the step would bring nearer than this, of the smaller shape's radius, may touch.
const NEAR: f64 = 1e-3;

/// How much farther than the most displaced node others may be.
const LOOSE: f64 = 1.5;

impl Skins {
    /// Finds the nodes of a pair of which at least one is soft that the step of h seconds may bring into contact; points and spots in the
    /// same order.
    pub fn find(&mut self, pair: &Pair, things: &[Thing], h: f64, narrow: &mut Narrow) {
        narrow.points.clear();
        self.spots.clear();
        let (a, b) = (&things[pair.first.0], &things[pair.second.0]);
        let (x, y) = (&a.colliders[pair.first.1], &b.colliders[pair.second.1]);
        let margin = NEAR * pair.size;
        let closing = |at: &Vector3<f64>, normal: &Vector3<f64>| {
            let of = |thing: &Thing| {
                let speed = |twist: &Twist| twist.linear + twist.angular.cross(&(at - thing.pose.position));
                (speed(&thing.twist), speed(&thing.free))
            };
            let (one, two) = (of(a), of(b));
            normal.dot(&(two.0 - one.0)).min(normal.dot(&(two.1 - one.1)))
        };
        match (&x.form, &y.form) {
            (Form::Skin(one), Form::Skin(two)) => {
                let [one, two] = self.list.get_disjoint_mut([*one, *two]).expect("two of them");
                let places = (a.pose * one.frame, b.pose * two.frame);
                let reach = margin + h * reach_of(a, b, x, y) + two.largest * LOOSE;
                one.look_near(
                    &places.1.inverse_times(&places.0),
                    &two.at_rest.bounds,
                    reach + one.largest * LOOSE,
                    |_, _| None,
                );
                one.move_near();
                for (&Near { node, .. }, u) in one.near.iter().zip(&one.moved) {
                    let at = places.0.transform_point(&(one.rest(node as usize) + u));
                    let facing = places.0.rotation * one.at_rest.facing[node as usize];
                    let Some((gap, out, spot)) = two.nearest(&places.1, &at, &facing) else { continue };
                    // The normal goes out of the first, into the second.
                    let rest = gap - out.dot(&(places.0.rotation * u));
                    let nearest = if one.is_loaded(node as usize) { gap.min(rest) } else { gap };
                    if nearest + h * closing(&at, &-out) < margin {
                        narrow.points.push(Point::new(at - out * (0.5 * gap), -out, gap));
                        self.spots.push([Some(Spot::node(node, *u)), Some(spot)]);
                    }
                }
            }
            (Form::Skin(s), _) | (_, Form::Skin(s)) => {
                let is_first = matches!(x.form, Form::Skin(_));
                let (own, other, rigid) = if is_first { (a, b, y) } else { (b, a, x) };
                let skin = &mut self.list[*s];
                let place = own.pose * skin.frame;
                let shape = other.pose * rigid.frame;
                let in_shape = shape.inverse_times(&place);
                let far = margin + h * reach_of(a, b, x, y) + skin.largest * LOOSE;
                let Some(target) = Target::new(&rigid.form) else { return };
                // Far enough at rest, it is far enough.
                skin.look_near(&in_shape, &bounds_of(rigid), far, |at, is_node| {
                    if is_node || target.is_even() { target.away(at, far).map(|(gap, _)| gap) } else { None }
                });
                skin.move_near();
                for (&Near { node, at_rest }, u) in skin.near.iter().zip(&skin.moved) {
                    let rest = skin.rest(node as usize);
                    let moved = in_shape.transform_point(&(rest + u));
                    let Some((gap, normal)) = target.away(&moved, far) else { continue };
                    let at = place.transform_point(&(rest + u));
                    // Out of the rigid shape; the normal goes out of the first, into the second.
                    let out = shape.rotation * normal;
                    let normal = if is_first { -out } else { out };
                    // What was touched would spring back into a shape that leaves.
                    let nearest = if skin.is_loaded(node as usize) { gap.min(at_rest) } else { gap };
                    if nearest + h * closing(&at, &normal) < margin {
                        narrow.points.push(Point::new(at - out * (0.5 * gap), normal, gap));
                        let spot = Some(Spot::node(node, *u));
                        self.spots.push(if is_first { [spot, None] } else { [None, spot] });
                    }
                }
                if let Some(depth) = skin.between_nodes(&place, &shape, rigid)
                    && self.between.is_none_or(|known| known.depth < depth)
                {
                    let thing = if is_first { pair.second.0 } else { pair.first.0 };
                    self.between = Some(Between { depth, skin: *s, thing });
                }
            }
            _ => {}
        }
    }
}

/// How fast two shapes can come toward each other, m/s.
fn reach_of(a: &Thing, b: &Thing, x: &Collider, y: &Collider) -> f64 {
    let of = |thing: &Thing, collider: &Collider| {
        let at = |twist: &Twist| twist.linear.norm() + twist.angular.norm() * collider.farthest;
        at(&thing.twist).max(at(&thing.free))
    };
    of(a, x) + of(b, y)
}

/// Middle and half extents of a box.
type Bounds = (Vector3<f64>, Vector3<f64>);

/// The box around a shape, in its own frame.
fn bounds_of(collider: &Collider) -> Bounds {
    match collider.form {
        // A box without an end would have no middle.
        Form::Plane => (Vector3::new(0.0, 0.0, -1e9), Vector3::new(1e15, 1e15, 1e9)),
        _ => (from_vector(collider.bounds.center()), from_vector(collider.bounds.half_extents())),
    }
}

impl Skin {
    /// Lists the nodes that are nearer than `reach` at rest to a box, and to what is in it where `gap` knows how far a node, or the middle of
    /// a cluster, is from that; both in a frame that `placed` takes the zone's to.
    fn look_near(
        &mut self,
        placed: &Pose,
        (middle, half): &Bounds,
        reach: f64,
        gap: impl Fn(&Vector3<f64>, bool) -> Option<f64>,
    ) {
        let Skin { near, at_rest, solid, .. } = self;
        near.clear();
        let turn: Matrix3<f64> = placed.rotation_matrix();
        // How far a point is, if a ball around it is in reach.
        let within = |point: &Vector3<f64>, radius: f64, is_node: bool| {
            let at = turn * point + placed.position;
            let room = half.add_scalar(reach + radius);
            let from = (at - middle).abs();
            let in_box = from.x <= room.x && from.y <= room.y && from.z <= room.z;
            let gap = if in_box { gap(&at, is_node).unwrap_or(f64::NEG_INFINITY) } else { f64::INFINITY };
            (gap <= reach + radius).then_some(gap)
        };
        for cluster in &at_rest.clusters {
            if within(&cluster.middle, cluster.radius, false).is_some() {
                let nodes = cluster.nodes.iter();
                near.extend(nodes.filter_map(|&node| {
                    Some(Near { node, at_rest: within(&solid.points()[node as usize], 0.0, true)? })
                }));
            }
        }
    }

    /// How deep a convex shape is inside that is so narrow that it fits between nodes, m: nothing pushes it out. `None` of all others.
    fn between_nodes(&self, place: &Pose, shape: &Pose, rigid: &Collider) -> Option<f64> {
        if !matches!(rigid.form, Form::Convex(_) | Form::Hull(_)) {
            return None;
        }
        let (middle, half) = bounds_of(rigid);
        let mut widths: [f64; 3] = half.into();
        widths.sort_unstable_by(f64::total_cmp);
        if 2.0 * widths[1] >= self.at_rest.edge {
            return None;
        }
        let at = shape.transform_point(&middle);
        let local = place.inverse().transform_point(&at);
        let (around, room) = self.at_rest.bounds;
        let from = (local - around).abs();
        if (0..3).any(|i| from[i] > room[i] + self.largest) {
            return None;
        }
        let (_, (triangle, _)) =
            self.at_rest.surface.project_local_point_and_get_location(vector(&local), false);
        let facing = -(place.rotation * from_vector(self.at_rest.surface.triangle(triangle).normal()?));
        let (gap, ..) = self.nearest(place, &at, &facing)?;
        let depth = widths[0] - gap;
        (depth > FITS * widths[0]).then_some(depth)
    }

    /// How far a point of another surface, world, is from this one, the normal out of this one there, world, and where that is. The
    /// surface is where its nearest place at rest went: the point is taken back by the displacement there, twice. Where the triangle
    /// there is not turned against the other surface, which faces along `facing`, as past an edge, that of its neighbours which is
    /// turned most against it has the place.
    fn nearest(
        &self,
        place: &Pose,
        at: &Vector3<f64>,
        facing: &Vector3<f64>,
    ) -> Option<(f64, Vector3<f64>, Spot)> {
        let AtRest { surface, around, .. } = &*self.at_rest;
        let local = place.inverse().transform_point(at);
        let facing = (place.rotation.inverse() * facing).try_normalize(0.0)?;
        let normal_of = |t: u32| surface.triangle(t).normal().map(from_vector);
        let mut taken_back = local;
        let mut found = None;
        for _ in 0..3 {
            let point = vector(&taken_back);
            let (mut projection, (mut triangle, mut location)) =
                surface.project_local_point_and_get_location(point, false);
            let mut normal = normal_of(triangle)?;
            if normal.dot(&facing) > AGAINST {
                let beside = self.solid.triangles()[triangle as usize];
                let ring = beside.iter().flat_map(|node| &around[*node as usize]);
                let turned = ring.filter_map(|t| Some((*t, normal_of(*t)?)));
                let best = turned.min_by(|a, b| a.1.dot(&facing).total_cmp(&b.1.dot(&facing)))?;
                (triangle, normal) = best;
                (projection, location) =
                    surface.triangle(triangle).project_local_point_and_get_location(point, false);
            }
            let weights = location.barycentric_coordinates()?;
            let nodes = self.solid.triangles()[triangle as usize];
            let mut spot = Spot { nodes, weights, u: Vector3::zeros() };
            spot.u = self.displacement_at(&spot);
            let gap = normal.dot(&(local - spot.u - from_vector(projection.point)));
            found = Some((gap, place.rotation * normal, spot));
            taken_back = local - spot.u;
        }
        found
    }
}

/// What fits between nodes is inside from this depth on, of half its thickness.
const FITS: f64 = 0.1;

/// A surface is turned against another where the cosine of their normals is less.
const AGAINST: f64 = -0.5;
