//! The ground truth: one line per queue, per executed packet and per movement of bytes, columns between tabs,
//! as the README lists them.
//!
//! A line is in the file before the packet's signal changes: whoever saw the signal finds the line.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use crate::memory::Memory;
use crate::movement::Movement;

/// What a line about a queue says.
#[derive(Debug)]
pub(crate) struct Created {
    pub(crate) node: u32,
    pub(crate) queue: u32,
    pub(crate) kind: &'static str,
    pub(crate) ring: u64,
    pub(crate) bytes: u64,
    /// Whether the program asked the runtime for it.
    pub(crate) is_programs: bool,
}

/// What a line about a packet says.
#[derive(Debug)]
pub(crate) struct Executed<'a> {
    pub(crate) kind: &'static str,
    pub(crate) node: u32,
    pub(crate) queue: u32,
    pub(crate) index: u64,
    pub(crate) kernel_object: u64,
    /// In ns of the system clock.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) signal: u64,
    /// The kernel's, if it is known.
    pub(crate) name: Option<&'a str>,
}

/// What a line about a copy or a fill says.
#[derive(Debug)]
pub(crate) struct Moved {
    pub(crate) node: u32,
    pub(crate) queue: u32,
    pub(crate) movement: Movement,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Where the lines go, if anywhere. Appended in single writes, so that processes can share a file.
#[derive(Debug)]
pub(crate) struct Log(Option<File>);

/// Lines about packets whose signals have not changed yet.
#[derive(Debug)]
pub(crate) struct Lines {
    text: Vec<u8>,
    /// Asking for it is a call of the kernel; the child of a fork has a simulator and lines of its own.
    process: u32,
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self { text: Vec::new(), process: std::process::id() }
    }

    pub(crate) fn executed(&mut self, packet: &Executed<'_>) {
        let process = self.process;
        let Executed { kind, node, queue, index, kernel_object, start, end, signal, name } = packet;
        let name = name.unwrap_or("-");
        // A vector takes everything.
        let _ = writeln!(
            self.text,
            "{kind}\t{process}\t{node}\t{queue}\t{index}\t{kernel_object:#x}\t{start}\t{end}\t{signal:#x}\t{name}"
        );
    }

    /// From nowhere to one place, or from one to another; a node is 0 for the host's memory.
    pub(crate) fn moved(&mut self, moved: &Moved, memory: &Memory) {
        let process = self.process;
        let Moved { node, queue, movement, start, end } = moved;
        let (from, to) = movement.ends();
        let kind = if from.is_some() { "copy" } else { "fill" };
        let (source, target) = (from.map_or(0, |from| memory.node(from)), memory.node(to));
        let (bytes, from) = (movement.bytes(), from.unwrap_or(0));
        let _ = writeln!(
            self.text,
            "{kind}\t{process}\t{node}\t{queue}\t{bytes}\t{from:#x}\t{to:#x}\t{start}\t{end}\t{source}\t{target}"
        );
    }
}

impl Log {
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, String> {
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.map_err(|error| format!("KFD_SIM_LOG={}: {error}", path.display()))
        };
        path.map(open).transpose().map(Self)
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn queue(&self, created: &Created) {
        let mut lines = Lines::new();
        let process = lines.process;
        let Created { node, queue, kind, ring, bytes, is_programs } = created;
        let owner = if *is_programs { "program" } else { "runtime" };
        // A vector takes everything.
        let _ =
            writeln!(lines.text, "queue\t{process}\t{node}\t{queue}\t{kind}\t{ring:#x}\t{bytes}\t{owner}");
        self.write(&mut lines);
    }

    /// Puts the lines into the file, and takes them from here.
    pub(crate) fn write(&self, lines: &mut Lines) {
        if let Some(mut file) = self.0.as_ref().filter(|_| !lines.text.is_empty()) {
            // A full disk shows as missing lines in the comparison; the program goes on.
            let _ = file.write_all(&lines.text);
        }
        lines.text.clear();
    }
}
