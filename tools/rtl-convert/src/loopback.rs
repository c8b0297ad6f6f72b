//! Gives one file to one page of a browser of this machine, over HTTP.
//!
//! Only requests of the page that name the path, which cannot be guessed, are answered, one at a time. A client
//! that is silent or does not read is left after a while, and others are waited for until the deadline.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use platform::positional::read_at;

/// How long a client may take for its request, and for reading anything of the answer.
const SILENCE: Duration = Duration::from_secs(5);
/// The pause between two looks for a client.
const PAUSE: Duration = Duration::from_millis(20);
/// Requests are shorter.
const LONGEST_REQUEST: usize = 16 << 10;

/// A file for one page.
#[derive(Debug)]
pub struct Offer<'a> {
    pub file: &'a File,
    /// The path of the request: `/token/name`.
    pub path: &'a str,
    /// The origin of the page: `https://ui.perfetto.dev`.
    pub origin: &'a str,
}

#[derive(Debug, PartialEq, Eq)]
enum Request {
    Transfer,
    /// The browser asks whether the page may fetch from this machine.
    Preflight,
    /// The status line of the refusal.
    Refused(&'static str),
}

impl Offer<'_> {
    /// Waits for the page until the deadline and transfers the file once. Returns true if it was transferred.
    pub fn serve(&self, listener: &TcpListener, deadline: Instant) -> io::Result<bool> {
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        while Instant::now() < deadline {
            match listener.accept() {
                // The failure of a client is that client's.
                Ok((client, _)) => {
                    if self.answer(&client, port, deadline).unwrap_or(false) {
                        return Ok(true);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Answers one client. Returns true if the file was transferred.
    fn answer(&self, mut client: &TcpStream, port: u16, deadline: Instant) -> io::Result<bool> {
        client.set_nonblocking(false)?;
        client.set_read_timeout(Some(SILENCE))?;
        client.set_write_timeout(Some(SILENCE))?;
        let until = deadline.min(Instant::now() + SILENCE);
        let Some(head) = head(client, until)? else { return Ok(false) };
        match self.request(&head, port) {
            Request::Refused(status) => {
                write!(client, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
                end(client, until)?;
                Ok(false)
            }
            Request::Preflight => {
                write!(
                    client,
                    "HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: {}\r\nAccess-Control-Allow-Methods: GET\r\n\
                     Access-Control-Allow-Private-Network: true\r\nVary: Origin\r\nConnection: close\r\n\r\n",
                    self.origin
                )?;
                end(client, until)?;
                Ok(false)
            }
            Request::Transfer => {
                let length = self.file.metadata()?.len();
                write!(
                    client,
                    "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: {}\r\nVary: Origin\r\nCache-Control: no-store\r\n\
                     Content-Type: application/octet-stream\r\nX-Content-Type-Options: nosniff\r\n\
                     Content-Length: {length}\r\nConnection: close\r\n\r\n",
                    self.origin
                )?;
                let sent = self.send(client, length)?;
                // Without its end the client may lose what is on the way.
                end(client, Instant::now() + SILENCE)?;
                Ok(sent == length)
            }
        }
    }

    /// Sends the file from its beginning; a client that stops reading is an error after [`SILENCE`].
    fn send(&self, mut client: &TcpStream, length: u64) -> io::Result<u64> {
        let mut buffer = vec![0; 256 << 10];
        let mut sent = 0;
        while sent < length {
            let read = read_at(self.file, &mut buffer, sent)?;
            if read == 0 {
                break;
            }
            client.write_all(&buffer[..read])?;
            sent += read as u64;
        }
        Ok(sent)
    }

    fn request(&self, head: &str, port: u16) -> Request {
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (method, path, version) = (words.next(), words.next(), words.next());
        if !version.is_some_and(|version| version.starts_with("HTTP/1.")) {
            return Request::Refused("400 Bad Request");
        }
        let fields: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
        let only = |name: &str| {
            let mut values = fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
            values.next().filter(|_| values.next().is_none()).map(|(_, value)| value.trim())
        };
        // Another name of this address would be a page that has had its name changed to it.
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let is_here = only("host").is_some_and(|host| hosts.iter().any(|known| known == host));
        if only("origin") != Some(self.origin) || !is_here {
            return Request::Refused("403 Forbidden");
        }
        match (method, path) {
            (_, path) if path != Some(self.path) => Request::Refused("404 Not Found"),
            (Some("GET"), _) => Request::Transfer,
            (Some("OPTIONS"), _) => Request::Preflight,
            _ => Request::Refused("405 Method Not Allowed"),
        }
    }
}

/// The request up to its empty line; `None` where there is none.
fn head(mut client: &TcpStream, until: Instant) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while bytes.len() < LONGEST_REQUEST && Instant::now() < until {
        let read = client.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            bytes.truncate(end);
            return Ok(String::from_utf8(bytes).ok());
        }
    }
    Ok(None)
}

/// Ends the answer and waits until the client has ended, too.
fn end(mut client: &TcpStream, until: Instant) -> io::Result<()> {
    client.shutdown(Shutdown::Write)?;
    client.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut buffer = [0; 4096];
    while Instant::now() < until {
        match client.read(&mut buffer) {
            Ok(0) => break,
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
            _ => {}
        }
    }
    Ok(())
}
