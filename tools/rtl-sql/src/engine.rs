//! The database that sees the traces and nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use duckdb::{Connection, Database, Interrupter, Parameter, Rows, Settings, Statement};

use crate::functions::{OpsOfTrace, TableOfTraces};
use crate::source::Source;
use crate::watch::ProgressOfStatement;

/// An open database.
#[derive(Debug)]
pub(crate) struct Engine {
    connection: Connection,
}

/// Values of parameters by name; those without a name have their number.
pub(crate) type Parameters = [(String, Parameter)];

impl Engine {
    /// A database with the tables of `source`, which may write `output` and no other file.
    ///
    /// # Errors
    /// Where there is no library, or it cannot be used.
    pub(crate) fn open(source: &Arc<Source>, output: Option<&Path>) -> duckdb::Result<Self> {
        let mut settings = Settings::default()
            .with("temp_directory", scratch().display().to_string())
            .with("autoinstall_known_extensions", "false")
            .with("autoload_known_extensions", "false");
        settings = settings.with("threads", threads::limit().to_string());
        let database = Database::open(&settings)?;
        database.replace_tables(tables::all().iter().map(|table| table.name.to_owned()).collect());
        let engine = Self { connection: database.connect()? };
        let connection = &engine.connection;
        for table in tables::all() {
            connection.register(TableOfTraces { table, source: Arc::clone(source) })?;
        }
        connection.register(OpsOfTrace { source: Arc::clone(source) })?;
        // Progress is asked for, not printed.
        engine.set("enable_progress_bar", "true")?;
        engine.set("enable_progress_bar_print", "false")?;
        if let Some(output) = output {
            engine.set("allowed_paths", &format!("['{}']", quoted(output)))?;
        }
        // From here on queries open no other file.
        engine.set("enable_external_access", "false")?;
        engine.set("lock_configuration", "true")?;
        Ok(engine)
    }

    /// Ends statements from other threads.
    pub(crate) fn interrupter(&self) -> Interrupter {
        self.connection.interrupter()
    }

    /// A bar on standard error until it is dropped, where the next statement takes long.
    pub(crate) fn progress(&self, quiet: bool) -> ProgressOfStatement {
        ProgressOfStatement::of(self.interrupter(), quiet)
    }

    fn set(&self, setting: &str, value: &str) -> duckdb::Result<()> {
        self.execute(&format!("SET {setting} = {value}"), &[])?.map_or(Ok(()), |mut rows| drain(&mut rows))
    }

    /// Executes all statements of a text; the rows are those of the last one.
    ///
    /// # Errors
    /// Those of DuckDB, and where a parameter has no value.
    pub(crate) fn execute(&self, text: &str, parameters: &Parameters) -> duckdb::Result<Option<Rows>> {
        let mut statements = self.connection.statements(text)?;
        let mut last = None;
        loop {
            // A statement is done when its rows were read; preparing the next one would end it.
            if statements.has_next()
                && let Some(mut rows) = last.take()
            {
                drain(&mut rows)?;
            }
            let Some(statement) = statements.next() else { return Ok(last) };
            let statement = statement?;
            bind(&statement, parameters)?;
            last = Some(statement.execute()?);
        }
    }
}

fn drain(rows: &mut Rows) -> duckdb::Result<()> {
    while rows.next_rows()?.is_some() {}
    Ok(())
}

fn bind(statement: &Statement, parameters: &Parameters) -> duckdb::Result<()> {
    for (index, name) in statement.parameters().iter().enumerate() {
        let value = parameters.iter().find(|(known, _)| known == name);
        let (_, value) =
            value.ok_or_else(|| duckdb::Error::Query(format!("the parameter ${name} has no value")))?;
        statement.bind(index, value)?;
    }
    Ok(())
}

/// A path as the text of a string of SQL.
pub(crate) fn quoted(path: &Path) -> String {
    path.display().to_string().replace('\'', "''")
}

/// The folder of what does not fit into memory; DuckDB makes it when it needs it, and removes it.
fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("rtl-sql-{}", std::process::id()))
}
