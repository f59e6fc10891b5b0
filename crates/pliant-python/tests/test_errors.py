"""Bad input of every kind is a Python exception that names the argument, with the text of the command line where it has one."""

import math
import pickle

import numpy as np
import pytest

import pliant

ARM = pliant.gallery.arm()
SIM = ARM.simulate()


@pytest.mark.parametrize(
    ("call", "error", "begins"),
    [
        (lambda: ARM.equilibrium(loads={"tip": [0, 0]}), pliant.InputError, 'loads["tip"]: expected a force'),
        (lambda: ARM.equilibrium(loads={"tip": np.zeros((2, 3))}), pliant.InputError, 'loads["tip"]: expected a force'),
        (lambda: ARM.equilibrium(loads={"tip": [0, 0, math.nan]}), pliant.InputError, 'loads["tip"]: NaN is not finite (number 2)'),
        (lambda: ARM.equilibrium(loads={"tip": [0, 0, math.inf]}), pliant.InputError, 'loads["tip"]: inf is not finite'),
        (lambda: ARM.equilibrium(loads={"tip": "down"}), TypeError, 'loads["tip"]: expected real numbers, got str'),
        (lambda: ARM.equilibrium(loads={"tip": [1j, 0, 0]}), TypeError, 'loads["tip"]: expected real numbers, got the dtype complex128'),
        (lambda: ARM.equilibrium(loads={"tip": None}), TypeError, 'loads["tip"]: expected real numbers, got NoneType'),
        (lambda: ARM.equilibrium(loads={"tip": [[1], [2, 3]]}), TypeError, 'loads["tip"]: expected real numbers in an array'),
        (lambda: ARM.equilibrium(loads={3: [0, 0, 0]}), TypeError, "loads: expected a dictionary"),
        (lambda: ARM.equilibrium(loads=[1, 2, 3]), TypeError, "loads: expected a dictionary"),
        (lambda: ARM.equilibrium(gravity=[1, 2]), pliant.InputError, "gravity: expected m/s²"),
        (lambda: ARM.equilibrium(gravity=9.81), pliant.InputError, "gravity: expected m/s²"),
        (lambda: ARM.equilibrium(at={"arm2": [1, 2]}), pliant.InputError, "at: joint `arm2` has 1 freedom, not 2"),
        (lambda: ARM.equilibrium(at={"arm2": math.nan}), pliant.InputError, 'at["arm2"]: NaN is not finite'),
        (lambda: ARM.equilibrium(springs={"tip": [0, 0, 0]}), pliant.InputError, 'springs["tip"]: expected a point and a stiffness'),
        (lambda: ARM.equilibrium(springs={"tip": [0, 0, 0, -1]}), pliant.InputError, 'springs["tip"]: the stiffness is -1'),
        (lambda: ARM.compliance("tip", loads={"tip": [0, 0, 1]}), pliant.InputError, "loads needs loaded=True"),
        (lambda: ARM.compliance("tip", method="exat"), pliant.InputError, "method: there is no method `exat`; did you mean `exact`?"),
        (lambda: ARM.compliance("tip", "tip"), pliant.InputError, "effectors: `tip` is named twice"),
        (lambda: ARM.simulate("ful"), pliant.InputError, "engine: there is no engine `ful`; did you mean `full`?"),
        (lambda: ARM.simulate("full", modes=3), pliant.InputError, "modes is for the engines"),
        (lambda: ARM.joint("elbow"), pliant.InputError, "name: there is no joint `elbow`"),
        (lambda: ARM.body("arm99"), pliant.InputError, "name: there is no body `arm99`"),
        (lambda: SIM.step(0), pliant.InputError, "dt: the time step must be a finite number of seconds above zero"),
        (lambda: SIM.step("fast"), TypeError, "dt: expected real numbers, got str"),
        (lambda: SIM.step([0.1]), pliant.InputError, "dt: expected one number"),
        (lambda: SIM.run(-1, 0.01), pliant.InputError, "seconds: expected a finite number of seconds"),
        (lambda: SIM.run(1, math.inf), pliant.InputError, "dt: expected a finite number of seconds above zero"),
        (lambda: SIM.run(1e9, 1e-9), pliant.InputError, "a duration of 1000000000 s in steps of"),
        (lambda: SIM.run(1, 0.01, ["nobody"]), pliant.InputError, "record: there is no effector or body `nobody`"),
        (lambda: SIM.run(1, 0.01, ["tip", "tip"]), pliant.InputError, "record: `tip` is named twice"),
        (lambda: SIM.run(1, 0.01, every=0), pliant.InputError, "every: expected a whole number of steps, 1 or above, got 0"),
        (lambda: SIM.run(1, 0.01, every=-1), pliant.InputError, "every: expected a whole number of steps, 1 or above, got -1"),
        (lambda: SIM.run(1, 0.01, every=1.5), TypeError, "every: expected a whole number of steps, got float"),
        (lambda: ARM.simulate("linear", modes=-1), pliant.InputError, "modes: expected a whole number of modes, 0 or above, got -1"),
        (lambda: ARM.simulate("linear", modes=True), TypeError, "modes: expected a whole number of modes, got bool"),
        (lambda: ARM.reduce(seed=-1), pliant.InputError, "seed: expected a whole number, 0 or above, got -1"),
        (lambda: ARM.reduce(seed=2**80), pliant.InputError, "seed: expected a whole number, 0 or above, got 1208925819614629174706176"),
        (lambda: SIM.set_load("tp", [0, 0, 1]), pliant.InputError, "name: there is no effector or body `tp`; did you mean `tip`?"),
        (lambda: SIM.set_load("tip", [0, 1]), pliant.InputError, "load: expected a force"),
        (lambda: SIM.set_targets([0.0]), pliant.InputError, "positions: expected one number for each of 20 coordinates"),
        (lambda: SIM.set_target("arm2", [1, 2]), pliant.InputError, "position: joint `arm2` has 1 freedom"),
        (lambda: SIM.set_stiffness("arm2", -1), pliant.InputError, "the stiffness of joint `arm2` cannot be -1"),
        (lambda: SIM.set_base([0, 0, 0, 2, 0, 0, 0]), pliant.InputError, "pose: the quaternion [w, x, y, z] has the length 2"),
        (lambda: SIM.set_base([0, 0, 0], [1, 2]), pliant.InputError, "twist: expected"),
        (lambda: SIM.add_spring("tip", [0, 0, 0], -1), pliant.InputError, "stiffness: expected a finite number of N/m"),
        (lambda: pliant.gallery.helix(0), pliant.InputError, "`helix:0`"),
        (lambda: pliant.gallery.helix(2.5), TypeError, "size: expected a whole number"),
        (lambda: pliant.gallery.build("helx"), pliant.InputError, "there is no `helx` in the gallery; did you mean `helix`?"),
        (lambda: pliant.parse("", "yaml"), pliant.InputError, "format: there is no `yaml`"),
    ],
)
def test_the_argument_is_named(call, error, begins):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).startswith(begins), str(raised.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ARM.equilibrium(loads={"tp": [0, 0, 1]}), ["statics", "arm", "--load", "tp=0,0,1"]),
        (lambda: ARM.equilibrium(at={"elbow": 1}), ["statics", "arm", "--at", "elbow=1"]),
        (lambda: ARM.equilibrium(springs={"tp": [0, 0, 1, 2]}), ["statics", "arm", "--spring", "tp=0,0,1,2"]),
        (lambda: ARM.compliance("tp"), ["compliance", "arm", "--effector", "tp"]),
        (lambda: ARM.compliance("tip", "tip"), ["compliance", "arm", "--effector", "tip", "--effector", "tip"]),
        (lambda: pliant.gallery.build("helix:0"), ["info", "helix:0"]),
        (lambda: pliant.load("nothing.urdf"), ["info", "nothing.urdf"]),
        (lambda: pliant.load("arm.step"), ["info", "./arm.step"]),
    ],
)
def test_texts_are_those_of_the_command_line(said, call, words):
    with pytest.raises(pliant.InputError) as raised:
        call()
    text = said(*words)
    for option, argument in {"--load": "loads", "--at": "at", "--effector": "effectors", "--spring": "springs"}.items():
        text = text.replace(option + ":", argument + ":")
    assert str(raised.value) == text.replace("./arm.step", "arm.step")


def test_a_scene_with_errors_has_them_all_with_their_places(said, tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text('[[body]]\nname = "a"\nmas = 1.0\n[[joint]]\nname = "j"\nkind = "hing"\nparent = "world"\nchild = "a"\n')
    with pytest.raises(pliant.InputError) as raised:
        pliant.load(file)
    assert str(raised.value) == said("info", file)
    assert f"{file}:3" in str(raised.value)


def test_what_has_names_and_values_is_a_dictionary():
    class Row:
        """As a pandas Series has it: no mapping, but keys and values."""

        def __init__(self, values):
            self.values = values

        def keys(self):
            return list(self.values)

        def __getitem__(self, name):
            return self.values[name]

    down = {"tip": [0, 0, -20]}
    assert ARM.equilibrium(loads=Row(down)).poses.tobytes() == ARM.equilibrium(loads=down).poses.tobytes()
    pandas = pytest.importorskip("pandas")
    turned = pandas.Series({"arm2": 0.3, "arm3": -0.1})
    assert ARM.compliance("tip", at=turned).tobytes() == ARM.compliance("tip", at=dict(turned)).tobytes()
    with pytest.raises(TypeError, match="^loads: expected a dictionary from names of effectors"):
        ARM.equilibrium(loads=pandas.Series([1.0, 2.0]))
    broken = Row(down)
    broken.keys = lambda: 3
    with pytest.raises(TypeError, match="^loads: expected a dictionary"):
        ARM.equilibrium(loads=broken)


def test_numbers_of_numpy_do_not_go_through_arrays(monkeypatch):
    def none(*_):
        raise AssertionError("an array is made of a number")

    monkeypatch.setattr(np, "asarray", none)
    for dt in (0.01, 1, np.float64(0.01)):
        ARM.simulate().step(dt)


def test_classes_of_exceptions():
    assert issubclass(pliant.InputError, ValueError) and issubclass(pliant.InputError, pliant.Error)
    assert issubclass(pliant.FileError, OSError) and issubclass(pliant.FileError, pliant.InputError)
    assert issubclass(pliant.SimulationError, RuntimeError) and issubclass(pliant.PliantWarning, UserWarning)


def test_what_a_reader_left_out_is_a_warning(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(
        '<robot name="r"><link name="base"/><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"'
        ' ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute"><parent link="base"/><child link="a"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint><gazebo/><unknown/></robot>'
    )
    with pytest.warns(pliant.PliantWarning, match="robot.urdf:1"):
        m = pliant.load(file)
    assert m.warnings and m.notes  # it is held as by PD control, and a note says so
    assert m.joints == ["j", "base_to_world"]


def test_mechanisms_pickle_and_round_trip(tmp_path):
    for name in pliant.gallery.names():
        m = pliant.gallery.build(name)
        again = pickle.loads(pickle.dumps(m))
        assert again == m and hash(again) == hash(m) and again.to_toml() == m.to_toml()
    file = tmp_path / "arm.toml"
    ARM.save(file)
    assert pliant.load(file) == ARM
    with pytest.raises(pliant.FileError):
        ARM.save(tmp_path / "no folder" / "arm.toml")


WEDGE = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
SCENE = """
[mechanism]
name = "wedge"
[[body]]
name = "wedge"
position = [0, 0, 0.05]
free = true
[[body.shape]]
kind = "mesh"
file = "wedge.obj"
density = 1000
[[world.shape]]
kind = "plane"
"""


def test_pickles_bring_their_meshes_along(tmp_path, monkeypatch):
    folder = tmp_path / "scene"
    folder.mkdir()
    (folder / "wedge.obj").write_text(WEDGE)
    (folder / "wedge.toml").write_text(SCENE)
    monkeypatch.chdir(tmp_path)
    m = pliant.load("scene/wedge.toml")
    monkeypatch.chdir(folder)  # a relative path is one of the folder that it was given in
    expected = m.simulate().run(0.2, 0.004, record=["wedge"])["wedge"]
    model = pliant.gallery.arm().reduce(max_error=0.05)
    data, of_model = pickle.dumps(m), pickle.dumps(model)
    (folder / "wedge.obj").unlink()
    again = pickle.loads(data)
    assert again == m and pickle.loads(pickle.dumps(again)) == m
    np.testing.assert_array_equal(again.simulate().run(0.2, 0.004, record=["wedge"])["wedge"], expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).simulate().run(0.2, 0.004, record=["wedge"])["wedge"], expected)
    assert pickle.loads(of_model) == model
    read, (text, files, remarks) = again.__reduce__()
    points, triangles = files[2]["wedge.obj"]
    with pytest.raises(pliant.InputError, match="^files: `wedge.obj` is not a valid surface"):
        read(text, (*files[:2], {"wedge.obj": (points, triangles + 100)}), remarks)


def test_positions_beyond_limits_are_a_warning():
    m = pliant.gallery.hand()
    name = next(name for name in m.joints if list(m.joint(name).upper < 3) == [True])
    with pytest.warns(pliant.PliantWarning, match=f"at: joint `{name}` is at 3 rad, beyond its limit"):
        m.compliance(at={name: 3.0})
