//! What stands below the options in the help of each command: units, and examples to start from.

/// Of the program.
pub const EXAMPLES: &str = "\
A mechanism (MECH) is a name of the gallery, with a size if you like (helix:400), or a path to a
scene file (arm.toml) or a robot file (hand.urdf, .xml for MJCF, .sdf). Units are SI and radians
everywhere: m, kg, s, N, N·m, N·m/rad.

Exit codes: 0 done, 1 the job failed, 2 bad usage or bad input.

Examples:
  pliant list                            what there is to try
  pliant info helix:400                  bodies, joints, loops, radius (m), mass (kg)
  pliant info hand.toml --json           the same for a script
  pliant export gripper -o gripper.toml  a scene file to start from
  pliant statics helix --scene-load      where it settles
  pliant simulate arm --engine full --duration 1 --dt 0.001 -o arm.csv
                                         how it moves
  pliant help info                       more about one command";

/// Of `list`.
pub const LIST_EXAMPLES: &str = "\
Sizes are numbers of bodies: `helix` takes its default, `helix:400` has 400.

Examples:
  pliant list
  pliant list --json                     [{\"name\": …, \"about\": …}, …]";

/// Of `info`.
pub const INFO_EXAMPLES: &str = "\
Freedoms are those of the joints that hold the bodies up and six for each free base; joints that
close loops take some away again. The radius (m) is that of the ball around all joint and link
origins at rest; the mass (kg) counts every link.

Examples:
  pliant info gripper
  pliant info helix:400 --json           keys: name, bodies, joints, freedoms, loops, effectors,
                                         radius (m), mass (kg), warnings
  pliant info arm.toml --strict          fails (exit code 2) if there is any warning";

/// Of `export`.
pub const EXPORT_EXAMPLES: &str = "\
The scene file holds every number to the last bit: reading it gives the same mechanism. Lengths are
in m, masses in kg, stiffness in N/m and N·m/rad, damping in N·s/m and N·m·s/rad.

Examples:
  pliant export gripper -o gripper.toml
  pliant export helix:400 -o - | less
  pliant export arm.toml -o tidy.toml    the same mechanism, written anew";

/// Of `statics`.
pub const STATICS_EXAMPLES: &str = "\
The equilibrium is nonlinear: large turns count. Loads are dead: they keep their direction. The job
fails (exit code 1) if the search does not converge, or if nothing determines a free base or a joint.
An unstable equilibrium is an answer, with a warning.

Lengths are in m, angles in rad, forces in N, torques in N·m.

Examples:
  pliant statics helix --scene-load
  pliant statics arm --load tip=0,0,-50  50 N down at an effector
  pliant statics chain --load link3=0,0,0,0,1,0 --no-gravity
                                         a torque of 1 N·m about y on a body
  pliant statics arm.toml --json         keys: bodies, effectors, joints, residual (N), iterations,
                                         converged, closure (m or rad), load_steps, load_reached (1 is
                                         all), stable, warnings";

/// Of `simulate`.
pub const SIMULATE_EXAMPLES: &str = "\
Takes round(duration/dt) steps. Loads stay for the whole run; the targets of a scene are followed.
Lengths are in m, angles in rad, times in s, energies in J. The violation is the sum of the gaps in
all joints over the mechanism's radius (over 1 m where that is 0).

A trajectory has one row for the start and one for each step. CSV: time, then NAME.px .py .pz .qw
.qx .qy .qz of each body, then NAME.0, NAME.1… of each joint. npz: time (T), poses (T×B×7),
coordinates (T×C), body_names (B), joint_names (C). Rows go to FILE.part, which takes the place of
FILE at the end or at a step that fails (exit code 1); a run that is stopped leaves FILE.part.

Examples:
  pliant simulate helix --engine full --duration 1 --dt 0.001 --scene-load
  pliant simulate arm --engine full --duration 2 --dt 0.01 -o arm.csv
  pliant simulate arm --engine full --duration 2 --dt 0.01 --load tip=0,0,-50 --json
                                         keys: bodies, effectors, joints, time_per_step_us, p99_us,
                                         violation, energy (J), steps, time (s), warnings";

/// Of `bench`.
pub const BENCH_EXAMPLES: &str = "\
One thread, dt = 1/60 s, one Newton iteration a step, gravity and the scene's loads on; after a
warm-up at least 200 steps and half a second of each mechanism. Times are in µs a step.

Examples:
  pliant bench
  pliant bench helix:100 my-hand.toml
  pliant bench arm --json                [{\"name\", \"engine\", \"iterations\", \"median_us\", \"p10_us\",
                                         \"p90_us\", \"p99_us\", \"us_per_link\"}, …]";

/// Of `completions`.
pub const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  pliant completions bash > ~/.local/share/bash-completion/completions/pliant
  pliant completions zsh > ~/.zfunc/_pliant
  pliant completions fish > ~/.config/fish/completions/pliant.fish";
