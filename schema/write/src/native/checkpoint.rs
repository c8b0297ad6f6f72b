//! An unfinished file that another process can continue, because a long merge may be killed.
//!
//! Finished pages lie in the file, and strings in a list beside it that only grows; what else there is (open pages, numbers
//! given) is small and written anew each time.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

use rustc_hash::FxHashMap;

use super::layout::{Table, statement};
use super::numbering::Queues;
use super::rows::StringId;
use super::string_ids::StringIds;
use super::writer::NativeWriter;
use crate::btree::{Database, put, take};
use crate::output::OutputFile;
use rtl_schema::{Result, Tables};

/// The strings of a file in the making, in a file of their own.
#[derive(Debug)]
pub struct StringLog {
    file: File,
    /// How many strings of the writer are in it, and how many bytes that is.
    written: (usize, u64),
}

impl StringLog {
    /// Starts the list at `path`, replacing what is there.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        Ok(Self { file: File::create(path)?, written: (0, 0) })
    }
}

impl NativeWriter {
    /// Writes what is finished, and the new strings to `texts`. The result is all that [`Self::resume`] needs besides.
    ///
    /// # Errors
    /// [`rtl_schema::Error::Io`] if a file cannot grow.
    pub fn checkpoint(&mut self, texts: &mut StringLog) -> Result<Vec<u8>> {
        let mut state = Vec::new();
        let mut save = || {
            let (known, mut bytes) = texts.written;
            let mut new: Vec<(StringId, &str)> = (self.strings.iter())
                .map(|(text, id)| (id, text))
                .filter(|&(id, _)| id.0 > known as i64)
                .collect();
            new.sort_unstable();
            let mut list = Vec::new();
            for (_, text) in new {
                put(&mut list, text.len() as i64);
                list.extend_from_slice(text.as_bytes());
            }
            texts.file.write_all(&list)?;
            bytes += list.len() as u64;
            texts.written = (self.strings.len(), bytes);
            put(&mut state, self.strings.len() as i64);
            put(&mut state, bytes as i64);
            put(&mut state, self.ranges);
            put(&mut state, self.range_numbers.len() as i64);
            for (&(space, old), &new) in &self.range_numbers {
                [i64::from(space), old, new].into_iter().for_each(|number| put(&mut state, number));
            }
            self.queues.save(&mut state);
            self.database.save(&mut state)
        };
        save().map_err(|source| self.output.io(source))?;
        Ok(state)
    }

    /// Goes on with the file at `place`, which its maker will call `path`, where [`Self::checkpoint`] was. Nothing where
    /// the three do not belong together. Tables of other tools are not part of a checkpoint: see
    /// [`Self::push_extra_tables`].
    ///
    /// # Errors
    /// [`rtl_schema::Error::Io`] if a file cannot be read or written.
    pub fn resume(
        place: &Path,
        path: &Path,
        texts: &Path,
        mut state: &[u8],
    ) -> Result<Option<(Self, StringLog)>> {
        let (output, file) = OutputFile::given(place, path)?;
        let state = &mut state;
        let restore = || {
            let Some((count, bytes)) = take(state).zip(take(state)) else { return Ok(None) };
            let Some((list, known)) = read(texts, count, bytes)? else { return Ok(None) };
            let Some((ranges, range_numbers)) = take(state).zip(range_numbers(state)) else {
                return Ok(None);
            };
            let Some(queues) = Queues::restored(state) else { return Ok(None) };
            let table = |name: &str| {
                let table = Table::ALL.into_iter().find(|table| table.name() == name)?;
                Some((table.name(), statement(table.name())))
            };
            let Some(database) = Database::restored(file, state, table)? else { return Ok(None) };
            Ok(Some((list, known, ranges, range_numbers, queues, database)))
        };
        let restored = restore().map_err(|source| output.io(source))?;
        Ok(restored.map(|(list, strings, ranges, range_numbers, queues, database)| {
            let mut tables = [None; Table::COUNT];
            for (name, id) in database.tables() {
                if let Some(table) = Table::ALL.into_iter().find(|table| table.name() == name) {
                    tables[table as usize] = Some(id);
                }
            }
            let writer =
                Self { strings, queues, ranges, range_numbers, ..Self::new(output, None, database, tables) };
            (writer, list)
        }))
    }

    /// Takes the tables of other tools from a trace that was written before a checkpoint.
    pub fn push_extra_tables(&mut self, tables: &Tables) {
        self.opaque_tables.extend(tables.opaque_tables.iter().cloned());
    }
}

/// The first strings of a list, which goes on behind them.
fn read(path: &Path, count: i64, bytes: i64) -> std::io::Result<Option<(StringLog, StringIds)>> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    let Some(mut list) = usize::try_from(bytes).ok().and_then(|bytes| content.get(..bytes)) else {
        return Ok(None);
    };
    let mut known = StringIds::default();
    while let Some(length) = take(&mut list) {
        let Some((text, rest)) =
            usize::try_from(length).ok().and_then(|length| list.split_at_checked(length))
        else {
            return Ok(None);
        };
        list = rest;
        let Ok(text) = std::str::from_utf8(text) else { return Ok(None) };
        known.insert_permanent(text, StringId(known.len() as i64 + 1));
    }
    file.set_len(bytes as u64)?;
    let written = (known.len(), bytes as u64);
    Ok((known.len() as i64 == count).then_some((StringLog { file, written }, known)))
}

fn range_numbers(state: &mut &[u8]) -> Option<FxHashMap<(u32, i64), i64>> {
    let mut numbers = FxHashMap::default();
    for _ in 0..take(state)? {
        let space = u32::try_from(take(state)?).ok()?;
        numbers.insert((space, take(state)?), take(state)?);
    }
    Some(numbers)
}
