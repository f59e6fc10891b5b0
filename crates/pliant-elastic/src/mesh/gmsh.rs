//! Tetrahedra from the text of a Gmsh file: MSH 2.2 and 4.1, ASCII. Surfaces, lines and points in it are ignored; volume elements
//! other than tetrahedra are an error.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::{EDGES, Mesh};
use crate::ElasticError;
use crate::surface::positive;

/// A mesh from a Gmsh file.
#[derive(Clone, Debug, PartialEq)]
pub struct GmshMesh {
    /// The mesh.
    pub mesh: Mesh,
    /// By how much midside nodes of the file were off the middles of their edges, where they are now: m.
    pub straightened: f64,
}

/// Local numbers of Gmsh's midside nodes at the edges of [`EDGES`].
const MIDDLES: [usize; 6] = [4, 5, 6, 7, 9, 8];

impl Mesh {
    /// Reads the text of a Gmsh file whose unit of length is `unit` metres.
    pub fn from_gmsh(text: &str, unit: f64) -> Result<GmshMesh, ElasticError> {
        positive("the unit of length", unit)?;
        let mut lines = Lines { rest: text.lines(), number: 0 };
        let mut version = None;
        let mut nodes = BTreeMap::new();
        let mut tetrahedra = Vec::new();
        while let Some(line) = lines.next() {
            match line {
                "$MeshFormat" => version = Some(format(&mut lines)?),
                "$Nodes" | "$Elements" if version.is_none() => {
                    return Err(lines.error("there is no $MeshFormat before it".into()));
                }
                "$Nodes" if version == Some(Version::Two) => nodes_2(&mut lines, unit, &mut nodes)?,
                "$Nodes" => nodes_4(&mut lines, unit, &mut nodes)?,
                "$Elements" if version == Some(Version::Two) => elements_2(&mut lines, &mut tetrahedra)?,
                "$Elements" => elements_4(&mut lines, &mut tetrahedra)?,
                _ => {}
            }
        }
        let points: Vec<Vector3<f64>> = nodes.values().map(|n: &(usize, Vector3<f64>)| n.1).collect();
        let mut straightened = 0.0f64;
        let mut corners = Vec::with_capacity(tetrahedra.len());
        let number: BTreeMap<u64, usize> = nodes.keys().enumerate().map(|(k, &tag)| (tag, k)).collect();
        for (line, tags) in &tetrahedra {
            let at = |tag: &u64| {
                number
                    .get(tag)
                    .copied()
                    .ok_or(ElasticError::File { line: *line, what: format!("node {tag} is not in $Nodes") })
            };
            let own: Vec<usize> = tags.iter().map(at).collect::<Result<_, _>>()?;
            if own.len() == 10 {
                for (middle, (i, j)) in MIDDLES.into_iter().zip(EDGES) {
                    let straight = (points[own[i]] + points[own[j]]) / 2.0;
                    straightened = straightened.max((points[own[middle]] - straight).norm());
                }
            }
            corners.push([own[0] as u32, own[1] as u32, own[2] as u32, own[3] as u32]);
        }
        if corners.is_empty() {
            let hint =
                "the file has no tetrahedra (types 4 and 11): mesh the volume, and save all elements".into();
            return Err(ElasticError::Empty { hint });
        }
        Ok(GmshMesh { mesh: Self::new(&points, &corners)?, straightened })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    Two,
    Four,
}

/// Lines that are not empty, with their numbers.
struct Lines<'a> {
    rest: std::str::Lines<'a>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        loop {
            self.number += 1;
            let line = self.rest.next()?.trim();
            if !line.is_empty() {
                return Some(line);
            }
        }
    }

    fn error(&self, what: String) -> ElasticError {
        ElasticError::File { line: self.number, what }
    }

    /// The words of the next line.
    fn words(&mut self, what: &str) -> Result<Vec<&'a str>, ElasticError> {
        let line = self.next().ok_or_else(|| self.error(format!("the file ends where {what} should be")))?;
        if line.starts_with('$') {
            return Err(self.error(format!("`{line}` where {what} should be: there are fewer than declared")));
        }
        Ok(line.split_ascii_whitespace().collect())
    }

    /// The whole numbers of the next line, of which there must be so many at least.
    fn numbers(&mut self, least: usize, what: &str) -> Result<Vec<u64>, ElasticError> {
        let words = self.words(what)?;
        let numbers: Option<Vec<u64>> = words.iter().map(|w| w.parse().ok()).collect();
        match numbers {
            Some(numbers) if numbers.len() >= least => Ok(numbers),
            _ => {
                Err(self.error(format!("`{}` is not {what}: {least} whole numbers or more", words.join(" "))))
            }
        }
    }

    /// A point from words.
    fn point(&self, words: &[&str], unit: f64) -> Result<Vector3<f64>, ElasticError> {
        let mut p = Vector3::zeros();
        for axis in 0..3 {
            let word = words.get(axis).ok_or_else(|| self.error("a node has three coordinates".into()))?;
            let value: f64 =
                word.parse().map_err(|_| self.error(format!("`{word}` is not a coordinate of a node")))?;
            p[axis] = value * unit;
        }
        if p.iter().all(|x| x.is_finite() && x.abs() < 1e9) {
            Ok(p)
        } else {
            Err(self.error(format!("the node at `{}` is not finite", words.join(" "))))
        }
    }
}

fn format(lines: &mut Lines) -> Result<Version, ElasticError> {
    let words = lines.words("the version")?;
    if words.get(1) != Some(&"0") {
        return Err(lines.error("the file is binary: save it as ASCII (Mesh.Binary = 0)".into()));
    }
    match words[0] {
        "2" | "2.0" | "2.1" | "2.2" => Ok(Version::Two),
        "4.1" => Ok(Version::Four),
        other => Err(lines
            .error(format!("version {other} is not supported: save as 2.2 or 4.1 (Mesh.MshFileVersion)"))),
    }
}

type Nodes = BTreeMap<u64, (usize, Vector3<f64>)>;

fn insert(lines: &Lines, nodes: &mut Nodes, tag: u64, p: Vector3<f64>) -> Result<(), ElasticError> {
    match nodes.insert(tag, (lines.number, p)) {
        Some((line, _)) => Err(lines.error(format!("node {tag} is on line {line} already"))),
        None => Ok(()),
    }
}

fn nodes_2(lines: &mut Lines, unit: f64, nodes: &mut Nodes) -> Result<(), ElasticError> {
    let count = lines.numbers(1, "the number of nodes")?[0];
    for _ in 0..count {
        let words = lines.words("a node")?;
        let tag = words[0]
            .parse()
            .map_err(|_| lines.error(format!("`{}` is not the number of a node", words[0])))?;
        let p = lines.point(&words[1..], unit)?;
        insert(lines, nodes, tag, p)?;
    }
    Ok(())
}

fn nodes_4(lines: &mut Lines, unit: f64, nodes: &mut Nodes) -> Result<(), ElasticError> {
    let blocks = lines.numbers(4, "the head of $Nodes")?[0];
    for _ in 0..blocks {
        let count = lines.numbers(4, "the head of a block of nodes")?[3];
        let mut tags = Vec::new();
        for _ in 0..count {
            tags.push(lines.numbers(1, "the number of a node")?[0]);
        }
        for tag in tags {
            let words = lines.words("a node")?;
            let p = lines.point(&words, unit)?;
            insert(lines, nodes, tag, p)?;
        }
    }
    Ok(())
}

/// Keeps an element if it is a tetrahedron, which has the numbers of its nodes at the end of its line.
fn element(
    lines: &Lines,
    kind: u64,
    nodes: &[u64],
    tetrahedra: &mut Vec<(usize, Vec<u64>)>,
) -> Result<(), ElasticError> {
    // Gmsh's types: 4 and 11 are tetrahedra of 4 and 10 nodes; the others of this list have a volume.
    let count = match kind {
        4 => 4,
        11 => 10,
        5 | 6 | 7 | 12 | 13 | 14 | 17 | 18 | 19 | 29 | 30 | 31 | 92 | 93 => {
            let what = format!(
                "an element of type {kind} is not a tetrahedron of 4 or 10 nodes: mesh the volume with those"
            );
            return Err(lines.error(what));
        }
        _ => return Ok(()),
    };
    if nodes.len() != count {
        return Err(
            lines.error(format!("a tetrahedron of type {kind} has {count} nodes, not {}", nodes.len()))
        );
    }
    tetrahedra.push((lines.number, nodes.to_vec()));
    Ok(())
}

fn elements_2(lines: &mut Lines, tetrahedra: &mut Vec<(usize, Vec<u64>)>) -> Result<(), ElasticError> {
    let count = lines.numbers(1, "the number of elements")?[0];
    for _ in 0..count {
        let numbers = lines.numbers(3, "an element")?;
        let tags = usize::try_from(numbers[2]).unwrap_or(usize::MAX);
        let nodes = numbers.get(tags.saturating_add(3)..).unwrap_or(&[]);
        element(lines, numbers[1], nodes, tetrahedra)?;
    }
    Ok(())
}

fn elements_4(lines: &mut Lines, tetrahedra: &mut Vec<(usize, Vec<u64>)>) -> Result<(), ElasticError> {
    let blocks = lines.numbers(4, "the head of $Elements")?[0];
    for _ in 0..blocks {
        let head = lines.numbers(4, "the head of a block of elements")?;
        for _ in 0..head[3] {
            let numbers = lines.numbers(1, "an element")?;
            element(lines, head[2], &numbers[1..], tetrahedra)?;
        }
    }
    Ok(())
}
