//! Where a tool writes, and in which format: `-o`, `--force`, and the endings of files beside `--to`.

use std::io::Write;
use std::path::{Path, PathBuf};

use atomic_file::{AtomicFile, IfExists, Options};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use rtl_schema::{Dialect, Trace};

use crate::{Exit, Failure, Output};

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct Destination {
    /// The file to write in place of standard output, which is `-`; its ending selects the format
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    pub output: Option<PathBuf>,

    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
}

impl Destination {
    /// Runs a tool whose report goes to the file, where one is named. The file appears when the report is complete; one
    /// that cannot be written, exists or is an input is refused before the tool runs.
    pub fn write(
        &self,
        inputs: &[PathBuf],
        out: &mut Output,
        tool: impl FnOnce(&mut Output) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        let Some(path) = &self.output else { return tool(out) };
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        // A path that cannot be written is an error before minutes of reading.
        let file = AtomicFile::create(path, &self.rules(&inputs))?;
        if file.destination().is_standard_output() {
            return tool(out);
        }
        let (exit, report) = out.capture(tool);
        let exit = exit?;
        let mut writer = file.writer()?;
        writer.write_all(report.as_bytes())?;
        writer.finish()?;
        file.commit()?;
        Ok(exit)
    }

    #[must_use]
    pub fn rules<'a>(&self, inputs: &'a [&'a Path]) -> Options<'a> {
        Options { if_exists: IfExists::forced(self.force), inputs }
    }
}

/// The parser of the value of `-o`: `-` is standard output, and `./-` a file of that name.
pub fn output_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| if path.as_os_str() == "-" { STANDARD_OUTPUT.into() } else { path })
}

/// Returns true if the file is a trace in rtl's own layout, which rtl-trace and rtl-merge replace where `-o` names no other.
pub fn is_own_trace(path: &Path) -> bool {
    path.is_file() && Trace::open(path).is_ok_and(|trace| trace.dialect() == Dialect::Native)
}

/// The name of standard output as a file, which [`output_path`] gives for `-`.
pub const STANDARD_OUTPUT: &str = "/dev/stdout";

/// The endings of file names by which a value of `--to` is known; the first is the usual one.
pub trait Endings: ValueEnum {
    fn endings(&self) -> &'static [&'static str];
}

/// Endings that always name a kind of file, which another kind must not have.
const KNOWN: [&str; 18] = [
    ".db", ".rpd", ".json", ".json.gz", ".csv", ".md", ".html", ".htm", ".xml", ".txt", ".parquet",
    ".pftrace", ".pdf", ".png", ".svg", ".zip", ".xlsx", ".tsv",
];

/// The format of an output: that of `--to`, else the one that the ending of the file selects, else `default`. An ending
/// that names another format is a usage error.
pub fn format_of<F: Endings + PartialEq>(
    output: Option<&Path>,
    to: Option<F>,
    default: F,
) -> Result<F, Failure> {
    let name = output.and_then(|path| path.file_name()?.to_str()).unwrap_or_default().to_ascii_lowercase();
    let length = |format: &F| {
        format.endings().iter().filter(|end| name.ends_with(**end)).map(|end| end.len()).max().unwrap_or(0)
    };
    // The first format counts where several have endings of this length.
    let selected = F::value_variants()
        .iter()
        .rev()
        .filter(|format| length(format) > 0)
        .max_by_key(|format| length(format));
    let chosen = to.or_else(|| selected.cloned()).unwrap_or(default);
    let is_foreign = KNOWN.iter().any(|end| name.ends_with(end)) && length(&chosen) == 0;
    let is_foreign = is_foreign || selected.is_some_and(|selected| length(selected) > length(&chosen));
    if !is_foreign {
        return Ok(chosen);
    }
    let called =
        |format: &F| format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let usual = chosen.endings().first().copied().unwrap_or("no known ending");
    let or = selected.map(|selected| format!(", or give `--to {}`", called(selected))).unwrap_or_default();
    let shown = output.unwrap_or(Path::new("")).display();
    Err(Failure::usage(format!("{shown} names another format than {}", called(&chosen)))
        .with_hint(format!("end the name in {usual}{or}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format;

    #[test]
    fn an_ending_selects_the_format_and_never_contradicts_it() {
        let of = |name: &str, to| {
            format_of(Some(Path::new(name)), to, Format::Text).map_err(|failure| failure.lines("x"))
        };
        assert_eq!(of("a.json", None), Ok(Format::Json));
        assert_eq!(of("A.MD", None), Ok(Format::Markdown));
        assert_eq!(of("report", None), Ok(Format::Text));
        assert_eq!(of("report.out", Some(Format::Csv)), Ok(Format::Csv));
        assert_eq!(of("/dev/stdout", Some(Format::Json)), Ok(Format::Json));
        assert_eq!(
            of("a.json", Some(Format::Csv)),
            Err("x: error: a.json names another format than csv\nhint: end the name in .csv, or give `--to json`\n".into())
        );
        assert_eq!(
            of("a.pdf", None),
            Err("x: error: a.pdf names another format than text\nhint: end the name in .txt\n".into())
        );
    }
}
