//! The structure of a file: documents one after the other, each an object with `traceEvents` or a list of events.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::event::Event;
use super::input::Input;
use super::rows::Rows;
use super::scalar::text;
use super::scan::{Scanner, Stop};
use crate::layout::tags::{COMPLETE, MALFORMED};
use crate::{Error, Result, Select, Tables};

/// A file while it is read.
pub(super) struct Reading<R> {
    path: PathBuf,
    input: Input<R>,
    rows: Rows,
}

/// The next part of an object or a list.
enum Next {
    More,
    /// The end of it, which is consumed.
    End,
    /// The events of the document, whose list is open.
    Events,
    /// The end of the file, or something that is no JSON.
    Cut(Stop),
}

impl<R: Read> Reading<R> {
    pub(super) fn new(path: &Path, reader: R, select: &Select) -> Self {
        Self { path: path.to_owned(), input: Input::new(reader), rows: Rows::new(*select) }
    }

    /// Reads up to the end, or to the last whole event of a file that was cut off.
    pub(super) fn read(mut self) -> Result<Tables> {
        let mut cut = None;
        while cut.is_none()
            && let Some(first) = self.first()?
        {
            cut = match first {
                b'{' => self.object()?,
                b'[' => self.events()?,
                _ => Some(Stop::Malformed),
            };
            self.rows.finish_document(&self.path);
        }
        let mut tables = self.rows.finish();
        if let Some(stop) = cut {
            let place = self.input.offset();
            let is_anonymous = tables.processes.iter().all(|process| process.pid.is_none());
            if tables.info.metadata.is_empty() && is_anonymous && tables.tracks.rows().is_empty() {
                let detail = match stop {
                    Stop::End => format!("no event before its end at byte {place}"),
                    Stop::Malformed => format!("no event before byte {place}"),
                };
                return Err(match stop {
                    Stop::End => Error::Damaged { path: self.path, detail },
                    Stop::Malformed => Error::Malformed { path: self.path, detail },
                });
            }
            tables.info.metadata.push((COMPLETE.to_owned(), "0".to_owned()));
            if matches!(stop, Stop::Malformed) {
                tables.info.metadata.push((MALFORMED.to_owned(), "1".to_owned()));
            }
            tables.info.metadata.push(("read_to_byte".to_owned(), place.to_string()));
        }
        Ok(tables)
    }

    /// The opening of the next document, which is consumed; `None` at the end of the file.
    fn first(&mut self) -> Result<Option<u8>> {
        loop {
            let rest = self.input.rest();
            let skipped = rest.iter().take_while(|byte| b" \n\r\t,\xef\xbb\xbf\0".contains(byte)).count();
            let first = rest.get(skipped).copied();
            self.input.consume(skipped + usize::from(first.is_some()));
            if first.is_some() || !self.refill()? {
                return Ok(first);
            }
        }
    }

    fn refill(&mut self) -> Result<bool> {
        let path = &self.path;
        self.input.refill().map_err(|source| Error::Io { action: "read", path: path.clone(), source })
    }

    /// Reads an object of which the brace is consumed.
    fn object(&mut self) -> Result<Option<Stop>> {
        loop {
            let mut scanner = Scanner::new(self.input.rest());
            let next = field(&mut scanner, &mut self.rows).unwrap_or_else(Next::Cut);
            let read = scanner.at();
            match next {
                Next::More => self.input.consume(read),
                Next::End => {
                    self.input.consume(read);
                    return Ok(None);
                }
                Next::Events => {
                    self.input.consume(read);
                    if let Some(cut) = self.events()? {
                        return Ok(Some(cut));
                    }
                }
                Next::Cut(Stop::End) if self.refill()? => {}
                Next::Cut(stop) => return Ok(Some(stop)),
            }
        }
    }

    /// Reads a list of events of which the bracket is consumed.
    fn events(&mut self) -> Result<Option<Stop>> {
        loop {
            let mut scanner = Scanner::new(self.input.rest());
            let mut read = 0;
            let next = loop {
                match event(&mut scanner, &mut self.rows) {
                    Ok(Next::More) => read = scanner.at(),
                    Ok(next) => {
                        read = scanner.at();
                        break next;
                    }
                    Err(stop) => break Next::Cut(stop),
                }
            };
            self.input.consume(read);
            match next {
                Next::Cut(Stop::End) if self.refill()? => {}
                Next::Cut(stop) => return Ok(Some(stop)),
                _ => return Ok(None),
            }
        }
    }
}

/// Reads a key of a document with its value.
fn field(scanner: &mut Scanner<'_>, rows: &mut Rows) -> Result<Next, Stop> {
    let Some(key) = scanner.key()? else { return Ok(Next::End) };
    if key == b"traceEvents" && scanner.accept(b'[')? {
        return Ok(Next::Events);
    }
    let value = scanner.value()?;
    let key = String::from_utf8_lossy(key);
    rows.header(&key, value, text(value));
    Ok(Next::More)
}

/// Reads an event, or the end of the list; commas are where they are.
#[inline]
fn event(scanner: &mut Scanner<'_>, rows: &mut Rows) -> Result<Next, Stop> {
    while scanner.accept(b',')? {}
    if scanner.accept(b']')? {
        return Ok(Next::End);
    }
    let event = Event::scan(scanner)?;
    rows.add(&event);
    Ok(Next::More)
}
