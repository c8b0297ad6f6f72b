//! Adds the trace of a command to a data set as a run.

use std::path::{Path, PathBuf};

use cli::Failure;

use crate::args::{Arguments, Format};

#[derive(Debug)]
pub(crate) struct Added {
    pub(crate) path: PathBuf,
    /// The size of the tables in bytes.
    pub(crate) bytes: u64,
}

/// Checks the names of the run before the command is started: none may be missing or taken, or stand beside another format.
pub(crate) fn check(arguments: &Arguments) -> Result<(), Failure> {
    let run = &arguments.run;
    match arguments.format() {
        Format::Native if run.job.is_some() || run.name.is_some() => {
            Err(Failure::usage("--job and --run name a run of a data set")
                .with_hint("--to dataset writes one"))
        }
        Format::Native => Ok(()),
        Format::Dataset if arguments.output.is_none() || run.name.is_none() => {
            Err(Failure::usage("a run of a data set needs a folder and a name")
                .with_hint("rtl-trace --to dataset -o DIR --run NAME COMMAND"))
        }
        Format::Dataset => can_add(arguments),
    }
}

#[cfg(feature = "dataset")]
fn run(arguments: &Arguments) -> dataset::Run<'_> {
    let names = &arguments.run;
    dataset::Run {
        job: names.job.as_deref().unwrap_or("default"),
        run: names.name.as_deref().unwrap_or_default(),
        force: arguments.force,
    }
}

#[cfg(feature = "dataset")]
fn can_add(arguments: &Arguments) -> Result<(), Failure> {
    Ok(dataset::check(arguments.output.as_deref().unwrap_or(Path::new("")), &run(arguments))?)
}

#[cfg(feature = "dataset")]
pub(crate) fn add(trace: &Path, arguments: &Arguments) -> Result<Added, Failure> {
    use rtl_schema::{Select, Trace};

    let (select, run) = (Select::everything(), run(arguments));
    let name = format!("{}.db", run.run);
    let tables = tables::Loaded::new(run.run, select, Trace::open(trace)?.read(&select)?);
    let provenance =
        dataset::Provenance { path: trace, name: Some(&name), version: env!("CARGO_PKG_VERSION") };
    let folder = arguments.output.as_deref().unwrap_or(Path::new(""));
    let added = dataset::add(folder, &run, &tables, &provenance)?;
    let bytes = added.manifest.tables.values().map(|table| table.bytes).sum();
    Ok(Added { path: added.path, bytes })
}

#[cfg(not(feature = "dataset"))]
fn can_add(_: &Arguments) -> Result<(), Failure> {
    Err(Failure::usage("this program was built without data sets")
        .with_hint("build it with `--features dataset`, as the program `rtl` is"))
}

#[cfg(not(feature = "dataset"))]
pub(crate) fn add(_: &Path, arguments: &Arguments) -> Result<Added, Failure> {
    can_add(arguments).map(|()| Added { path: PathBuf::new(), bytes: 0 })
}
