"""The mass that MuJoCo gives files.

Usage: masses.py FILE... ; for each one line on standard output: the mass, kg, or `-` where MuJoCo refuses the file. Links of URDF
files keep what is fixed to the world. Meshes that MuJoCo does not find (it looks beside the file only) are left out of a URDF
file: its mass is in <inertial>.
"""

import sys
import xml.etree.ElementTree as ElementTree

import mujoco


def mass(spec, is_urdf):
    if is_urdf:
        spec.compiler.fusestatic = False
    return repr(float(spec.compile().body_mass.sum()))


def without_shapes(path):
    root = ElementTree.parse(path).getroot()
    for link in root.iter("link"):
        for shape in [child for child in link if child.tag in ("visual", "collision")]:
            link.remove(shape)
    return ElementTree.tostring(root, encoding="unicode")


for path in sys.argv[1:]:
    is_urdf = path.endswith(".urdf")
    answer = "-"
    try:
        answer = mass(mujoco.MjSpec.from_file(path), is_urdf)
    except Exception as error:  # whatever MuJoCo does not like
        if is_urdf and "opening file" in str(error):
            try:
                answer = mass(mujoco.MjSpec.from_string(without_shapes(path)), is_urdf)
            except Exception:
                pass
    print(answer, flush=True)
