//! Types for the arguments and results of HSA's functions, with the layout in which they are passed.

#![expect(unsafe_code, reason = "reads texts of C")]

use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write;

/// Limit in bytes on an argument that is a text.
const LONGEST: usize = 64;

/// Arguments in the form `name=value, name=value`.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    pub fn push(&mut self, name: &str, value: impl Argument) {
        if !self.0.is_empty() {
            self.0.push_str(", ");
        }
        self.0.push_str(name);
        self.0.push('=');
        value.write(&mut self.0);
    }

    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

pub trait Argument {
    fn write(self, text: &mut String);
}

pub trait ReturnValue {
    /// 0 for a type that is no status.
    fn status(&self) -> i32;
}

#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Status(u32);

/// A structure of 64 bits.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Handle(u64);

#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Pointer(*mut c_void);

/// A C string, or null.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Chars(*const c_char);

impl Argument for Status {
    fn write(self, text: &mut String) {
        let _ = write!(text, "{:#x}", self.0);
    }
}

impl Argument for Handle {
    fn write(self, text: &mut String) {
        let _ = write!(text, "{:#x}", self.0);
    }
}

impl Argument for Pointer {
    fn write(self, text: &mut String) {
        let _ = write!(text, "{:#x}", self.0 as usize);
    }
}

impl Argument for Chars {
    fn write(self, text: &mut String) {
        if self.0.is_null() {
            return text.push_str("0x0");
        }
        // SAFETY: the application passes this C string to the runtime, which reads it too.
        let bytes = unsafe { CStr::from_ptr(self.0) }.to_bytes();
        let kept = &bytes[..bytes.len().min(LONGEST)];
        let cut = if kept.len() < bytes.len() { ".." } else { "" };
        let _ = write!(text, "\"{}{cut}\"", kept.escape_ascii());
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {
        $(impl Argument for $number {
            fn write(self, text: &mut String) {
                let _ = write!(text, "{self}");
            }
        })+
    };
}

numbers!(bool, u16, u32, i32, u64, i64);

impl ReturnValue for Status {
    fn status(&self) -> i32 {
        self.0 as i32
    }
}

macro_rules! values {
    ($($value:ty),+) => {
        $(impl ReturnValue for $value {
            fn status(&self) -> i32 {
                0
            }
        })+
    };
}

values!((), u32, u64, i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_written_by_name() {
        let mut text = Text::default();
        text.push("agent", Handle(0xff));
        text.push("size", 4096_u64);
        text.push("force", true);
        text.push("data", Pointer(std::ptr::null_mut()));
        assert_eq!(text.bytes(), b"agent=0xff, size=4096, force=true, data=0x0");
    }

    #[test]
    fn texts_are_quoted_escaped_and_cut() {
        let mut text = Text::default();
        text.push("options", Chars(std::ptr::null()));
        text.push("name", Chars(c"a\"b\n".as_ptr()));
        let long = std::ffi::CString::new("x".repeat(LONGEST + 1)).unwrap();
        text.push("long", Chars(long.as_ptr()));
        let expected = format!(r#"options=0x0, name="a\"b\n", long="{}..""#, "x".repeat(LONGEST));
        assert_eq!(text.bytes(), expected.as_bytes());
    }

    #[test]
    fn only_a_status_is_told_as_one() {
        assert_eq!((Status(0x1001).status(), 7_u64.status(), ().status()), (0x1001, 0, 0));
    }
}
