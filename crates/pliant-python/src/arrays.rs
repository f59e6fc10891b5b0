//! Numbers and arrays of Python, in and out. What comes in is checked (kind, shape, finite) and refused with the argument's name; what
//! goes out is a copy that cannot be written to, so that a write to it is an error and never lost in silence. Its memory belongs to an object that
//! offers none to write to, so that the flag cannot be set back.

use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn,
    PyUntypedArrayMethods,
};
use pliant::nalgebra::{DMatrix, Quaternion, UnitQuaternion, Vector3, Vector6};
use pliant::spatial::{Pose, Twist, Wrench};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

use crate::errors::input;

/// Numbers that came in, with their shape.
pub struct Numbers {
    pub values: Vec<f64>,
    pub shape: Vec<usize>,
}

/// Finite real numbers: one number, a list, or an array of any shape.
pub fn numbers(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Numbers> {
    let found = real_numbers(argument, value)?;
    if let Some(at) = found.values.iter().position(|x| !x.is_finite()) {
        let place = if found.values.len() > 1 { format!(" (number {at})") } else { String::new() };
        return Err(input(format!("{argument}: {} is not finite{place}", found.values[at])));
    }
    Ok(found)
}

/// The same where infinity has a meaning.
pub fn real_numbers(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Numbers> {
    if value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyInt>() {
        let number = value.extract::<f64>().map_err(|error| input(format!("{argument}: {error}")))?;
        return Ok(Numbers { values: vec![number], shape: Vec::new() });
    }
    let array = array(argument, value)?;
    let shape = array.shape().to_vec();
    Ok(Numbers { values: array.as_array().iter().copied().collect(), shape })
}

/// An array of real numbers, the caller's own where that is one.
fn array<'py>(argument: &str, value: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let wrong = |what: String| PyTypeError::new_err(format!("{argument}: expected real numbers, got {what}"));
    if value.is_instance_of::<PyString>() || value.is_none() {
        return Err(wrong(value.get_type().name()?.to_string()));
    }
    let py = value.py();
    let asarray = py.import("numpy")?.getattr("asarray")?;
    let array = asarray.call1((value,)).map_err(|error| {
        // A list of lists of different lengths, or what has no numbers at all.
        if error.is_instance_of::<pyo3::exceptions::PyException>(py) {
            PyTypeError::new_err(format!(
                "{argument}: expected real numbers in an array: {}",
                error.value(py)
            ))
        } else {
            error
        }
    })?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind.as_str(), "f" | "i" | "u") {
        return Err(wrong(format!("the dtype {}", array.getattr("dtype")?)));
    }
    asarray.call1((array, "float64"))?.extract()
}

/// Finite numbers of a large array: the caller's memory where that is contiguous, and a copy elsewhere.
pub enum Many<'py> {
    Borrowed(PyReadonlyArrayDyn<'py, f64>),
    Copied(Numbers),
}

impl<'py> Many<'py> {
    pub fn new(argument: &str, value: &Bound<'py, PyAny>) -> PyResult<Many<'py>> {
        let array = array(argument, value)?;
        let many = match array.is_c_contiguous() {
            true => Many::Borrowed(array),
            false => Many::Copied(Numbers {
                values: array.as_array().iter().copied().collect(),
                shape: array.shape().to_vec(),
            }),
        };
        match many.values().iter().position(|x| !x.is_finite()) {
            None => Ok(many),
            Some(at) => Err(input(format!("{argument}: {} is not finite (number {at})", many.values()[at]))),
        }
    }

    pub fn values(&self) -> &[f64] {
        match self {
            Many::Borrowed(array) => array.as_slice().unwrap_or_default(),
            Many::Copied(numbers) => &numbers.values,
        }
    }

    pub fn shape(&self) -> &[usize] {
        match self {
            Many::Borrowed(array) => array.shape(),
            Many::Copied(numbers) => &numbers.shape,
        }
    }
}

/// A list of numbers; one number alone is a list of one.
pub fn list(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    flat(argument, numbers(argument, value)?)
}

/// Numbers of at most one dimension.
pub fn flat(argument: &str, numbers: Numbers) -> PyResult<Vec<f64>> {
    match numbers.shape.len() {
        0 | 1 => Ok(numbers.values),
        _ => Err(input(format!(
            "{argument}: expected a list of numbers, got the shape {}",
            shape(&numbers.shape)
        ))),
    }
}

/// So many numbers, and what they are.
pub fn exactly<const N: usize>(argument: &str, what: &str, value: &Bound<'_, PyAny>) -> PyResult<[f64; N]> {
    let found = numbers(argument, value)?;
    let wrong =
        || input(format!("{argument}: expected {what}, {N} numbers, got the shape {}", shape(&found.shape)));
    if found.shape != [N] {
        return Err(wrong());
    }
    <[f64; N]>::try_from(found.values.as_slice()).map_err(|_| wrong())
}

/// One real number.
pub fn number(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    // A scalar of NumPy of 64 bits is one too.
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(number.value());
    }
    let found = real_numbers(argument, value)?;
    match (&found.shape[..], &found.values[..]) {
        ([], [x]) => Ok(*x),
        _ => Err(input(format!("{argument}: expected one number, got the shape {}", shape(&found.shape)))),
    }
}

/// A whole number from `least` to `most`; `what` says of what, such as "a whole number of steps".
pub fn whole(
    argument: &str,
    what: &str,
    (least, most): (u64, u64),
    value: &Bound<'_, PyAny>,
) -> PyResult<u64> {
    let index = if value.is_instance_of::<PyBool>() { None } else { value.call_method0("__index__").ok() };
    let Some(index) = index else {
        let got = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{argument}: expected {what}, got {got}")));
    };
    match index.extract::<u64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => {
            let bounds = match most {
                u64::MAX => format!("{least} or above"),
                most => format!("from {least} to {most}"),
            };
            let got = index.str().map_or_else(|_| "one of very many digits".into(), |text| text.to_string());
            Err(input(format!("{argument}: expected {what}, {bounds}, got {got}")))
        }
    }
}

/// One finite number above zero.
pub fn positive(argument: &str, value: f64, unit: &str) -> PyResult<f64> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(input(format!("{argument}: expected a finite number of {unit} above zero, got {value}")))
}

/// A force, or a force and a torque.
pub fn wrench(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Wrench> {
    let found = numbers(argument, value)?;
    match (&found.shape[..], &found.values[..]) {
        ([3], [x, y, z]) => Ok(Wrench::force([*x, *y, *z])),
        ([6], list) => Ok(Wrench::from_vector(&Vector6::from_column_slice(list))),
        _ => Err(input(format!(
            "{argument}: expected a force (3 numbers, N) or a force and a torque (6 numbers, N and N·m), got the shape {}",
            shape(&found.shape)
        ))),
    }
}

/// A point, or a point and a quaternion.
pub fn pose(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Pose> {
    let found = numbers(argument, value)?;
    match (&found.shape[..], &found.values[..]) {
        ([3], [x, y, z]) => Ok(Pose::translation([*x, *y, *z])),
        ([7], [x, y, z, w, i, j, k]) => {
            let quaternion = Quaternion::new(*w, *i, *j, *k);
            // As in scene files.
            if (quaternion.norm() - 1.0).abs() > 1e-3 {
                return Err(input(format!(
                    "{argument}: the quaternion [w, x, y, z] has the length {}; it must be 1",
                    quaternion.norm()
                )));
            }
            Ok(Pose::new(UnitQuaternion::from_quaternion(quaternion), Vector3::new(*x, *y, *z)))
        }
        _ => Err(input(format!(
            "{argument}: expected a position (3 numbers, m) or a pose (7 numbers: x, y, z, then the quaternion w, x, y, z), got the \
             shape {}",
            shape(&found.shape)
        ))),
    }
}

/// A shape as Python writes it.
pub fn shape(shape: &[usize]) -> String {
    match shape {
        [] => "of one number".into(),
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A list, read-only.
pub fn vector<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyArray1<f64>> {
    fixed(py, values.to_vec())
}

/// A list whose memory nothing can write to.
fn fixed<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    let array = values.into_pyarray(py);
    array.readwrite().make_nonwriteable();
    array
}

/// Rows of a matrix, read-only.
pub fn rows<'py, T: Element, const N: usize>(
    py: Python<'py>,
    rows: impl ExactSizeIterator<Item = [T; N]>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let shape = [rows.len(), N];
    fixed(py, rows.flatten().collect()).reshape(shape)
}

/// A matrix, which is the caller's.
pub fn matrix<'py>(py: Python<'py>, matrix: &DMatrix<f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    by_rows(matrix).into_pyarray(py).reshape([matrix.nrows(), matrix.ncols()])
}

/// A matrix, read-only.
pub fn fixed_matrix<'py>(py: Python<'py>, matrix: &DMatrix<f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    fixed(py, by_rows(matrix)).reshape([matrix.nrows(), matrix.ncols()])
}

fn by_rows(matrix: &DMatrix<f64>) -> Vec<f64> {
    matrix.transpose().as_slice().to_vec()
}

/// Numbers in a shape, which are the caller's.
pub fn shaped<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    values.into_pyarray(py).reshape(shape.to_vec())
}

/// x, y, z, and the quaternion w, x, y, z.
pub fn seven(pose: &Pose) -> [f64; 7] {
    let (p, q) = (pose.position, pose.rotation);
    [p.x, p.y, p.z, q.w, q.i, q.j, q.k]
}

/// The pose of these seven, to the last bit: its quaternion is taken as it is.
pub fn pose_of(seven: &[f64]) -> Pose {
    let rotation = UnitQuaternion::new_unchecked(Quaternion::new(seven[3], seven[4], seven[5], seven[6]));
    Pose::new(rotation, Vector3::new(seven[0], seven[1], seven[2]))
}

/// Linear part first.
pub fn six(twist: &Twist) -> [f64; 6] {
    let (v, w) = (twist.linear, twist.angular);
    [v.x, v.y, v.z, w.x, w.y, w.z]
}
