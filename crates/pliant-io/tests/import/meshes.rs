//! Meshes of a robot are opened where they lie; what cannot be had is reported, once, with file and line.

use pliant_core::mechanism::{Geometry, Mechanism};
use pliant_core::nalgebra::Vector3;
use pliant_io::Options;
use pliant_io::import::mesh::Mesh;

use super::{Folder, robot};

/// A corner of a cube with edges of 1 along the axes, the third times a factor, as STL text.
pub fn corner(head: &str, height: f64) -> String {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, height]];
    let facet = |corners: [usize; 3]| {
        let vertex = |i: usize| format!("vertex {} {} {}\n", points[i][0], points[i][1], points[i][2]);
        format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", corners.map(vertex).concat())
    };
    let facets = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(facet).concat();
    format!("{head}\n{facets}endsolid\n")
}

fn with_meshes(tag: &str, files: &[&str]) -> String {
    let shape = |file: &&str| {
        format!("<{tag}><geometry><mesh filename=\"{file}\" scale=\"1 2 1\"/></geometry></{tag}>\n")
    };
    let shapes: String = files.iter().map(shape).collect();
    robot(&[&format!("<link name=\"a\"><inertial><mass value=\"1\"/></inertial>\n{shapes}</link>\n")])
}

fn volumes(mechanism: &Mechanism) -> Vec<f64> {
    let volume = |geometry: &Geometry| match geometry {
        Geometry::Mesh { file, scale } => Mesh::load(file, scale).unwrap().solid().mass,
        Geometry::Convex { file, scale } => Mesh::load(file, scale).unwrap().hull().unwrap().solid().mass,
        other => panic!("{other:?}"),
    };
    mechanism.bodies()[0].shapes.iter().map(|shape| volume(&shape.geometry)).collect()
}

#[test]
fn relative_and_of_packages() {
    let folder = Folder::new("meshes");
    folder.file("arm/meshes/corner.stl", &corner("solid", 1.0));
    folder.file("arm/package.xml", "");
    folder.file("hand/corner.stl", &corner("solid", 2.0));
    let files = ["../meshes/corner.stl", "package://arm/meshes/corner.stl", "package://hand/corner.stl"];
    for tag in ["visual", "collision"] {
        let path = folder.file("arm/urdf/robot.urdf", &with_meshes(tag, &files));
        let mechanism = pliant_io::load(path).unwrap();
        assert!(!mechanism.warnings().iter().any(|w| w.contains("mesh")), "{:?}", mechanism.warnings());
        // A sixth of edge times edge times edge, twice as wide by the scale.
        for (found, volume) in volumes(&mechanism).iter().zip([2.0 / 6.0, 2.0 / 6.0, 4.0 / 6.0]) {
            assert!((found - volume).abs() < 1e-7, "{tag}: {found} {volume}");
        }
        assert_eq!(volumes(&mechanism).len(), 3);
    }
}

#[test]
fn packages_that_the_user_names() {
    let (folder, elsewhere) = (Folder::new("mesh-user"), Folder::new("mesh-elsewhere"));
    elsewhere.file("share/feet/corner.stl", &corner("solid", 1.0));
    elsewhere.file("secret.stl", &corner("solid", 1.0));
    let text = with_meshes("visual", &["package://feet/corner.stl", "package://feet/../../secret.stl"]);
    let path = folder.file("robot.urdf", &text);
    let warned = |options: &Options| {
        let mechanism = pliant_io::load_with(&path, options).unwrap();
        let warnings =
            mechanism.warnings().into_iter().filter(|w| w.contains("mesh")).map(|w| folder.plain(w));
        (mechanism.bodies()[0].shapes.len(), warnings.collect::<Vec<_>>())
    };
    let (shapes, warnings) = warned(&Options::default());
    assert_eq!(shapes, 0);
    let none = "robot.urdf:3: the mesh `package://feet/corner.stl` was left out: there is no package `feet` (1 more like it)";
    assert_eq!(warnings, [none]);
    for packages in ["share", "share/feet"] {
        let options = Options { packages: vec![elsewhere.0.join(packages)], ..Options::default() };
        let (shapes, warnings) = warned(&options);
        assert_eq!(shapes, 1, "{packages}");
        let out = "robot.urdf:4: the mesh `package://feet/../../secret.stl` was left out: it lies outside the folder of the file: move it there, or allow its folder";
        assert_eq!(warnings, [out]);
    }
}

#[test]
fn broken_and_flat_ones_are_left_out() {
    let folder = Folder::new("mesh-broken");
    folder.file("broken.stl", "solid nonsense\nfacet\n");
    folder.file("empty.obj", "");
    folder.file("flat.stl", &corner("solid", 0.0));
    folder.file("picture.png", "");
    let text = with_meshes("collision", &["broken.stl", "empty.obj", "flat.stl", "picture.png"]);
    let mechanism = pliant_io::load(folder.file("robot.urdf", &text)).unwrap();
    assert_eq!(mechanism.bodies()[0].shapes.len(), 0);
    let warnings = mechanism.warnings().into_iter().filter(|w| w.contains("mesh")).map(|w| folder.plain(w));
    let warnings: Vec<String> = warnings.collect();
    assert_eq!(warnings.len(), 4, "{warnings:#?}");
    for (i, (warning, file)) in
        warnings.iter().zip(["broken.stl", "empty.obj", "flat.stl", "picture.png"]).enumerate()
    {
        let begin = format!("robot.urdf:{}: the mesh `{file}` was left out: ", i + 3);
        assert!(warning.starts_with(&begin), "{warning}");
    }
    assert!(warnings[2].ends_with("all points lie in one plane"), "{}", warnings[2]);
    // What is only drawn may be flat.
    let text = with_meshes("visual", &["flat.stl"]);
    let mechanism = pliant_io::load(folder.file("robot.urdf", &text)).unwrap();
    let expected = Geometry::Mesh {
        file: folder.0.join("flat.stl").display().to_string(),
        scale: Vector3::new(1.0, 2.0, 1.0),
    };
    assert_eq!(mechanism.bodies()[0].shapes[0].geometry, expected);
}
