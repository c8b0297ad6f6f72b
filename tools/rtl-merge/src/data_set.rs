//! The merged trace as a run of a data set.

use std::path::Path;

use cli::Failure;

use crate::args::{Format, Options};

/// Checks the names of the run before anything is read.
///
/// # Errors
/// Where a name is missing, or stands beside another format.
pub(crate) fn check(options: &Options) -> Result<(), Failure> {
    let run = &options.run;
    let format = options.format()?;
    match format {
        Format::Dataset if options.output.is_none() || run.name.is_none() => {
            Err(Failure::usage("a run of a data set needs a folder and a name")
                .with_hint("rtl-merge --to dataset -o DIR --run NAME rank*.db"))
        }
        Format::Native | Format::Rpd | Format::Summary if run.job.is_some() || run.name.is_some() => {
            Err(Failure::usage("--job and --run name a run of a data set")
                .with_hint("--to dataset writes one"))
        }
        _ if format == Format::Dataset && !cfg!(feature = "dataset") => {
            Err(Failure::usage("this program was built without data sets")
                .with_hint("build it with `--features dataset`, as the program `rtl` is"))
        }
        _ => Ok(()),
    }
}

/// Adds the merged trace to the data set.
#[cfg(feature = "dataset")]
pub(crate) fn add(merged: &Path, options: &Options) -> Result<(), Failure> {
    use rtl_schema::{Select, Trace};

    let select = Select::everything();
    let run = options.run.name.as_deref().unwrap_or_default();
    let trace = tables::Loaded::new(run, select, Trace::open(merged)?.read(&select)?);
    let run =
        dataset::Run { job: options.run.job.as_deref().unwrap_or("default"), run, force: options.force };
    let names: Vec<_> = options.traces.iter().filter_map(|path| path.file_name()).collect();
    let name = match names.as_slice() {
        [first, _, ..] => format!("{} and {} more", first.to_string_lossy(), names.len() - 1),
        _ => names.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
    };
    let provenance =
        dataset::Provenance { path: merged, name: Some(&name), version: env!("CARGO_PKG_VERSION") };
    dataset::add(options.output(), &run, &trace, &provenance)?;
    Ok(())
}

#[cfg(not(feature = "dataset"))]
pub(crate) fn add(_merged: &Path, options: &Options) -> Result<(), Failure> {
    check(options)
}
