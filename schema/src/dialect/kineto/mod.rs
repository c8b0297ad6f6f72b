//! torch.profiler's JSON, which Kineto writes: Chrome's trace format with categories and arguments of its own.
//!
//! The file is scanned once, event by event, in a buffer that does not grow with it. Values stay text until a row needs
//! them. What an event refers to (its process, the clock, the call that launched it) may come later, so rows are
//! completed at the end of their document; a file of several ranks may hold several documents.

mod arrows;
mod category;
mod collectives;
mod document;
mod event;
mod input;
mod memory;
mod process_names;
mod resolve;
mod rows;
mod scalar;
mod scan;
mod sources;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use self::document::Reading;
use super::reader::Reader;
use crate::{Result, Select, Tables};

pub(super) const READER: Reader = Reader::Text { recognise, read };

/// Only Kineto writes these at the top of a document.
const HEADERS: [&[u8]; 3] = [b"\"schemaVersion\"", b"\"deviceProperties\"", b"\"baseTimeNanoseconds\""];

/// Categories of its events.
const CATEGORIES: [&[u8]; 5] =
    [b"\"cpu_op\"", b"\"cuda_runtime\"", b"\"gpu_memcpy\"", b"\"python_function\"", b"\"user_annotation\""];

/// Categories of its events of a GPU, which alone remain where the events of the host were taken away.
const GPU_CATEGORIES: [&str; 2] = ["kernel", "gpu_memset"];

/// Tools that edit a document of Kineto keep one of its headers, or leave events of it.
fn recognise(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let has =
        |words: &[&[u8]]| words.iter().any(|word| head.windows(word.len()).any(|window| window == *word));
    let is_list = head.starts_with(b"[");
    let has_events = || is_list && has(&[b"\"ph\""]) || has(&[b"\"traceEvents\""]);
    let has_events_of_kineto = || has(&CATEGORIES) || has_gpu_category(head);
    (is_list || head.starts_with(b"{")) && (has(&HEADERS) || has_events() && has_events_of_kineto())
}

/// Returns whether an event has a category of Kineto's GPU events: `"cat": "kernel"`, which other tools write in other letters or not at
/// all.
fn has_gpu_category(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let values = text.split("\"cat\"").skip(1).filter_map(|rest| rest.trim_start().strip_prefix(':'));
    let mut categories = values.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    categories.any(|category| GPU_CATEGORIES.contains(&category))
}

fn read(path: &Path, reader: BufReader<File>, select: &Select) -> Result<Tables> {
    Reading::new(path, reader, select).read()
}
