//! Opened traces, of which the parts are read that tables need.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rtl_schema::{Error, Select, Trace};
use tables::Loaded;

/// The traces of a job.
pub(crate) struct Source {
    files: Vec<(PathBuf, Mutex<Option<Arc<Loaded>>>)>,
}

impl Source {
    /// Traces by their paths, which are opened once to see that they can be read.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        let file = |path: &PathBuf| Trace::open(path).map(|_| (path.clone(), Mutex::default()));
        Ok(Self { files: paths.iter().map(file).collect::<Result<_, _>>()? })
    }

    /// All traces, with at least these parts.
    pub(crate) fn load(&self, select: Select) -> Result<Vec<Arc<Loaded>>, Error> {
        self.files.iter().map(|(path, loaded)| load(path, loaded, select)).collect()
    }
}

fn load(path: &PathBuf, loaded: &Mutex<Option<Arc<Loaded>>>, select: Select) -> Result<Arc<Loaded>, Error> {
    let mut loaded = loaded.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = loaded.as_ref().filter(|loaded| loaded.select().covers(select)) {
        return Ok(Arc::clone(loaded));
    }
    // What was read is read again with the rest: memory holds a trace once.
    let select = loaded.take().map_or(select, |before| before.select().union(select));
    let label =
        path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
    let new = Arc::new(Loaded::new(&label, select, Trace::open(path)?.read(&select)?));
    *loaded = Some(Arc::clone(&new));
    Ok(new)
}
