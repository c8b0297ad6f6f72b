//! Every tool, ended at any moment: inputs stay as they are, outputs are whole or absent, and the next run leaves nothing
//! else. `RTL_KILLS=500` ends that many runs.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use support::rusqlite::Connection;
use support::{Job, Layout, Need, Options, generate, skip};

/// A tool, its arguments, and its outputs. The content of an output whose name begins with `?` differs from run to run.
type Run = (&'static str, &'static str, &'static [&'static str]);

const RUNS: [Run; 13] = [
    ("rtl-convert", "--quiet a.db -o out.json", &["out.json"]),
    ("rtl-convert", "--quiet a.db.gz -o out.pftrace.gz", &["out.pftrace.gz"]),
    ("rtl-convert", "--quiet a.db --to csv -o tables", &["tables"]),
    ("rtl-convert", "--quiet a.db --to parquet -o columns", &["columns"]),
    ("rtl-convert", "--quiet a.db --to native -o out.db", &["out.db"]),
    ("rtl-convert", "--quiet left.db --to rpd -o out.rpd", &["out.rpd"]),
    ("rtl-convert", "--quiet a.db --to rocpd -o out_results.db", &["?out_results.db"]),
    ("rtl-convert", "--quiet a.db --to rocprofv3-json -o out_results.json", &["out_results.json"]),
    ("rtl-merge", "--quiet -o all.db rank0.db rank1.db", &["all.db"]),
    ("rtl-merge", "--quiet --to summary -o all.json rank0.db rank1.db", &["all.json"]),
    ("rtl-diff", "--quiet a.db b.db -o diff.json -o diff.md", &["diff.json", "diff.md"]),
    ("rtl-summary", "left.db", &[]),
    ("rtl-summary", "a.db.gz", &[]),
];

/// Files and folders by name, each with the hash of its content.
type Listing = BTreeMap<String, u64>;

struct Place {
    folder: tempfile::TempDir,
    inputs: Listing,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, seed) in [("a.db", 1), ("b.db", 2)] {
            let options = Options {
                layout: Layout::Native,
                ops: 20_000,
                seed,
                workload: Some(1),
                ..Options::default()
            };
            generate(&options, &at(name)).unwrap();
        }
        let job = Job { nodes: 1, ranks_per_node: 2, steps: 20, kernels: 30, api: true, ..Job::default() };
        job.generate(folder.path()).unwrap();
        let packed = Command::new("gzip").args(["-1", "-c"]).arg(at("a.db")).output().unwrap();
        fs::write(at("a.db.gz"), packed.stdout).unwrap();
        leave_a_wal(&at("left.db"));
        fs::create_dir(at("tmp")).unwrap();
        let inputs = listing(folder.path());
        Self { folder, inputs }
    }

    fn command(&self, (tool, line, _): Run) -> Command {
        let mut command = Command::new(program(tool));
        command.args(line.split_whitespace()).current_dir(self.folder.path());
        command.env("TMPDIR", self.folder.path().join("tmp")).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Lets the run end by itself. Nothing but inputs and whole outputs may be there afterwards; then the outputs go.
    fn complete(&self, run: Run) -> Listing {
        assert!(self.command(run).status().unwrap().success(), "{run:?}");
        let outputs = self.outputs(run);
        let expected = run.2.iter().map(|name| name.trim_start_matches('?'));
        assert!(outputs.keys().map(String::as_str).eq(expected), "{run:?}: {:?}", outputs.keys());
        self.remove(run);
        outputs
    }

    /// All that is there beside the unchanged inputs.
    fn outputs(&self, run: Run) -> Listing {
        let mut found = listing(self.folder.path());
        for (input, content) in &self.inputs {
            let same = found.remove(input) == Some(*content);
            assert!(same || input == "tmp", "{run:?} has changed {input}");
        }
        let temporary = listing(&self.folder.path().join("tmp"));
        found.extend(temporary.into_iter().map(|(name, content)| (format!("tmp/{name}"), content)));
        found
    }

    fn remove(&self, (_, _, outputs): Run) {
        for name in outputs {
            let path = self.folder.path().join(name.trim_start_matches('?'));
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        }
    }

    /// Ends a run by a signal after `delay`.
    fn interrupt(&self, run: Run, signal: i32, delay: Duration, expected: &Listing) {
        let mut child = self.command(run).spawn().unwrap();
        let until = Instant::now() + delay;
        let mut ended = None;
        while ended.is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_micros(100));
            ended = child.try_wait().unwrap();
        }
        // The number of a process that was waited for may be that of another one.
        if ended.is_none() {
            let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
            assert!(sent.unwrap().success());
        }
        let status = child.wait().unwrap();
        assert!(status.success() || status.signal() == Some(signal), "{run:?}: {status}");
        let found = self.outputs(run);
        for (name, content) in &found {
            let is_random = run.2.iter().any(|output| output.strip_prefix('?') == Some(name));
            match expected.get(name) {
                Some(whole) => assert!(content == whole || is_random, "{run:?}: half of {name}"),
                None => assert!(signal == KILL && is_temporary(name), "{run:?} by {signal}: {name} is left"),
            }
        }
        self.age();
        self.remove(run);
    }

    /// Folders whose owners died before they named their locks are removed a minute later: lets that minute pass.
    fn age(&self) {
        let a_minute_ago = SystemTime::now() - Duration::from_secs(61);
        for around in [self.folder.path(), &self.folder.path().join("tmp")] {
            let entries = fs::read_dir(around).unwrap().map(|entry| entry.unwrap());
            let folders = entries.filter(|entry| {
                is_temporary(entry.file_name().to_str().unwrap()) && entry.file_type().unwrap().is_dir()
            });
            for folder in folders.filter(|folder| !folder.path().join("lock").exists()) {
                File::open(folder.path()).unwrap().set_modified(a_minute_ago).unwrap();
            }
        }
    }
}

const KILL: i32 = 9;
const INTERRUPT: i32 = 2;

/// True for what the next run removes.
fn is_temporary(name: &str) -> bool {
    name.strip_prefix("tmp/").unwrap_or(name).starts_with('.')
}

/// A database of which some rows are in the -wal of a killed writer.
fn leave_a_wal(path: &Path) {
    let open = path.with_extension("open");
    generate(&Options { layout: Layout::Rpd3, ops: 5_000, ..Options::default() }, &open).unwrap();
    let connection = Connection::open(&open).unwrap();
    connection.execute_batch("pragma journal_mode = wal; update rocpd_op set queueId = queueId").unwrap();
    let wal = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    fs::copy(&open, path).unwrap();
    fs::copy(wal(&open), wal(path)).unwrap();
    drop(connection);
    fs::remove_file(&open).unwrap();
}

fn listing(folder: &Path) -> Listing {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), content(&entry.path()))).collect()
}

fn content(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    match path.is_dir() {
        true => listing(path).hash(&mut hasher),
        false => fs::read(path).unwrap().hash(&mut hasher),
    }
    hasher.finish()
}

fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join(name)
}

#[test]
fn whenever_a_tool_is_ended_it_leaves_whole_outputs_and_no_others() {
    if RUNS.iter().any(|(tool, ..)| !program(tool).exists()) {
        return skip(Need::Build, "not all tools are built (cargo build --workspace --bins)");
    }
    let kills: usize = std::env::var("RTL_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(26);
    let place = Place::new();
    let measure = |run| {
        let begun = Instant::now();
        (run, place.complete(run), begun.elapsed())
    };
    let runs = RUNS.map(measure);
    for count in 0..kills {
        let (run, expected, whole) = &runs[count % runs.len()];
        let signal = if count / runs.len() % 2 == 0 { KILL } else { INTERRUPT };
        // Any moment of the time that it takes; which ones does not matter to what must hold.
        let share = RandomState::new().hash_one(0) % 1_000;
        place.interrupt(*run, signal, whole.mul_f64(share as f64 / 1_000.0), expected);
        if signal == KILL {
            place.complete(*run);
        }
    }
}
