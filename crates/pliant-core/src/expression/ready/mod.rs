//! Joints written in the language of [`crate::expression`], one file each: what a scene file calls by name.
//!
//! ```
//! use pliant_core::expression::ready;
//!
//! let screw = ready::find("screw").expect("a name of this list");
//! assert_eq!((screw.angles, screw.parameters), (&["turn"][..], &[("pitch", "m per turn")][..]));
//! ```

/// A joint that is there to be used: its text, and what it needs.
#[derive(Debug, PartialEq, Hash)]
pub struct Ready {
    /// The word of the scene file.
    pub name: &'static str,
    /// Freedoms that are lengths.
    pub lengths: &'static [&'static str],
    /// Freedoms that are angles.
    pub angles: &'static [&'static str],
    /// Parameters and what they are.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The text, with a comment that says what it is.
    pub text: &'static str,
}

/// All of them.
pub const ALL: &[Ready] = &[
    Ready {
        name: "screw",
        lengths: &[],
        angles: &["turn"],
        parameters: &[("pitch", "m per turn")],
        text: include_str!("screw.joint"),
    },
    Ready {
        name: "point-on-curve",
        lengths: &["s"],
        angles: &["a", "b", "g"],
        parameters: &[("points", POINTS), ("start", "0 to 1"), ("scale", SCALE)],
        text: include_str!("point-on-curve.joint"),
    },
    Ready {
        name: "frame-on-curve",
        lengths: &["s"],
        angles: &[],
        parameters: &[
            ("points", POINTS),
            ("start", "0 to 1"),
            ("scale", SCALE),
            ("up", "a direction that the curve never takes"),
        ],
        text: include_str!("frame-on-curve.joint"),
    },
    Ready {
        name: "frame-on-patch",
        lengths: &["s", "t"],
        angles: &["spin"],
        parameters: &[("points", GRID), ("start", START), ("scale", SCALE)],
        text: include_str!("frame-on-patch.joint"),
    },
    Ready {
        name: "sphere-sphere",
        lengths: &[],
        angles: &["u1", "v1", "u2", "v2", "spin"],
        parameters: &[("radius1", "m"), ("radius2", "m")],
        text: include_str!("sphere-sphere.joint"),
    },
    Ready {
        name: "ellipsoid-ellipsoid",
        lengths: &[],
        angles: &["u1", "v1", "u2", "v2", "spin"],
        parameters: &[("radii1", "three lengths, m"), ("radii2", "three lengths, m")],
        text: include_str!("ellipsoid-ellipsoid.joint"),
    },
    Ready {
        name: "torus-torus",
        lengths: &[],
        angles: &["u1", "v1", "v2", "u2"],
        parameters: &[("ring1", RING), ("tube1", TUBE), ("ring2", RING), ("tube2", TUBE)],
        text: include_str!("torus-torus.joint"),
    },
    Ready {
        name: "sphere-ellipsoid",
        lengths: &[],
        angles: &["u1", "v1", "u2", "v2", "spin"],
        parameters: &[("radius1", "m"), ("radii2", "three lengths, m")],
        text: include_str!("sphere-ellipsoid.joint"),
    },
    Ready {
        name: "sphere-torus",
        lengths: &[],
        angles: &["u1", "v1", "u2", "v2", "spin"],
        parameters: &[("radius1", "m"), ("ring2", RING), ("tube2", TUBE)],
        text: include_str!("sphere-torus.joint"),
    },
    Ready {
        name: "torus-ellipsoid",
        lengths: &[],
        angles: &["u1", "v1", "u2", "v2", "spin"],
        parameters: &[("ring1", RING), ("tube1", TUBE), ("radii2", "three lengths, m")],
        text: include_str!("torus-ellipsoid.joint"),
    },
    Ready {
        name: "patch-sphere",
        lengths: &["s", "t"],
        angles: &["u", "v", "spin"],
        parameters: &[("points", GRID), ("start", START), ("scale", SCALE), ("radius", "m")],
        text: include_str!("patch-sphere.joint"),
    },
    Ready {
        name: "patch-patch",
        lengths: &["s1", "t1", "s2", "t2"],
        angles: &["spin"],
        parameters: &[
            ("points1", GRID),
            ("points2", GRID),
            ("start1", START),
            ("start2", START),
            ("scale", SCALE),
        ],
        text: include_str!("patch-patch.joint"),
    },
    Ready {
        name: "four-bar-knee",
        lengths: &[],
        angles: &["bend"],
        parameters: &[
            ("ground", "m"),
            ("crank", "m"),
            ("coupler", "m"),
            ("rocker", "m"),
            ("start", "angle of the crank, rad"),
        ],
        text: include_str!("four-bar-knee.joint"),
    },
];

const RING: &str = "radius of the ring, m";
const TUBE: &str = "radius of the tube, m";
const POINTS: &str = "points of the curve, m";
const GRID: &str = "rows of points, m";
const START: &str = "[u, v, 0], each 0 to 1";
const SCALE: &str = "metres of travel from one end to the other";

/// The ready joint of a name.
pub fn find(name: &str) -> Option<&'static Ready> {
    ALL.iter().find(|ready| ready.name == name)
}
