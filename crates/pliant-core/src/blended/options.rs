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

/// How the other links are placed. With [`Force::Live`] it is always by joints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// By blended joint coordinates and forward kinematics: no joint of the tree opens.
    #[default]
    Joint,
    /// Each link by its own blended pose (Andrews 2015, Algorithm 4): any link alone, but joints open.
    Twist,
}

/// Where the effectors' force comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Force {
    /// From one step of the live engine at the blended pose, in time linear in the links.
    #[default]
    Live,
    /// From the blend alone, in time that does not depend on the links.
    Blend,
}

/// How samples are blended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The power p of one over the distance that weights follow (Andrews 2015, eq. 25).
    pub power: u32,
    /// The distance, in radii, that a turn of one radian counts for.
    pub turning: f64,
    /// How many of the nearest samples count, at most.
    pub neighbours: usize,
    /// How compliances are blended.
    pub matrices: Matrices,
    /// How the other links are placed.
    pub links: Links,
    /// Where the effectors' force comes from.
    pub force: Force,
    /// Whether samples have the geometric stiffness of their loads.
    pub geometric: bool,
    /// Whether bodies from which several branches with effectors go out are effectors too, so that each branch is
    /// weighed and blended alone.
    pub branches: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            power: 4,
            turning: std::f64::consts::FRAC_1_PI,
            neighbours: 8,
            matrices: Matrices::Compliance,
            links: Links::Joint,
            force: Force::Live,
            geometric: true,
            branches: true,
        }
    }
}

impl Options {
    /// These, with what is part of samples taken from others.
    pub(super) fn in_samples_as(self, other: &Options) -> Options {
        Options { geometric: other.geometric, branches: other.branches, ..self }
    }
}
