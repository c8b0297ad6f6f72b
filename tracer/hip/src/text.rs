//! Arguments as text, in a place on the stack.

use std::fmt::{Arguments, Write};

/// Bytes that are kept of the arguments of a call.
const LONGEST: usize = 480;

/// Bytes that are kept of an argument that is a text.
const LONGEST_VALUE: usize = 64;

/// What stands in place of what is cut off.
const CUT: &str = "..";

/// `name=value, name=value`.
pub(crate) struct Text {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Text {
    /// No arguments yet.
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; LONGEST], length: 0 }
    }

    /// Adds an argument.
    pub(crate) fn say(&mut self, name: &str, value: Arguments<'_>) {
        let separator = if self.length > 0 { ", " } else { "" };
        // Names that are words of Rust are written so in the list.
        let name = name.strip_prefix("r#").unwrap_or(name);
        let _ = write!(self, "{separator}{name}={value}");
    }

    /// Adds an argument that is a text of C.
    pub(crate) fn quote(&mut self, name: &str, value: &[u8]) {
        let is_cut = value.len() > LONGEST_VALUE;
        let value = value[..value.len().min(LONGEST_VALUE)].escape_ascii();
        self.say(name, format_args!("\"{value}{}\"", if is_cut { CUT } else { "" }));
    }

    /// All of them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Write for Text {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        let Some(room) = (LONGEST - CUT.len()).checked_sub(self.length) else { return Err(std::fmt::Error) };
        let fits = piece.len() <= room;
        let piece = if fits { piece } else { &piece[..piece.floor_char_boundary(room)] };
        self.bytes[self.length..self.length + piece.len()].copy_from_slice(piece.as_bytes());
        self.length += piece.len();
        if fits {
            return Ok(());
        }
        self.bytes[self.length..self.length + CUT.len()].copy_from_slice(CUT.as_bytes());
        self.length += CUT.len();
        Err(std::fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_names_and_values() {
        let mut text = Text::new();
        text.say("sizeBytes", format_args!("{}", 64));
        text.say("r#fn", format_args!("{:#x}", 255));
        text.quote("fname", b"a \"b\"\n");
        assert_eq!(text.bytes(), br#"sizeBytes=64, fn=0xff, fname="a \"b\"\n""#);
    }

    #[test]
    fn what_is_too_long_is_cut_once() {
        let mut text = Text::new();
        text.quote("short", &[b'x'; LONGEST_VALUE + 1]);
        assert!(text.bytes().ends_with(b"x..\""));
        for _ in 0..20 {
            text.quote("more", &[b'y'; LONGEST_VALUE]);
        }
        assert_eq!(text.bytes().len(), LONGEST);
        assert!(text.bytes().ends_with(CUT.as_bytes()) && !text.bytes().ends_with(b"...."));
    }
}
