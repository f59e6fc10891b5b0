//! Claim: elastic zones come from files of tetrahedra and of Green's functions as they do from shapes, or are refused with the file, its line and
//! what would be right; and Green's functions that are kept in a folder are those that were made, to the last bit, or none.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use npyz::WriterBuilder;
use pliant_core::contact::{Making, Scene, Surfaces, make_zones};
use pliant_core::elastic::{Material, Mesh, Solid};
use pliant_core::engine::Simulation;
use pliant_core::engines::Engine;
use pliant_core::mechanism::{Mechanism, ZoneSolid};
use pliant_core::nalgebra::Vector3;
use pliant_io::{Options, ZoneCache};

fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Half the edges of the pad of these tests, m, and how many cells it has along each.
const HALF: [f64; 3] = [0.01, 0.008, 0.005];
const CELLS: [usize; 3] = [5, 4, 3];

fn block() -> Mesh {
    let along = |i: usize| -> Vec<f64> {
        (0..=CELLS[i]).map(|k| HALF[i] * (2.0 * k as f64 / CELLS[i] as f64 - 1.0)).collect()
    };
    Mesh::grid(&along(0), &along(1), &along(2)).unwrap()
}

/// The same as the text of a Gmsh file, with lengths times a factor.
fn gmsh(mesh: &Mesh, unit: f64) -> String {
    let points = &mesh.points()[..mesh.corners()];
    let mut text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", points.len());
    for (i, p) in points.iter().enumerate() {
        text += &format!("{} {} {} {}\n", i + 1, p.x * unit, p.y * unit, p.z * unit);
    }
    text += &format!("$EndNodes\n$Elements\n{}\n", mesh.tetrahedra().len());
    for (i, t) in mesh.tetrahedra().iter().enumerate() {
        text += &format!("{} 4 2 0 1 {} {} {} {}\n", i + 1, t[0] + 1, t[1] + 1, t[2] + 1, t[3] + 1);
    }
    text + "$EndElements\n"
}

/// A ball on a slide above a pad that is bonded below.
fn scene(zone: &str) -> String {
    format!(
        r#"
[[body]]
name = "tip"
position = [0.001, 0.0, 0.0152]
mass = 0.05
inertia = [1e-6, 1e-6, 1e-6]
[[body.shape]]
kind = "ball"
radius = 0.01
[[joint]]
name = "down"
kind = "prismatic"
parent = "world"
child = "tip"
axis = [0, 0, 1]
stiffness = 100.0
rest = -0.003
damping = 1.0
[[world.shape]]
kind = "box"
size = [0.04, 0.04, 0.01]
position = [0.0, 0.0, -0.01]
[[zone]]
name = "pad"
body = "world"
damping = 0.002
density = 1100
friction = 0.4
{zone}
"#
    )
}

const ELASTIC: &str = "young = 1e5\npoisson = 0.4\n";

fn load(folder: &Path, text: &str) -> Result<Mechanism, String> {
    let path = folder.join("scene.toml");
    fs::write(&path, text).unwrap();
    pliant_io::load(&path).map_err(|error| error.to_string())
}

/// Where the slide rests, and the force on the pad.
fn pressed(folder: &Path, mechanism: &Mechanism) -> (f64, Vector3<f64>) {
    let surfaces = pliant_io::surfaces(mechanism, &folder.join("scene.toml"), &Options::default()).unwrap();
    let mut scene =
        Scene::new(mechanism, surfaces, |held| Engine::Articulated.simulate(held).unwrap()).unwrap();
    (0..300).for_each(|_| scene.step(2e-3).unwrap());
    let force = scene.world().zones().next().unwrap().1.force();
    (scene.state().coordinates[0], force)
}

/// Bonded below, as the scene has it.
fn solid(mesh: &Mesh) -> Solid {
    let material = Material::new(1e5, 0.4, 0.002, 1100.0).unwrap();
    Solid::new(mesh, &material, |p| p.z < -0.999 * HALF[2], |_| ()).unwrap()
}

fn npz(path: &Path, solid: &Solid) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    let points: Vec<f64> = solid.points().iter().flatten().copied().collect();
    let triangles: Vec<i64> = solid.triangles().iter().flatten().map(|i| i64::from(*i)).collect();
    let size = 3 * solid.nodes() as u64;
    for (name, shape, numbers) in
        [("points", [points.len() as u64 / 3, 3], &points[..]), ("green", [size, size], solid.green())]
    {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        let mut array =
            npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut zip).begin_nd().unwrap();
        array.extend(numbers.iter().copied()).unwrap();
        array.finish().unwrap();
    }
    zip.start_file("triangles.npy", zip::write::SimpleFileOptions::default()).unwrap();
    let shape = [triangles.len() as u64 / 3, 3];
    let mut array =
        npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut zip).begin_nd().unwrap();
    array.extend(triangles).unwrap();
    array.finish().unwrap();
    zip.finish().unwrap().flush().unwrap();
}

/// From a box, from tetrahedra in metres and in millimetres, and from Green's functions: the last three are the same mesh.
#[test]
fn a_pad_is_the_same_from_every_file() {
    let folder = folder("zones-same");
    let mesh = block();
    fs::write(folder.join("pad.msh"), gmsh(&mesh, 1.0)).unwrap();
    fs::write(folder.join("pad-mm.msh"), gmsh(&mesh, 1000.0)).unwrap();
    npz(&folder.join("pad.npz"), &solid(&mesh));
    let size = HALF.map(|x| 2.0 * x);
    let files = [
        format!("kind = \"box\"\nsize = {size:?}\nresolution = 0.004\n{ELASTIC}"),
        format!("kind = \"mesh\"\nfile = \"pad.msh\"\n{ELASTIC}"),
        format!("kind = \"mesh\"\nfile = \"pad-mm.msh\"\nscale = 0.001\n{ELASTIC}"),
        "kind = \"mesh\"\nfile = \"pad.npz\"\n".to_string(),
    ];
    let mut found = Vec::new();
    for zone in &files {
        let mechanism = load(&folder, &scene(zone)).unwrap();
        let of = &mechanism.zones()[0].description;
        assert_eq!(of.solid.is_some(), zone.contains("mesh"), "{zone}");
        assert_eq!(matches!(of.solid, Some(ZoneSolid::Green(_))), zone.contains("npz"));
        found.push(pressed(&folder, &mechanism));
        // Written and read again it is the same.
        let again = load(&folder, &pliant_io::scene::write(&mechanism)).unwrap();
        assert_eq!(again, mechanism, "{zone}");
    }
    assert!(found[0].1.z < -0.05, "{found:?}");
    for (position, force) in &found[1..] {
        assert!((position - found[1].0).abs() < 1e-9, "{found:?}");
        assert!((force - found[1].1).norm() < 1e-6 * force.norm(), "{found:?}");
        // Other cells, as long.
        assert!((force.norm() / found[0].1.norm() - 1.0).abs() < 0.1, "{found:?}");
    }
}

/// What is wrong with a file is an error of the scene with the file, its place and what would be right.
#[test]
fn bad_files_are_refused() {
    let folder = folder("zones-bad");
    let mesh = block();
    let good = gmsh(&mesh, 1.0);
    fs::write(folder.join("good.msh"), &good).unwrap();
    npz(&folder.join("good.npz"), &solid(&mesh));
    let first = good.lines().position(|line| line.starts_with("1 4 2 0 1")).unwrap();
    let swapped: Vec<String> = (good.lines().enumerate())
        .map(|(i, line)| {
            let mut words: Vec<&str> = line.split(' ').collect();
            if i == first {
                words.swap(5, 6);
            }
            words.join(" ")
        })
        .collect();
    for (name, text) in [
        ("inside-out.msh", swapped.join("\n")),
        ("no-node.msh", good.replacen("1 4 2 0 1", "1 4 2 0 1 9999", 1)),
        ("no-number.msh", good.replacen("$Nodes\n", "$Nodes\nmany\n", 1)),
        ("binary.msh", good.replacen("2.2 0 8", "2.2 1 8", 1)),
        ("surface.msh", good.replace(" 4 2 0 1 ", " 2 2 0 1 ")),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(folder.join("text.npz"), "no archive").unwrap();
    let whole = fs::read(folder.join("good.npz")).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(folder.join("damaged.npz"), damaged).unwrap();
    let file = |name: &str, rest: &str| format!("kind = \"mesh\"\nfile = \"{name}\"\n{rest}");
    for (zone, words) in [
        (file("none.msh", ELASTIC), vec!["none.msh", "pad"]),
        (
            file("inside-out.msh", ELASTIC),
            vec!["inside-out.msh", "tetrahedron 0", "Jacobian", "must be positive"],
        ),
        (file("no-node.msh", ELASTIC), vec!["no-node.msh", "line"]),
        (file("no-number.msh", ELASTIC), vec!["no-number.msh", "line 5", "many"]),
        (file("binary.msh", ELASTIC), vec!["binary.msh", "line 2", "ASCII"]),
        (file("surface.msh", ELASTIC), vec!["surface.msh", "no tetrahedra"]),
        (
            file("good.msh", &format!("{ELASTIC}resolution = 0.001\n")),
            vec!["resolution", "its tetrahedra", "leave it out"],
        ),
        (file("good.msh", &format!("{ELASTIC}scale = [1, 2, 1]\n")), vec!["scale", "one factor"]),
        (file("good.msh", "young = 1e5\npoisson = 0.5\n"), vec!["poisson", "below 0.5"]),
        (file("good.msh", "young = 1e5\n"), vec!["poisson"]),
        (file("good.npz", "young = 1e5\n"), vec!["young", "Green's functions", "leave it out"]),
        (file("text.npz", ""), vec!["text.npz", "not an .npz file", "numpy.savez"]),
        (file("damaged.npz", ""), vec!["damaged.npz", "damaged"]),
    ] {
        let error = load(&folder, &scene(&zone)).unwrap_err();
        for word in words {
            assert!(error.contains(word), "{zone}: `{word}` is not in\n{error}");
        }
    }
    // Nothing is inside the bone: found where the zone is made, with its file.
    let mechanism =
        load(&folder, &scene(&file("good.msh", &format!("{ELASTIC}position = [1, 0, 0]\n")))).unwrap();
    let surfaces = pliant_io::surfaces(&mechanism, &folder.join("scene.toml"), &Options::default()).unwrap();
    let error =
        Scene::new(&mechanism, surfaces, |held| Engine::Articulated.simulate(held).unwrap()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("`pad`") && error.contains("good.msh") && error.contains("bond three nodes"),
        "{error}"
    );
}

/// What was kept comes back with the same bits; damaged or of something else it is made again.
#[test]
fn kept_green_s_functions_are_those_that_were_made() {
    let folder = folder("zones-cache");
    let cache = ZoneCache::new(folder.join("kept"));
    let zone = |young: f64| {
        let size = HALF.map(|x| 2.0 * x);
        scene(&format!(
            "kind = \"box\"\nsize = {size:?}\nresolution = 0.004\nyoung = {young:?}\npoisson = 0.4\n"
        ))
    };
    let make = |young: f64| {
        let mechanism = load(&folder, &zone(young)).unwrap();
        let (mut known, mut new, mut parts) = (0, 0, Vec::new());
        make_zones(
            &mechanism,
            &Surfaces::new(),
            &mut Making {
                progress: &mut |name, part| {
                    assert_eq!(name, "pad");
                    parts.push(part);
                },
                known: &mut |text| cache.get(text).inspect(|_| known += 1),
                made: &mut |text, solid| {
                    new += 1;
                    cache.put(text, solid).unwrap();
                },
            },
        )
        .unwrap();
        assert!(parts.is_sorted() && (new == 0) == parts.is_empty(), "{parts:?}");
        assert!(new == 0 || parts.last() == Some(&1.0), "{parts:?}");
        (known, new, pressed(&folder, &mechanism))
    };
    let (known, new, first) = make(1e5);
    assert_eq!((known, new), (0, 1));
    assert_eq!(make(1e5), (1, 0, first), "the same bits");
    assert_eq!(make(1.0000001e5).1, 1, "another zone");
    let files = || fs::read_dir(folder.join("kept")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(files().count(), 2, "and nothing else");
    for file in files() {
        let whole = fs::read(&file).unwrap();
        for damage in [0, 9, 14, 24, 40, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[damage] ^= 4;
            fs::write(&file, bytes).unwrap();
            let found: Vec<usize> = [1e5, 1.0000001e5].iter().map(|young| make(*young).1).collect();
            assert_eq!(found.iter().sum::<usize>(), 1, "byte {damage} of {}", whole.len());
            assert_eq!(fs::read(&file).unwrap(), whole, "it is made again");
        }
        fs::write(&file, &whole[..whole.len() - 1]).unwrap();
        assert_eq!(make(1e5).1 + make(1.0000001e5).1, 1);
    }
    assert_eq!(make(1e5).2, first);
}
