use std::io::{self, BufWriter, IsTerminal, Write};

use crate::Failure;

/// Where a tool speaks: the answer through [`Write`] to standard output, everything else to standard error.
pub struct Output {
    name: String,
    answer: Box<dyn Write>,
    messages: Box<dyn Write>,
    terminal: bool,
}

impl Output {
    /// The real standard output (locked and buffered) and standard error.
    pub fn standard(name: impl Into<String>) -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        Self {
            name: name.into(),
            answer: Box::new(BufWriter::with_capacity(1 << 16, stdout.lock())),
            messages: Box::new(io::stderr()),
            terminal,
        }
    }

    /// Any two writers, for tests and for tools that call each other.
    pub fn new(name: impl Into<String>, answer: Box<dyn Write>, messages: Box<dyn Write>) -> Self {
        Self { name: name.into(), answer, messages, terminal: false }
    }

    /// Whether a person reads the answer directly, rather than a pipe or a file.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Says on standard error that the answer is incomplete, and why.
    pub fn warning(&mut self, message: &str) {
        self.message(&format!("{}: warning: {}\n", self.name, crate::visible(message)));
    }

    /// Tells of a failure on standard error; a tool with several inputs goes on with the next one.
    pub fn failure(&mut self, failure: &Failure) {
        self.message(&failure.lines(&self.name));
    }

    fn message(&mut self, text: &str) {
        // So that a message stands after what was answered before it; a failed flush is seen at the end.
        let _ = self.answer.flush();
        // There is nowhere left to complain.
        let _ = self.messages.write_all(text.as_bytes());
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.answer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.answer.flush()
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Output").field("name", &self.name).finish_non_exhaustive()
    }
}
