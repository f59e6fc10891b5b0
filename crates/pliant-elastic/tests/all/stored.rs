//! Green's functions that come back from a store are the same to the bit; measured ones are made symmetric; what cannot be those of a
//! solid is refused.

use pliant_elastic::nalgebra::{Matrix3, Vector3};
use pliant_elastic::{ElasticError, Mesh, Solid, SolidParts};

use crate::common::{Random, material};

fn solid() -> Solid {
    let mesh = Mesh::cuboid(Vector3::repeat(0.01), 0.007).unwrap();
    Solid::new(&mesh, &material(0.3), |p| p.z < -0.009, |_| {}).unwrap()
}

#[test]
fn stored_and_read() {
    let solid = solid();
    let again = Solid::from_parts(solid.to_parts()).unwrap();
    assert_eq!(again.to_parts(), solid.to_parts());
    assert!((0..solid.points().len()).all(|i| solid.area(i) == again.area(i)));
}

#[test]
fn measured_with_noise() {
    let exact = solid();
    let mut parts = exact.to_parts();
    let largest = parts.green.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    let mut random = Random(8);
    // A thousandth of the largest, and of it enough compliance on the diagonal that no force gives energy.
    parts.green.iter_mut().for_each(|x| *x += 1e-3 * largest * random.number());
    let noisy = parts.clone();
    assert!(matches!(Solid::from_parts(noisy.clone()), Err(ElasticError::NotElastic { .. })));
    let m = 3 * parts.nodes;
    (0..m).for_each(|i| parts.green[i * m + i] += 0.05 * largest);
    let measured = Solid::measured(parts).unwrap();
    for i in 0..measured.nodes() {
        for j in 0..measured.nodes() {
            assert_eq!(measured.block(i, j), measured.block(j, i).transpose());
            let shift = if i == j { Matrix3::identity() * 0.05 * largest } else { Matrix3::zeros() };
            assert!((measured.block(i, j) - exact.block(i, j) - shift).amax() <= 1e-3 * largest);
        }
    }
}

#[test]
fn what_no_solid_has() {
    let good = solid().to_parts();
    let m = 3 * good.nodes;
    let check = |change: &dyn Fn(&mut SolidParts)| {
        let mut parts = good.clone();
        change(&mut parts);
        (Solid::from_parts(parts.clone()).err(), Solid::measured(parts).err())
    };
    for change in [
        &(|p: &mut SolidParts| p.green[5] = f64::NAN) as &dyn Fn(&mut SolidParts),
        &|p| p.green.truncate(7),
        &|p| p.green[0] = -1.0,
        &|p| p.mass = 0.0,
        &|p| p.inertia = Matrix3::zeros(),
        &|p| p.green.iter_mut().for_each(|x| *x = -*x),
        // Nodes stored in another order than they were measured in.
        &|p| p.green.rotate_left(3 * m),
    ] {
        let (stored, measured) = check(change);
        assert!(matches!(stored, Some(ElasticError::NotElastic { .. })), "{stored:?}");
        assert!(matches!(measured, Some(ElasticError::NotElastic { .. })), "{measured:?}");
    }
    assert!(matches!(check(&|p| p.nodes = 0).0, Some(ElasticError::NothingLoadable { .. })));
    assert!(matches!(
        check(&|p| p.triangles[2][1] = 9999).0,
        Some(ElasticError::BadIndex { element: 2, .. })
    ));
    assert!(matches!(
        check(&|p| p.points[1].x = f64::INFINITY).0,
        Some(ElasticError::NotFinite { point: 1 })
    ));
}
