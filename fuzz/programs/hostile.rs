//! Hostile files: what a file should never hold, to be read by the program itself, which must end soon, by itself, with an
//! answer or an error.

/// Names and contents, some large, all small to describe.
pub fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |name: &str, content: String| files.push((name.to_string(), content.into_bytes()));
    let body = "[[body]]\nname = \"a\"\nmass = 1.0\ninertia = [1, 1, 1]\n";
    let hinge = "[[joint]]\nname = \"j\"\nkind = \"hinge\"\nparent = \"world\"\nchild = \"a\"\n";
    let tip = "[[effector]]\nname = \"tip\"\nbody = \"a\"\n";
    let whole = |more: &str| format!("{body}{hinge}{more}\n{tip}");
    for (name, more) in [
        ("huge-stiffness", "stiffness = 1e308"),
        ("tiny-stiffness", "stiffness = 5e-324"),
        ("huge-start", "stiffness = 1\nstart = 1e300"),
        ("crossed-limits", "stiffness = 1\nlimits = [1, -1]"),
        ("huge-armature", "stiffness = 1\narmature = 1e308"),
        ("huge-damping", "stiffness = 1\ndamping = 1e308"),
        ("far-axis", "stiffness = 1\naxis = [1e-200, 1e-200, 0]"),
        ("far-joint", "stiffness = 1\nposition = [1e200, 0, 0]"),
    ] {
        add(&format!("{name}.toml"), whole(more));
    }
    for (name, gravity) in [("huge-gravity", "1e308"), ("nan-gravity", "nan"), ("infinite-gravity", "inf")] {
        add(
            &format!("{name}.toml"),
            format!("[mechanism]\ngravity = [0, 0, {gravity}]\n{}", whole("stiffness = 1")),
        );
    }
    for (name, mass) in [("huge-mass", "1e308"), ("tiny-mass", "5e-324"), ("negative-mass", "-1")] {
        add(&format!("{name}.toml"), whole("stiffness = 1").replace("mass = 1.0", &format!("mass = {mass}")));
    }
    // Nesting, length, repetition.
    add("deep-list.toml", format!("body = {}", "[".repeat(100_000)));
    add("deep-table.toml", format!("a{} = 1", ".a".repeat(100_000)));
    add("long-name.toml", whole("stiffness = 1").replace("\"a\"", &format!("\"{}\"", "a".repeat(1_000_000))));
    add("control-name.toml", whole("stiffness = 1").replace("\"a\"", "\"\\u0000\\u001b[31m\\u202e\""));
    add("same-names.toml", body.repeat(1000));
    add("many-errors.toml", "[[body]]\nnonsense = 1\n".repeat(20_000));
    add("circle.toml", format!("{}{}", body, hinge.replace("\"world\"", "\"a\"")));
    add("self-coupling.toml", whole("stiffness = 1") + "[[coupling]]\njoint = \"j\"\nof = \"j\"\n");
    add("huge-coupling.toml", {
        let other = whole("stiffness = 1")
            + &body.replace("\"a\"", "\"b\"")
            + &hinge.replace("\"j\"", "\"k\"").replace("\"a\"", "\"b\"");
        other + "[[coupling]]\njoint = \"j\"\nof = \"k\"\nratio = 1e300\noffset = -1e300\n"
    });
    add("import-itself.toml", "import = \"import-itself.toml\"\n".into());
    add("import-device.toml", "import = \"/dev/zero\"\n".into());
    add("import-nothing.toml", "import = \"\"\n".into());
    // Shapes.
    let ball = |radius: &str| {
        format!(
            "[[body]]\nname = \"a\"\nfree = true\nmass = 1.0\ninertia = [1, 1, 1]\n[[body.shape]]\nkind = \"ball\"\nradius = {radius}\n"
        )
    };
    let floor = "[[world.shape]]\nkind = \"box\"\nsize = [1, 1, 1]\n";
    for (name, radius) in [("huge-ball", "1e300"), ("tiny-ball", "1e-300"), ("no-ball", "0")] {
        add(&format!("{name}.toml"), ball(radius) + floor);
    }
    add("huge-field.toml", {
        let row = format!("[{}]", vec!["0.0"; 700].join(","));
        format!(
            "{}[[world.shape]]\nkind = \"heightfield\"\nsize = [1, 1]\nheights = [{}]\n",
            ball("0.1"),
            vec![row; 700].join(",")
        )
    });
    for file in [
        "/dev/zero",
        "/dev/random",
        "/proc/self/mem",
        "/etc/passwd",
        "..",
        ".",
        "",
        "a\\u0000b",
        "http://x/y.stl",
    ] {
        let name = format!("mesh-{}.toml", file.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
        add(&name, format!("{}[[world.shape]]\nkind = \"mesh\"\nfile = \"{file}\"\n", ball("0.1")));
    }
    // Formulas.
    for (name, formula) in [
        ("deep", "(".repeat(50_000)),
        ("long", vec!["a"; 20_000].join("+")),
        ("powers", format!("translate(0, 0, {})", vec!["a"; 200].join("^"))),
        ("division", "translate(0, 0, a / (a - a))".into()),
        ("root", "translate(0, 0, sqrt(-1 - a * a))".into()),
    ] {
        let joint = hinge.replace("\"hinge\"", "\"expression\"");
        add(
            &format!("formula-{name}.toml"),
            format!("{body}{joint}angles = [\"a\"]\ntransform = \"{formula}\"\nstiffness = 1\n{tip}"),
        );
    }
    // Robots.
    add("deep.urdf", format!("<robot>{}{}</robot>", "<a>".repeat(100_000), "</a>".repeat(100_000)));
    add(
        "entities.urdf",
        "<!DOCTYPE r [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n<robot name=\"&b;\"/>".into(),
    );
    add(
        "outside.urdf",
        "<!DOCTYPE r [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>\n<robot name=\"&a;\"/>".into(),
    );
    add(
        "many.urdf",
        format!(
            "<robot name=\"r\">{}</robot>",
            (0..20_000).map(|i| format!("<link name=\"l{i}\"/>")).collect::<String>()
        ),
    );
    add(
        "replicate.xml",
        format!(
            "<mujoco><worldbody>{}<body><geom size=\"1\"/></body>{}</worldbody></mujoco>",
            "<replicate count=\"100\">".repeat(12),
            "</replicate>".repeat(12)
        ),
    );
    add("include-itself.xml", "<mujoco><include file=\"include-itself.xml\"/></mujoco>".into());
    add("include-device.xml", "<mujoco><include file=\"/dev/zero\"/></mujoco>".into());
    add("field.xml", "<mujoco><asset><hfield name=\"h\" nrow=\"100000\" ncol=\"100000\" size=\"1 1 1 1\"/></asset><worldbody><geom type=\"hfield\" hfield=\"h\"/></worldbody></mujoco>".into());
    add("nested.sdf", format!("<sdf>{}{}</sdf>", "<model name=\"m\">".repeat(150), "</model>".repeat(150)));
    add(
        "uri.sdf",
        "<sdf><model name=\"m\"><include><uri>model://../../../../etc</uri></include></model></sdf>".into(),
    );
    // Bytes that are no text, or end early.
    for extension in ["toml", "urdf", "xml", "sdf", "pliant"] {
        files.push((format!("empty.{extension}"), Vec::new()));
        files.push((format!("zeros.{extension}"), vec![0; 100_000]));
        files.push((format!("bytes.{extension}"), (0..=255).cycle().take(100_000).collect()));
        files.push((format!("marks.{extension}"), [&[0xef, 0xbb, 0xbf][..], b"<", &[0xff; 1000]].concat()));
    }
    let head = |length: u64| {
        [b"pliant\r\n".to_vec(), 3u32.to_le_bytes().to_vec(), length.to_le_bytes().to_vec(), vec![0; 8]]
            .concat()
    };
    for (name, length) in [("short", 1000), ("longest", u64::MAX), ("none", 0)] {
        files.push((format!("{name}.pliant"), head(length)));
    }
    files
}
