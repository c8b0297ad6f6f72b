//! A database in memory, and connections to it.

use std::ffi::{CStr, CString, c_char};
use std::ptr::null_mut;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::functions;
use crate::handles::{ConfigHandle, ConnectionHandle, DatabaseHandle, Handle};

/// Settings of a database by name. They are DuckDB's.
#[derive(Debug, Default)]
pub struct Settings(Vec<(String, String)>);

impl Settings {
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.push((name.to_owned(), value.into()));
        self
    }
}

/// A database in memory.
#[derive(Debug)]
pub struct Database {
    pub(crate) handle: DatabaseHandle,
}

// SAFETY: A database may be used by several threads.
unsafe impl Send for Database {}
// SAFETY: As above.
unsafe impl Sync for Database {}

/// A connection, on which one statement runs at a time.
#[derive(Debug)]
pub struct Connection {
    pub(crate) shared: Arc<SharedConnection>,
}

/// A connection, shared by all objects that must not outlive it.
#[derive(Debug)]
pub(crate) struct SharedConnection {
    pub(crate) handle: ConnectionHandle,
    pub(crate) database: Database,
}

// SAFETY: A connection may be interrupted, and asked for its progress, by any thread; it locks itself.
unsafe impl Send for SharedConnection {}
// SAFETY: As above.
unsafe impl Sync for SharedConnection {}

/// Ends the statement that runs, from another thread.
#[derive(Debug, Clone)]
pub struct Interrupter(Arc<SharedConnection>);

impl Database {
    /// Opens an empty database in memory. The library is loaded where it is not yet.
    ///
    /// # Errors
    /// Those of [`crate::load`], and where DuckDB refuses a setting.
    pub fn open(settings: &Settings) -> Result<Self> {
        crate::load()?;
        let config = Config::new()?;
        settings.0.iter().try_for_each(|(name, value)| config.set(name, value))?;
        let mut database = Self { handle: DatabaseHandle::NULL };
        let mut message: *mut c_char = null_mut();
        // SAFETY: All pointers are valid during the call.
        let state = unsafe {
            functions::open_ext(c":memory:".as_ptr(), &mut database.handle, config.0, &mut message)
        };
        let message = functions::owned_text(message);
        if state == 0 { Ok(database) } else { Err(Error::Query(message)) }
    }

    /// The only connection.
    ///
    /// # Errors
    /// Where there is no memory.
    pub fn connect(self) -> Result<Connection> {
        let mut handle = ConnectionHandle::NULL;
        // SAFETY: The database is open, the pointer is valid.
        let state = unsafe { functions::connect(self.handle, &mut handle) };
        let shared = Arc::new(SharedConnection { handle, database: self });
        if state == 0 { Ok(Connection { shared }) } else { Err(Error::Query("no connection".to_owned())) }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: The connection, which owns the database, has been closed before.
        unsafe { functions::close(&mut self.handle) };
    }
}

impl Connection {
    /// Ends statements of this connection from other threads.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::clone(&self.shared))
    }

    /// Leaves the database to the end of the process, which frees its memory at once. No other object of it may be left; files
    /// of its `temp_directory` stay.
    pub fn leave(self) {
        std::mem::forget(self);
    }
}

impl Interrupter {
    /// Ends the statement that runs, if any, with an error.
    pub fn interrupt(&self) {
        functions::interrupt(self.0.handle);
    }

    /// How much of the statement that runs is done, in percent, where DuckDB can estimate that.
    pub fn progress(&self) -> Option<f64> {
        let percentage = functions::query_progress(self.0.handle).percentage;
        (percentage >= 0.0).then_some(percentage)
    }
}

impl Drop for SharedConnection {
    fn drop(&mut self) {
        // SAFETY: The handle is used no more; the database is closed after this.
        unsafe { functions::disconnect(&mut self.handle) };
    }
}

struct Config(ConfigHandle);

impl Config {
    fn new() -> Result<Self> {
        let mut config = Self(ConfigHandle::NULL);
        // SAFETY: The pointer is valid.
        let state = unsafe { functions::create_config(&mut config.0) };
        if state == 0 { Ok(config) } else { Err(Error::Query("no settings".to_owned())) }
    }

    fn set(&self, name: &str, value: &str) -> Result<()> {
        let (key, text) = (CString::new(name)?, CString::new(value)?);
        let [key, text]: [&CStr; 2] = [&key, &text];
        // SAFETY: Both texts end with NUL and are copied.
        let state = unsafe { functions::set_config(self.0, key.as_ptr(), text.as_ptr()) };
        if state == 0 {
            Ok(())
        } else {
            Err(Error::Query(format!("the setting {name} = {value} is refused")))
        }
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: The handle is used no more.
        unsafe { functions::destroy_config(&mut self.0) };
    }
}
