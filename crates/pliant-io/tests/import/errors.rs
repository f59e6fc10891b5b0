//! Every error of a URDF file, word for word.

use super::{expect, joint, link, robot};

#[test]
fn not_xml() {
    expect(
        "<robot name=\"r\">\n<link name=\"a\">\n</robot>\n",
        r##"
error: cannot read the file: expected 'link' tag, not 'robot'
 --> robot.urdf:3:1
  |
3 | </robot>
  | ^ not valid XML
"##,
    );
    expect(
        "",
        r##"
error: cannot read the file: the document does not have a root node
 --> robot.urdf:1:1
  |
1 |
  | ^ not valid XML
"##,
    );
    expect(
        "<robot><link name=\"a\" name=\"b\"/></robot>",
        r##"
error: cannot read the file: attribute 'name' is already defined
 --> robot.urdf:1:23
  |
1 | <robot><link name="a" name="b"/></robot>
  |                       ^ give it only once
"##,
    );
}

#[test]
fn not_a_robot() {
    expect(
        "<html/>",
        r##"
error: <html> is not a robot
 --> robot.urdf:1:1
  |
1 | <html/>
  | ^^^^^^^ <robot> (URDF), <mujoco> (MJCF) or <sdf>
"##,
    );
    expect(
        "<robot name=\"r\"/>",
        r##"
error: the file has no links
 --> robot.urdf:1:1
  |
1 | <robot name="r"/>
  | ^^^^^^^^^^^^^^^^^ add at least one
"##,
    );
    expect(
        "<robot xmlns:xacro=\"x\"><xacro:arm/></robot>",
        r##"
error: the file is a xacro, which must be expanded first
 --> robot.urdf:1:1
  |
1 | <robot xmlns:xacro="x"><xacro:arm/></robot>
  | ^^^^^^^^^^^^^^^^^^^^^^^ run `xacro` on it
"##,
    );
}

#[test]
fn numbers() {
    expect(
        &robot(&["<link name=\"a\"><inertial><mass value=\"1kg\"/></inertial></link>\n"]),
        r##"
error: <mass>: `1kg` in `value` is not a finite number
 --> robot.urdf:2:39
  |
2 | <link name="a"><inertial><mass value="1kg"/></inertial></link>
  |                                       ^^^ numbers such as 0.5
"##,
    );
    expect(
        &robot(&["<link name=\"a\"><inertial><origin xyz=\"0 1\"/><mass value=\"1\"/></inertial></link>\n"]),
        r##"
error: <origin>: `xyz` has 2 numbers, but takes 3
 --> robot.urdf:2:39
  |
2 | <link name="a"><inertial><origin xyz="0 1"/><mass value="1"/></inertial></link>
  |                                       ^^^ give 3 numbers
"##,
    );
    expect(
        &robot(&["<link name=\"a\"><inertial><mass value=\"inf\"/></inertial></link>\n"]),
        r##"
error: <mass>: `inf` in `value` is not a finite number
 --> robot.urdf:2:39
  |
2 | <link name="a"><inertial><mass value="inf"/></inertial></link>
  |                                       ^^^ numbers such as 0.5
"##,
    );
}

#[test]
fn names_and_references() {
    expect(
        &robot(&["<link/>\n"]),
        r##"
error: <link>: the attribute `name` is missing
 --> robot.urdf:2:1
  |
2 | <link/>
  | ^^^^^^^ add name="…"
"##,
    );
    expect(
        &robot(&[&link("a"), &link("a")]),
        r##"
error: there is already a body `a`
 --> robot.urdf:3:13
  |
3 | <link name="a"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz…
  |             ^ give each its own name
"##,
    );
    expect(
        &robot(&[
            &link("base"),
            &link("a"),
            &joint("j", "fixed", "base", "b", ""),
            &joint("k", "fixed", "base", "a", ""),
        ]),
        r##"
error: there is no body `b`
 --> robot.urdf:4:14
  |
4 | <joint name="j" type="fixed"><parent link="base"/><child link="b"/></joint>
  |              ^ did you mean `a`?
"##,
    );
    expect(
        &robot(&[&link("a"), "<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/></joint>\n"]),
        r##"
error: joint `j` has no child
 --> robot.urdf:3:1
  |
3 | <joint name="j" type="fixed"><parent link="a"/></joint>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ add <child link="…"/>
"##,
    );
    expect(
        &robot(&[&link("a"), "<joint name=\"j\"><parent link=\"a\"/><child link=\"a\"/></joint>\n"]),
        r##"
error: joint `j`: the attribute `type` is missing
 --> robot.urdf:3:1
  |
3 | <joint name="j"><parent link="a"/><child link="a"/></joint>
  | ^^^^^^^^^^^^^^^^ add type="…"
"##,
    );
}

#[test]
fn joints() {
    expect(
        &robot(&[&link("a"), &link("b"), &joint("j", "hinge", "a", "b", "")]),
        r##"
error: joint `j`: there is no joint of type `hinge`
 --> robot.urdf:4:23
  |
4 | <joint name="j" type="hinge"><parent link="a"/><child link="b"/></joint>
  |                       ^^^^^ one of revolute, continuous, prismatic, planar, floating, fixed
"##,
    );
    let two =
        [&link("a"), &link("b"), &joint("j", "fixed", "a", "b", ""), &joint("k", "fixed", "a", "b", "")];
    expect(
        &robot(&two.map(String::as_str)),
        r##"
error: link `b` is the child of two joints, `j` and `k`
 --> robot.urdf:5:61
  |
5 | <joint name="k" type="fixed"><parent link="a"/><child link="b"/></joint>
  |                                                             ^ one parent for each link; add loops in a scene file that imports this one
"##,
    );
    let circle =
        [&link("a"), &link("b"), &joint("j", "fixed", "a", "b", ""), &joint("k", "fixed", "b", "a", "")];
    expect(
        &robot(&circle.map(String::as_str)),
        r##"
error: joints form a cycle: b → a → b
 --> robot.urdf:4:14
  |
4 | <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
  |              ^ swap parent and child of one of these joints: a loop is a body with two parents, not a cycle of parents
"##,
    );
    let mimic = "<mimic joint=\"j\"/>";
    expect(
        &robot(&[&link("a"), &link("b"), &joint("j", "continuous", "a", "b", mimic)]),
        r##"
error: joint `j` would follow itself
 --> robot.urdf:4:84
  |
4 | <joint name="j" type="continuous"><parent link="a"/><child link="b"/><mimic joint="j"/></joint>
  |                                                                                    ^ the last joint in a chain of couplings must be a free one
"##,
    );
}
