//! Claim: what a run leaves out and that matters in it is reported, with how much; `--strict` makes it exit code 1, and the
//! results are printed all the same. An equilibrium found without contact in which things overlap is refused.

use serde_json::Value;

use crate::common::Run;

fn measure(document: &Value, kind: &str) -> Option<f64> {
    let all = document["measures"].as_array()?;
    let warnings = document["warnings"].as_array().expect("a list");
    assert_eq!(all.len(), warnings.len(), "one for each warning: {document}");
    all.iter()
        .find(|measure| measure["kind"] == kind)
        .map(|measure| measure["measure"].as_f64().expect("a number"))
}

/// With `--strict` the same results and warnings, exit code 1 and an error.
#[track_caller]
fn strict_minds(run: &Run, command: &[&str], results: &str) {
    let plain = run.json(command, 0);
    let strict = run.json(&[command, &["--strict"]].concat(), 1);
    assert_eq!((&plain[results], &plain["measures"]), (&strict[results], &strict["measures"]));
    assert!(strict["error"].as_str().expect("an error").contains("--strict"), "{strict}");
    let outcome = run.run(&[command, &["--strict"]].concat());
    assert_eq!(outcome.code, 1);
    assert!(!outcome.out.is_empty() && outcome.err.contains("warning: ") && outcome.err.contains("error: "));
}

/// An arm of a size that hangs on a hinge above a floor, with a shape at its end.
fn arm(size: f64, floor: f64, shape: &str) -> String {
    let (mass, inertia) = (size.powi(3), 0.01 * size.powi(5));
    let stiffness = 20.0 * size.powi(4);
    format!(
        "[[body]]\nname = \"arm\"\nposition = [{size:?}, 0, 0]\nmass = {mass:?}\ninertia = [{inertia:?}, {inertia:?}, {inertia:?}]\n\
         [[body.shape]]\n{shape}\n[[joint]]\nname = \"root\"\nkind = \"hinge\"\nparent = \"world\"\nchild = \"arm\"\n\
         axis = [0, 1, 0]\nstiffness = {stiffness:?}\ndamping = {:?}\n[[effector]]\nname = \"tip\"\nbody = \"arm\"\n\
         [[world.shape]]\nkind = \"box\"\nsize = [{:?}, {:?}, {size:?}]\nposition = [0, 0, {:?}]\n",
        0.1 * stiffness,
        8.0 * size,
        8.0 * size,
        floor - 0.5 * size
    )
}

#[test]
fn an_equilibrium_in_which_things_overlap_is_refused() {
    let run = Run::new("warnings-overlap");
    let (mut refused, mut taken) = (0, 0);
    for size in [0.01, 0.3, 1.0, 20.0] {
        let shapes = [
            format!("kind = \"ball\"\nradius = {:?}", 0.1 * size),
            format!("kind = \"box\"\nsize = [{:?}, {:?}, {:?}]", 0.2 * size, 0.2 * size, 0.2 * size),
            format!("kind = \"capsule\"\nradius = {:?}\nhalf_length = {:?}", 0.1 * size, 0.05 * size),
        ];
        for shape in shapes {
            run.file("free.toml", arm(size, -5.0 * size, &shape));
            // Gravity turns it by about half a radian: where it is then is asked first.
            let settled = run.json(&["statics", "free.toml"], 0);
            taken += 1;
            assert!(settled["measures"].is_null(), "{settled}");
            let low = settled["bodies"]["arm"]["position"][2].as_f64().expect("a height");
            assert!(low < -0.2 * size);
            for (floor, touches) in
                [(0.9 * low, true), (0.5 * low - 0.1 * size, true), (low - 0.5 * size, false)]
            {
                run.file("arm.toml", arm(size, floor, &shape));
                for command in [&["statics", "arm.toml"][..], &["compliance", "arm.toml", "--loaded"]] {
                    if touches && command[0] == "statics" {
                        // It rests on the floor: what it weighs there and what its spring bears hold it.
                        let lying = run.json(command, 0);
                        let contacts = lying["contacts"].as_array().expect("contacts");
                        let force: f64 =
                            contacts.iter().map(|c| c["force"][2].as_f64().expect("a force")).sum();
                        assert!(force > 0.0, "{lying}");
                        let height = lying["bodies"]["arm"]["position"][2].as_f64().expect("a height");
                        assert!(height > low && height > floor - 1e-3 * size, "{height} {low} {floor}");
                        taken += 1;
                    } else if touches {
                        run.fails(
                            command,
                            1,
                            &["body `arm`", "deep in `world`", "pliant simulate", "touches = false"],
                        );
                        let depth = run.json(command, 1)["overlap"]["depth"].as_f64().expect("a depth");
                        // No deeper than its lowest point, and that of a box or capsule that turned, could be.
                        let lowest = floor - (low - 0.25 * size);
                        assert!(
                            depth > 0.05 * size && depth < lowest,
                            "{command:?} {size}: {depth} {lowest}"
                        );
                        refused += 1;
                    } else {
                        run.json(command, 0);
                        taken += 1;
                    }
                }
                // What is only drawn passes through.
                run.file("arm.toml", arm(size, floor, &format!("{shape}\ntouches = false")));
                run.json(&["statics", "arm.toml"], 0);
            }
        }
    }
    assert_eq!((refused, taken), (24, 60));
    // What starts inside the world already is refused too, and a motion of it. The first link hangs on the world, and may overlap it.
    for size in [0.01, 0.3, 1.0, 20.0] {
        let inner = format!(
            "[[body]]\nname = \"hand\"\nposition = [{:?}, 0, 0]\nmass = 1\ninertia = [1, 1, 1]\n\
             [[body.shape]]\nkind = \"ball\"\nradius = {:?}\n[[joint]]\nname = \"wrist\"\nkind = \"hinge\"\n\
             parent = \"arm\"\nchild = \"hand\"\nposition = [{:?}, 0, 0]\naxis = [0, 1, 0]\nstiffness = 1\n\
             [[world.shape]]\nkind = \"box\"\nsize = [{size:?}, {size:?}, {size:?}]\nposition = [{:?}, 0, 0]\n",
            2.0 * size,
            0.1 * size,
            1.5 * size,
            2.0 * size
        );
        let ball = format!("kind = \"ball\"\nradius = {:?}", 0.1 * size);
        run.file("arm.toml", arm(size, -5.0 * size, &ball) + &inner);
        let still = ["statics", "arm.toml", "--no-gravity"];
        run.fails(&still, 1, &["body `hand`", "deep in `world`", "touches = false"]);
        let moved = ["simulate", "arm.toml", "--engine", "articulated", "--duration", "0.1", "--dt", "0.01"];
        run.fails(&moved, 2, &["`hand`", "at the start", "touches = false"]);
    }
    // Where the shapes cannot be had it is not known.
    run.file("arm.toml", arm(1.0, -1.0, "kind = \"convex\"\nfile = \"none.stl\""));
    let unknown = run.json(&["statics", "arm.toml"], 0);
    assert_eq!(measure(&unknown, "overlap"), Some(1.0));
    strict_minds(&run, &["statics", "arm.toml"], "bodies");
}

/// A column of so many links and this bending stiffness, one metre high, without gravity.
fn column(links: usize, bending: f64) -> String {
    let (l, n) = (1.0 / links as f64, links);
    let mut text = String::from("[mechanism]\ngravity = [0, 0, 0]\n");
    for i in 0..n {
        let parent = if i == 0 { "world".into() } else { format!("b{}", i - 1) };
        text.push_str(&format!(
            "[[body]]\nname = \"b{i}\"\nposition = [0, 0, {:?}]\nmass = 0.1\ninertia = [1e-3, 1e-3, 1e-3]\n[[joint]]\n\
             name = \"j{i}\"\nkind = \"hinge\"\nparent = \"{parent}\"\nchild = \"b{i}\"\nposition = [0, 0, {:?}]\n\
             axis = [0, 1, 0]\nstiffness = {:?}\ndamping = {:?}\n",
            (i as f64 + 0.5) * l,
            i as f64 * l,
            bending / l,
            0.1 * bending / l
        ));
    }
    text + &format!("[[effector]]\nname = \"tip\"\nbody = \"b{}\"\nposition = [0, 0, {:?}]\n", n - 1, 0.5 * l)
}

/// Loads that press or pull: how much of the stiffness they take or add, against Euler's column.
#[test]
fn loads_that_change_the_stiffness_are_told_before_anything_moves() {
    let run = Run::new("warnings-prestress");
    let mut told = 0;
    for (links, bending) in [(12, 10.0), (30, 1e-3), (30, 1e5)] {
        run.file("column.toml", column(links, bending));
        let euler = std::f64::consts::PI.powi(2) * bending / 4.0;
        for part in [0.01, 0.2, 0.5, 0.8, -0.5] {
            let load = format!("tip={:?},0,{:?}", 1e-6 * euler, -part * euler);
            let command = [
                "simulate",
                "column.toml",
                "--engine",
                "linear",
                "--duration",
                "0.02",
                "--dt",
                "0.01",
                "--load",
                &load,
            ];
            let measure = measure(&run.json(&command, 0), "prestress");
            match part {
                0.01 => assert_eq!(measure, None),
                // The first link begins half a link late: a column of n has about 1 + 1/n of Euler's load.
                part => {
                    let measure = measure.expect("a warning");
                    let limit = f64::abs(part);
                    assert!((measure / limit - 1.0).abs() < 0.1, "{links} {bending} {part}: {measure}");
                    told += 1;
                }
            }
        }
    }
    assert_eq!(told, 12);
    let command = ["simulate", "column.toml", "--engine", "linear", "--duration", "0.02", "--dt", "0.01"];
    assert!(run.json(&command, 0)["measures"].is_null());
    strict_minds(&run, &[&command[..], &["--load", "tip=0,0,-1e5"]].concat(), "bodies");
}

/// A limit that an engine does not have is reported by how far it is passed.
#[test]
fn limits_that_are_passed() {
    let run = Run::new("warnings-limits");
    let limited = column(1, 10.0).replace("damping", "limits = [-0.1, 0.1]\ndamping");
    run.file("limited.toml", limited);
    for (force, beyond) in [(0.5, None), (3.0, Some(0.2)), (6.0, Some(0.5))] {
        // The linear model turns by force over stiffness, at a lever of one metre.
        let load = format!("tip={force:?},0,0");
        for engine in ["full", "articulated", "reduced", "linear"] {
            let command = [
                "simulate",
                "limited.toml",
                "--engine",
                engine,
                "--duration",
                "30",
                "--dt",
                "0.05",
                "--load",
                &load,
            ];
            let found = measure(&run.json(&command, 0), "limits");
            match beyond.filter(|_| engine == "linear") {
                None => assert_eq!(found, None, "{engine} {force}"),
                Some(beyond) => {
                    let found = found.expect("a warning");
                    // Nonlinear by the square of the angle; and it swings over.
                    assert!(found > 0.8 * beyond && found < 2.5 * beyond, "{force}: {found}");
                    strict_minds(&run, &command, "bodies");
                }
            }
        }
    }
}

/// A finger of two links over a floor, the effector on the second: the first goes through in engines that touch with
/// effectors only, and how deep is reported.
#[test]
fn links_that_cannot_touch() {
    let run = Run::new("warnings-untouchable");
    let link = |name: &str, x: f64, parent: &str, at: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nposition = [{x:?}, 0, 0]\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\n[[body.shape]]\n\
             kind = \"ball\"\nradius = 0.05\n[[joint]]\nname = \"to {name}\"\nkind = \"hinge\"\nparent = \"{parent}\"\n\
             child = \"{name}\"\nposition = [{at:?}, 0, 0]\naxis = [0, 1, 0]\nstiffness = 20.0\ndamping = 5.0\n"
        )
    };
    let scene = |floor: f64| {
        link("upper", 0.4, "world", 0.0)
            + &link("lower", 0.8, "upper", 0.5)
            + "[[effector]]\nname = \"tip\"\nbody = \"lower\"\n"
            + &format!(
                "[[world.shape]]\nkind = \"box\"\nsize = [0.6, 4, 1]\nposition = [0.3, 0, {:?}]\n",
                floor - 0.5
            )
    };
    for (floor, deep) in [(-0.1, true), (-3.0, false)] {
        run.file("finger.toml", scene(floor));
        for engine in ["full", "articulated", "reduced", "linear"] {
            let command = ["simulate", "finger.toml", "--engine", engine, "--duration", "3", "--dt", "0.01"];
            let found = measure(&run.json(&command, 0), "untouchable");
            let expected = deep && engine == "linear";
            assert_eq!(found.is_some(), expected, "{engine} {floor}: {found:?}");
            if expected {
                assert!(found > Some(0.02) && found < Some(0.5), "{engine}: {found:?}");
                strict_minds(&run, &command, "bodies");
            }
        }
    }
}

/// A four-bar with one axis tilted: by less than files round it moves, by somewhat more that is warned of, and by what is meant it is locked.
#[test]
fn closures_in_doubt() {
    let run = Run::new("warnings-closures");
    let linkage = |tilt: f64| {
        let body = |name: &str, x: f64, z: f64| {
            format!(
                "[[body]]\nname = \"{name}\"\nposition = [{x:?}, 0, {z:?}]\nmass = 0.2\ninertia = [1e-4, 1e-4, 1e-4]\n"
            )
        };
        let hinge = |parent: &str, child: &str, x: f64, z: f64, more: &str| {
            format!(
                "[[joint]]\nname = \"{parent} {child}\"\nkind = \"hinge\"\nparent = \"{parent}\"\nchild = \"{child}\"\n\
                 position = [{x:?}, 0, {z:?}]\n{more}\n"
            )
        };
        body("crank", 0.03, 0.04)
            + &body("coupler", 0.16, 0.14)
            + &body("rocker", 0.28, 0.1)
            + &hinge("world", "crank", 0.0, 0.0, &format!("axis = [{tilt:?}, 1, 0]\nstiffness = 20.0"))
            + &hinge("crank", "coupler", 0.06, 0.08, "axis = [0, 1, 0]")
            + &hinge("world", "rocker", 0.3, 0.0, "axis = [0, 1, 0]")
            + &hinge("coupler", "rocker", 0.26, 0.2, "axis = [0, 1, 0]")
            + "[[effector]]\nname = \"tip\"\nbody = \"coupler\"\n"
    };
    for (tilt, expected) in [(0.0, false), (3e-4, false), (1.5e-3, true), (0.02, false)] {
        run.file("linkage.toml", linkage(tilt));
        for command in [
            &["statics", "linkage.toml"][..],
            &["simulate", "linkage.toml", "--duration", "0.1", "--dt", "0.01"],
        ] {
            let found = measure(&run.json(command, 0), "nearly redundant");
            assert_eq!(found.is_some(), expected, "{tilt} {command:?}: {found:?}");
            assert!(found.is_none_or(|opened| (5e-4..2.5e-3).contains(&opened)), "{found:?}");
        }
        let about = run.json(&["info", "linkage.toml"], 0);
        assert_eq!(about["repeated"]["nearly"]["directions"].is_u64(), expected, "{about}");
    }
    run.file("linkage.toml", linkage(1.5e-3));
    strict_minds(&run, &["statics", "linkage.toml"], "bodies");
}

/// A pendulum that stands on its head on a spring too weak to hold it falls to either side. Pushed over on the way, it rests
/// where the statics from its start does not: its estimate is small, and says nothing of that.
#[test]
fn another_equilibrium_is_told() {
    let run = Run::new("warnings-another");
    let pendulum = |push: f64, side: f64| {
        format!(
            "[[body]]\nname = \"bob\"\nposition = [0, 0, 0.5]\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\n[[joint]]\n\
             name = \"pivot\"\nkind = \"hinge\"\nparent = \"world\"\nchild = \"bob\"\naxis = [0, 1, 0]\nstiffness = 3.0\n\
             damping = 2.0\nstart = {side:?}\n[[effector]]\nname = \"tip\"\nbody = \"bob\"\n[[target]]\njoint = \"pivot\"\n\
             time = [0.0, 0.5, 3.0, 3.5]\nposition = [0.0, {push:?}, {push:?}, 0.0]\n"
        )
    };
    let mut told = 0;
    for side in [-0.2, 0.2] {
        for push in [-2.0, 0.0, 2.0] {
            run.file("pendulum.toml", pendulum(push, side));
            let document = run.json(
                &["simulate", "pendulum.toml", "--engine", "reduced", "--duration", "15", "--dt", "0.01"],
                0,
            );
            assert!(document["estimate"].as_f64().expect("an estimate") < 1e-3, "{document}");
            let exact = run.json(&["statics", "pendulum.toml"], 0);
            let x = |of: &Value| of["bodies"]["bob"]["position"][0].as_f64().expect("a number");
            // The radius is a quarter of a metre: pivot and bob are half a metre apart.
            let error = (x(&document) - x(&exact)).abs() / 0.25;
            match measure(&document, "another") {
                None => assert!(error < 1e-3, "{side} {push}: {error}"),
                Some(measure) => {
                    assert!(
                        error > 1.0 && (measure / error - 1.0).abs() < 0.01,
                        "{side} {push}: {error} {measure}"
                    );
                    told += 1;
                }
            }
        }
    }
    assert_eq!(told, 2);
}

/// A part that no effector moves swings in no model of the effectors.
#[test]
fn parts_without_an_effector() {
    let run = Run::new("warnings-parts");
    let part = |name: &str, y: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nposition = [0.5, {y:?}, 0]\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\n[[joint]]\n\
             name = \"to {name}\"\nkind = \"hinge\"\nparent = \"world\"\nchild = \"{name}\"\nposition = [0, {y:?}, 0]\n\
             axis = [0, 1, 0]\nstiffness = 400.0\ndamping = 0.1\n"
        )
    };
    let effector = |body: &str| format!("[[effector]]\nname = \"tip {body}\"\nbody = \"{body}\"\n");
    for (effectors, freedoms) in [(&["a"][..], Some(2.0)), (&["a", "b"], Some(1.0)), (&["a", "b", "c"], None)]
    {
        let bodies = ["a", "b", "c"].into_iter().zip([0.0, 1.0, 2.0]).map(|(name, y)| part(name, y));
        let tips = effectors.iter().map(|body| effector(body));
        run.file("parts.toml", bodies.chain(tips).collect::<String>());
        for engine in ["reduced", "linear", "full", "articulated"] {
            let command = ["simulate", "parts.toml", "--engine", engine, "--duration", "0.1", "--dt", "0.01"];
            let found = measure(&run.json(&command, 0), "parts");
            let expected = freedoms.filter(|_| engine == "linear");
            assert_eq!(found, expected, "{engine} {effectors:?}");
        }
    }
}

/// Vibrations between the effectors that are as slow as those of them: a heavy mass on a soft spring in the middle of a chain
/// of which only the stiff end is an effector.
#[test]
fn truncated_modes() {
    let run = Run::new("warnings-modes");
    let link = |name: &str, parent: &str, x: f64, mass: f64, stiffness: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nposition = [{x:?}, 0, 0]\nmass = {mass:?}\ninertia = [0.01, 0.01, 0.01]\n[[joint]]\n\
             name = \"to {name}\"\nkind = \"prismatic\"\nparent = \"{parent}\"\nchild = \"{name}\"\nposition = [{x:?}, 0, 0]\n\
             axis = [0, 0, 1]\nstiffness = {stiffness:?}\ndamping = 0.1\n"
        )
    };
    // The middle mass between two springs, the end held: ω² = (k₁ + k₂)/m, against the whole's.
    for (middle, felt) in [(10.0, true), (1.0, true), (1e-3, false)] {
        let scene = link("middle", "world", 0.5, middle, 100.0)
            + &link("end", "middle", 1.0, 1.0, 100.0)
            + "[[effector]]\nname = \"tip\"\nbody = \"end\"\n";
        run.file("chain.toml", scene);
        for engine in ["linear", "full"] {
            let command = [
                "simulate",
                "chain.toml",
                "--engine",
                engine,
                "--duration",
                "0.1",
                "--dt",
                "0.001",
                "--no-gravity",
            ];
            let found = measure(&run.json(&command, 0), "modes");
            assert_eq!(found.is_some(), felt && engine != "full", "{engine} {middle}: {found:?}");
            if felt && engine != "full" {
                strict_minds(&run, &command, "bodies");
                // They are kept if that is asked for.
                let kept = run.json(&[&command[..], &["--modes", "auto"]].concat(), 0);
                assert_eq!(measure(&kept, "modes"), None, "{engine} {middle}");
            }
        }
    }
}

/// Dry friction is reported by its size where an equilibrium is without it and where an engine leaves it out; engines that have it
/// say nothing.
#[test]
fn dry_friction_that_is_left_out() {
    let run = Run::new("warnings-friction");
    let rough = arm(1.0, -5.0, "kind = \"ball\"\nradius = 0.1")
        .replace("stiffness = 20.0", "stiffness = 20.0\nfriction = 0.5\ntorque_limit = 40.0");
    run.file("rough.toml", rough);
    let settled = run.json(&["statics", "rough.toml"], 0);
    assert_eq!(measure(&settled, "friction"), Some(0.5));
    let text = settled["warnings"].to_string();
    assert!(text.contains("up to 2.50e-2 rad from where its spring holds it"), "{text}");
    let simulate = |engine| {
        run.json(
            &[
                "simulate",
                "rough.toml",
                "--engine",
                engine,
                "--no-contact",
                "--duration",
                "0.1",
                "--dt",
                "0.01",
            ],
            0,
        )
    };
    assert_eq!(measure(&simulate("linear"), "friction"), Some(0.5));
    assert_eq!(measure(&simulate("linear"), "torque limits"), Some(1.0));
    for engine in ["full", "articulated", "reduced"] {
        assert_eq!(measure(&simulate(engine), "friction"), None);
    }
    strict_minds(&run, &["statics", "rough.toml"], "bodies");
}

/// A slide that is pressed against its limit by more than that is stiff: reported by how far it yields, at rest and in the statics, by
/// all engines that have limits.
#[test]
fn limits_that_give_way() {
    let run = Run::new("warnings-pressed");
    let slide = "[[body]]\nname = \"rod\"\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\n[[joint]]\nname = \"slide\"\nkind = \"prismatic\"\n\
                 parent = \"world\"\nchild = \"rod\"\nstiffness = 10.0\ndamping = 100.0\nlimits = [-0.1, 0.1]\n[[effector]]\n\
                 name = \"tip\"\nbody = \"rod\"\nposition = [0.5, 0, 0]\n";
    run.file("slide.toml", slide);
    for (load, beyond) in [(1e2, None), (1e5, Some(0.1)), (1e7, Some(10.0))] {
        let load = format!("tip=0,0,{load:?}");
        let still = ["statics", "slide.toml", "--load", &load];
        let moved = |engine| {
            ["simulate", "slide.toml", "--engine", engine, "--duration", "2", "--dt", "0.01", "--load", &load]
        };
        for command in [&still[..], &moved("full"), &moved("articulated"), &moved("reduced")] {
            let found = measure(&run.json(command, 0), "limits");
            assert_eq!(found.is_some(), beyond.is_some(), "{command:?}: {found:?}");
            if let Some((found, beyond)) = found.zip(beyond) {
                // F/k, and in motion what the damper leaves after two seconds.
                assert!((found / beyond - 1.0).abs() < 0.02, "{command:?}: {found}");
            }
        }
        if beyond.is_some() {
            strict_minds(&run, &still, "bodies");
        }
    }
}

/// Checks that take longer than a run are left out of large mechanisms, and that is reported.
#[test]
fn checks_that_are_left_out() {
    let run = Run::new("warnings-unchecked");
    for (links, left_out) in [(1500, false), (2500, true)] {
        let chain = format!("chain:{links}");
        let command = ["simulate", &chain, "--engine", "linear", "--duration", "0.02", "--dt", "0.01"];
        let found = run.json(&command, 0);
        assert_eq!(measure(&found, "unchecked"), left_out.then_some(f64::from(links)), "{links}");
    }
}

/// A light cube under a plate that is pressed on it by a million times its weight is solved; what no step of this length can follow is
/// reported by how deep it is.
#[test]
fn overlaps_of_contact() {
    let run = Run::new("warnings-deep");
    let scene = |speed: f64| {
        format!(
            "[[world.shape]]\nkind = \"box\"\nsize = [4, 4, 1]\nposition = [0, 0, -0.5]\n[[body]]\nname = \"cube\"\nfree = true\n\
             position = [0, 0, 0.05]\nmass = 0.01\ninertia = [1e-5, 1e-5, 1e-5]\n[[body.shape]]\nkind = \"box\"\nsize = [0.1, 0.1, 0.1]\n\
             [[body]]\nname = \"plate\"\nposition = [0, 0, {:?}]\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\n[[body.shape]]\nkind = \"box\"\n\
             size = [0.2, 0.2, 0.1]\n[[joint]]\nname = \"slide\"\nkind = \"prismatic\"\nparent = \"world\"\nchild = \"plate\"\n\
             position = [0, 0, 0.15]\nstiffness = 10.0\ndamping = 20.0\n[[effector]]\nname = \"top\"\nbody = \"plate\"\n",
            0.15 - speed
        )
    };
    for (force, sunk) in [(1e3, 0.0), (1e5, 0.0), (1e3, 0.02)] {
        run.file("press.toml", scene(sunk));
        let load = format!("top=0,0,{:?}", -force);
        for engine in ["full", "articulated"] {
            let command = [
                "simulate",
                "press.toml",
                "--engine",
                engine,
                "--duration",
                "1",
                "--dt",
                "0.01",
                "--load",
                &load,
            ];
            let found = run.json(&command, 0);
            let low = found["bodies"]["cube"]["position"][2].as_f64().expect("a height");
            let deep = measure(&found, "deep overlap");
            assert!((low - 0.05).abs() < 2e-3 || deep.is_some(), "{engine} {force}: {low}");
            // What starts so deep is reported as that.
            let started = measure(&found, "overlap");
            assert_eq!(
                started.is_some_and(|deep| deep > 0.9 * sunk),
                sunk > 0.0,
                "{engine} {force}: {started:?}"
            );
        }
    }
}

/// A rod that a dead force pulls so hard that steps of 1/60 s make it fly: energy that nothing put in is a warning with its measure, and none
/// comes with a step that is short enough.
#[test]
fn energy_from_nowhere_is_told() {
    let run = Run::new("warnings-energy");
    let mut warned = 0;
    for force in [100.0, 1000.0, 10_000.0] {
        let rod = "[mechanism]\ngravity = [0, 0, 0]\n[[body]]\nname = \"rod\"\nposition = [0, 0, -0.5]\nmass = 0.01\n\
                   inertia = [8.3e-4, 8.3e-4, 8.3e-6]\n[[joint]]\nname = \"pin\"\nkind = \"hinge\"\nparent = \"world\"\n\
                   child = \"rod\"\naxis = [0, 1, 0]\nstart = 0.3\n[[effector]]\nname = \"tip\"\nbody = \"rod\"\n\
                   position = [0, 0, -0.5]\n";
        run.file("rod.toml", rod);
        let load = format!("tip=0,0,{:?}", -force);
        let steps = |dt: f64, duration: &str| {
            let dt = format!("{dt:?}");
            let command = [
                "simulate",
                "rod.toml",
                "--engine",
                "articulated",
                "--load",
                &load,
                "--dt",
                &dt,
                "--duration",
                duration,
            ];
            run.json(&command, 0)
        };
        let long = steps(1.0 / 60.0, "5");
        let energy = long["energy"]["kinetic"].as_f64().expect("a number");
        if let Some(gained) = measure(&long, "energy") {
            warned += 1;
            assert!(gained > 0.5 * force * 0.1, "{gained}");
        }
        // Of a turn by 0.3 rad it can have this much.
        assert!(
            energy < force * 0.1 || measure(&long, "energy").is_some(),
            "{force} N: {energy} J in silence"
        );
        let short = steps((1e-4 / force).sqrt() * 0.5, "0.05");
        assert!(measure(&short, "energy").is_none(), "{short}");
    }
    assert!(warned > 0);
}

/// A linear model far outside its range says so; near the reference it does not.
#[test]
fn a_linear_model_beyond_its_range_is_told() {
    let run = Run::new("warnings-far");
    for size in [0.01, 1.0, 30.0] {
        run.file("arm.toml", arm(size, -50.0 * size, "kind = \"ball\"\nradius = 0.001"));
        let moved = |force: f64| {
            let load = format!("tip=0,0,{:?}", -force * 20.0 * size.powi(3));
            let command = [
                "simulate",
                "arm.toml",
                "--linear",
                "--no-gravity",
                "--no-contact",
                "--load",
                &load,
                "--dt",
                "0.01",
                "--duration",
                "5",
            ];
            measure(&run.json(&command, 0), "far")
        };
        assert_eq!(moved(0.05), None, "{size}");
        let far = moved(2.0).expect("a warning");
        assert!(far > 0.6, "{far}");
    }
}

/// On a free base what counts is how far effectors go from it: a push that carries everything along is no range that is left.
#[test]
fn a_linear_model_on_a_free_base_has_the_same_range() {
    let run = Run::new("warnings-far-free");
    for size in [0.01f64, 1.0, 30.0] {
        let (mass, inertia) = (size.powi(3), 0.01 * size.powi(5));
        let body = |name: &str, x: f64, free: &str| {
            format!(
                "[[body]]\nname = \"{name}\"\nposition = [{:?}, 0, 0]\nmass = {mass:?}\n{free}inertia = [{inertia:?}, {inertia:?}, \
                 {inertia:?}]\n",
                x * size
            )
        };
        let two = [body("base", 0.0, "free = true\n"), body("link", 1.0, "")].concat();
        let joint = format!(
            "[[joint]]\nname = \"bend\"\nkind = \"hinge\"\nparent = \"base\"\nchild = \"link\"\nposition = [{:?}, 0, 0]\n\
             axis = [0, 1, 0]\nstiffness = {:?}\n[[effector]]\nname = \"tip\"\nbody = \"link\"\n[[effector]]\nname = \"body\"\n\
             body = \"base\"\n",
            0.5 * size,
            0.1 * size.powi(4)
        );
        run.file("two.toml", two + &joint);
        let far = |at: &str, force: f64| {
            let load = match at {
                "body" => format!("body={force:?},0,0"),
                _ => format!("tip=0,0,0,0,{:?},0", 0.1 * force * size),
            };
            let command = ["simulate", "two.toml", "--linear", "--no-gravity", "--load", &load];
            let command = [&command[..], &["--dt", "0.01", "--duration", "2"]].concat();
            measure(&run.json(&command, 0), "far")
        };
        let unit = size.powi(3);
        // Along both links: 2 kg m/s² for 2 s take them some radii away together.
        assert_eq!(far("body", 4.0 * unit), None, "{size}");
        assert_eq!(far("tip", 1e-3 * unit), None, "{size}");
        assert!(far("tip", 4.0 * unit).expect("a warning") > 0.6, "{size}");
    }
}

/// Links of 1 kg that stand on each other by hinges: near the load at which they buckle, an answer is near that of `full` or is warned of.
#[test]
fn an_answer_that_is_mostly_error_is_warned_of() {
    let run = Run::new("warnings-column");
    let links = 6;
    let mut column = String::new();
    for i in 0..links {
        let (parent, z) = (if i == 0 { "world".into() } else { format!("link{}", i - 1) }, 0.1 * i as f64);
        column += &format!(
            "[[body]]\nname = \"link{i}\"\nposition = [0, 0, {:?}]\nmass = 1.0\ninertia = [1e-3, 1e-3, 1e-3]\n[[joint]]\n\
             name = \"hinge{i}\"\nkind = \"hinge\"\nparent = \"{parent}\"\nchild = \"link{i}\"\nposition = [0, 0, {z:?}]\n\
             axis = [0, 1, 0]\nstiffness = 100.0\n",
            z + 0.05
        );
    }
    run.file(
        "column.toml",
        column + "[[effector]]\nname = \"tip\"\nbody = \"link5\"\nposition = [0, 0, 0.05]\n",
    );
    let at = |engine: &str, press: f64| {
        let load = format!("tip=0.2,0,{press:?}");
        let document =
            run.json(&["statics", "column.toml", "--no-gravity", "--engine", engine, "--load", &load], 0);
        let x = document["effectors"]["tip"]["position"][0].as_f64().expect("a number");
        (x, measure(&document, "beyond").or(measure(&document, "another")))
    };
    let mut warned = 0;
    // A beam with this bending stiffness, 10 N·m², buckles under (π/2)² · 10 N·m² / (0.6 m)² = 69 N.
    for press in [0.0, -20.0, -50.0, -60.0] {
        let (exact, _) = at("full", press);
        for engine in ["reduced", "blended"] {
            let (x, warning) = at(engine, press);
            warned += usize::from(warning.is_some());
            assert!(
                (x - exact).abs() < 0.5 * exact.abs() || warning.is_some(),
                "{engine}, {press} N: {x} of {exact}"
            );
            assert!(press < 0.0 || engine == "blended" || warning.is_none(), "{engine}: {warning:?}");
        }
    }
    println!("{warned} warnings");
}

/// A pad that is pressed in far says so at rest as it does in motion; one that is not does not.
#[test]
fn a_zone_that_is_pressed_in_far_is_warned_of_at_rest() {
    let run = Run::new("warnings-pressed");
    let strain = |force: &str| {
        let load = format!("tip=0,0,{force}");
        measure(&run.json(&["statics", "pad", "--load", &load], 0), "large strain")
    };
    assert_eq!(strain("-0.2"), None);
    assert!(strain("-40").expect("a warning") > 1.0 / 6.0);
}
