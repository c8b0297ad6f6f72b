//! The transfer of one file to Perfetto's page.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rtl_convert::loopback::Offer;
use tempfile::TempDir;

const PAGE: &str = "https://ui.perfetto.dev";
const PLACE: &str = "/0123/trace.json.gz";

/// A file that is offered in another thread.
struct Offered {
    address: SocketAddr,
    content: Vec<u8>,
    server: JoinHandle<bool>,
    _folder: TempDir,
}

impl Offered {
    fn new(bytes: usize, patience: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path: PathBuf = folder.path().join("trace");
        let content: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let file = File::open(path).unwrap();
            let offer = Offer { file: &file, path: PLACE, origin: PAGE };
            offer.serve(&listener, Instant::now() + patience).unwrap()
        });
        Self { address, content, server, _folder: folder }
    }

    fn request(&self, request: &str) -> (String, Vec<u8>) {
        let mut client = TcpStream::connect(self.address).unwrap();
        client.write_all(request.replace("HOST", &self.address.to_string()).as_bytes()).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        (String::from_utf8(answer[..end].to_vec()).unwrap(), answer[end + 4..].to_vec())
    }

    fn fetch(&self) -> (String, Vec<u8>) {
        self.request(&get(PLACE, PAGE))
    }
}

fn get(place: &str, origin: &str) -> String {
    format!("GET {place} HTTP/1.1\r\nHost: HOST\r\nOrigin: {origin}\r\n\r\n")
}

#[test]
fn the_page_gets_the_file_once_and_the_offer_ends() {
    let offered = Offered::new(3_000_000, Duration::from_secs(60));
    let (head, body) = offered.fetch();
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(head.contains("Access-Control-Allow-Origin: https://ui.perfetto.dev"), "{head}");
    assert!(!head.contains('*'), "{head}");
    assert_eq!(body, offered.content);
    assert!(offered.server.join().unwrap());
    assert!(TcpStream::connect(offered.address).is_err(), "the listener is gone");
}

#[test]
fn others_are_refused_and_the_page_is_still_served() {
    let offered = Offered::new(1000, Duration::from_secs(60));
    let named = |host: &str| format!("GET {PLACE} HTTP/1.1\r\nHost: {host}\r\nOrigin: {PAGE}\r\n\r\n");
    for (request, status) in [
        (get(PLACE, "https://evil.example"), "403"),
        (get(PLACE, "null"), "403"),
        (get(PLACE, "https://ui.perfetto.dev.evil.example"), "403"),
        (get(PLACE, "http://ui.perfetto.dev"), "403"),
        (format!("GET {PLACE} HTTP/1.1\r\nHost: HOST\r\n\r\n"), "403"),
        (format!("GET {PLACE} HTTP/1.1\r\nHost: HOST\r\nOrigin: {PAGE}\r\nOrigin: x\r\n\r\n"), "403"),
        (named("evil.example:9001"), "403"),
        (get("/", PAGE), "404"),
        (get("/4567/trace.json.gz", PAGE), "404"),
        (get("/0123/../../etc/passwd", PAGE), "404"),
        (get(PLACE, PAGE).replace("GET", "POST"), "405"),
        ("nonsense\r\n\r\n".to_owned(), "400"),
    ] {
        let (head, body) = offered.request(&request);
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {head}");
        assert!(body.is_empty() && !head.contains("Allow-Origin"), "{request}: {head}");
    }
    let (head, _) = offered.request(&get(PLACE, PAGE).replace("GET", "OPTIONS"));
    assert!(head.starts_with("HTTP/1.1 204") && head.contains("Allow-Private-Network: true"), "{head}");
    assert_eq!(offered.fetch().1, offered.content);
    assert!(offered.server.join().unwrap());
}

#[test]
fn clients_that_do_not_speak_or_read_do_not_keep_the_file_from_the_page() {
    // More than the buffers of two sockets hold.
    let offered = Offered::new(64 << 20, Duration::from_secs(120));
    let silent = TcpStream::connect(offered.address).unwrap();
    let mut deaf = TcpStream::connect(offered.address).unwrap();
    deaf.write_all(get(PLACE, PAGE).replace("HOST", &offered.address.to_string()).as_bytes()).unwrap();
    let mut endless = TcpStream::connect(offered.address).unwrap();
    endless.write_all(&[b'x'; 20 << 10]).unwrap();
    let (head, body) = offered.fetch();
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(body == offered.content, "{} bytes", body.len());
    assert!(offered.server.join().unwrap());
    drop((silent, deaf, endless));
}

#[test]
fn an_offer_that_the_page_does_not_take_ends() {
    let offered = Offered::new(10, Duration::from_millis(100));
    let client = TcpStream::connect(offered.address).unwrap();
    assert!(!offered.server.join().unwrap());
    drop(client);
}
