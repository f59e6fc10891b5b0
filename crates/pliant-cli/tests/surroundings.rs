//! Claim: what surrounds the program does no harm. Files that are none are refused at once, those outside the scene's folder
//! unless `--allow-path` names them; two runs with the same output do not mix; and where the disk is full, the old file
//! stays, nothing is left behind, and one line says so.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::Run;

const BALL: &str = "[[body]]\nname = \"ball\"\nfree = true\nmass = 1.0\ninertia = [1e-3, 1e-3, 1e-3]\n\
                    position = [0, 0, 1]\n[[body.shape]]\nkind = \"ball\"\nradius = 0.05\n";

fn corner() -> String {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let vertex = |i: usize| format!("vertex {} {} {}\n", points[i][0], points[i][1], points[i][2]);
    let facet = |c: [usize; 3]| {
        format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", c.map(vertex).concat())
    };
    format!("solid c\n{}endsolid c\n", [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(facet).concat())
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
fn files_that_are_none_are_refused_at_once() {
    let run = Run::new("devices");
    std::os::unix::fs::symlink("/dev/zero", run.folder.join("zero.toml")).expect("a link");
    assert!(Command::new("mkfifo").arg(run.folder.join("pipe.toml")).status().expect("mkfifo").success());
    fs::File::create(run.folder.join("large.toml"))
        .expect("a file")
        .set_len(64 << 30)
        .expect("room for none");
    for (file, why) in [
        ("zero.toml", "not a regular file"),
        ("pipe.toml", "not a regular file"),
        ("large.toml", "it has 68719476736 bytes, but at most 67108864 are read"),
    ] {
        run.fails(&["info", file], 2, &[file, why]);
    }
    for mesh in ["/dev/zero", "/proc/self/environ", "../../../../../../../../../dev/zero"] {
        run.file("scene.toml", format!("{BALL}[[world.shape]]\nkind = \"mesh\"\nfile = \"{mesh}\"\n"));
        let simulate = ["simulate", "scene.toml", "--engine", "full", "--duration", "0.1", "--dt", "0.01"];
        run.fails(&simulate, 2, &[mesh, "the world", "--allow-path"]);
        // It is allowed to look there, and finds nothing to read.
        run.fails(&[&simulate[..], &["--allow-path", "/"]].concat(), 2, &[mesh]);
    }
}

#[test]
fn folders_that_the_user_allows() {
    let (run, elsewhere) = (Run::new("allowing"), Run::new("allowing-elsewhere"));
    elsewhere.file("corner.stl", corner());
    elsewhere.file(
        "arm.urdf",
        "<robot name=\"r\"><link name=\"a\"><inertial><mass value=\"1\"/></inertial></link></robot>",
    );
    fs::create_dir_all(run.folder.join("deep/own")).expect("a folder");
    let mesh = elsewhere.folder.join("corner.stl").display().to_string();
    let robot = elsewhere.folder.join("arm.urdf").display().to_string();
    let folder = elsewhere.folder.display().to_string();
    run.file("deep/own/mesh.toml", format!("{BALL}[[world.shape]]\nkind = \"convex\"\nfile = \"{mesh}\"\n"));
    run.file("deep/own/import.toml", format!("import = \"{robot}\"\n"));
    let simulate =
        ["simulate", "deep/own/mesh.toml", "--engine", "full", "--duration", "0.02", "--dt", "0.01"];
    let info = ["info", "deep/own/import.toml"];
    for command in [&simulate[..], &info[..]] {
        run.fails(command, 2, &["outside the folder", "--allow-path"]);
        run.json(&[command, &["--allow-path", &folder]].concat(), 0);
        let by_ros = run.command(command).env("ROS_PACKAGE_PATH", &folder).output().expect("it runs");
        assert!(by_ros.status.success(), "{}", String::from_utf8_lossy(&by_ros.stderr));
    }
}

/// Several runs that write to one place at the same time: what is there in the end is one of theirs, whole.
#[test]
fn runs_with_the_same_output_do_not_mix() {
    let run = Run::new("same-output");
    let simulate = |engine| {
        ["simulate", "two-link", "--engine", engine, "--duration", "20", "--dt", "0.01", "--scene-load"]
    };
    for extension in ["csv", "npz"] {
        let output = format!("path.{extension}");
        let engines = ["full", "articulated", "linear", "reduced"];
        let started: Vec<_> = (engines.iter())
            .map(|engine| {
                let mut command = run.command(&simulate(engine));
                command.args(["-o", &output]).stdout(Stdio::null()).stderr(Stdio::piped());
                command.spawn().expect("it starts")
            })
            .collect();
        for child in started {
            let outcome = child.wait_with_output().expect("it ends");
            assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
        }
        let found = fs::read(run.folder.join(&output)).expect("a trajectory");
        let alone: Vec<Vec<u8>> = (engines.iter())
            .map(|engine| {
                let name = format!("{engine}.{extension}");
                let arguments = [&simulate(engine)[..], &["-o", &name]].concat();
                assert_eq!(run.run(&arguments).code, 0);
                fs::read(run.folder.join(&name)).expect("a trajectory")
            })
            .collect();
        assert!(alone.contains(&found), "{extension}: what is there is of none of them");
    }
    let left: Vec<String> = names(&run.folder).into_iter().filter(|name| name.ends_with(".part")).collect();
    assert_eq!(left, [""; 0]);
}

/// A disk that takes no more than so many blocks of 512 bytes from a file. The shell makes the system say so instead of
/// ending the program by a signal.
#[test]
fn a_full_disk_leaves_what_was_there() {
    let run = Run::new("full-disk");
    let program = run.command(&[]).get_program().to_string_lossy().into_owned();
    let steps = ["--duration", "20", "--dt", "0.01"];
    let simulate = |output: &'static str| {
        [&["simulate", "two-link", "--engine", "reduced", "-o", output], &steps[..]].concat()
    };
    let mut tried = 0;
    for (file, command) in [
        ("scene.toml", vec!["export", "helix:400", "-o", "scene.toml"]),
        ("page.html", vec!["compare", "two-link", "-o", "page.html"]),
        ("path.csv", simulate("path.csv")),
        ("path.npz", simulate("path.npz")),
        ("model.pliant", vec!["reduce", "two-link", "-o", "model.pliant"]),
    ] {
        // What fails at once, in the middle, and (npz: rows are whole, their archive is not) at the end.
        let blocks: &[u32] = match file {
            "path.npz" => &[0, 100, 500],
            "model.pliant" => &[0, 1],
            _ => &[0, 8],
        };
        for blocks in blocks {
            run.file(file, "what was there");
            let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            let outcome = Command::new("sh")
                .args(["-c", &script, &program])
                .args(&command)
                .current_dir(&run.folder)
                .output()
                .expect("a shell");
            let (out, err) =
                (String::from_utf8_lossy(&outcome.stdout), String::from_utf8_lossy(&outcome.stderr));
            assert_eq!(outcome.status.code(), Some(1), "{command:?} {blocks}: {out}{err}");
            let errors: Vec<&str> = err.lines().filter(|line| !line.starts_with("warning: ")).collect();
            assert_eq!(errors.len(), 1, "{command:?} {blocks}: {err}");
            assert!(errors[0].starts_with(&format!("error: cannot write `{file}`: ")), "{err}");
            assert_eq!(fs::read_to_string(run.folder.join(file)).expect("the old file"), "what was there");
            assert_eq!(names(&run.folder), [file], "{command:?} {blocks}");
            tried += 1;
        }
        fs::remove_file(run.folder.join(file)).expect("it is there");
    }
    assert_eq!(tried, 11);
}
