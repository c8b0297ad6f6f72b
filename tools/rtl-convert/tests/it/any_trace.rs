//! Any trace in every format: an output or an error, and what this program writes it also reads. The fuzz targets of
//! `tests/fuzz/` use this file, too.

use std::path::Path;

use rtl_convert::format::Format;
use rtl_convert::formats::FORMATS;
use rtl_schema::{Select, Trace};

/// Formats whose files are traces.
const TRACES: [&str; 4] = ["native", "rpd", "rocpd", "rocprofv3-json"];

/// Converts a trace beside itself.
pub(crate) fn assert_converts(trace: &Path) {
    FORMATS.iter().for_each(|format| _ = assert_converts_to(trace, format));
}

/// Converts a trace to a format, beside itself; returns whether there is an output.
pub(crate) fn assert_converts_to(trace: &Path, format: &'static Format) -> bool {
    let output = trace.with_file_name(format!("{}{}", format.name, format.default_ending));
    let Ok(converted) = rtl_convert::convert(&rtl_convert::Options::new(trace, format, &output)) else {
        return false;
    };
    let files = converted.outputs.iter().flat_map(|output| &output.paths);
    for file in files.filter(|_| TRACES.contains(&format.name)) {
        if let Err(error) = Trace::open(file).and_then(|trace| trace.read(&Select::everything())) {
            panic!("{}: {error}", format.name);
        }
    }
    true
}
