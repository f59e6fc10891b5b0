//! Claim: no file can do harm by what it is or where it lies. Every reader takes regular files only, of a bounded size and
//! inside the folders that are allowed, and says so otherwise, at once; every writer puts a whole file in its place or leaves
//! what was there.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use pliant_core::engine::State;
use pliant_core::gallery;
use pliant_core::nalgebra::Vector3;
use pliant_io::Options;
use pliant_io::files::{self, Output};
use pliant_io::import::mesh::Mesh;
use pliant_io::trajectory::Trajectory;

use crate::common::folder::Folder;
use crate::import::meshes::corner;

/// What is done ends by itself, soon.
fn soon<T: Send + 'static>(what: &str, job: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, end) = mpsc::channel();
    std::thread::spawn(move || done.send(job()));
    // What it should take is milliseconds; a machine that is busy may stop for seconds.
    end.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{what} does not end"))
}

/// Makes a file of each kind that is none to be read, with what is to be said of it.
fn harmful(folder: &Folder, name: &str) -> Vec<(PathBuf, &'static str)> {
    let place = |kind: &str| {
        let path = folder.0.join(kind).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let (device, pipe, large, folder_of, empty) =
        (place("device"), place("pipe"), place("large"), place("folder"), place("made-up"));
    symlink("/dev/zero", &device).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // It takes no room on the disk.
    File::create(&large).unwrap().set_len((256 << 20) + 1).unwrap();
    fs::create_dir(&folder_of).unwrap();
    // It says that it has no bytes, and waits for ever where it is read by one who may.
    symlink("/proc/kmsg", &empty).unwrap();
    vec![
        (device, "it is not a regular file"),
        (pipe, "it is not a regular file"),
        (large, "bytes, but at most "),
        (folder_of, "it is a directory, not a file"),
        (empty, ""),
    ]
}

#[test]
fn what_is_no_file_of_a_bounded_size_is_refused_at_once() {
    let folder = Folder::new("harmful");
    let mut refused = 0;
    for extension in ["toml", "urdf", "xml", "sdf", "pliant"] {
        for (path, why) in harmful(&folder, &format!("main.{extension}")) {
            let shown = path.display().to_string();
            let error = soon(&shown, move || pliant_io::load(path).unwrap_err().to_string());
            assert!(error.contains(why), "{shown}: {error}");
            refused += 1;
        }
    }
    for extension in ["stl", "obj", "dae", "STL"] {
        for (path, why) in harmful(&folder, &format!("mesh.{extension}")) {
            let shown = path.display().to_string();
            let error =
                soon(&shown, move || Mesh::load(path, &Vector3::repeat(1.0)).unwrap_err().to_string());
            assert!(error.contains(why), "{shown}: {error}");
            refused += 1;
        }
    }
    assert_eq!(refused, 9 * 5);
}

/// The same where another file names it: an import, an include, a mesh of each format, by a relative and by a whole path.
#[test]
fn what_files_name_is_bounded_too() {
    let folder = Folder::new("named");
    let mut tried = 0;
    let files = [
        ("robot.urdf", true),
        ("part.xml", false),
        ("part.sdf", false),
        ("mesh.stl", false),
        ("mesh.msh", false),
    ];
    for (name, import) in files {
        for (path, _) in harmful(&folder, name) {
            let relative = path.strip_prefix(&folder.0).unwrap().display().to_string();
            for named in [relative, path.display().to_string()] {
                let text = match name {
                    _ if import => format!("import = \"{named}\"\n"),
                    "part.xml" => format!("<mujoco><include file=\"{named}\"/></mujoco>"),
                    "part.sdf" => {
                        format!(
                            "<sdf><model name=\"m\"><link name=\"a\"/><include><uri>{named}</uri></include></model></sdf>"
                        )
                    }
                    "mesh.msh" => format!(
                        "<mujoco><asset><mesh name=\"m\" file=\"{named}\"/></asset><worldbody><body><geom type=\"mesh\" \
                         mesh=\"m\"/></body></worldbody></mujoco>"
                    ),
                    _ => format!(
                        "<robot name=\"r\"><link name=\"a\"><inertial><mass value=\"1\"/></inertial><collision><geometry>\
                         <mesh filename=\"{named}\"/></geometry></collision></link></robot>"
                    ),
                };
                let main = match name {
                    _ if import => "main.toml",
                    "part.xml" | "mesh.msh" => "main.xml",
                    "part.sdf" => "main.sdf",
                    _ => "main.urdf",
                };
                let main = folder.file(main, &text);
                let told = soon(&named, move || match pliant_io::load(main) {
                    Ok(mechanism) => mechanism.warnings().join("\n"),
                    Err(error) => error.to_string(),
                });
                let reasons = ["regular file", "at most", "directory", "outside", "no such file"];
                assert!(reasons.iter().any(|why| told.contains(why)), "{named}: {told}");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 5 * 5 * 2);
}

/// A mesh is read inside the scene's folder and the one above it, in its package, in packages that it reaches and in
/// folders that the user names; whether its path is relative, whole or through a link.
#[test]
fn a_mesh_outside_is_refused_however_it_is_named() {
    let (folder, elsewhere) = (Folder::new("allowed"), Folder::new("not-allowed"));
    for (place, name) in
        [(&folder, "scenes/own.stl"), (&folder, "beside/corner.stl"), (&elsewhere, "far/corner.stl")]
    {
        place.file(name, &corner("solid", 1.0));
    }
    symlink(elsewhere.0.join("far/corner.stl"), folder.0.join("scenes/link.stl")).unwrap();
    let scene = folder.0.join("scenes/scene.toml");
    let try_one = |file: &str, options: &Options| {
        let text = format!(
            "[[world.shape]]\nkind = \"convex\"\nfile = \"{file}\"\n[[body]]\nname = \"a\"\nfree = true\nmass = 1.0\n\
             inertia = [1, 1, 1]\n[[body.shape]]\nkind = \"ball\"\nradius = 0.1\n"
        );
        fs::write(&scene, text).unwrap();
        let mechanism = pliant_io::load_with(&scene, options).unwrap();
        pliant_io::surfaces(&mechanism, &scene, options)
            .map(|found| found.len())
            .map_err(|error| error.to_string())
    };
    let whole = |place: &Folder, name: &str| place.0.join(name).display().to_string();
    let far = whole(&elsewhere, "far/corner.stl");
    let (none, named) =
        (Options::default(), Options { packages: vec![elsewhere.0.join("far")], ..Options::default() });
    let inside = ["own.stl".into(), "../beside/corner.stl".into(), whole(&folder, "beside/corner.stl")];
    let outside = [far.clone(), format!("../../{}", far.rsplit("tmp/").next().unwrap()), "link.stl".into()];
    for file in &inside {
        assert_eq!(try_one(file, &none), Ok(1), "{file}");
    }
    for file in &outside {
        let error = try_one(file, &none).unwrap_err();
        assert!(error.contains("allow its folder") && error.contains(file.as_str()), "{error}");
        assert_eq!(try_one(file, &named), Ok(1), "{file}");
    }
    for harmful in ["/dev/zero", "/proc/self/environ", "/etc/passwd"] {
        assert!(try_one(harmful, &none).unwrap_err().contains("outside"), "{harmful}");
    }
    // A package that lies next to a folder above the scene is one that `package://` reaches.
    folder.file("robots/arm/package.xml", "");
    folder.file("robots/arm/corner.stl", &corner("solid", 1.0));
    fs::create_dir_all(folder.0.join("robots/lab/cell")).unwrap();
    let scene = folder.0.join("robots/lab/cell/scene.toml");
    let text = format!(
        "[[world.shape]]\nkind = \"mesh\"\nfile = \"{}\"\n[[body]]\nname = \"a\"\nfree = true\nmass = 1.0\n\
         inertia = [1, 1, 1]\n",
        whole(&folder, "robots/arm/corner.stl")
    );
    let mechanism = pliant_io::load(folder.file("robots/lab/cell/scene.toml", &text)).unwrap();
    assert_eq!(pliant_io::surfaces(&mechanism, &scene, &none).unwrap().len(), 1);
    fs::remove_file(folder.0.join("robots/arm/package.xml")).unwrap();
    assert!(pliant_io::surfaces(&mechanism, &scene, &none).is_err());
}

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_whole_or_as_it_was() {
    let folder = Folder::new("whole");
    let path = folder.file("scene.toml", "old");
    let read = || fs::read_to_string(&path).unwrap();
    // Dropped in the middle.
    let mut output = Output::create(&path).unwrap();
    output.write_all(&[b'x'; 100_000]).unwrap();
    assert_eq!(names(&folder.0).len(), 2);
    drop(output);
    assert_eq!((read().as_str(), names(&folder.0)), ("old", vec!["scene.toml".to_string()]));
    // Two at once: each has a file of its own, and the last to finish stays.
    let mut both = [Output::create(&path).unwrap(), Output::create(&path).unwrap()];
    for _ in 0..10_000 {
        both[0].write_all(b"first\n").unwrap();
        both[1].write_all(b"second\n").unwrap();
    }
    let [first, second] = both;
    second.finish().unwrap();
    assert_eq!(read(), "second\n".repeat(10_000));
    first.finish().unwrap();
    assert_eq!((read(), names(&folder.0).len()), ("first\n".repeat(10_000), 1));
    // A link is followed, and stays one; what is no file is left alone.
    let link = folder.0.join("link.toml");
    symlink("scene.toml", &link).unwrap();
    files::write(&link, "new").unwrap();
    assert!(link.is_symlink());
    assert_eq!(read(), "new");
    let device = folder.0.join("device.toml");
    symlink("/dev/full", &device).unwrap();
    let error = files::write(&device, "new").unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
    assert!(files::write(folder.0.join("no/such/folder.toml"), "new").is_err());
    assert_eq!(names(&folder.0), ["device.toml", "link.toml", "scene.toml"]);
}

/// Two trajectories that are written at the same time to the same place do not mix, and leave nothing else.
#[test]
fn trajectories_do_not_share_a_file() {
    let folder = Folder::new("trajectories");
    let mechanism = gallery::two_link();
    for extension in ["csv", "npz"] {
        let path = folder.0.join(format!("path.{extension}"));
        let write = |times: [f64; 2]| {
            let mut both = times.map(|_| Trajectory::create(&path, &mechanism, false).unwrap());
            for _ in 0..500 {
                for (trajectory, time) in both.iter_mut().zip(times) {
                    let mut state = State::at_rest(&mechanism);
                    state.time = time;
                    trajectory.push(&state, None).unwrap();
                }
            }
            both.into_iter().for_each(|trajectory| trajectory.finish().unwrap());
            let mut bytes = Vec::new();
            File::open(&path).unwrap().read_to_end(&mut bytes).unwrap();
            bytes
        };
        // The last one is there, whoever wrote next to it.
        let alone = write([7.0, 7.0]);
        assert_eq!(write([3.0, 7.0]), alone, "{extension}");
        assert_ne!(write([7.0, 3.0]), alone, "{extension}");
        drop(Trajectory::create(&path, &mechanism, false).unwrap());
    }
    assert_eq!(names(&folder.0), ["path.csv", "path.npz"]);
}
