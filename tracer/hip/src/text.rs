//! Formats arguments as text on the stack: a hook must not allocate.

use std::fmt::{Arguments, Write};

/// Limit in bytes on the arguments of a call.
const LONGEST: usize = 480;

/// Limit in bytes on a string argument.
const LONGEST_VALUE: usize = 64;

/// Marks a text that was cut off.
const CUT: &str = "..";

/// Arguments in the form `name=value, name=value`.
pub(crate) struct ArgumentText {
    bytes: [u8; LONGEST],
    length: usize,
}

impl ArgumentText {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; LONGEST], length: 0 }
    }

    pub(crate) fn push(&mut self, name: &str, value: Arguments<'_>) {
        let separator = if self.length > 0 { ", " } else { "" };
        // Names that are keywords of Rust are raw identifiers in the list.
        let name = name.strip_prefix("r#").unwrap_or(name);
        let _ = write!(self, "{separator}{name}={value}");
    }

    /// Adds a string argument, escaped and in quotes.
    pub(crate) fn push_quoted(&mut self, name: &str, value: &[u8]) {
        let is_cut = value.len() > LONGEST_VALUE;
        let value = value[..value.len().min(LONGEST_VALUE)].escape_ascii();
        self.push(name, format_args!("\"{value}{}\"", if is_cut { CUT } else { "" }));
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Write for ArgumentText {
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
        let mut text = ArgumentText::new();
        text.push("sizeBytes", format_args!("{}", 64));
        text.push("r#fn", format_args!("{:#x}", 255));
        text.push_quoted("fname", b"a \"b\"\n");
        assert_eq!(text.bytes(), br#"sizeBytes=64, fn=0xff, fname="a \"b\"\n""#);
    }

    #[test]
    fn what_is_too_long_is_cut_once() {
        let mut text = ArgumentText::new();
        text.push_quoted("short", &[b'x'; LONGEST_VALUE + 1]);
        assert!(text.bytes().ends_with(b"x..\""));
        for _ in 0..20 {
            text.push_quoted("more", &[b'y'; LONGEST_VALUE]);
        }
        assert_eq!(text.bytes().len(), LONGEST);
        assert!(text.bytes().ends_with(CUT.as_bytes()) && !text.bytes().ends_with(b"...."));
    }
}
