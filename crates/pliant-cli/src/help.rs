//! What stands below the options in the help of each command: units, and examples to start from.

pub const EXAMPLES: &str = "\
A mechanism (MECH) is a name of the gallery, with a size if you like (helix:400), or a path to a
scene file (arm.toml), a robot file (hand.urdf, .xml for MJCF, .sdf) or a model file (arm.pliant),
which `pliant reduce` writes. Units are SI and radians everywhere: m, kg, s, N, N·m, N·m/rad.

Exit codes: 0 done, 1 the job failed, 2 bad usage or bad input.

Examples:
  pliant list                            what there is to try
  pliant info helix:400                  bodies, joints, loops, radius (m), mass (kg)
  pliant info hand.toml --json           the same for a script
  pliant export gripper -o gripper.toml  a scene file to start from
  pliant compliance arm                  how soft it is at its tip
  pliant statics helix --scene-load      where it settles
  pliant simulate arm --engine full --duration 1 --dt 0.001 -o arm.csv
                                         how it moves
  pliant reduce y -o y.pliant            a model of a known error, to be simulated fast
  pliant compare rungs                   full against reduced, as a page to look at
  pliant help info                       more about one command";

pub const LIST_EXAMPLES: &str = "\
Sizes are numbers of bodies: `helix` takes its default, `helix:400` has 400.

Examples:
  pliant list
  pliant list --json                     [{\"name\": …, \"about\": …}, …]";

pub const INFO_EXAMPLES: &str = "\
Freedoms are those of the joints that hold the bodies up and six for each free base; joints that
close loops take some away again. The radius (m) is that of the ball around all joint and link
origins at rest; the mass (kg) counts every link. Where things touch, the shapes of the world and
the bodies that nothing holds are counted too, and what overlaps (mm) at the start is a warning.

Examples:
  pliant info gripper
  pliant info helix:400 --json           keys: name, bodies, joints, freedoms, loops, effectors,
                                         radius (m), mass (kg), warnings; where things touch also
                                         world_shapes, loose_bodies
  pliant info y.pliant --json            a model file: also models, and over the radius error (where
                                         it was trained), held_out (elsewhere), bound (asked for),
                                         displacement (that loads go up to); seed
  pliant info arm.toml --strict          fails (exit code 2) if there is any warning";

pub const EXPORT_EXAMPLES: &str = "\
The scene file holds every number to the last bit: reading it gives the same mechanism. Lengths are
in m, masses in kg, stiffness in N/m and N·m/rad, damping in N·s/m and N·m·s/rad.

Examples:
  pliant export gripper -o gripper.toml
  pliant export helix:400 -o - | less
  pliant export arm.toml -o tidy.toml    the same mechanism, written anew";

pub const COMPLIANCE_EXAMPLES: &str = "\
The compliance takes wrenches on the effectors (force in N, torque in N·m) to their small motions
(translation in m, rotation in rad), each in the effector's own frame, at the file's pose (where
joints `start` elsewhere, there) without loads; a free base is held (with --loaded, the loads must determine where it is). The rank is the number of independent motions among them.

Examples:
  pliant compliance arm
  pliant compliance hand --effector index --effector thumb
  pliant compliance arm --effector arm3  a body: its link frame
  pliant compliance two-link --at elbow=0.5
                                         with the joint `elbow` at 0.5 rad
  pliant compliance helix --loaded --json
                                         at the equilibrium under gravity and the scene's loads
                                         keys: effectors (names), compliance (6 rows, 6 columns
                                         for each: m/N, m/(N·m); rad/N, rad/(N·m)), rank, exact,
                                         inexact_at (bodies), warnings";

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
                                         all), stable, warnings
  pliant statics y.pliant --load left=100,0,0 --json
                                         the equilibrium of a blended model: residual is in radii or
                                         rad; instead of the last four: models, estimate (of its
                                         error, over the radius), warnings";

pub const SIMULATE_EXAMPLES: &str = "\
The engine `full` takes every turn and loop as it is, step by step as implicit as can be.
`articulated` does so in joint coordinates: several times faster on trees, nothing can come apart;
its loops take a sweep for each row. `reduced` is one linear model of the effectors at the file's
pose: fast, right for small motions; it needs an effector held by springs. `live` rebuilds that
model every step: right for large motions too, and at rest exact. `blended` has several such models
at loaded equilibria: those of a model file, or of one made for this run. By default the live engine
takes its steps, in about the time of `live` and with its accuracy; with --force blend they are those
of the blend alone, in time that hardly grows with the links and less accurate. `pliant compare`
prints the time of a step and the error, at rest and in motion, of both.

Takes round(duration/dt) steps. Loads stay for the whole run; the targets of a scene are followed.
Lengths are in m, angles in rad, times in s, energies in J. The violation is the sum of the gaps in
all joints over the mechanism's radius (over 1 m where that is 0). The estimate, over the radius, is
how far one step of the live engine to balance would move a link at the end (of `reduced` also how
far effectors are from their links): the distance from rest, and so at rest the error; of `blended`
with --force blend the error in motion too.

In a scene with shapes of the world or loose bodies, things touch, with Coulomb friction: any body
that has a shape in `full` and `articulated`, the bodies of effectors in the others. The penetration
(m) is the deepest overlap of all steps; the residual (m/s) tells how far the forces of a step were
at most from Coulomb's law. Contacts are those that pushed in the last step: the normal points out
of `first` into `second`, the force (N) is on `second`, the gap (m) that at the start of the step.
Events tell when two bodies began and ended to push each other, in all steps: the first 1000 of
them, and how many there were.

A trajectory has one row for the start and one for each step. CSV: time, then NAME.px .py .pz .qw
.qx .qy .qz of each body, then NAME.0, NAME.1… of each joint; where things touch also contacts
(how many push), penetration (m), residual (m/s) and NAME.fx .fy .fz of each effector: the force
(N, world axes) of all contacts of its body. npz: time (T), poses (T×B×7), coordinates (T×C),
body_names (B), joint_names (C); where things touch also contacts (T), penetration (T), residual
(T), forces (T×E×3), effector_names (E). Rows go to FILE.part, which takes the place of FILE at
the end or at a step that fails (exit code 1); a run that is stopped leaves FILE.part.

Examples:
  pliant simulate helix --engine full --duration 1 --dt 0.001 --scene-load
  pliant simulate arm --engine full --duration 2 --dt 0.01 -o arm.csv
  pliant simulate arm --engine articulated --duration 2 --dt 0.01 -o arm.csv
  pliant simulate arm --engine reduced --duration 2 --dt 0.01 --modes auto -o arm.npz
  pliant simulate arm --engine full --duration 2 --dt 0.01 --load tip=0,0,-50 --json
                                         keys: bodies, effectors, joints, time_per_step_us, p99_us,
                                         violation, energy (J), steps, time (s), warnings; reduced:
                                         also rank, modes; live: also inner (links kept), dropped
                                         (hz, body: slowest vibration left out, or null); blended:
                                         also models, force (live or blend: what takes the steps);
                                         reduced, live and blended: also estimate;
                                         where things touch, not that, but
                                         contacts ([{first, second, point, normal, gap, force}]),
                                         penetration (m), residual (m/s), events ([{time (s), first,
                                         second, change: began or ended}]), events_total
  pliant simulate drop.toml --engine full --duration 2 --dt 0.004 --solver exact
                                         a scene in which things touch
  pliant simulate y.pliant --duration 2 --dt 0.01 --scene-load
                                         a model file, by the engine `blended`
  pliant simulate y.pliant --force blend --duration 2 --dt 0.01 --scene-load
                                         the same with the steps of the blend alone";

pub const REDUCE_EXAMPLES: &str = "\
Linear models are made at equilibria under loads (N, N·m) on the effectors: without any, along the
softest motions, then where the error is worst, until it is within the bound under random loads.
Other random loads, which nothing was trained on, then tell the error against the full statics.
Loads without an equilibrium, or under which the mechanism snaps through, are left out and counted.
Errors and displacements are over the mechanism's radius, of the worst effector.

A bound that is not met, or not within the time, is a failed job (exit code 1): the best model is
written, and its error, the worst load and what limits it are told. The model file takes the place
of MECH in every command; `info` tells what is in it, `simulate`, `statics` and `compare` use it.

Examples:
  pliant reduce y -o y.pliant
  pliant reduce arm.toml --max-error 0.001 --displacement 0.5 -o arm.pliant
  pliant reduce helix:50 -o helix.pliant --json
                                         keys: models, error (where it was trained, by its own
                                         estimate; of a failed job its message), estimate (the
                                         same figure), held_out (elsewhere, true), held_out_median,
                                         bound, displacement, seed, tested (loads), out_of_reach,
                                         snapped, unusable (loads left out), limit (models, time,
                                         rest, another, loads or null), worst (loads: N, N·m;
                                         displacement), seconds (s), bytes, file, warnings";

pub const COMPARE_EXAMPLES: &str = "\
The full simulation against the reduced model of the same mechanism, made at the file's pose, under
the scene's loads, gravity and targets: at rest under rising loads, in motion, natural frequencies,
and time a step on this machine. Speed is told against the fastest engine with every freedom:
`articulated` or `full`, whichever is faster here. The page is one file that needs no network: helix:50 makes
helix-50-compare.html in this folder. Where there is no equilibrium, as with a free base, the page
says so and shows the motion.

Where things touch, every engine that can take part runs the scene in steps of 1/240 s, up to the
end of its targets and for 2 s at least: how far effectors and loose bodies are from where the full
simulation has them, penetration, residual of the solver, forces, time a step, and the motion. An
engine stops after 10 s of computing. JSON then has, beside mechanism, bodies, effectors, radius,
notes, warnings and page:
  contact        dt, duration (s), steps, loaded (the effector with the largest force), exact_engine
                 (the fastest with every freedom), engines: [{engine, time_per_step_us, p99_us,
                 times_as_fast (as that one), max_distance, final_distance (m, from full),
                 penetration (m), residual (m/s), max_force (N, on that effector), stopped (why it
                 ends early, or null)}]; engine and error alone where one takes no part

JSON keys: mechanism, bodies, coordinates (of the reduced model), effectors, radius (m), notes,
warnings (also of loads beyond those that the blended model was made with), page (path), and
  errors         one entry per load: load_scale (loads and gravity over the scene's), displacement
                 (of the effector), effector (its error), estimate (of that, by one step of the live
                 engine), and for twist, joint and corrected: mean, max (errors of all links),
                 violation; live, blended and blended_alone (without the live engine's correction):
                 effector, estimate, or null where they do not come to rest; all over the radius
  error_stopped  why the list ends early or is empty, or null
  transient      dt, duration (s), steps, max_displacement_relative, max_error_relative,
                 max_error_relative_4_modes, rms_error_relative, final_error_relative, the largest
                 of twist, joint and corrected, stopped (why it ends early, or null); articulated,
                 live, blended and blended_alone (blended without the live engine's steps), where they take
                 it: max_error_relative, final_error_relative, stopped
  frequencies    full_hz, models: [{mass, modes, coordinates, hz, ratio (to full), error}]
  speed          dt (s); medians of a step: full_us, articulated_us, twist_us, joint_us,
                 corrected_us, effectors_us, live_us, blended_us, blended_alone_us; exact_engine (the fastest
                 with every freedom), exact_us, times_as_fast (joint against that); build_full_us,
                 build_reduced_us
  blended        models, held_out (its error under loads it was not made with), tested (how many),
                 bound (error asked for; both over the radius), error (why there is none, or null):
                 the model of a model file (.pliant), or one made in a moment under random loads

Examples:
  pliant compare rungs                   writes rungs-compare.html
  pliant compare hand.toml -o hand.html
  pliant compare helix:400 --json
  pliant compare y.pliant                with the blended model of a model file";

pub const BENCH_EXAMPLES: &str = "\
One thread, dt = 1/60 s, gravity and the scene's loads on; after a warm-up at least 200 steps and
half a second of each. Times are in µs a step with every link's pose. `full` takes one Newton
iteration. `reduced` has no modes; its dynamics are a step of the effectors alone, without links.
An engine that does not take a mechanism says why. `blended` is timed for model files.

Examples:
  pliant bench
  pliant bench helix:100 my-hand.toml
  pliant bench arm --json                [{\"name\", \"engine\", \"median_us\", \"p10_us\", \"p90_us\",
                                         \"p99_us\", \"us_per_link\", \"build_seconds\"}, …];
                                         full: also iterations; reduced: also reconstruction and
                                         dynamics_us; error alone where there is no model";

pub const PAPER_EXAMPLES: &str = "\
Tables and figures of Andrews 2015, Hernandez 2011 and Si 2010 are computed by a program of their
own, pliant-papers, in the sources of Pliant. This command only prints an error that names it (exit
code 2).

Examples:
  cargo run --release -p pliant-papers -- -o papers
  cargo run --release -p pliant-papers -- --help";

pub const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  pliant completions bash > ~/.local/share/bash-completion/completions/pliant
  pliant completions zsh > ~/.zfunc/_pliant
  pliant completions fish > ~/.config/fish/completions/pliant.fish";
