//! Opened traces, of which the parts are read that tables need.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rtl_schema::{Error, Select, Trace};
use tables::Loaded;

/// The traces of a job.
pub(crate) struct Source {
    files: Vec<TraceFile>,
}

struct TraceFile {
    path: PathBuf,
    label: String,
    loaded: Mutex<Option<Arc<Loaded>>>,
}

impl Source {
    /// Traces by their paths, which are opened once to see that they can be read.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        cli::read_data_sets();
        let file = |(path, label): (&PathBuf, String)| {
            Trace::open(path)?;
            Ok(TraceFile { path: path.clone(), label, loaded: Mutex::default() })
        };
        Ok(Self { files: paths.iter().zip(tables::labels(paths)).map(file).collect::<Result<_, Error>>()? })
    }

    /// All traces, with at least these parts.
    pub(crate) fn load(&self, select: Select) -> Result<Vec<Arc<Loaded>>, Error> {
        self.files.iter().map(|file| file.load(select)).collect()
    }
}

impl TraceFile {
    fn load(&self, select: Select) -> Result<Arc<Loaded>, Error> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = loaded.as_ref().filter(|loaded| loaded.select().covers(select)) {
            return Ok(Arc::clone(loaded));
        }
        // What was read is read again with the rest: memory holds a trace once.
        let select = loaded.take().map_or(select, |before| before.select().union(select));
        let new = Arc::new(Loaded::new(&self.label, select, Trace::open(&self.path)?.read(&select)?));
        *loaded = Some(Arc::clone(&new));
        Ok(new)
    }
}
