//! A page's WebSocket.

use std::net::TcpStream;
use std::time::Duration;

use tungstenite::WebSocket;
use tungstenite::client::IntoClientRequest;
use tungstenite::http::Request;

/// Opens a WebSocket as a browser would, from a page of this origin.
pub fn open(port: u16, token: &str, origin: &str) -> Result<WebSocket<TcpStream>, String> {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let mut request: Request<()> =
        format!("ws://127.0.0.1:{port}/socket?token={token}").into_client_request().expect("a request");
    if !origin.is_empty() {
        request.headers_mut().insert("origin", origin.parse().expect("a header"));
    }
    tungstenite::client(request, stream).map(|(socket, _)| socket).map_err(|error| error.to_string())
}
