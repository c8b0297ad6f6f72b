//! Any question: SQL on traces. The library behind `rtl-sql`.
//!
//! [`args`] is the command line. `source` reads the parts of the traces that a query asks for, the crate `tables` declares
//! every table with its columns, `functions` makes them table functions of DuckDB (crate `duckdb`), `engine` opens the database, and
//! `render` prints results. Of data sets, `data_sets` makes a query of every table that a statement names, over the runs that it
//! can need (`needed`).

#[cfg(test)]
mod any_sql;
pub mod args;
mod data_sets;
mod dot;
mod engine;
mod failure;
mod functions;
mod literal;
mod needed;
mod parquet;
mod refused;
mod render;
mod shell;
mod source;
mod vector;
mod watch;

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use atomic_file::AtomicFile;
use cli::destination::format_of;
use cli::{Exit, Failure, Output};

use crate::args::{Arguments, Format};
use crate::engine::Engine;
use crate::render::Style;
use crate::source::Source;

/// Runs the command line.
///
/// # Errors
/// Where a trace cannot be read, there is no DuckDB, or the query fails.
pub fn run(mut arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    // The dynamic linker takes milliseconds, in which traces are opened. An engine waits for it, or meets its error again.
    drop(std::thread::Builder::new().spawn(duckdb::load));
    let rendering = &mut arguments.rendering;
    rendering.format = format_of(rendering.destination.output.as_deref(), rendering.to, Format::Text)?;
    let (paths, query) = inputs(&arguments)?;
    let (paths, warnings) = cli::without_repetitions(&paths);
    if !arguments.rendering.console.quiet {
        warnings.iter().for_each(|warning| out.warning(warning));
    }
    let source = Arc::new(Source::open(&paths)?);
    if source.is_mixed() {
        return Err(Failure::usage("traces and data sets together")
            .with_hint("`rtl-convert TRACE --to dataset -o DIR` adds a trace to a data set"));
    }
    let query = match query {
        Some(query) => query,
        None if std::io::stdin().is_terminal() && arguments.rendering.destination.output.is_none() => {
            return shell::run(&arguments, &source, out);
        }
        None => standard_input()?,
    };
    if let Some(answer) = dot::answer(&query, &source) {
        let answer = answer?;
        write!(out, "{answer}")?;
        return Ok(Exit::Success);
    }
    let rendering = &arguments.rendering;
    match &rendering.destination.output {
        Some(output) => {
            let inputs: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
            let file = AtomicFile::create(output, &rendering.destination.rules(&inputs))?;
            write_file(&arguments, &query, &source, file)?;
        }
        None if rendering.format == Format::Parquet => {
            return Err(Failure::usage("--to parquet needs -o FILE"));
        }
        None => {
            let engine = Engine::open(&source, None).map_err(failure::from_duckdb)?;
            let progress = engine.progress(rendering.console.quiet);
            let rows = engine.execute(&query, &arguments.parameters).map_err(failure::from_duckdb)?;
            drop(progress);
            if let Some(rows) = rows {
                let style = Style::new(rendering, out.is_terminal());
                render::render(rows, style, out).map_err(failure::from_rows)?;
            }
            engine.leave();
        }
    }
    Ok(Exit::Success)
}

/// Writes the result of the query to the file of `-o`.
fn write_file(
    arguments: &Arguments,
    query: &str,
    source: &Arc<Source>,
    file: AtomicFile,
) -> Result<(), Failure> {
    if arguments.rendering.format == Format::Parquet {
        parquet::write(arguments, query, source, &file)?;
    } else {
        let engine = Engine::open(source, None).map_err(failure::from_duckdb)?;
        let rows = engine.execute(query, &arguments.parameters).map_err(failure::from_duckdb)?;
        let mut writer = file.writer()?;
        if let Some(rows) = rows {
            render::render(rows, Style::new(&arguments.rendering, false), &mut writer)
                .map_err(failure::from_rows)?;
        }
        engine.leave();
        writer.finish()?;
    }
    file.commit()?;
    Ok(())
}

/// The traces, and the query where the command line has one.
fn inputs(arguments: &Arguments) -> Result<(Vec<PathBuf>, Option<String>), Failure> {
    let mut inputs = arguments.inputs.clone();
    let is_query = |text: &String| {
        (text.contains(char::is_whitespace) || text.starts_with('.') && !text.contains('/'))
            && !Path::new(text).exists()
    };
    let last = inputs.pop_if(|last| is_query(last));
    if inputs.is_empty() {
        return Err(
            Failure::usage("missing: a trace").with_hint("rtl-sql TRACE... ['select ...']; see `--help`")
        );
    }
    Ok((inputs.into_iter().map(PathBuf::from).collect(), last))
}

/// The query of standard input.
fn standard_input() -> Result<String, Failure> {
    let mut query = String::new();
    std::io::stdin().read_to_string(&mut query)?;
    Ok(query)
}
