//! `--open`: shows the output in Perfetto's page, which fetches it from this machine.

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::{Duration, Instant};

use cli::{Exit, Failure, Output, ResultExt};
use platform::browser;

use crate::loopback::Offer;

/// The page, and the one address from which its content security policy lets it fetch.
const PAGE: &str = "https://ui.perfetto.dev";
const PORT: u16 = 9001;
/// How long the page has for fetching the file.
const PATIENCE: Duration = Duration::from_secs(120);

/// A place from which Perfetto's page can fetch one file.
#[derive(Debug)]
pub struct Opening {
    listener: TcpListener,
    /// Part of the path, so that no other page or user asks for the file.
    token: String,
}

impl Opening {
    /// Takes the address before anything is written, because another program may have it.
    pub fn new() -> Result<Self, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT))
            .with_exit(Exit::Usage)
            .with_context(|| {
                format!("cannot listen on 127.0.0.1:{PORT}, from where Perfetto's page reads traces")
            })
            .with_hint("end the program that uses the port, or drag the output into ui.perfetto.dev")?;
        let mut token = [0; 16];
        getrandom::fill(&mut token)?;
        let token = token.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { listener, token })
    }

    /// Starts the browser, or prints the address, and transfers the file.
    pub fn show(&self, path: &Path, quiet: bool, out: &mut Output) -> Result<(), Failure> {
        let file = File::open(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let place = format!("/{}/{}", self.token, encoded(&name));
        let address = format!("{PAGE}/#!/?url=http://127.0.0.1:{PORT}{place}");
        if !browser::open(address.as_ref()) || !quiet {
            writeln!(out, "waiting {} s for the browser: {address}", PATIENCE.as_secs())?;
            out.flush()?;
        }
        let offer = Offer { file: &file, path: &place, origin: PAGE };
        if offer.serve(&self.listener, Instant::now() + PATIENCE)? {
            return Ok(());
        }
        let missed = anyhow::anyhow!("the browser has not fetched the trace within {} s", PATIENCE.as_secs());
        Err(Failure::input(missed).with_hint(
            "drag the output into ui.perfetto.dev; from another machine the address needs ssh -L 9001:127.0.0.1:9001",
        ))
    }
}

fn encoded(name: &str) -> String {
    let part = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path() {
        assert_eq!(encoded("a b/c?&#.json.gz"), "a%20b%2Fc%3F%26%23.json.gz");
    }
}
