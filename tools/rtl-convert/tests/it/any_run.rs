//! Any content of a file of a data set: a trace or an error. The fuzz targets of `tests/fuzz/` use this file, too.

use std::fs;
use std::path::{Path, PathBuf};

use dataset::{MANIFEST, Manifest, Provenance, Run};
use rtl_schema::{Select, Trace};
use support::{Layout, Options, choices};
use tempfile::TempDir;

/// The file beside the manifest that has what tables do not.
const FACTS: &str = "_trace.json";

/// The tables that a run is read as a trace from.
const READ: [&str; 12] = [
    "metadata",
    "dispatches",
    "copies",
    "barriers",
    "counters",
    "collectives",
    "api_calls",
    "operators",
    "ranges",
    "allocations",
    "memory_events",
    "python_frames",
];

const BARRIER: &str = "INSERT INTO barriers(gpu, queue, start, end) VALUES (0, 0, 1, 2);";

/// Rows of the tables that only frameworks have.
const KINETO: &str = r#"{"schemaVersion":1,"deviceProperties":[{"id":0}],"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":4,"args":{"Sequence number":3}},
{"ph":"X","cat":"python_function","name":"a.py(1): f","pid":1,"tid":1,"ts":1,"dur":9,"args":{"Python id":1}},
{"ph":"X","cat":"python_function","name":"nn.Module: L_0","pid":1,"tid":1,"ts":2,"dur":5,"args":{"Python id":2,"Python parent id":1}},
{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":1,"ts":3,"args":{"Total Reserved":9,
"Total Allocated":8,"Bytes":8,"Addr":64,"Device Id":0,"Device Type":1}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,"ts":5,"dur":5,"args":{"device":0,"stream":7,
"correlation":7,"Collective name":"allreduce","Group size":2}}]}"#;

/// Runs with one table each, of which inputs replace a file.
pub(crate) struct AnyRun {
    folder: TempDir,
    /// Manifests, facts and tables: the folder of the run and the file that is replaced.
    texts: Vec<(PathBuf, PathBuf)>,
    tables: Vec<(PathBuf, PathBuf)>,
}

impl AnyRun {
    /// Runs with the rows of a small trace, and of those that bytes choose: the seeds of the targets `json` and `kineto`.
    pub(crate) fn new() -> Self {
        dataset::read_as_traces();
        let mut all = Self { folder: tempfile::tempdir().unwrap(), texts: Vec::new(), tables: Vec::new() };
        let path = all.folder.path().join("trace.db");
        let options = Options { ops: 20, api: true, ranges: true, ..Options::default() };
        support::generate(&options, &path).unwrap();
        all.add(&path);
        all.add(&support::database(BARRIER, Layout::Native).unwrap());
        let path = all.folder.path().join("trace.json");
        // As the seeds of the target `json`, which may not be there when a fuzzer runs.
        let bytes =
            |seed: usize| (0..600).map(move |at| (seed * 37 + at * (seed + 11)) as u8).collect::<Vec<_>>();
        let documents = (0..4).map(|seed| choices::rocprofv3(&bytes(seed)));
        for text in documents.chain([KINETO.to_owned()]) {
            fs::write(&path, text).unwrap();
            all.add(&path);
        }
        all
    }

    /// Adds a run for each table that no run has so far.
    fn add(&mut self, trace: &Path) {
        let tables = Trace::open(trace).and_then(|trace| trace.read(&Select::everything())).unwrap();
        let set = self.folder.path().join("set");
        let from = Provenance { path: Path::new("trace.json"), name: None, version: "1" };
        let run = Run { job: "all", run: "all", force: true };
        let trace = tables::Loaded::new("trace", Select::everything(), tables);
        let added = dataset::add(&set, &run, &trace, &from).unwrap();
        for (table, stored) in &added.manifest.tables {
            let name = format!("run={table}");
            let is_known = self.tables.iter().any(|(run, _)| run.ends_with(&name));
            if !READ.contains(&table.as_str()) || is_known || stored.rows == 0 || stored.files != 1 {
                continue;
            }
            let run = set.join("job=one").join(name);
            let mut manifest: Manifest = added.manifest.clone();
            // Collectives are rows of dispatches.
            manifest.tables.retain(|name, _| name == table || table == "collectives" && name == "dispatches");
            let parts = manifest.tables.iter_mut().map(|(name, stored)| {
                stored.files = 1;
                let kind = format!("kind={name}");
                let buckets = fs::read_dir(added.path.join(&kind)).unwrap();
                let bucket = buckets.map(|bucket| bucket.unwrap().file_name()).min().unwrap();
                let part = Path::new(&kind).join(bucket).join("part-0.parquet");
                fs::create_dir_all(run.join(&part).parent().unwrap()).unwrap();
                fs::copy(added.path.join(&part), run.join(&part)).unwrap();
                part
            });
            // Of two tables, dispatches are the second.
            let part = parts.collect::<Vec<_>>().swap_remove(0);
            fs::copy(added.path.join(FACTS), run.join(FACTS)).unwrap();
            fs::write(run.join(MANIFEST), serde_json::to_vec(&manifest).unwrap()).unwrap();
            self.tables.push((run.clone(), run.join(part)));
            if self.texts.is_empty() {
                self.texts = [MANIFEST, FACTS].map(|name| (run.clone(), run.join(name))).into();
            }
        }
        fs::remove_dir_all(set.join("job=all")).unwrap();
    }

    /// Inputs that read: for each file its number and its content.
    pub(crate) fn seeds(&self) -> [Vec<(String, Vec<u8>)>; 2] {
        let seed = |(number, (run, file)): (usize, &(PathBuf, PathBuf))| {
            let name = if file.ends_with(MANIFEST) || file.ends_with(FACTS) { file } else { run };
            let name = name.file_name().unwrap().to_str().unwrap().trim_start_matches("run=");
            let content = fs::read(file).unwrap();
            (name.to_owned(), [vec![number as u8], content].concat())
        };
        [&self.texts, &self.tables].map(|files| files.iter().enumerate().map(seed).collect())
    }

    /// Replaces a manifest or facts; the first byte says which.
    pub(crate) fn assert_text(&self, bytes: &[u8]) -> bool {
        assert!(dataset::has_runs(&self.folder.path().join("set")));
        self.assert_reads(&self.texts, bytes)
    }

    /// Replaces the file of a table; the first byte says which.
    pub(crate) fn assert_table(&self, bytes: &[u8]) -> bool {
        self.assert_reads(&self.tables, bytes)
    }

    /// Returns true if the run can be read.
    fn assert_reads(&self, files: &[(PathBuf, PathBuf)], bytes: &[u8]) -> bool {
        let Some((number, content)) = bytes.split_first() else { return false };
        let (run, file) = &files[usize::from(*number) % files.len()];
        let before = fs::read(file).unwrap();
        fs::write(file, content).unwrap();
        let read = Trace::open(run).and_then(|trace| trace.read(&Select::everything()));
        // The next input may replace another file of the run.
        fs::write(file, before).unwrap();
        if let Err(error) = &read {
            assert!(error.path().starts_with(run), "{error}");
            assert!(!error.to_string().contains('\n'), "{error}");
        }
        read.is_ok()
    }
}
