//! Where the report and the messages of a tool go. A tool that calls another one captures the report.

use std::cell::RefCell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::rc::Rc;

use crate::Failure;

/// The report goes to standard output through [`Write`], messages go to standard error.
pub struct Output {
    name: String,
    report: Box<dyn Write>,
    messages: Box<dyn Write>,
    terminal: bool,
    /// Takes the report instead of standard output during [`Self::capture`].
    captured: Option<Vec<u8>>,
}

impl Output {
    /// The real standard output (locked and buffered) and standard error.
    pub fn standard(name: impl Into<String>) -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        Self {
            name: name.into(),
            report: Box::new(BufWriter::with_capacity(1 << 16, stdout.lock())),
            messages: Box::new(io::stderr()),
            terminal,
            captured: None,
        }
    }

    /// Writes to any two writers, for tests and for tools that call each other.
    pub fn new(name: impl Into<String>, report: Box<dyn Write>, messages: Box<dyn Write>) -> Self {
        Self { name: name.into(), report, messages, terminal: false, captured: None }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub fn is_terminal(&self) -> bool {
        self.terminal && self.captured.is_none()
    }

    /// Runs another tool and returns its report as text. Its messages go to standard error.
    pub fn capture<T>(&mut self, tool: impl FnOnce(&mut Self) -> T) -> (T, String) {
        let before = self.captured.replace(Vec::new());
        let result = tool(self);
        let report = std::mem::replace(&mut self.captured, before).unwrap_or_default();
        (result, String::from_utf8_lossy(&report).into_owned())
    }

    fn report(&mut self) -> &mut dyn Write {
        match &mut self.captured {
            Some(report) => report,
            None => &mut self.report,
        }
    }

    /// Prints a report to standard error, where standard output belongs to another program.
    pub fn print_beside(&mut self, report: &str) {
        self.message(report);
    }

    pub fn warning(&mut self, message: &str) {
        self.message(&format!("{}: warning: {}\n", self.name, crate::escape_control(message)));
    }

    /// Prints the message of a failure; a tool with several inputs then continues with the next one.
    pub fn failure(&mut self, failure: &Failure) {
        self.message(&failure.lines(&self.name));
    }

    fn message(&mut self, text: &str) {
        // Messages appear after the part of the report that was written before them. The final flush reports errors.
        let _ = self.report.flush();
        // No channel is left to report an error on.
        let _ = self.messages.write_all(text.as_bytes());
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.report().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.report().flush()
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Output").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A writer, and a function that returns all that was written to it.
pub(crate) fn shared() -> (impl Write + 'static, impl FnOnce() -> String) {
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let written = Rc::<RefCell<Vec<u8>>>::default();
    let read = Rc::clone(&written);
    (Shared(written), move || String::from_utf8_lossy(&read.borrow()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_another_tool_is_captured() -> io::Result<()> {
        let mut out = Output::new("rtl-test", Box::new(io::sink()), Box::new(io::sink()));
        let (result, report) = out.capture(|out| {
            out.warning("to standard error");
            writeln!(out, "captured")
        });
        assert_eq!(report, "captured\n");
        result
    }
}
