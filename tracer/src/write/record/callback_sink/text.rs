//! Texts in the form of C.

use std::ffi::CString;

/// Drops zero bytes, which no text from C or from a symbol table has.
pub(super) fn spoken(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

pub(super) fn length(text: &CString) -> u32 {
    text.as_bytes().len() as u32
}
