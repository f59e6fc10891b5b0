//! COLLADA: the triangles of the scene that the file shows, or of all geometries where it shows none.
//!
//! The unit counts (`<unit meter="0.001"/>`), the axis that is up does not, as in ROS. Polygons become fans.

use std::collections::HashMap;

use pliant_core::nalgebra::{Matrix4, Rotation3, Unit, Vector3};
use roxmltree::{Document, Node, ParsingOptions};

use super::{Builder, MeshError, malformed};

/// The most nodes of a file, the deepest nesting, and the most nodes of the scene that are visited.
const MOST_NODES: u32 = 4_000_000;
const DEEPEST: usize = 200;
const MOST_VISITS: usize = 100_000;

struct Reader<'a, 'd> {
    ids: HashMap<&'a str, Node<'a, 'd>>,
    visits: usize,
    builder: &'a mut Builder,
}

/// Reads the text of a file.
pub(super) fn read(bytes: &[u8], builder: &mut Builder) -> Result<(), MeshError> {
    let text = String::from_utf8_lossy(bytes);
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text.trim_start_matches('\u{feff}'), options)
        .map_err(|error| malformed(error.to_string()))?;
    let root = document.root_element();
    if root.tag_name().name() != "COLLADA" {
        return Err(malformed("it is not COLLADA"));
    }
    let mut ids = HashMap::new();
    for node in root.descendants().filter(Node::is_element) {
        if let Some(id) = node.attribute("id") {
            ids.entry(id).or_insert(node);
        }
    }
    let meter =
        child(root, "asset").and_then(|asset| child(asset, "unit")).and_then(|u| u.attribute("meter"));
    let meter = match meter {
        None => 1.0,
        Some(word) => match word.trim().replace(',', ".").parse::<f64>() {
            Ok(meter) if meter.is_finite() && meter > 0.0 => meter,
            _ => return Err(malformed(format!("the unit is `{word}` metres"))),
        },
    };
    let unit = Matrix4::new_scaling(meter);
    let mut reader = Reader { ids, visits: 0, builder };
    let shown = child(root, "scene")
        .and_then(|scene| child(scene, "instance_visual_scene"))
        .and_then(|instance| reader.find(instance.attribute("url")))
        .or_else(|| child(root, "library_visual_scenes").and_then(|library| child(library, "visual_scene")));
    match shown {
        Some(scene) => reader.nodes(scene, &unit, 0),
        None => {
            for geometry in root.descendants().filter(|node| is(node, "geometry")) {
                reader.geometry(geometry, &unit)?;
            }
            Ok(())
        }
    }
}

fn is(node: &Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

fn child<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    node.children().find(|child| is(child, name))
}

fn numbers(node: Node<'_, '_>) -> Result<Vec<f64>, MeshError> {
    let number = |word: &str| word.replace(',', ".").parse::<f64>();
    (node.text().unwrap_or("").split_ascii_whitespace())
        .map(|word| number(word).map_err(|_| malformed(format!("`{}` is not a number", short(word)))))
        .collect()
}

fn indices(node: Node<'_, '_>) -> Result<Vec<usize>, MeshError> {
    (node.text().unwrap_or("").split_ascii_whitespace())
        .map(|word| word.parse().map_err(|_| malformed(format!("`{}` is not an index", short(word)))))
        .collect()
}

fn short(word: &str) -> String {
    word.chars().take(40).collect()
}

impl<'a, 'd> Reader<'a, 'd> {
    /// The element that `#id` means.
    fn find(&self, url: Option<&str>) -> Option<Node<'a, 'd>> {
        self.ids.get(url?.trim().strip_prefix('#')?).copied()
    }

    /// Everything in a node of the scene that has this place.
    fn nodes(&mut self, node: Node<'a, 'd>, place: &Matrix4<f64>, depth: usize) -> Result<(), MeshError> {
        self.visits += 1;
        if self.visits > MOST_VISITS || depth > DEEPEST {
            return Err(malformed("the scene has too many nodes, or one that is part of itself"));
        }
        let mut place = *place;
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "matrix" | "translate" | "rotate" | "scale" | "lookat" | "skew" => place *= transform(child)?,
                "node" => self.nodes(child, &place, depth + 1)?,
                "instance_node" => {
                    if let Some(node) = self.find(child.attribute("url")) {
                        self.nodes(node, &place, depth + 1)?;
                    }
                }
                "instance_geometry" => {
                    if let Some(geometry) = self.find(child.attribute("url")) {
                        self.geometry(geometry, &place)?;
                    }
                }
                "instance_controller" => {
                    let skin = self.find(child.attribute("url")).and_then(|node| self::child(node, "skin"));
                    if let Some(geometry) = skin.and_then(|skin| self.find(skin.attribute("source"))) {
                        self.geometry(geometry, &place)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn geometry(&mut self, geometry: Node<'a, 'd>, place: &Matrix4<f64>) -> Result<(), MeshError> {
        let Some(mesh) = child(geometry, "mesh") else { return Ok(()) };
        // A mirroring turns triangles inside out.
        let mirrored = place.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        let mut known: HashMap<&str, Vec<Vector3<f64>>> = HashMap::new();
        for primitive in mesh.children().filter(Node::is_element) {
            let kind = primitive.tag_name().name();
            if !matches!(kind, "triangles" | "polylist" | "polygons" | "trifans" | "tristrips") {
                continue;
            }
            let inputs = || primitive.children().filter(|node| is(node, "input"));
            let offset = |input: &Node<'_, '_>| -> Result<usize, MeshError> {
                let word = input.attribute("offset").unwrap_or("0");
                let offset = word.trim().parse().ok().filter(|offset| *offset < 64);
                offset.ok_or_else(|| malformed(format!("`{}` is not an offset", short(word))))
            };
            let mut stride = 1;
            for input in inputs() {
                stride = stride.max(offset(&input)? + 1);
            }
            let Some(input) = inputs().find(|input| input.attribute("semantic") == Some("VERTEX")) else {
                return Err(malformed(format!("<{kind}> has no points")));
            };
            let (at, source) = (offset(&input)?, input.attribute("source").unwrap_or(""));
            if !known.contains_key(source) {
                known.insert(source, self.positions(source, place)?);
            }
            let corners: Vec<Vec<usize>> = match kind {
                "polylist" => {
                    let Some(counts) = child(primitive, "vcount") else { continue };
                    let Some(p) = child(primitive, "p") else { continue };
                    split(&indices(counts)?, &indices(p)?, stride)?
                }
                "triangles" => {
                    let Some(p) = child(primitive, "p") else { continue };
                    indices(p)?.chunks_exact(3 * stride).map(<[usize]>::to_vec).collect()
                }
                _ => primitive
                    .descendants()
                    .filter(|node| is(node, "p"))
                    .map(indices)
                    .collect::<Result<_, _>>()?,
            };
            let points = &known[source];
            for polygon in corners {
                let corner = |i: usize| match polygon.get(i * stride + at).and_then(|p| points.get(*p)) {
                    Some(point) => Ok(*point),
                    None => Err(malformed(format!("<{kind}> refers to a missing point"))),
                };
                for i in 2..polygon.len() / stride {
                    let strip = kind == "tristrips";
                    let [mut a, mut b] = if strip { [i - 2, i - 1] } else { [0, i - 1] };
                    if mirrored != (strip && i % 2 == 1) {
                        (a, b) = (b, a);
                    }
                    self.builder.triangle([corner(a)?, corner(b)?, corner(i)?])?;
                }
            }
        }
        Ok(())
    }

    /// The points of a `<vertices>`, placed.
    fn positions(&self, source: &str, place: &Matrix4<f64>) -> Result<Vec<Vector3<f64>>, MeshError> {
        let missing = || malformed("points refer to a missing source");
        let vertices = self.find(Some(source)).ok_or_else(missing)?;
        let input = (vertices.children())
            .find(|node| is(node, "input") && node.attribute("semantic") == Some("POSITION"))
            .ok_or_else(missing)?;
        let data = self.find(input.attribute("source")).ok_or_else(missing)?;
        let array = child(data, "float_array").ok_or_else(missing)?;
        let stride = child(data, "technique_common")
            .and_then(|technique| child(technique, "accessor"))
            .and_then(|accessor| accessor.attribute("stride")?.trim().parse::<usize>().ok())
            .filter(|stride| (3..64).contains(stride))
            .unwrap_or(3);
        let placed = |p: &[f64]| {
            let p = place * Vector3::new(p[0], p[1], p[2]).push(1.0);
            p.xyz()
        };
        Ok(numbers(array)?.chunks_exact(stride).map(placed).collect())
    }
}

/// Polygons of so many corners each.
fn split(counts: &[usize], p: &[usize], stride: usize) -> Result<Vec<Vec<usize>>, MeshError> {
    let mut rest = p;
    let mut polygons = Vec::new();
    for count in counts {
        let length = count.checked_mul(stride).filter(|length| *length <= rest.len());
        let Some(length) = length else { return Err(malformed("<polylist> has too few indices")) };
        let (polygon, behind) = rest.split_at(length);
        polygons.push(polygon.to_vec());
        rest = behind;
    }
    Ok(polygons)
}

fn transform(node: Node<'_, '_>) -> Result<Matrix4<f64>, MeshError> {
    let kind = node.tag_name().name();
    let list = numbers(node)?;
    match (kind, &list[..]) {
        ("matrix", list) if list.len() == 16 => Ok(Matrix4::from_row_slice(list)),
        ("translate", &[x, y, z]) => Ok(Matrix4::new_translation(&Vector3::new(x, y, z))),
        ("scale", &[x, y, z]) => Ok(Matrix4::new_nonuniform_scaling(&Vector3::new(x, y, z))),
        ("rotate", &[x, y, z, angle]) => match Unit::try_new(Vector3::new(x, y, z), 0.0) {
            Some(axis) => Ok(Rotation3::from_axis_angle(&axis, angle.to_radians()).to_homogeneous()),
            None => Ok(Matrix4::identity()),
        },
        ("lookat" | "skew", _) => Err(malformed(format!("<{kind}> in a scene is not supported"))),
        (_, list) => Err(malformed(format!("<{kind}> has {} numbers", list.len()))),
    }
}
