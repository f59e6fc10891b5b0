//! Claim: shapes have the colors that files give them, in all formats, and what is wrong with something that is only drawn stops nothing.

use pliant_core::mechanism::{Mechanism, Shape};
use pliant_io::Options;

use super::{link, read, robot};
use crate::common::assert_round_trip;

fn parse(text: &str, file: &str) -> Mechanism {
    let mechanism =
        pliant_io::import::read(text, file, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_round_trip(&mechanism);
    mechanism
}

fn shapes<'m>(mechanism: &'m Mechanism, body: &str) -> &'m [Shape] {
    &mechanism.bodies().iter().find(|other| other.name == body).expect("it is in the text").shapes
}

fn looks(mechanism: &Mechanism, body: &str) -> Vec<(bool, Option<[f64; 4]>)> {
    shapes(mechanism, body).iter().map(|shape| (shape.touches, shape.color)).collect()
}

/// In place of the end of a link of URDF.
fn with(name: &str, shapes: &str) -> String {
    link(name).replace("</link>", &format!("{shapes}</link>"))
}

const BALL: &str = "<geometry><sphere radius=\"0.1\"/></geometry>";

#[test]
fn urdf_draws_visuals_next_to_what_touches() {
    let own = "<material name=\"red\"><color rgba=\"1 0.25 0 0.5\"/></material>";
    let lines = [
        // Named by the robot, and by a link that comes later.
        "<material name=\"grey\"><color rgba=\"0.5 0.5 0.5 1\"/></material>".to_string(),
        with(
            "a",
            &format!(
                "<collision>{BALL}</collision><visual>{BALL}<material name=\"grey\"/></visual>\
                 <visual>{BALL}<material name=\"red\"/></visual><visual>{BALL}</visual>"
            ),
        ),
        with("b", &format!("<visual>{BALL}{own}</visual>")),
        super::joint("j", "fixed", "a", "b", ""),
    ];
    let mechanism = read(&robot(&lines.iter().map(String::as_str).collect::<Vec<_>>()), &[]);
    let (grey, red) = (Some([0.5, 0.5, 0.5, 1.0]), Some([1.0, 0.25, 0.0, 0.5]));
    assert_eq!(looks(&mechanism, "a"), [(true, None), (false, grey), (false, red), (false, None)]);
    assert_eq!(looks(&mechanism, "b"), [(false, red)]);
}

/// What touches is there: a drawing that cannot be had is neither an error nor a warning. Without it, both are as for what touches.
#[test]
fn a_broken_visual_is_left_out() {
    let broken = [
        "<visual><geometry><sphere/></geometry></visual>",
        "<visual><geometry><sphere radius=\"x\"/></geometry></visual>",
        "<visual><geometry><mesh filename=\"nowhere.dae\"/></geometry></visual>",
        "<visual><geometry><teapot/></geometry></visual>",
        "<visual><origin xyz=\"0 0\"/><geometry/></visual>",
    ];
    for visual in broken {
        let text = robot(&[&with("a", &format!("<collision>{BALL}</collision>{visual}"))]);
        assert_eq!(looks(&read(&text, &[]), "a"), [(true, None)], "{visual}");
        let alone = pliant_io::import::read(&robot(&[&with("a", visual)]), "robot.urdf", &Options::default());
        let said = alone.map_or(true, |mechanism| !mechanism.warnings().is_empty());
        assert!(said, "{visual}: nothing else can be drawn, and nothing was reported");
    }
}

/// What is no color is none; parts beyond 0 and 1 are at the bound.
#[test]
fn colors_are_read_as_files_have_them() {
    for (rgba, color) in [
        ("0 0.5 1", Some([0.0, 0.5, 1.0, 1.0])),
        (" 2 -1 0.5 1 ", Some([1.0, 0.0, 0.5, 1.0])),
        ("inf 0 0 1", Some([1.0, 0.0, 0.0, 1.0])),
        ("nan 0 0 1", None),
        ("1 1", None),
        ("red", None),
        ("", None),
    ] {
        let visual =
            format!("<visual>{BALL}<material name=\"\"><color rgba=\"{rgba}\"/></material></visual>");
        assert_eq!(looks(&read(&robot(&[&with("a", &visual)]), &[]), "a"), [(false, color)], "{rgba:?}");
    }
}

/// MuJoCo: a color of the geom itself counts unless it is the one that it takes for none; then that of its material.
#[test]
fn mjcf_colors_of_geoms_and_materials() {
    let mechanism = parse(
        "<mujoco><default><default class=\"blue\"><geom rgba=\"0 0 1 1\"/></default></default>
         <asset><texture name=\"t\" builtin=\"flat\" width=\"8\" height=\"8\"/><material name=\"plain\" rgba=\"0.1 0.2 0.3 1\"/>
         <material name=\"white\"/><material name=\"wood\" texture=\"t\"/><material name=\"tinted\" texture=\"t\" rgba=\"0.9 0.5 0.1 1\"/></asset>
         <worldbody><body name=\"a\"><joint/>
           <geom size=\"0.1\"/><geom size=\"0.1\" rgba=\"1 0 0 0.5\" material=\"plain\"/><geom size=\"0.1\" material=\"plain\"/>
           <geom size=\"0.1\" rgba=\"0.5 0.5 0.5 1\" material=\"plain\"/><geom size=\"0.1\" class=\"blue\"/><geom size=\"0.1\" material=\"white\"/>
           <geom size=\"0.1\" material=\"wood\"/><geom size=\"0.1\" material=\"tinted\"/>
         </body></worldbody></mujoco>",
        "robot.xml",
    );
    let plain = Some([0.1, 0.2, 0.3, 1.0]);
    let colors: Vec<_> = shapes(&mechanism, "a").iter().map(|shape| shape.color).collect();
    let expected = [
        None,
        Some([1.0, 0.0, 0.0, 0.5]),
        plain,
        plain,
        Some([0.0, 0.0, 1.0, 1.0]),
        Some([1.0; 4]),
        None,
        Some([0.9, 0.5, 0.1, 1.0]),
    ];
    assert_eq!(colors, expected);
}

#[test]
fn sdf_draws_visuals_next_to_what_touches() {
    let ball = "<geometry><sphere><radius>0.1</radius></sphere></geometry>";
    let mechanism = parse(
        &format!(
            "<sdf version=\"1.9\"><model name=\"m\"><link name=\"a\">
             <inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>
             <collision name=\"c\">{ball}</collision>
             <visual name=\"v\">{ball}<material><diffuse>0.2 0.4 0.6 1</diffuse></material></visual>
             <visual name=\"w\"><geometry><mesh/></geometry></visual></link></model></sdf>"
        ),
        "robot.sdf",
    );
    assert_eq!(looks(&mechanism, "a"), [(true, None), (false, Some([0.2, 0.4, 0.6, 1.0]))]);
}

#[test]
fn scenes_have_colors() {
    let scene = |color: &str| {
        let text = format!(
            "[mechanism]\nname = \"m\"\n[[body]]\nname = \"a\"\nfree = true\nmass = 1.0\ninertia = [1, 1, 1]\n\
             [[body.shape]]\nkind = \"ball\"\nradius = 0.1\ncolor = {color}\n"
        );
        pliant_io::scene::read(&text, "m.toml")
    };
    for (color, read) in [("[1, 0.5, 0]", [1.0, 0.5, 0.0, 1.0]), ("[0, 0, 0, 0.25]", [0.0, 0.0, 0.0, 0.25])] {
        let mechanism = scene(color).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(looks(&mechanism, "a"), [(true, Some(read))]);
        assert_round_trip(&mechanism);
    }
    for (color, message) in [
        ("[1, 0]", "`color` has 2 entries, but takes 3 or 4"),
        ("[1, 0, 0, 0, 0]", "`color` has 5 entries, but takes 3 or 4"),
        ("[1.5, 0, 0]", "a part of the color is 1.5"),
        ("[0, -0.5, 0]", "a part of the color is -0.5"),
        ("[0, 0, nan]", "nan"),
        ("\"red\"", "`color`"),
    ] {
        let error = scene(color).map(|_| ()).expect_err(color).to_string();
        assert!(error.contains(message) && error.contains("m.toml:11"), "{color}: {error}");
    }
}

/// Geoms of MuJoCo's groups 0 to 2 are seen: where what touches is hidden, what is seen is drawn next to it.
#[test]
fn mjcf_draws_what_is_seen_where_what_touches_is_hidden() {
    let looks_of = |touching: &str| {
        let text = format!(
            "<mujoco><worldbody><body name=\"a\"><joint/><geom size=\"0.1\" {touching}/>
             <geom size=\"0.2\" contype=\"0\" conaffinity=\"0\" group=\"2\" rgba=\"1 0 0 1\"/>
             <geom size=\"0.3\" contype=\"0\" conaffinity=\"0\" group=\"4\"/></body></worldbody></mujoco>"
        );
        looks(&parse(&text, "robot.xml"), "a")
    };
    let red = Some([1.0, 0.0, 0.0, 1.0]);
    assert_eq!(looks_of("group=\"3\""), [(true, None), (false, red)]);
    assert_eq!(looks_of("rgba=\"0 0 0 0\""), [(true, Some([0.0; 4])), (false, red)]);
    assert_eq!(looks_of("group=\"0\""), [(true, None)]);
    assert_eq!(looks_of("contype=\"0\" conaffinity=\"0\""), [(false, None), (false, red), (false, None)]);
}
