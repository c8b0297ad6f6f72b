//! The shell: statements until a semicolon, with history and completion.

mod completion;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use cli::{Exit, Failure, Output};
use platform::signals::INTERRUPT;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

use self::completion::Assistant;
use crate::args::Arguments;
use crate::engine::Engine;
use crate::render::Style;
use crate::source::Source;
use crate::watch::Interrupts;
use crate::{dot, failure, render};

const COMMANDS: [&str; 5] = [".tables", ".schema", ".traces", ".help", ".quit"];

const HELP: &str = "\
.tables          the tables
.schema [TABLE]  columns with their types
.traces          the traces
.quit            end, as Ctrl-D
A statement ends with a semicolon. Tab completes tables and columns; Ctrl-C ends a statement.
";

/// Reads and executes statements until the user ends.
///
/// # Errors
/// Where there is no DuckDB, or the terminal fails.
pub(crate) fn run(arguments: &Arguments, source: &Arc<Source>, out: &mut Output) -> Result<Exit, Failure> {
    let engine = Engine::open(source, None).map_err(failure::from_duckdb)?;
    // Ctrl-C ends a statement, not the shell.
    atomic_file::keep_on_signals(&[INTERRUPT]);
    let _interrupts = Interrupts::start(engine.interrupter())?;
    let mut editor: Editor<Assistant, FileHistory> =
        Editor::with_config(Config::builder().auto_add_history(true).build()).map_err(Failure::input)?;
    editor.set_helper(Some(Assistant::new(&COMMANDS)));
    let history = history();
    // A first run has none.
    let _ = history.as_ref().map(|path| editor.load_history(path));
    writeln!(out, "{} tables; .help, .tables, .schema; Tab completes", tables::all().len())?;
    loop {
        out.flush()?;
        let text = match editor.readline("rtl> ") {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(Failure::input(error)),
        };
        match text.trim() {
            "" => {}
            ".quit" | ".exit" => break,
            ".help" => write!(out, "{HELP}")?,
            text => {
                if let Err(failure) = answer(text, arguments, source, &engine, out) {
                    out.failure(&failure);
                }
            }
        }
    }
    let _ = history.as_ref().map(|path| editor.save_history(path));
    Ok(Exit::Success)
}

fn answer(
    text: &str,
    arguments: &Arguments,
    source: &Source,
    engine: &Engine,
    out: &mut Output,
) -> Result<(), Failure> {
    if let Some(answer) = dot::answer(text, source) {
        write!(out, "{}", answer?)?;
        return Ok(());
    }
    let rendering = &arguments.rendering;
    let progress = engine.progress(rendering.console.quiet);
    let rows = engine.execute(text, &arguments.parameters).map_err(failure::from_duckdb)?;
    drop(progress);
    if let Some(rows) = rows {
        render::render(rows, Style::new(rendering, out.is_terminal()), out).map_err(failure::from_rows)?;
    }
    Ok(())
}

/// The file of former statements, in the user's folder for state.
fn history() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let state =
        variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")))?.join("rtl");
    std::fs::create_dir_all(&state).ok()?;
    let file = state.join("sql_history");
    // A FIFO or a device is no history.
    file.metadata().map_or(true, |found| found.is_file()).then_some(file)
}
