//! Meshes from the text of Gmsh files: both versions and orders give the mesh that was written; what cannot be read names its line.

use std::fmt::Write;

use pliant_elastic::mesh::EDGES;
use pliant_elastic::nalgebra::Vector3;
use pliant_elastic::{ElasticError, Mesh, Surface};

fn ball() -> Mesh {
    Mesh::from_surface(&Surface::ball(0.01).unwrap(), 0.008).unwrap()
}

/// The nodes of an element in Gmsh's order, numbered from 1 in steps of 3.
fn tags(t: &[u32; 10], quadratic: bool) -> String {
    let order: Vec<usize> = if quadratic { vec![0, 1, 2, 3, 4, 5, 6, 7, 9, 8] } else { vec![0, 1, 2, 3] };
    order.iter().map(|&k| (3 * t[k] + 1).to_string()).collect::<Vec<_>>().join(" ")
}

fn version_2(mesh: &Mesh, quadratic: bool) -> String {
    let mut out = String::from(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"pad\"\n$EndPhysicalNames\n",
    );
    writeln!(out, "$Nodes\n{}", mesh.points().len()).unwrap();
    for (i, p) in mesh.points().iter().enumerate() {
        writeln!(out, "{} {} {} {}", 3 * i + 1, 1e3 * p.x, 1e3 * p.y, 1e3 * p.z).unwrap();
    }
    writeln!(out, "$EndNodes\n$Elements\n{}", mesh.tetrahedra().len() + 1).unwrap();
    writeln!(out, "1 2 2 7 7 1 4 7").unwrap();
    for (k, t) in mesh.tetrahedra().iter().enumerate() {
        writeln!(out, "{} {} 2 1 1 {}", k + 2, if quadratic { 11 } else { 4 }, tags(t, quadratic)).unwrap();
    }
    out + "$EndElements\n"
}

fn version_4(mesh: &Mesh, quadratic: bool) -> String {
    let mut out = String::from("$MeshFormat\r\n4.1 0 8\r\n$EndMeshFormat\r\n");
    let n = mesh.points().len();
    let half = n / 2;
    writeln!(out, "$Nodes\n2 {n} 1 {}", 3 * n).unwrap();
    for (range, dimension) in [(0..half, 2), (half..n, 3)] {
        writeln!(out, "{dimension} 1 {} {}", (dimension == 2) as u8, range.len()).unwrap();
        range.clone().for_each(|i| writeln!(out, "{}", 3 * i + 1).unwrap());
        for p in &mesh.points()[range] {
            let parameters = if dimension == 2 { " 0.5 0.25" } else { "" };
            writeln!(out, "{} {} {}{parameters}", 1e3 * p.x, 1e3 * p.y, 1e3 * p.z).unwrap();
        }
    }
    let count = mesh.tetrahedra().len();
    writeln!(out, "$EndNodes\n$Elements\n2 {} 1 {}\n2 7 2 1\n1 1 4 7", count + 1, count + 1).unwrap();
    writeln!(out, "3 1 {} {count}", if quadratic { 11 } else { 4 }).unwrap();
    for (k, t) in mesh.tetrahedra().iter().enumerate() {
        writeln!(out, "{} {}", k + 2, tags(t, quadratic)).unwrap();
    }
    out + "$EndElements\n"
}

#[test]
fn both_versions_and_orders() {
    let mesh = ball();
    for text in
        [version_2(&mesh, false), version_2(&mesh, true), version_4(&mesh, false), version_4(&mesh, true)]
    {
        let read = Mesh::from_gmsh(&text, 1e-3).unwrap();
        assert!(read.straightened < 1e-12);
        assert_eq!(read.mesh.tetrahedra(), mesh.tetrahedra());
        let off =
            read.mesh.points().iter().zip(mesh.points()).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(off < 1e-15, "{off}");
    }
}

#[test]
fn curved_edges_are_straightened_by_a_stated_length() {
    let mesh = ball();
    let text = version_2(&mesh, true);
    // The middle of the first edge of the first tetrahedron, one millimetre up.
    let t = mesh.tetrahedra()[0];
    let p: Vector3<f64> = mesh.points()[t[4] as usize] * 1e3;
    let line = format!("\n{} {} {} {}\n", 3 * t[4] + 1, p.x, p.y, p.z);
    assert!(text.contains(&line) && EDGES[0] == (0, 1));
    let moved = text.replace(&line, &format!("\n{} {} {} {}\n", 3 * t[4] + 1, p.x, p.y, p.z + 1.0));
    let read = Mesh::from_gmsh(&moved, 1e-3).unwrap();
    assert!((read.straightened - 1e-3).abs() < 1e-12);
    assert_eq!(read.mesh.tetrahedra(), mesh.tetrahedra());
}

#[test]
fn bad_files_name_the_line() {
    let good = version_2(&ball(), false);
    let error = |text: &str| Mesh::from_gmsh(text, 1e-3).unwrap_err().to_string();
    let replaced = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        error(&good.replacen(from, to, 1))
    };
    assert!(replaced("2.2 0 8", "2.2 1 8").starts_with("line 2: the file is binary"));
    assert!(replaced("2.2 0 8", "4.0 0 8").starts_with("line 2: version 4.0 is not supported"));
    assert!(replaced("\n1 ", "\nx ").starts_with("line 10: `x` is not the number of a node"));
    assert!(replaced("\n4 ", "\n1 ").contains("node 1 is on line 10 already"));
    assert!(replaced("2 4 2 1 1", "2 5 2 1 1").contains("type 5 is not a tetrahedron"));
    assert!(replaced("2 4 2 1 1", "2 4 9 1 1").contains("has 4 nodes, not 0"));
    assert!(replaced("2 4 2 1 1", "2 4 2 1 1 9").contains("has 4 nodes, not 5"));
    assert!(replaced("2 4 2 1 1", "2 4 2 1 -1").contains("whole numbers"));
    assert!(replaced("1 2 2 7 7 1 4 7", "1 4 2 7 7 1 4 7 2").contains("node 2 is not in $Nodes"));
    let nodes = good.find("$EndNodes").unwrap();
    assert!(
        error(&good[..good[..nodes - 1].rfind('\n').unwrap()])
            .contains("the file ends where a node should be")
    );
    assert!(error("").contains("no tetrahedra"));
    assert!(error("$Nodes\n1\n").contains("no $MeshFormat"));
    assert!(
        error("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n99999999999999\n").contains("the file ends")
    );
    assert!(error("$MeshFormat\n2.2 0 8\n$Nodes\n1\n1 0 nan 0\n").contains("not finite"));
    assert!(matches!(Mesh::from_gmsh(&good, 0.0), Err(ElasticError::Size { .. })));
    // Every prefix and every file with one line left out is an error or a mesh, never a panic.
    let lines: Vec<&str> = good.lines().collect();
    let mut meshes = 0;
    for k in 0..lines.len() {
        let mut without = lines.clone();
        without.remove(k);
        meshes += Mesh::from_gmsh(&without.join("\n"), 1e-3).is_ok() as usize;
        let _ = Mesh::from_gmsh(&lines[..k].join("\n"), 1e-3);
    }
    assert!(meshes >= 2 && meshes < lines.len(), "{meshes}");
}
