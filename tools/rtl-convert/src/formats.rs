//! All target formats, and how one is selected.

use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use cli::Failure;

use crate::format::Format;
use crate::{databases, perfetto_json, pftrace, rocprof, rocprofv3};

/// Every format, in the order of `--help`.
pub const FORMATS: &[&Format] = &[
    &perfetto_json::FORMAT,
    &pftrace::FORMAT,
    &databases::NATIVE,
    &databases::RPD,
    #[cfg(feature = "columns")]
    &crate::columns::CSV,
    #[cfg(feature = "columns")]
    &crate::columns::PARQUET,
    #[cfg(feature = "columns")]
    &crate::dataset::FORMAT,
    &rocprofv3::JSON,
    &rocprofv3::CSV,
    &rocprofv3::ROCPD,
    &rocprof::FORMAT,
];

impl ValueEnum for &'static Format {
    fn value_variants<'a>() -> &'a [Self] {
        FORMATS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let files = self.endings.iter().map(|ending| match ending.starts_with('_') {
            true => format!("NAME{ending}"),
            false => (*ending).to_owned(),
        });
        let files = files.collect::<Vec<_>>().join(", ");
        let help = if files.is_empty() { self.help.to_owned() } else { format!("{} ({files})", self.help) };
        Some(PossibleValue::new(self.name).aliases(self.aliases).help(help))
    }
}

/// The requested format, else the one that the name of the output selects.
pub fn choose(requested: Option<&'static Format>, output: &Path) -> Result<&'static Format, Failure> {
    let named = of_name(output);
    if let (Some(requested), Some(named)) = (requested, named)
        && !requested.endings.is_empty()
        && !fits(output, requested)
    {
        return Err(Failure::usage(format!(
            "{} names {}, another format than {}",
            output.display(),
            named.name,
            requested.name
        ))
        .with_hint(format!("end the name in {}, or give `--to {}`", requested.endings[0], named.name)));
    }
    requested.or(named).ok_or_else(|| {
        let endings = FORMATS.iter().flat_map(|format| format.endings);
        let endings: Vec<&str> = endings.filter(|ending| !ending.starts_with('_')).copied().collect();
        Failure::usage(format!("the name {} selects no format", output.display()))
            .with_hint(format!("choose a format with --to, or a name that ends in {}", endings.join(", ")))
    })
}

/// Returns true if a name has an ending of the format, or the end of one: rocpd's files are databases.
fn fits(path: &Path, format: &Format) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let has = |end: &&str| {
        name.ends_with(*end) || end.strip_prefix("_results").is_some_and(|end| name.ends_with(end))
    };
    format.endings.iter().any(has)
}

/// The format of the longest ending that the name has.
fn of_name(path: &Path) -> Option<&'static Format> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let endings = FORMATS.iter().flat_map(|format| format.endings.iter().map(move |ending| (ending, format)));
    let matching = endings.filter(|(ending, _)| name.ends_with(**ending));
    matching.max_by_key(|(ending, _)| ending.len()).map(|(_, format)| *format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_without_a_name_is_called_after_the_trace_and_never_like_it() {
        let name =
            |format: &Format, trace: &str| format.default_output(Path::new(trace)).display().to_string();
        assert_eq!(name(&perfetto_json::FORMAT, "runs/a.b.db"), "runs/a.b.json.gz");
        assert_eq!(name(&perfetto_json::FORMAT, "a.json.gz"), "a_converted.json.gz");
        assert_eq!(name(&rocprofv3::JSON, "trace.db"), "trace_results.json");
        assert_eq!(name(&databases::NATIVE, "trace.db"), "trace_native.db");
        assert_eq!(name(&databases::RPD, "trace.rpd"), "trace_converted.rpd");
        assert_eq!(name(&rocprofv3::CSV, "trace"), "trace_converted");
    }

    #[test]
    fn the_longest_ending_selects_the_format() {
        let name = |path: &str| of_name(Path::new(path)).map(|format| format.name);
        assert_eq!(name("run_results.json.gz"), Some("rocprofv3-json"));
        assert_eq!(name("run.JSON"), Some("perfetto-json"));
        assert_eq!(name("run_results.db"), Some("rocpd"));
        assert_eq!(name("run.perfetto-trace.gz"), Some("pftrace"));
        assert_eq!(name("run.txt"), None);
    }

    #[test]
    fn every_name_and_every_ending_belongs_to_one_format() {
        let mut all: Vec<&str> = FORMATS
            .iter()
            .flat_map(|format| [&[format.name], format.aliases, format.endings].concat())
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
