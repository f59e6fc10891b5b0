//! The page with scene and engine in it: one file, which needs neither a server nor a network.

use std::io::{self, Write as _};

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::parcel;
use crate::running::Loaded;
use crate::server::PAGE;

/// Where engine and scene go in the page, and where its policy goes.
const PLACE: &str = "<!-- engine -->";
const HEAD: &str = "<meta charset=\"utf-8\"/>";

/// What the page may do: nothing outside itself.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; \
                      style-src 'unsafe-inline'; img-src data: blob:; media-src blob:";

/// A page of a scene, with a WebAssembly module of the crate `pliant-wasm`.
pub fn page(module: &[u8], loaded: &Loaded, dt: f64) -> io::Result<String> {
    let (module, scene) = (packed(module)?, packed(parcel::pack(loaded, dt).as_bytes())?);
    let parts = format!(
        "<script id=\"engine-module\" type=\"text/plain\">{module}</script>\n\
         <script id=\"scene-parcel\" type=\"text/plain\">{scene}</script>"
    );
    let policy = format!("{HEAD}\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>");
    debug_assert!(PAGE.contains(PLACE) && PAGE.contains(HEAD));
    Ok(PAGE.replacen(HEAD, &policy, 1).replacen(PLACE, &parts, 1))
}

/// Compressed as gzip, in base 64.
fn packed(bytes: &[u8]) -> io::Result<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(BASE64.encode(&encoder.finish()?))
}
