use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::rocpd::Header;
use crate::input::Input;
use crate::sqlite::Database;
use crate::{Result, Select, Tables};

/// How a dialect is recognised by its content, never by its name, and read.
#[derive(Debug)]
pub(crate) enum Reader {
    /// A database around the table `rocpd_op`. Its rows can be streamed.
    Ops {
        recognise: fn(&Database) -> Result<bool>,
        /// Reads the rows that others refer to.
        header: fn(&Database, &Select) -> Result<Header>,
    },
    /// Another database, read as a whole.
    Database {
        recognise: fn(&Database) -> Result<bool>,
        /// Reads all selected rows.
        read: fn(&Database, &Select) -> Result<Tables>,
    },
    /// Text or JSON, read from start to end.
    Text {
        /// Gets the first 64 KiB of the file.
        recognise: fn(&[u8]) -> bool,
        /// Reads all selected rows; the path is for messages.
        read: fn(&Path, BufReader<File>, &Select) -> Result<Tables>,
    },
    /// Texts of which a run has several, read together.
    Files {
        /// Gets the first 64 KiB of a file.
        recognise: fn(&[u8]) -> bool,
        /// Reads all selected rows of the files that were named.
        read: fn(&[Input], &Select) -> Result<Tables>,
    },
}
