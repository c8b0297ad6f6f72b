//! An unfinished file that another process can continue, because a long merge may be killed.
//!
//! Finished pages lie in the file, and strings in a list beside it that only grows; what else there is (open pages, numbers
//! given) is small and written anew each time.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::layout::Table;
use super::numbering::{Queues, pairs};
use super::rows::StringId;
use super::string_ids::StringIds;
use super::writer::NativeWriter;
use crate::btree::{Database, SavedDatabase, TableId};
use crate::output::OutputFile;
use rtl_schema::{Id, Result, Tables};

#[derive(Serialize, Deserialize)]
struct State {
    strings: Written,
    database: SavedDatabase,
    tables: [Option<TableId>; Table::COUNT],
    queues: Queues,
    ranges: i64,
    #[serde(with = "pairs")]
    range_ids: FxHashMap<(u32, Id), i64>,
}

/// The extent of a [`StringLog`], by which one that has grown since is cut back.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Written {
    strings: usize,
    bytes: u64,
}

/// The strings of an unfinished file, in a file of their own that only grows: a checkpoint adds the new ones.
#[derive(Debug)]
pub struct StringLog {
    file: File,
    written: Written,
}

impl StringLog {
    /// Starts the list at `path`, replacing what is there.
    ///
    /// # Errors
    /// Where the operating system refuses to create it.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::create(path)?, written: Written::default() })
    }

    fn push<'a>(&mut self, new: impl Iterator<Item = &'a str>) -> io::Result<()> {
        let mut list = Vec::new();
        for text in new {
            serde_json::to_writer(&mut list, text)?;
            self.written.strings += 1;
        }
        self.written.bytes += list.len() as u64;
        self.file.write_all(&list)
    }

    /// Opens a list for more strings and reads those that it had at a checkpoint. `None` where it is another list.
    fn resume(path: &Path, written: Written) -> io::Result<Option<(Self, StringIds)>> {
        let mut file = OpenOptions::new().read(true).append(true).open(path)?;
        let mut list = Vec::new();
        (&mut file).take(written.bytes).read_to_end(&mut list)?;
        let mut known = StringIds::default();
        for text in serde_json::Deserializer::from_slice(&list).into_iter::<String>() {
            let Ok(text) = text else { return Ok(None) };
            known.insert_permanent(&text, StringId(known.len() as i64 + 1));
        }
        let is_whole = list.len() as u64 == written.bytes && known.len() == written.strings;
        if is_whole {
            file.set_len(written.bytes)?;
        }
        Ok(is_whole.then_some((Self { file, written }, known)))
    }
}

impl NativeWriter {
    /// Writes what is finished, and the new strings to `texts`. The result is all that [`Self::resume`] needs besides.
    ///
    /// # Errors
    /// [`rtl_schema::Error::Io`] if a file cannot grow.
    pub fn checkpoint(&mut self, texts: &mut StringLog) -> Result<Vec<u8>> {
        let known = texts.written.strings as i64;
        let mut new: Vec<(StringId, &str)> =
            self.strings.iter().map(|(text, id)| (id, text)).filter(|&(id, _)| id.0 > known).collect();
        new.sort_unstable();
        let mut save = || -> io::Result<Vec<u8>> {
            texts.push(new.iter().map(|&(_, text)| text))?;
            let state = State {
                strings: texts.written,
                database: self.database.save()?,
                tables: self.tables,
                queues: self.queues.clone(),
                ranges: self.ranges,
                range_ids: self.range_ids.clone(),
            };
            Ok(serde_json::to_vec(&state)?)
        };
        save().map_err(|source| self.database.output().io(source))
    }

    /// Goes on with the file at `place`, which its maker will call `path`, where [`Self::checkpoint`] was. `None` where
    /// the three do not belong together. Tables of other tools are not part of a checkpoint: see
    /// [`Self::push_extra_tables`].
    ///
    /// # Errors
    /// [`rtl_schema::Error::Io`] if a file cannot be read or written.
    pub fn resume(
        place: &Path,
        path: &Path,
        texts: &Path,
        state: &[u8],
    ) -> Result<Option<(Self, StringLog)>> {
        let output = OutputFile::new(place, path);
        let Ok(state) = serde_json::from_slice::<State>(state) else { return Ok(None) };
        let list = StringLog::resume(texts, state.strings).map_err(|source| output.io(source))?;
        let Some((list, strings)) = list else { return Ok(None) };
        let file = output.open()?;
        let Some(database) = Database::restored(output, file, state.database)? else { return Ok(None) };
        let State { tables, queues, ranges, range_ids, .. } = state;
        let (opaque_tables, begun) = (Vec::new(), [0; Table::COUNT]);
        let writer = Self { database, tables, strings, opaque_tables, queues, ranges, range_ids, begun };
        Ok(Some((writer, list)))
    }

    /// Takes the tables of other tools from a trace that was written before a checkpoint.
    pub fn push_extra_tables(&mut self, tables: &Tables) {
        self.opaque_tables.extend(tables.opaque_tables.iter().cloned());
    }
}
