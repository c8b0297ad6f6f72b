//! One state of a recording that its writer may be extending.
//!
//! The writer (`rtl-write`) takes no lock. It publishes a state by the first page and never changes a finished leaf. All
//! other pages of a state (inner nodes, the newest leaves, the schema) are used again some publications later, so an image
//! has a copy of them. SQLite reads the schema from the image, scans read the finished leaves from the recording.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use atomic_file::PrivateDir;

use super::header::{HEADER, read_header};
use crate::spool::private_file;

/// The name of an image in its folder.
pub(super) const IMAGE: &str = "image";

/// Pages of one state, at their places in a file that lacks all others.
#[derive(Debug)]
pub(super) struct Image {
    file: File,
    /// The numbers of the pages, sorted.
    pages: Vec<u32>,
}

impl Image {
    /// An image of these pages of a recording, by their numbers, and the folder in which SQLite finds it.
    ///
    /// # Errors
    /// The image cannot be written.
    pub(super) fn of(recording: &File, state: BTreeMap<u32, Vec<u8>>) -> io::Result<(Self, PrivateDir)> {
        let folder = PrivateDir::create_in(&std::env::temp_dir())?;
        let place = folder.path().join(IMAGE);
        let image = private_file(&place)?;
        for (number, page) in &state {
            image.write_all_at(page, u64::from(number - 1) * page.len() as u64)?;
        }
        let length = recording.metadata()?.len().max(image.metadata()?.len());
        image.set_len(length)?;
        let pages = state.into_keys().collect();
        Ok((Self { file: File::open(place)?, pages }, folder))
    }

    /// The header of the state.
    pub(super) fn header(&self) -> Option<[u8; HEADER]> {
        read_header(&self.file)
    }

    /// Replaces the pages in `buffer`, of which the first is number `first`, by those of the image.
    pub(super) fn patch(&self, first: u32, buffer: &mut [u8], size: usize) -> Option<()> {
        let last = first + (buffer.len() / size) as u32;
        let from = self.pages.partition_point(|&page| page < first);
        for page in self.pages[from..].iter().take_while(|&&page| page < last) {
            let at = (page - first) as usize * size;
            self.file.read_exact_at(&mut buffer[at..at + size], u64::from(page - 1) * size as u64).ok()?;
        }
        Some(())
    }
}
