//! The messages between the viewer's page and what simulates: the same whether that is a server or a worker of the page itself.
//!
//! Every message is binary, little-endian, and begins with one byte that says its kind. Commands of the page have fixed fields, in the
//! order of [`commands!`](Command); what goes to the page is a [`Kind`] and, for a frame, the numbers of [`Frame`] and lists of `f32`.
//! [`typescript`] writes the same tables for the page, `page/src/layout.ts`; a test compares that file.

use std::fmt::Write as _;

/// The longest message of a page that is read, in bytes; the longest command has 37.
pub const LONGEST_COMMAND: usize = 1 << 10;

/// The codes with which the server ends a connection: a later page took over; it took too little of what it was sent.
pub const REPLACED: u16 = 4001;
/// The page connects again.
pub const TOO_SLOW: u16 = 4002;

/// A field of a command.
trait Field: Sized {
    /// The page's word for its type.
    const NAME: &'static str;
    /// Takes it from the front of what is left.
    fn take(bytes: &mut &[u8]) -> Option<Self>;
    fn put(&self, bytes: &mut Vec<u8>);
}

macro_rules! number {
    ($type:ty, $name:literal) => {
        impl Field for $type {
            const NAME: &'static str = $name;
            fn take(bytes: &mut &[u8]) -> Option<Self> {
                let (own, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(Self::from_le_bytes(*own))
            }
            fn put(&self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
    };
}

number!(u8, "u8");
number!(u32, "u32");
number!(f64, "f64");

/// A command by name, number and fields, from which the enum, its reader, its writer and the page's table come.
macro_rules! commands {
    ($( #[doc = $about:literal] $name:ident $word:literal = $kind:literal { $( $field:ident : $type:ty ),* } )*) => {
        /// What the page asks for.
        #[allow(missing_docs)] // fields: units are in the line above each
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Command { $( #[doc = $about] $name { $( $field: $type ),* } ),* }

        impl Command {
            /// Reads a message; `None` if it is none, has too few or too many bytes, or a number that is not finite.
            pub fn read(message: &[u8]) -> Option<Command> {
                let (kind, mut rest) = message.split_first()?;
                let command = match *kind {
                    $( $kind => Command::$name { $( $field: Field::take(&mut rest)? ),* }, )*
                    _ => return None,
                };
                (rest.is_empty() && command.is_finite()).then_some(command)
            }

            /// The message.
            pub fn write(&self) -> Vec<u8> {
                let mut bytes = Vec::new();
                match self {
                    $( Command::$name { $( $field ),* } => {
                        bytes.push($kind);
                        $( $field.put(&mut bytes); )*
                    } )*
                }
                bytes
            }

            fn is_finite(&self) -> bool {
                match self { $( Command::$name { $( $field ),* } => true $( && f64::from(*$field).is_finite() )* ),* }
            }
        }

        /// Names, numbers and fields of all commands.
        const COMMANDS: &[(&str, u8, &[(&str, &str)])] =
            &[ $( ($word, $kind, &[ $( (stringify!($field), <$type as Field>::NAME) ),* ]) ),* ];
    };
}

commands! {
    #[doc = "Send everything: the page has just opened."]
    Hello "hello" = 0 {}
    #[doc = "A frame was drawn, the one of this number."]
    Drawn "drawn" = 1 { frame: u32 }
    #[doc = "Let time pass, or not."]
    Play "play" = 2 { on: u8 }
    #[doc = "Take one step, and pause."]
    Step "step" = 3 {}
    #[doc = "Everything as it was in the file, at rest."]
    Reset "reset" = 4 {}
    #[doc = "Seconds simulated in a second; 0 is as fast as possible."]
    Speed "speed" = 5 { factor: f64 }
    #[doc = "Go on with another engine, by its place in the list."]
    Engine "engine" = 6 { engine: u8 }
    #[doc = "A second engine beside the first; 255 is none."]
    Ghost "ghost" = 7 { engine: u8 }
    #[doc = "Length of a step, s."]
    TimeStep "timeStep" = 8 { dt: f64 }
    #[doc = "Gravity, world axes, m/s²."]
    Gravity "gravity" = 9 { x: f64, y: f64, z: f64 }
    #[doc = "Take hold of a body at a point of its link frame, m, by a spring, N/m; 0 chooses one."]
    Grab "grab" = 10 { body: u32, x: f64, y: f64, z: f64, stiffness: f64 }
    #[doc = "Where the spring goes to, world, m."]
    Pull "pull" = 11 { x: f64, y: f64, z: f64 }
    #[doc = "Let go."]
    Release "release" = 12 {}
    #[doc = "The set-point of a freedom of a joint, m or rad."]
    Target "target" = 13 { joint: u32, freedom: u32, value: f64 }
    #[doc = "Factors on the stiffness and on the damping of all joints."]
    Scale "scale" = 14 { stiffness: f64, damping: f64 }
    #[doc = "Springs of the joints on or off."]
    Torques "torques" = 15 { on: u8 }
    #[doc = "One more linear model of the engine `blended`: at the pose of a blend's ghost, and else where the mechanism is."]
    AddModel "addModel" = 16 {}
    #[doc = "Keep the present state."]
    Save "save" = 17 {}
    #[doc = "Return to the state that was kept."]
    Restore "restore" = 18 {}
    #[doc = "Send the scene as a file, joints starting where they are."]
    SceneFile "sceneFile" = 19 {}
    #[doc = "Whether the compliance at the effectors is found as they are now."]
    Ellipsoids "ellipsoids" = 20 { on: u8 }
    #[doc = "Of the engine `blended`, keep only the model at rest."]
    ForgetModels "forgetModels" = 21 {}
}

/// What a message to the page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// What there is to draw and to set: JSON.
    Scene = 0,
    /// Triangles of a file: three bytes of nothing, then `u32` place in the list, points, triangles; then three `f32` a point and three
    /// `u32` a triangle.
    Mesh = 1,
    /// What changes only by a command: JSON.
    Status = 2,
    /// What changes with every step.
    Frame = 3,
    /// A message: one byte, 0 a remark or 1 an error, then text.
    Note = 4,
    /// A file to save: JSON with `name` and `text`.
    File = 5,
}

const KINDS: [(&str, Kind); 6] = [
    ("scene", Kind::Scene),
    ("mesh", Kind::Mesh),
    ("status", Kind::Status),
    ("frame", Kind::Frame),
    ("note", Kind::Note),
    ("file", Kind::File),
];

/// The numbers of a frame, each `f64`, after eight bytes: the kind, three bytes of nothing, and the frame's number as `u32`.
macro_rules! frame {
    ($( #[doc = $about:literal] $field:ident )*) => {
        /// The numbers of a frame.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Frame { $( #[doc = $about] pub $field: f64 ),* }

        impl Frame {
            fn numbers(&self) -> Vec<f64> {
                vec![ $( self.$field ),* ]
            }
        }

        const NUMBERS: &[&str] = &[ $( stringify!($field) ),* ];
    };
}

frame! {
    #[doc = "Time simulated, s."]
    time
    #[doc = "Steps taken."]
    steps
    #[doc = "Time of one of the last steps, µs: the median, or the mean where the clock is too coarse for one step; 0 before the first."]
    step_time
    #[doc = "Seconds simulated in the last second."]
    rate
    #[doc = "J."]
    kinetic
    #[doc = "J."]
    elastic
    #[doc = "J."]
    potential
    #[doc = "Whether something is held by the mouse: 1 or 0."]
    held
    #[doc = "Where it is held, world, m."]
    held_x
    #[doc = "m."]
    held_y
    #[doc = "m."]
    held_z
    #[doc = "Where it is pulled to, world, m."]
    goal_x
    #[doc = "m."]
    goal_y
    #[doc = "m."]
    goal_z
    #[doc = "The spring's force on it, world axes, N."]
    force_x
    #[doc = "N."]
    force_y
    #[doc = "N."]
    force_z
    #[doc = "The largest distance of a body from that of the ghost, over the radius; 0 without one."]
    distance
    #[doc = "Gaps of all joints over the radius."]
    violation
}

/// The lists after the numbers of a frame: each a `u32` count of entries, then all entries of all lists as `f32`.
const LISTS: [(&str, &[&str]); 11] = [
    (
        "bodies",
        &[
            "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14",
            "m15",
        ],
    ),
    (
        "ghosts",
        &[
            "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14",
            "m15",
        ],
    ),
    ("coordinates", &["position"]),
    ("targets", &["position"]),
    ("torques", &["torque"]),
    ("gaps", &["gap"]),
    ("contacts", &["x", "y", "z", "nx", "ny", "nz", "fx", "fy", "fz", "friction", "gap", "slips"]),
    ("weights", &["weight"]),
    ("ellipsoids", &["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"]),
    ("springs", &["x", "y", "z", "tx", "ty", "tz", "force"]),
    ("loads", &["x", "y", "z", "fx", "fy", "fz"]),
];

/// What a frame lists, each a multiple of the numbers of one entry.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// Of each body, the columns of its link frame as a 4×4 matrix.
    pub bodies: Vec<f32>,
    /// The same of the ghost.
    pub ghosts: Vec<f32>,
    /// Of each joint coordinate, m or rad.
    pub coordinates: Vec<f32>,
    /// Set-point of each, m or rad.
    pub targets: Vec<f32>,
    /// What spring, damper and limit apply along each, N or N·m.
    pub torques: Vec<f32>,
    /// Of each joint, between the points where it holds its two bodies, m.
    pub gaps: Vec<f32>,
    /// Of each contact that pushes: point (m) and normal, force on the second (N), friction coefficient, gap (m), 1 if it slips.
    pub contacts: Vec<f32>,
    /// Of each linear model of a blend, its weight at the first effector.
    pub weights: Vec<f32>,
    /// Of each effector, where they are asked for, the columns of its compliance to forces, world axes, m/N.
    pub ellipsoids: Vec<f32>,
    /// Of each spring of the scene: where it holds its body and where it goes to (world, m), and its force, N.
    pub springs: Vec<f32>,
    /// Of each load with a force: where it acts (m) and the force (N), world axes.
    pub loads: Vec<f32>,
}

impl Lists {
    fn all(&self) -> [&[f32]; 11] {
        let Lists { bodies, ghosts, coordinates, targets, torques, gaps, contacts, weights, .. } = self;
        let Lists { ellipsoids, springs, loads, .. } = self;
        [bodies, ghosts, coordinates, targets, torques, gaps, contacts, weights, ellipsoids, springs, loads]
    }

    /// Empties all.
    pub fn clear(&mut self) {
        let Lists { bodies, ghosts, coordinates, targets, torques, gaps, contacts, weights, .. } = self;
        let lists = [bodies, ghosts, coordinates, targets, torques, gaps, contacts, weights];
        lists.into_iter().for_each(Vec::clear);
        [&mut self.ellipsoids, &mut self.springs, &mut self.loads].into_iter().for_each(Vec::clear);
    }
}

/// Writes a frame.
pub fn frame(number: u32, numbers: &Frame, lists: &Lists, out: &mut Vec<u8>) {
    out.clear();
    out.extend([Kind::Frame as u8, 0, 0, 0]);
    out.extend(number.to_le_bytes());
    numbers.numbers().iter().for_each(|x| out.extend(x.to_le_bytes()));
    for (list, (_, entry)) in lists.all().iter().zip(LISTS) {
        debug_assert_eq!(list.len() % entry.len(), 0);
        out.extend(((list.len() / entry.len()) as u32).to_le_bytes());
    }
    lists.all().iter().for_each(|list| list.iter().for_each(|x| out.extend(x.to_le_bytes())));
}

/// Whether a message to the page is still of use after another scene: notes and files are.
pub(crate) fn outlives_a_scene(message: &[u8]) -> bool {
    [Kind::Note as u8, Kind::File as u8].contains(&message[0])
}

/// Writes a message of JSON or text.
pub fn text(kind: Kind, text: &str) -> Vec<u8> {
    let mut out = vec![kind as u8];
    out.extend(text.as_bytes());
    out
}

/// Writes a note.
pub fn note(is_error: bool, words: &str) -> Vec<u8> {
    let mut out = vec![Kind::Note as u8, u8::from(is_error)];
    out.extend(words.as_bytes());
    out
}

/// Writes a mesh.
pub fn mesh(place: usize, points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut out = vec![Kind::Mesh as u8, 0, 0, 0];
    for n in [place, points.len(), triangles.len()] {
        out.extend((n as u32).to_le_bytes());
    }
    points.iter().flatten().for_each(|x| out.extend((*x as f32).to_le_bytes()));
    triangles.iter().flatten().for_each(|k| out.extend(k.to_le_bytes()));
    out
}

/// The tables above for the page: `page/src/layout.ts`.
pub fn typescript() -> String {
    let mut text = String::from(
        "// The layout of all messages. Written from crates/pliant-view/src/protocol.rs by\n\
         // `PLIANT_WRITE=1 cargo test -p pliant-view layout`; do not edit.\n\n",
    );
    let quoted = |name: &str| format!("{name:?}");
    text.push_str("/** Commands of the page: the byte of each, then its fields in order. */\nexport const COMMANDS = {\n");
    for (name, kind, fields) in COMMANDS {
        let fields: Vec<String> = fields.iter().map(|(field, of)| format!("[{field:?}, {of:?}]")).collect();
        let _ = writeln!(text, "  {name}: {{ kind: {kind}, fields: [{}] }},", fields.join(", "));
    }
    text.push_str("} as const;\n\n");
    let _ = write!(
        text,
        "/** The code with which a connection ends when a later page takes over. */\nexport const REPLACED = {REPLACED};\n\n"
    );
    text.push_str("/** The byte of each message to the page. */\nexport const KINDS = {\n");
    for (name, kind) in KINDS {
        let _ = writeln!(text, "  {name}: {},", kind as u8);
    }
    let numbers: Vec<String> = NUMBERS.iter().map(|name| quoted(name)).collect();
    let _ = write!(
        text,
        "}} as const;\n\n/** The numbers of a frame (f64), after eight bytes. */\nexport const NUMBERS = [\n  {},\n] as const;\n\n",
        numbers.join(",\n  ")
    );
    text.push_str("/** The lists of a frame: a u32 count each, then all entries (f32); of each list, the numbers of an entry. */\n");
    text.push_str("export const LISTS = [\n");
    for (name, entry) in LISTS {
        let entry: Vec<String> = entry.iter().map(|name| quoted(name)).collect();
        let _ = writeln!(text, "  [{name:?}, [{}]],", entry.join(", "));
    }
    text.push_str("] as const;\n");
    text
}
