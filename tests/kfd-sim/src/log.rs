//! The log of the truth: one line per queue, per executed packet and per movement of bytes, in columns with tabs between them, as
//! the README lists them.
//!
//! A line is in the file before the packet's signal changes, so that a program which has seen the signal finds the line.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use crate::memory::Memory;
use crate::movement::Movement;

/// The content of a line about a queue.
#[derive(Debug)]
pub(crate) struct QueueLine {
    pub(crate) node: u32,
    pub(crate) queue: u32,
    pub(crate) kind: &'static str,
    pub(crate) ring: u64,
    pub(crate) bytes: u64,
    /// True if the program, not the runtime, has created the queue.
    pub(crate) is_programs: bool,
}

/// The content of a line about a packet.
#[derive(Debug)]
pub(crate) struct PacketLine<'a> {
    pub(crate) kind: &'static str,
    pub(crate) node: u32,
    pub(crate) queue: u32,
    pub(crate) index: u64,
    pub(crate) kernel_object: u64,
    /// In ns of the system clock.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) signal: u64,
    /// Name of the kernel, if it is known.
    pub(crate) name: Option<&'a str>,
}

/// The content of a line about a copy or a fill, with times in ns of the system clock.
#[derive(Debug)]
pub(crate) struct MovementLine {
    pub(crate) node: u32,
    pub(crate) queue: u32,
    pub(crate) movement: Movement,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The file of the lines, if any. It is appended in single writes, so that processes can share a file.
#[derive(Debug)]
pub(crate) struct Log(Option<File>);

/// Lines about packets whose signals have not changed yet.
#[derive(Debug)]
pub(crate) struct Lines {
    text: Vec<u8>,
    /// Kept here, because reading it is a call of the kernel; the child of a fork has a simulator and lines of its own.
    process: u32,
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self { text: Vec::new(), process: std::process::id() }
    }

    fn queue(&mut self, created: &QueueLine) {
        let QueueLine { node, queue, kind, ring, bytes, is_programs } = *created;
        self.begin("queue", node, queue).word(kind).address(ring).number(bytes);
        self.word(if is_programs { "program" } else { "runtime" }).end();
    }

    fn request(&mut self, what: &'static str, node: u32, queue: u32, words: &[u32]) {
        self.begin(what, node, queue);
        words.iter().for_each(|&word| {
            self.address(word.into());
        });
        self.end();
    }

    pub(crate) fn executed(&mut self, packet: &PacketLine<'_>) {
        let PacketLine { kind, node, queue, index, kernel_object, start, end, signal, name } = *packet;
        self.begin(kind, node, queue).number(index).address(kernel_object);
        self.number(start).number(end).address(signal).word(name.unwrap_or("-")).end();
    }

    /// A fill has one node, a copy two; a node is 0 for the host's memory.
    pub(crate) fn moved(&mut self, moved: &MovementLine, memory: &Memory) {
        let MovementLine { node, queue, movement, start, end } = moved;
        let (from, to) = movement.ends();
        let kind = if from.is_some() { "copy" } else { "fill" };
        let (source, target) = (from.map_or(0, |from| memory.node(from)), memory.node(to));
        self.begin(kind, *node, *queue).number(movement.bytes()).address(from.unwrap_or(0)).address(to);
        self.number(*start).number(*end).number(source.into()).number(target.into()).end();
    }

    /// The columns that every line has.
    fn begin(&mut self, kind: &str, node: u32, queue: u32) -> &mut Self {
        let process = self.process.into();
        self.word(kind).number(process).number(node.into()).number(queue.into())
    }

    fn word(&mut self, word: &str) -> &mut Self {
        self.text.extend_from_slice(word.as_bytes());
        self.text.push(b'\t');
        self
    }

    fn number(&mut self, number: u64) -> &mut Self {
        self.digits::<10>(number)
    }

    fn address(&mut self, address: u64) -> &mut Self {
        self.text.extend_from_slice(b"0x");
        self.digits::<16>(address)
    }

    /// Formatted by hand, because `write!` would be most of the cost of a dispatch.
    fn digits<const BASE: u64>(&mut self, mut number: u64) -> &mut Self {
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b"0123456789abcdef"[(number % BASE) as usize];
            number /= BASE;
            if number == 0 {
                break;
            }
        }
        self.text.extend_from_slice(&digits[first..]);
        self.text.push(b'\t');
        self
    }

    fn end(&mut self) {
        self.text.pop();
        self.text.push(b'\n');
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

    pub(crate) fn queue(&self, created: &QueueLine) {
        let mut lines = Lines::new();
        lines.queue(created);
        self.write(&mut lines);
    }

    pub(crate) fn request(&self, what: &'static str, node: u32, queue: u32, words: &[u32]) {
        let mut lines = Lines::new();
        lines.request(what, node, queue, words);
        self.write(&mut lines);
    }

    /// Appends the lines to the file, and clears them.
    pub(crate) fn write(&self, lines: &mut Lines) {
        if let Some(mut file) = self.0.as_ref().filter(|_| !lines.text.is_empty()) {
            // A full disk shows as missing lines in the comparison; the program goes on.
            let _ = file.write_all(&lines.text);
        }
        lines.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movement::{Extent, Pattern, Region};

    fn text(write: impl FnOnce(&mut Lines)) -> String {
        let mut lines = Lines { text: Vec::new(), process: 7 };
        write(&mut lines);
        String::from_utf8(lines.text).unwrap()
    }

    #[test]
    fn a_line_has_its_columns_between_tabs() {
        let mut packet = PacketLine {
            kind: "dispatch",
            node: 1,
            queue: 20,
            index: 0,
            kernel_object: 0xabc0,
            start: 100,
            end: u64::MAX,
            signal: 0,
            name: Some("vec add"),
        };
        let end = "18446744073709551615";
        let line = format!("dispatch\t7\t1\t20\t0\t0xabc0\t100\t{end}\t0x0\tvec add\n");
        assert_eq!(text(|lines| lines.executed(&packet)), line);
        packet.name = None;
        assert_eq!(text(|lines| lines.executed(&packet)), line.replace("vec add", "-"));
    }

    #[test]
    fn a_queue_is_the_programs_or_the_runtimes() {
        let created =
            QueueLine { node: 1, queue: 2, kind: "dma", ring: 0x1000, bytes: 4096, is_programs: false };
        assert_eq!(text(|lines| lines.queue(&created)), "queue\t7\t1\t2\tdma\t0x1000\t4096\truntime\n");
    }

    #[test]
    fn what_a_queue_is_asked_to_be_is_said_in_words() {
        let line = text(|lines| lines.request("mask", 1, 2, &[0xf0, 0]));
        assert_eq!(line, "mask\t7\t1\t2\t0xf0\t0x0\n");
    }

    #[test]
    fn a_copy_and_a_fill_say_whose_memory_is_meant() {
        let mut memory = Memory::new();
        memory.allocate(3, 0x1000, 0x1000, 1);
        let moved = |movement| MovementLine { node: 1, queue: 2, movement, start: 5, end: 6 };
        let copy = moved(Movement::copy(0x9000, 0x1000, 16));
        assert_eq!(
            text(|lines| lines.moved(&copy, &memory)),
            "copy\t7\t1\t2\t16\t0x9000\t0x1000\t5\t6\t0\t3\n"
        );
        let (to, extent, pattern) = (Region::linear(0x1000), Extent::linear(8), Pattern::Word(1));
        let fill = moved(Movement::Fill { to, extent, pattern });
        assert_eq!(text(|lines| lines.moved(&fill, &memory)), "fill\t7\t1\t2\t8\t0x0\t0x1000\t5\t6\t0\t3\n");
    }
}
