//! The ground truth: one line per queue and per executed packet, columns between tabs.
//!
//! - `queue`, pid, GPU node, queue id, kind, address of the ring, bytes of the ring
//! - `dispatch`, `barrier` or `other`, pid, GPU node, queue id, packet index, kernel object, start and end in
//!   ns of the system clock, completion signal
//! - `copy`, pid, GPU node, queue id, bytes, address it comes from and goes to, start and end
//!
//! A line is written before the packet's signal changes: whoever saw the signal finds the line.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// What a line about a packet says.
#[derive(Debug)]
pub(crate) struct Executed {
    pub(crate) kind: &'static str,
    pub(crate) node: u32,
    pub(crate) queue: u32,
    pub(crate) index: u64,
    pub(crate) kernel_object: u64,
    /// In ns of the system clock.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) signal: u64,
}

/// Where the lines go, if anywhere. Appended in single writes, so that processes can share a file.
#[derive(Debug)]
pub(crate) struct Log(Option<File>);

impl Log {
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, String> {
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.map_err(|error| format!("KFD_SIM_LOG={}: {error}", path.display()))
        };
        path.map(open).transpose().map(Self)
    }

    pub(crate) fn queue(&self, node: u32, queue: u32, kind: &str, ring: u64, bytes: u64) {
        let process = std::process::id();
        self.line(|| format!("queue\t{process}\t{node}\t{queue}\t{kind}\t{ring:#x}\t{bytes}\n"));
    }

    pub(crate) fn executed(&self, packet: &Executed) {
        let process = std::process::id();
        let Executed { kind, node, queue, index, kernel_object, start, end, signal } = packet;
        self.line(|| {
            format!("{kind}\t{process}\t{node}\t{queue}\t{index}\t{kernel_object:#x}\t{start}\t{end}\t{signal:#x}\n")
        });
    }

    /// A copy by a DMA engine; addresses are the GPU's.
    pub(crate) fn copied(&self, node: u32, queue: u32, copy: (u64, u64, u64), time: (u64, u64)) {
        let process = std::process::id();
        let ((bytes, from, to), (start, end)) = (copy, time);
        self.line(|| {
            format!("copy\t{process}\t{node}\t{queue}\t{bytes}\t{from:#x}\t{to:#x}\t{start}\t{end}\n")
        });
    }

    fn line(&self, text: impl FnOnce() -> String) {
        if let Some(mut file) = self.0.as_ref() {
            // A full disk shows as a missing line in the comparison; the program goes on.
            let _ = file.write_all(text().as_bytes());
        }
    }
}
