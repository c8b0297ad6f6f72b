//! Any two traces: a merged trace that holds all their ops, or an error. The fuzz target `merge` uses this file, too.

use std::path::Path;

use rtl_merge::args::{Allow, Options};
use rtl_schema::{Select, Trace};

/// Merges both files into a third one beside the first; returns whether there is one.
pub(crate) fn assert_merges(traces: [&Path; 2]) -> bool {
    let output = traces[0].with_file_name("merged.db");
    let options = Options {
        traces: traces.map(Path::to_owned).to_vec(),
        output: Some(output.clone()),
        force: true,
        allow: vec![Allow::MissingRanks, Allow::DifferentRuns],
        console: cli::args::Console { quiet: true, ..cli::args::Console::default() },
        ..Options::default()
    };
    let mut out = cli::Output::new("fuzz", Box::new(std::io::sink()), Box::new(std::io::sink()));
    if rtl_merge::merge(&options, &mut out).is_err() {
        return false;
    }
    let rows = |path: &Path| {
        let tables = Trace::open(path).and_then(|trace| trace.read(&Select::everything()));
        let tables = tables.unwrap_or_else(|error| panic!("{error}"));
        tables.dispatches.len() + tables.copies.len()
    };
    let sources: usize = traces.map(rows).iter().sum();
    assert_eq!(rows(&output), sources);
    true
}

/// Divides bytes into the two traces; the first two bytes are the length of the first one.
pub(crate) fn divide(bytes: &[u8]) -> [&[u8]; 2] {
    let Some((length, rest)) = bytes.split_first_chunk::<2>() else { return [bytes, &[]] };
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (first, second) = rest.split_at(length);
    [first, second]
}
