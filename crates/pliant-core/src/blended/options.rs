//! How samples are blended.

/// How compliances are blended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matrices {
    /// C̄ = ΣαC: never fails, and as accurate as the other.
    #[default]
    Compliance,
    /// Eigenvectors and eigenvalues apart (Andrews 2015, Algorithm 3), with the eigenvectors of all samples matched
    /// one to one and turned the same way.
    Eigen,
}

/// How the other links are placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// By blended joint coordinates and forward kinematics: no joint of the tree opens.
    #[default]
    Joint,
    /// Each link by its own blended pose (Andrews 2015, Algorithm 4): any link alone, but joints open.
    Twist,
}

/// How samples are blended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The power p of one over the distance that weights follow (Andrews 2015, eq. 25).
    pub power: u32,
    /// How many of the nearest samples count, at most.
    pub neighbours: usize,
    /// How compliances are blended.
    pub matrices: Matrices,
    /// How the other links are placed.
    pub links: Links,
    /// Whether samples have the geometric stiffness of their loads.
    pub geometric: bool,
    /// Whether bodies from which several branches with effectors go out are effectors too, so that each branch is
    /// weighed and blended alone.
    pub branches: bool,
    /// The least time that a model added while it runs takes to count in full, s.
    pub fade: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            power: 4,
            neighbours: 8,
            matrices: Matrices::Compliance,
            links: Links::Joint,
            geometric: true,
            branches: true,
            fade: 0.25,
        }
    }
}

impl Options {
    /// The algorithms as Andrews 2015 prints them: Algorithm 3 for compliances, Algorithm 4 for links, weights of the power
    /// p = 2 over all samples of all effectors together.
    pub fn printed() -> Options {
        Options {
            power: 2,
            neighbours: usize::MAX,
            matrices: Matrices::Eigen,
            links: Links::Twist,
            branches: false,
            ..Options::default()
        }
    }

    /// These, with what is part of samples taken from others.
    pub(super) fn in_samples_as(self, other: &Options) -> Options {
        Options { geometric: other.geometric, branches: other.branches, ..self }
    }
}
