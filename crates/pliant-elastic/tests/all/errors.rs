//! Bad input gives an error that names the element and its place.

use pliant_elastic::nalgebra::Vector3;
use pliant_elastic::{ElasticError, Material, Mesh, Solid, Surface};

use crate::common::material;

fn cube() -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
    let s = Surface::cuboid(Vector3::new(0.01, 0.01, 0.01)).unwrap();
    (s.points().to_vec(), s.triangles().to_vec())
}

#[test]
fn surfaces() {
    let (points, triangles) = cube();
    let mut open = triangles.clone();
    open.remove(4);
    let error = Surface::new(points.clone(), open).unwrap_err();
    assert!(matches!(error, ElasticError::Open { count: 3, .. }), "{error}");
    assert!(error.to_string().contains("the first from (-0.010000, -0.010000, -0.010000) m"), "{error}");

    let mut turned = triangles.clone();
    turned[3].swap(0, 1);
    assert!(matches!(Surface::new(points.clone(), turned), Err(ElasticError::Orientation { .. })));

    let inside_out = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
    let error = Surface::new(points.clone(), inside_out).unwrap_err();
    assert!(matches!(error, ElasticError::Volume { volume } if volume < 0.0));

    let mut missing = triangles.clone();
    missing[7][1] = 8;
    assert!(matches!(Surface::new(points.clone(), missing), Err(ElasticError::BadIndex { element: 7, .. })));

    for bad in [f64::NAN, f64::INFINITY, 1e300] {
        let mut points = points.clone();
        points[2].y = bad;
        assert_eq!(Surface::new(points, triangles.clone()), Err(ElasticError::NotFinite { point: 2 }));
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Surface::ball(bad), Err(ElasticError::Size { .. })));
        assert!(matches!(Surface::capsule(0.1, bad), Err(ElasticError::Size { .. })));
        assert!(matches!(Surface::cylinder(bad, 0.1), Err(ElasticError::Size { .. })));
        assert!(matches!(Surface::cuboid(Vector3::new(0.1, bad, 0.1)), Err(ElasticError::Size { .. })));
        assert!(matches!(Mesh::cuboid(Vector3::repeat(0.1), bad), Err(ElasticError::Size { .. })));
        assert!(matches!(
            Mesh::from_surface(&Surface::ball(0.1).unwrap(), bad),
            Err(ElasticError::Size { .. })
        ));
    }
    assert!(matches!(Surface::new(vec![], vec![]), Err(ElasticError::Volume { .. })));
}

#[test]
fn soups_are_welded_and_turned() {
    let (points, triangles) = cube();
    // Corners off by less than the tolerance, a triangle twice, a flat one, and all inside out.
    let mut soup: Vec<[Vector3<f64>; 3]> = triangles
        .iter()
        .enumerate()
        .map(|(k, t)| [t[0], t[2], t[1]].map(|i| points[i as usize] + Vector3::repeat(1e-9 * k as f64)))
        .collect();
    soup.push(soup[0]);
    soup.push([points[0], points[0], points[1]]);
    let surface = Surface::from_soup(&soup, 1e-7).unwrap();
    assert_eq!((surface.points().len(), surface.triangles().len()), (8, 12));
    assert!((surface.volume() / 8e-6 - 1.0).abs() < 1e-5);
    assert!(matches!(Surface::from_soup(&soup, 0.0), Err(ElasticError::Open { .. })));
    assert!(matches!(Surface::from_soup(&soup, f64::NAN), Err(ElasticError::Size { .. })));
}

#[test]
fn meshes() {
    let points = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    assert!(Mesh::new(&points, &[[0, 1, 2, 3]]).is_ok());
    let error = Mesh::new(&points, &[[0, 1, 2, 3], [0, 2, 1, 3]]).unwrap_err();
    assert!(matches!(error, ElasticError::Element { element: 1, jacobian, .. } if jacobian < 0.0), "{error}");
    let flat = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::new(0.3, 0.3, 1e-6)];
    assert!(matches!(Mesh::new(&flat, &[[0, 1, 2, 3]]), Err(ElasticError::Element { .. })));
    assert!(matches!(Mesh::new(&points, &[[0, 1, 2, 4]]), Err(ElasticError::BadIndex { .. })));
    assert!(matches!(Mesh::new(&points, &[[0, 1, 1, 3]]), Err(ElasticError::BadIndex { .. })));
    assert!(matches!(Mesh::new(&points, &[]), Err(ElasticError::Empty { .. })));
    let error = Mesh::from_surface(&Surface::ball(0.1).unwrap(), 1e-5).unwrap_err();
    assert!(matches!(error, ElasticError::TooFine { .. }), "{error}");
    assert!(matches!(Mesh::cuboid(Vector3::repeat(1.0), 1e-4), Err(ElasticError::TooFine { .. })));
    // A plate thinner than the lattice: nothing, or much too little, is left.
    let plate = Surface::cuboid(Vector3::new(0.1, 0.1, 0.0003)).unwrap();
    let error = Mesh::from_surface(&plate, 0.01).unwrap_err();
    assert!(matches!(error, ElasticError::Empty { .. } | ElasticError::Coarse { .. }), "{error}");
}

#[test]
fn materials_and_supports() {
    for (young, poisson, damping, density) in [
        (0.0, 0.3, 0.0, 1.0),
        (f64::NAN, 0.3, 0.0, 1.0),
        (1.0, 0.5, 0.0, 1.0),
        (1.0, -1.0, 0.0, 1.0),
        (1.0, f64::NAN, 0.0, 1.0),
        (1.0, 0.3, -1.0, 1.0),
        (1.0, 0.3, 0.0, 0.0),
        (1.0, 0.3, f64::INFINITY, 1.0),
    ] {
        assert!(matches!(
            Material::new(young, poisson, damping, density),
            Err(ElasticError::Material { .. })
        ));
    }
    let mesh = Mesh::cuboid(Vector3::repeat(0.01), 0.01).unwrap();
    let make =
        |bonded: &dyn Fn(&Vector3<f64>) -> bool| Solid::new(&mesh, &material(0.3), bonded, |_| {}).err();
    assert!(matches!(make(&|_| false), Some(ElasticError::Loose { bonded: 0, .. })));
    // One edge of the box: it can still turn about it.
    let edge = make(&|p| p.z < -0.009 && p.x < -0.009);
    assert!(matches!(edge, Some(ElasticError::Loose { bonded: 5, .. })), "{edge:?}");
    assert!(matches!(make(&|_| true), Some(ElasticError::NothingLoadable { .. })));
    // 60 GB of Green's functions are refused before they are computed.
    let fine = Mesh::grid(
        &(0..150).map(|k| k as f64).collect::<Vec<_>>(),
        &(0..150).map(|k| k as f64).collect::<Vec<_>>(),
        &[0.0, 1.0],
    )
    .unwrap();
    let error = Solid::new(&fine, &material(0.3), |p| p.x == 0.0, |_| {}).err().unwrap();
    assert!(matches!(error, ElasticError::Memory { .. }), "{error}");
    assert!(error.to_string().contains("GiB"), "{error}");
}
