//! The head of an HTTP request, read within bounds, and what of it decides whether it is answered.

use std::io::{self, Read};
use std::time::{Duration, Instant};

/// Bytes of a head, at most.
const LONGEST: usize = 16 << 10;
/// Time for all of it.
const PATIENCE: Duration = Duration::from_secs(3);

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// After the `?`.
    pub query: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
}

impl Request {
    /// Reads a head; `None` if it is none, too long, or takes too long.
    pub fn read(stream: &mut impl Read) -> io::Result<Option<Request>> {
        let (start, mut head) = (Instant::now(), Vec::new());
        // Byte by byte: what comes after the head belongs to the WebSocket.
        let mut byte = [0u8];
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() >= LONGEST || start.elapsed() > PATIENCE || stream.read(&mut byte)? == 0 {
                return Ok(None);
            }
            head.push(byte[0]);
        }
        Ok(Request::parse(&head))
    }

    fn parse(head: &[u8]) -> Option<Request> {
        let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target, version) = (first.next()?, first.next()?, first.next()?);
        if first.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut headers = Vec::new();
        for line in lines.take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':')?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_string()));
        }
        Some(Request { method: method.into(), path: path.into(), query: query.into(), headers })
    }

    /// The only header of a name; `None` if there is none or there are several.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut own = self.headers.iter().filter(|(other, _)| other == name);
        let found = own.next().map(|(_, value)| value.as_str());
        found.filter(|_| own.next().is_none())
    }

    /// Whether a header lists a word.
    pub fn lists(&self, name: &str, word: &str) -> bool {
        self.header(name).is_some_and(|list| list.split(',').any(|own| own.trim().eq_ignore_ascii_case(word)))
    }

    /// Whether it has this token, compared without telling by its time how much of it is right.
    pub fn has_token(&self, token: &str) -> bool {
        let given = self.query.split('&').find_map(|pair| pair.strip_prefix("token="));
        given.is_some_and(|given| {
            let differ = given.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
            given.len() == token.len() && differ == 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Request;

    #[test]
    fn heads_are_read_or_refused() {
        let head =
            b"GET /socket?a=1&token=ab HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\n\r\nrest";
        let mut stream = &head[..];
        let request = Request::read(&mut stream).expect("no error").expect("a request");
        assert_eq!(stream, b"rest");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/socket"));
        assert!(request.has_token("ab") && !request.has_token("ac") && !request.has_token("abc"));
        assert!(request.lists("connection", "upgrade") && request.header("host") == Some("x"));
        for bad in [
            &b""[..],
            b"GET\r\n\r\n",
            b"GET / FTP/1\r\n\r\n",
            b"GET / HTTP/1.1\r\nhost\r\n\r\n",
            b"\xff\r\n\r\n",
        ] {
            assert_eq!(Request::read(&mut &bad[..]).expect("no error"), None);
        }
        let twice = b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
        assert_eq!(
            Request::read(&mut &twice[..]).expect("no error").expect("a request").header("host"),
            None
        );
        assert_eq!(Request::read(&mut &vec![b'a'; 1 << 20][..]).expect("no error"), None);
    }
}
