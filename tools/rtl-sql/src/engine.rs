//! The database that sees the traces and nothing else.

use std::cell::{Cell, OnceCell};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use atomic_file::PrivateDir;
use duckdb::{
    Connection, Database, Effect, Interrupter, Parameter, Rows, Settings, Statement, Value, Workers,
};

use crate::data_sets;
use crate::functions::{OpsOfTrace, TableOfTraces};
use crate::literal::quoted;
use crate::needed::Needed;
use crate::refused::refuse_functions;
use crate::source::Source;
use crate::watch::{self, ProgressOfStatement};

/// Shorter statements get no threads.
const PATIENCE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Engine {
    /// They start with the first statement of the user.
    workers: OnceCell<Workers>,
    connection: Connection,
    source: Arc<Source>,
    /// For what does not fit into memory; removed when the database is closed. `None` where no folder can be created.
    _scratch: Option<PrivateDir>,
    /// True if the user may have views, macros or prepared statements, which read tables that a later text does not name.
    has_own: Cell<bool>,
}

/// Values of parameters by name; those without a name have their number.
pub(crate) type Parameters = [(String, Parameter)];

impl Engine {
    /// A database with the tables of `source`, which may write `output` and no other file.
    ///
    /// # Errors
    /// Where there is no library, or it cannot be used.
    pub(crate) fn open(source: &Arc<Source>, output: Option<&Path>) -> duckdb::Result<Self> {
        let scratch = PrivateDir::create_in(&std::env::temp_dir()).ok();
        // Through the descriptor, so that nobody exchanges the folder. Without a folder nothing is written.
        let place = scratch.as_ref().map(|scratch| scratch.path().display().to_string());
        let mut settings = Settings::default()
            .with("temp_directory", place.unwrap_or_default())
            .with("autoinstall_known_extensions", "false")
            .with("autoload_known_extensions", "false");
        if let Some(limit) = cli::memory_limit() {
            // DuckDB writes what is more to a file. The rest is for the tables of traces.
            settings = settings.with("memory_limit", format!("{}B", limit / 5 * 4));
        }
        for setting in ["threads", "external_threads"] {
            settings = settings.with(setting, threads::limit().to_string());
        }
        let database = Database::open(&settings)?;
        let data_sets = &source.data_sets;
        let tables_of = Arc::clone(source);
        database.replace_tables(move |name| tables_of.table(name));
        let engine = Self {
            workers: OnceCell::new(),
            connection: database.connect()?,
            source: Arc::clone(source),
            _scratch: scratch,
            has_own: Cell::new(false),
        };
        let connection = &engine.connection;
        if data_sets.is_empty() {
            for table in tables::all() {
                connection.register(TableOfTraces { table, source: Arc::clone(source) })?;
            }
            connection.register(OpsOfTrace { source: Arc::clone(source) })?;
        } else {
            engine.set("allowed_directories", &data_sets.directories())?;
            engine.complete(&data_sets.call_by_folder())?;
        }
        // Progress is asked for, not printed. To compute it takes DuckDB some milliseconds.
        if watch::has_terminal() {
            engine.set("enable_progress_bar", "true")?;
            engine.set("enable_progress_bar_print", "false")?;
        }
        if let Some(output) = output {
            engine.set("allowed_paths", &format!("['{}']", quoted(output)))?;
        }
        // From here on queries open no other file.
        engine.set("enable_external_access", "false")?;
        engine.set("lock_configuration", "true")?;
        Ok(engine)
    }

    /// Leaves the memory of a database without threads to the end of the process, which takes less than to close it.
    pub(crate) fn leave(self) {
        self.source.close();
        if !self.workers.into_inner().is_some_and(Workers::end) {
            self.connection.leave();
        }
    }

    /// Starts the threads that the user allows beside this one.
    fn start_workers(&self) {
        let others = threads::limit() - 1;
        if others > 0 {
            self.workers.get_or_init(|| Workers::after(PATIENCE, &self.connection, others));
        }
    }

    /// Ends statements from other threads.
    pub(crate) fn interrupter(&self) -> Interrupter {
        self.connection.interrupter()
    }

    /// A bar on standard error until it is dropped, where the next statement takes long.
    pub(crate) fn progress(&self, quiet: bool) -> ProgressOfStatement {
        ProgressOfStatement::start(self.interrupter(), quiet)
    }

    fn set(&self, setting: &str, value: &str) -> duckdb::Result<()> {
        self.complete(&format!("SET {setting} = {value}"))
    }

    /// Executes a statement whose rows do not matter.
    fn complete(&self, statement: &str) -> duckdb::Result<()> {
        self.run(statement, &[], |_| Ok(()))?.map_or(Ok(()), |mut rows| drain(&mut rows))
    }

    /// With data sets, queries could write their files, so that statements are checked.
    fn is_guarded(&self) -> bool {
        !self.source.data_sets.is_empty()
    }

    /// States which runs and ranks of data sets a text of the user can need, by DuckDB's own parse of the text.
    fn need(&self, text: &str, parameters: &Parameters) {
        let parse = || {
            // Fields that say nothing are left out. The text cannot be a parameter here.
            let query = format!(
                "SELECT json_serialize_sql('{}', skip_null := true, skip_empty := true, skip_default := true)",
                text.replace('\'', "''")
            );
            let mut rows = self.run(&query, &[], |_| Ok(())).ok()??;
            match rows.next_rows().ok()??.first()?.first()? {
                Value::Text(parse) => Some(Needed::parse(parse, parameters, &data_sets::has_column)),
                _ => None,
            }
        };
        let needed = if self.has_own.get() { None } else { parse() };
        self.source.data_sets.need(needed.unwrap_or_default());
    }

    /// Executes all statements of a text; the rows are those of the last one.
    ///
    /// # Errors
    /// Those of DuckDB, and where a parameter has no value.
    pub(crate) fn execute(&self, text: &str, parameters: &Parameters) -> duckdb::Result<Option<Rows>> {
        self.start_workers();
        refuse_functions(text)?;
        if !self.is_guarded() {
            return self.run(text, parameters, |_| Ok(()));
        }
        self.need(text, parameters);
        self.run(text, parameters, |statement| {
            self.has_own.set(self.has_own.get() || statement.effect() != Effect::Query);
            refuse_files(statement, text)
        })
    }

    /// Executes a statement of this program around a query of the user, which must be one query alone.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub(crate) fn execute_around(
        &self,
        query: &str,
        statement: &str,
        parameters: &Parameters,
    ) -> duckdb::Result<Option<Rows>> {
        self.start_workers();
        refuse_functions(query)?;
        if self.is_guarded() {
            self.need(query, parameters);
            let mut statements = self.connection.statements(query)?;
            let effect = statements.next().transpose()?.map(|statement| statement.effect());
            if effect != Some(Effect::Query) || statements.has_next() {
                return Err(duckdb::Error::Query("--to parquet needs one query".to_owned()));
            }
        }
        self.run(statement, parameters, |_| Ok(()))
    }

    fn run(
        &self,
        text: &str,
        parameters: &Parameters,
        check: impl Fn(&Statement) -> duckdb::Result<()>,
    ) -> duckdb::Result<Option<Rows>> {
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
            check(&statement)?;
            bind(&statement, parameters)?;
            last = Some(statement.execute()?);
        }
    }
}

/// Refuses a statement that may write files: DuckDB lets queries write where they may read.
fn refuse_files(statement: &Statement, text: &str) -> duckdb::Result<()> {
    let has = |word: &str| text.to_ascii_lowercase().contains(word);
    let writes = match statement.effect() {
        Effect::Query | Effect::Memory => false,
        Effect::Other => has("copy") || has("export"),
        Effect::Files => true,
    };
    let refusal = "a query of a data set writes no file; --output does";
    if writes { Err(duckdb::Error::Query(refusal.to_owned())) } else { Ok(()) }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the first value of the last statement of a text.
    fn value(engine: &Engine, text: &str) -> String {
        let mut rows = engine.execute(text, &[]).unwrap().unwrap();
        rows.next_rows().unwrap().unwrap()[0][0].to_string()
    }

    #[test]
    fn threads_join_a_statement_that_takes_long() {
        if let Err(error) = duckdb::load() {
            return support::skip(support::Need::Duckdb, error);
        }
        let path = support::fixture("two-kernels");
        let open = |limit| {
            threads::set_limit(limit);
            let engine = Engine::open(&Arc::new(Source::open(&[path.to_path_buf()]).unwrap()), None).unwrap();
            assert_eq!(value(&engine, "select current_setting('threads')"), limit.to_string());
            engine
        };
        let [one, three] = [1, 3].map(|limit| std::num::NonZero::new(limit).unwrap());
        assert!(open(one).workers.get().is_none());
        let engine = open(three);
        let mut rows = engine.execute("select sum(range) from range(1000000)", &[]).unwrap().unwrap();
        std::thread::sleep(5 * PATIENCE);
        assert_eq!(rows.next_rows().unwrap().unwrap()[0][0].to_string(), "499999500000");
        drop(rows);
        assert!(engine.workers.into_inner().unwrap().end());
    }

    #[test]
    fn a_view_has_all_runs_beside_a_table_of_one() {
        if let Err(error) = duckdb::load() {
            return support::skip(support::Need::Duckdb, error);
        }
        let folder = tempfile::tempdir().unwrap();
        let select = rtl_schema::Select::everything();
        let path = support::fixture("two-kernels");
        for run in ["a", "b"] {
            let trace = rtl_schema::Trace::open(&*path).unwrap().read(&select).unwrap();
            let run = dataset::Run { job: "train", run, force: true };
            let from = dataset::Provenance { path: &path, name: None, version: "1" };
            dataset::add(folder.path(), &run, &tables::Loaded::new("a", select, trace), &from).unwrap();
        }
        let source = Source::open(&[folder.path().to_owned()]).unwrap();
        let engine = Engine::open(&Arc::new(source), None).unwrap();
        let query = "select count(distinct run) from dispatches where run = 'a'";
        assert_eq!(value(&engine, query), "1");
        value(&engine, "create view v as from dispatches; select 1");
        let query = "select (select count(distinct run) from v) from dispatches where run = 'a'";
        assert_eq!(value(&engine, query), "2");
    }

    /// A data set of a run with one dispatch of each rank, in buckets of this width.
    fn ranks(ranks: &[Option<u32>], width: u64) -> tempfile::TempDir {
        let mut tables = rtl_schema::Tables::default();
        let name = tables.strings.intern("kernel");
        for (process, &rank) in (0..).map(rtl_schema::ProcessId).zip(ranks) {
            tables.processes.push(rtl_schema::table::Process { rank, ..Default::default() });
            let track = tables.tracks.intern(rtl_schema::table::Track { process, ..Default::default() });
            tables.dispatches.push(rtl_schema::table::Dispatch { name, track, ..Default::default() });
        }
        let folder = tempfile::tempdir().unwrap();
        let run = dataset::Run { job: "train", run: "ranks", force: false };
        let from = dataset::Provenance { path: Path::new("ranks.db"), name: None, version: "1" };
        let trace = tables::Loaded::new("ranks", rtl_schema::Select::everything(), tables);
        let manifest = dataset::add(folder.path(), &run, &trace, &from).unwrap().path.join(dataset::MANIFEST);
        let text = std::fs::read_to_string(&manifest).unwrap();
        std::fs::write(&manifest, text.replace("\"width\": 1", &format!("\"width\": {width}"))).unwrap();
        folder
    }

    #[test]
    fn conditions_on_ranges_of_ranks_leave_answers_as_they_are() {
        if let Err(error) = duckdb::load() {
            return support::skip(support::Need::Duckdb, error);
        }
        let bounds = ["-1", "2", "3", "1.5", "'2'", "null", "+2", "$low", "9223372036854775807"];
        let signs = ["<", "<=", ">", ">=", "="];
        let sides = |bound: &str| {
            signs.map(|sign| [format!("rank {sign} {bound}"), format!("{bound} {sign} rank")]).concat()
        };
        let between = |low: &str| bounds.map(|high| format!("rank between {low} and {high}"));
        let mut conditions: Vec<String> =
            bounds.iter().flat_map(|bound| [&sides(bound)[..], &between(bound)].concat()).collect();
        let pairs = conditions.iter().zip(conditions.iter().rev()).enumerate();
        let joined = pairs.map(|(place, (one, other))| match place % 3 {
            0 => format!("{one} or {other}"),
            1 => format!("not ({one}) and {other}"),
            _ => format!("{one} and {other}"),
        });
        conditions.extend(joined.collect::<Vec<_>>());
        let parameters = [("low".to_owned(), Parameter::Integer(2))];
        let folders = [1, 2].map(|width| ranks(&[None, Some(0), Some(2), Some(4)], width));
        let [one, two] = folders.each_ref().map(|folder| {
            let source = Source::open(&[folder.path().to_owned()]).unwrap();
            Engine::open(&Arc::new(source), None).unwrap()
        });
        let of = |engine: &Engine, condition: &str| {
            let query = format!("select list(rank order by rank)::varchar from dispatches where {condition}");
            let mut rows = engine.execute(&query, &parameters).unwrap().unwrap();
            rows.next_rows().unwrap().unwrap()[0][0].to_string()
        };
        for seen in &conditions {
            let expected = of(&one, &seen.replace("rank", "(rank + 0)"));
            assert_eq!([of(&one, seen), of(&two, seen)], [expected.clone(), expected], "{seen}");
        }
    }
}
