//! `<asset>`: meshes and height fields, and the mass of what a mesh encloses.
//!
//! MuJoCo's ways to the volume of a mesh: the default (`legacy`) adds tetrahedra from the surface's centre
//! without their signs, `exact` with them, `convex` those of the hull; `shell` puts the mass on the surface.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pliant_core::nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use pliant_core::spatial::Pose;

use super::compiler::Compiler;
use super::defaults::Defaults;
use crate::files::{self, LARGEST_BINARY};
use crate::import::context::{Context, Place};
use crate::import::mesh::Mesh as Surface;
use crate::import::shape;
use crate::import::xml::Element;

/// Meshes, height fields and the colors of materials by their names.
#[derive(Debug, Default)]
pub(super) struct Assets {
    pub(super) meshes: HashMap<String, Mesh>,
    pub(super) fields: HashMap<String, Field>,
    pub(super) colors: HashMap<String, [f64; 4]>,
}

/// How the inertia of a mesh is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Volume {
    Legacy,
    Exact,
    Convex,
    Shell,
}

/// A mesh of the file.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    /// Where its file lies, if it has one that was found.
    file: Option<PathBuf>,
    /// Factors along x, y, z.
    pub(super) scale: Vector3<f64>,
    /// Points and faces that the file gives itself.
    inline: Option<Surface>,
    /// What is subtracted from the points, and the turn that is taken back.
    reference: (Vector3<f64>, UnitQuaternion<f64>),
    volume: Volume,
    place: Place,
    solid: Option<Option<Solid>>,
}

/// A height field of the file.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Half lengths along x and y, m.
    pub(super) half: [f64; 2],
    /// Rows from −y to +y, m.
    pub(super) heights: Vec<Vec<f64>>,
}

/// A volume of density one: mass, centre and inertia about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solid {
    /// Volume, m³.
    pub(super) volume: f64,
    /// Centre of mass.
    pub(super) center: Vector3<f64>,
    /// Inertia about the centre per unit of density.
    pub(super) inertia: Matrix3<f64>,
}

impl Assets {
    /// Of all `<asset>` elements. Of materials the color is taken; textures are left out, and so are materials that only tint one.
    pub(super) fn read(
        root: &Element,
        compiler: &Compiler,
        defaults: &Defaults,
        context: &mut Context,
    ) -> Assets {
        let mut assets = Assets::default();
        for asset in root.all("asset") {
            asset.check_children(&["mesh", "hfield", "texture", "material", "skin", "model"], context);
            for element in &asset.children {
                match element.name.as_str() {
                    "mesh" => {
                        let element = defaults.merged(element, None, context);
                        if let Some((name, mesh)) = read_mesh(&element, compiler, context) {
                            assets.meshes.insert(name, mesh);
                        }
                    }
                    "hfield" => {
                        if let Some((name, field)) = read_field(element, context) {
                            assets.fields.insert(name, field);
                        }
                    }
                    "material" => {
                        let element = defaults.merged(element, None, context);
                        let color = element.value("rgba").map_or_else(
                            || element.value("texture").is_none().then_some([1.0; 4]),
                            shape::color,
                        );
                        if let (Some(name), Some(color)) = (element.value("name"), color) {
                            assets.colors.insert(name.to_string(), color);
                        }
                    }
                    "skin" | "model" => super::left_out(element, context),
                    _ => {}
                }
            }
        }
        assets
    }

    /// What a mesh encloses, in its own frame.
    pub(super) fn solid(&mut self, name: &str, context: &mut Context) -> Option<Solid> {
        let mesh = self.meshes.get_mut(name)?;
        if mesh.solid.is_none() {
            mesh.solid = Some(mesh.find_solid(name, context));
        }
        mesh.solid.flatten()
    }
}

fn read_mesh(element: &Element, compiler: &Compiler, context: &mut Context) -> Option<(String, Mesh)> {
    element.check_attributes(
        &[
            "builtin",
            "class",
            "content_type",
            "face",
            "file",
            "inertia",
            "material",
            "maxhullvert",
            "name",
            "normal",
            "params",
            "refpos",
            "refquat",
            "scale",
            "smoothnormal",
            "texcoord",
            "vertex",
        ],
        context,
    );
    let scale = element.vector::<3>("scale", context).unwrap_or([1.0; 3]).into();
    let position = element.vector::<3>("refpos", context).unwrap_or_default().into();
    let rotation = match element.vector::<4>("refquat", context) {
        Some([w, x, y, z]) if [w, x, y, z] != [0.0; 4] => {
            UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z))
        }
        _ => UnitQuaternion::identity(),
    };
    let volume = match element.value("inertia").map(str::trim) {
        None | Some("legacy") => Volume::Legacy,
        Some("exact") => Volume::Exact,
        Some("shell") => Volume::Shell,
        Some("convex") => Volume::Convex,
        Some(other) => {
            let message = format!("{}: `inertia` is `{other}`", element.what());
            context.error(element.place_of("inertia"), message, "convex, exact, legacy or shell");
            Volume::Legacy
        }
    };
    let file = element.value("file").map(str::to_string);
    let name = match (element.value("name").filter(|name| !name.is_empty()), &file) {
        (Some(name), _) => name.to_string(),
        (None, Some(file)) => Path::new(file).file_stem()?.to_str()?.to_string(),
        (None, None) => {
            context.error(&element.place, "<mesh>: it has neither name nor file", "give it one of them");
            return None;
        }
    };
    let inline = match element.numbers("vertex", context) {
        Some(points) => inline_surface(&points, element, context),
        None => None,
    };
    let found = match &file {
        None => None,
        Some(file) => find(file, element, compiler, context),
    };
    if file.is_none() && inline.is_none() {
        context.warning_of("mesh without triangles", &element.place, || {
            format!("{}: meshes that are built in are not supported", element.what())
        });
    }
    let place = element.place_of("file").clone();
    Some((
        name,
        Mesh { file: found, scale, inline, reference: (position, rotation), volume, place, solid: None },
    ))
}

/// A file of the folder of meshes, next to the first file.
fn find(file: &str, element: &Element, compiler: &Compiler, context: &mut Context) -> Option<PathBuf> {
    let bare = match compiler.strip_path {
        true => file.rsplit(['/', '\\']).next().unwrap_or(file),
        false => file,
    };
    let folder = compiler.mesh_folder.trim_end_matches(['/', '\\']);
    let path = match folder.is_empty() || Path::new(bare).is_absolute() {
        true => bare.to_string(),
        false => format!("{folder}/{bare}"),
    };
    let place = element.place_of("file");
    let main = Place { source: 0, span: place.span.clone() };
    match context.resolve(&path, &main).or_else(|reason| context.resolve(&path, place).map_err(|_| reason)) {
        Ok(path) => Some(shape::plain(path)),
        Err(reason) => {
            context.warning_of(format!("mesh: {reason}"), place, || {
                format!("the mesh `{path}` was left out: {reason}")
            });
            None
        }
    }
}

fn inline_surface(numbers: &[f64], element: &Element, context: &mut Context) -> Option<Surface> {
    let points: Vec<Vector3<f64>> = numbers.chunks_exact(3).map(Vector3::from_column_slice).collect();
    // Without faces it is the hull of its points.
    let Some(faces) = element.numbers("face", context) else {
        let hull = Surface { points, triangles: Vec::new() }.hull().ok();
        if hull.is_none() {
            let message = format!("{}: the points of `vertex` enclose no volume", element.what());
            context.error(element.place_of("vertex"), message, "points that do not lie in a plane");
        }
        return hull;
    };
    let corner = |index: &f64| {
        let inside = *index >= 0.0 && index.fract() == 0.0 && *index < points.len() as f64;
        inside.then_some(*index as u32)
    };
    let triangles: Option<Vec<[u32; 3]>> = (faces.chunks(3))
        .map(|face| Some([corner(face.first()?)?, corner(face.get(1)?)?, corner(face.get(2)?)?]))
        .collect();
    match triangles {
        Some(triangles) => Some(Surface { points, triangles }),
        None => {
            let message = format!("{}: `face` refers to missing points", element.what());
            let help = "three positions of points for each face, from 0";
            context.error(element.place_of("face"), message, help);
            None
        }
    }
}

fn read_field(element: &Element, context: &mut Context) -> Option<(String, Field)> {
    let [x, y, top, _] = element.vector("size", context)?;
    let heights = match element.numbers("elevation", context) {
        Some(heights) => heights,
        None => {
            context.warning_of("hfield", &element.place, || {
                format!(
                    "{}: only heights given by `elevation` are supported; it was left out",
                    element.what()
                )
            });
            return None;
        }
    };
    let rows = element.number("nrow", context).unwrap_or(0.0);
    let columns = element.number("ncol", context).unwrap_or(0.0);
    if !(rows >= 2.0 && columns >= 2.0 && rows * columns == heights.len() as f64) {
        let message = format!("{}: {} heights for {rows} rows of {columns}", element.what(), heights.len());
        context.error(element.place_of("elevation"), message, "nrow times ncol heights");
        return None;
    }
    // Scaled to [0, 1], the first row at +y.
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let range = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
    let height = |h: &f64| if range > 0.0 { (h - low) / range * top } else { 0.0 };
    let heights =
        heights.chunks(columns as usize).rev().map(|row| row.iter().map(height).collect()).collect();
    let name = element.value("name").unwrap_or_default().to_string();
    Some((name, Field { half: [x, y], heights }))
}

impl Mesh {
    /// The shape of its file, and its place on the geom: x = s R⁻¹ (v − p) = R⁻¹ (s v) − s R⁻¹ p, where the
    /// scale is the same along all axes or nothing is turned.
    pub(super) fn file_and_place(&self, context: &mut Context) -> Option<(String, Pose)> {
        if self.inline.is_some() {
            context.warning_of("mesh given inline", &self.place, || {
                "a mesh without a file has mass but no shape here".into()
            });
        }
        let file = self.file.as_ref()?;
        if is_msh(file) {
            context.warning_of("msh", &self.place, || {
                format!(
                    "the mesh `{}` has mass but no shape here: MSH files are not supported",
                    file.display()
                )
            });
            return None;
        }
        let (position, rotation) = &self.reference;
        let back = rotation.inverse();
        let even = (self.scale - Vector3::repeat(self.scale.x)).amax() <= 1e-9 * self.scale.amax();
        if !even && rotation.angle() > 1e-9 {
            context.warning_of("refquat", &self.place, || {
                "a mesh that is turned by `refquat` and scaled differently along its axes has no shape here".into()
            });
            return None;
        }
        let place = Pose::new(back, -(back * position).component_mul(&self.scale));
        Some((file.display().to_string(), place))
    }

    fn find_solid(&self, name: &str, context: &mut Context) -> Option<Solid> {
        let mut surface = match (&self.inline, &self.file) {
            (Some(surface), _) => surface.clone(),
            (None, Some(file)) => match load(file) {
                Ok(surface) => surface,
                Err(reason) => {
                    context.warning_of("unreadable mesh", &self.place, || {
                        format!("the mesh `{}` cannot be read: {reason}; it has no mass", file.display())
                    });
                    return None;
                }
            },
            (None, None) => return None,
        };
        let (position, rotation) = &self.reference;
        let back = rotation.inverse();
        for x in &mut surface.points {
            *x = (back * (*x - position)).component_mul(&self.scale);
        }
        if self.scale.product() < 0.0 {
            surface.triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
        }
        let solid = match self.volume {
            Volume::Convex => surface.hull().ok().and_then(|hull| enclosed(&hull, Volume::Exact)),
            way => enclosed(&surface, way),
        };
        if solid.is_none() {
            context.warning_of("mesh without volume", &self.place, || {
                format!("the mesh `{name}` encloses no volume; it has no mass")
            });
        }
        solid
    }
}

fn is_msh(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("msh"))
}

/// The surface of a file, at its own scale.
fn load(path: &Path) -> Result<Surface, String> {
    if !is_msh(path) {
        return Surface::load(path, &Vector3::repeat(1.0)).map_err(|error| error.to_string());
    }
    let bytes = files::read(path, LARGEST_BINARY).map_err(|reason| reason.to_string())?;
    msh(&bytes).ok_or_else(|| "it is not an MSH file".to_string())
}

/// MuJoCo's own format: four counts, then points, normals, texture coordinates and faces.
fn msh(bytes: &[u8]) -> Option<Surface> {
    let word = |i: usize| Some(<[u8; 4]>::try_from(bytes.get(4 * i..4 * i + 4)?).unwrap_or_default());
    let count = |i: usize| usize::try_from(i32::from_le_bytes(word(i)?)).ok();
    let (points, normals, coordinates, faces) = (count(0)?, count(1)?, count(2)?, count(3)?);
    let first_face = 4usize.checked_add(points.checked_mul(3)?)?;
    let first_face =
        first_face.checked_add(normals.checked_mul(3)?)?.checked_add(coordinates.checked_mul(2)?)?;
    if bytes.len() / 4 < first_face.checked_add(faces.checked_mul(3)?)? {
        return None;
    }
    let number = |i: usize| Some(f64::from(f32::from_le_bytes(word(i)?)));
    let point = |i: usize| {
        let at = 4 + 3 * i;
        Some(Vector3::new(number(at)?, number(at + 1)?, number(at + 2)?))
    };
    let corner =
        |i: usize| count(first_face + i).filter(|corner| *corner < points).map(|corner| corner as u32);
    let face = |f: usize| Some([corner(3 * f)?, corner(3 * f + 1)?, corner(3 * f + 2)?]);
    let triangles = (0..faces).map(face).collect::<Option<_>>()?;
    Some(Surface { points: (0..points).map(point).collect::<Option<_>>()?, triangles })
}

/// Normal, area and centre of a triangle.
fn measure([a, b, c]: &[Vector3<f64>; 3]) -> Option<(Vector3<f64>, f64, Vector3<f64>)> {
    let across = (b - a).cross(&(c - a));
    let size = across.norm();
    (size > 1e-300).then(|| (across / size, 0.5 * size, (a + b + c) / 3.0))
}

/// The volume inside (or the area of) a surface; `None` if there is none.
fn enclosed(surface: &Surface, way: Volume) -> Option<Solid> {
    let corners = |triangle: &[u32; 3]| triangle.map(|i| surface.points[i as usize]);
    let triangles: Vec<[Vector3<f64>; 3]> = surface.triangles.iter().map(corners).collect();
    let (mut area, mut center) = (0.0, Vector3::zeros());
    for (_, a, c) in triangles.iter().filter_map(measure) {
        area += a;
        center += c * a;
    }
    if !(area > 0.0 && area.is_finite()) {
        return None;
    }
    center /= area;
    let signed = |volume: f64| if way == Volume::Legacy { volume.abs() } else { volume };
    let mut volume = area;
    if way != Volume::Shell {
        // Tetrahedra from the centre of the surface: V = n·(c − o) a/3, their centre at 3/4 c + 1/4 o.
        let (origin, mut moment) = (center, Vector3::zeros());
        volume = 0.0;
        for (n, a, c) in triangles.iter().filter_map(measure) {
            let v = signed(n.dot(&(c - origin)) * a / 3.0);
            volume += v;
            moment += (c * 0.75 + origin * 0.25) * v;
        }
        center = moment / volume;
    }
    if !(volume > 1e-300 && center.iter().all(|x| x.is_finite())) {
        return None;
    }
    // ∫ x xᵀ over a tetrahedron with a corner at the centre: V/20 (Σ v vᵀ + s sᵀ), s = Σ v; over a
    // triangle A/12 (…).
    let mut P = Matrix3::zeros();
    let mut around_center = 0.0;
    for triangle in &triangles {
        let Some((n, a, c)) = measure(triangle) else { continue };
        let d = triangle.map(|x| x - center);
        let s = d[0] + d[1] + d[2];
        let sum = d.iter().fold(s * s.transpose(), |sum, v| sum + v * v.transpose());
        let v = signed(n.dot(&(c - center)) * a / 3.0);
        around_center += v;
        P += if way == Volume::Shell { sum * (a / 12.0) } else { sum * (v / 20.0) };
    }
    if way == Volume::Legacy {
        // Without signs, the volume depends on the point it is measured from: it is the centre of mass.
        volume = around_center;
    }
    Some(Solid { volume, center, inertia: Matrix3::identity() * P.trace() - P })
}
