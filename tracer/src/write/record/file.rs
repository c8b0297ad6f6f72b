//! The descriptor of a recording's file, in a process that may close or replace any of its descriptors.
//!
//! A daemon closes all open files, and a program may start without any, so that the first file that is opened becomes its
//! standard output. So a recording never has one of the first three descriptors, and it is checked before each write, because the
//! number may belong to a file of the program by then. Where the recorder has a [table of its
//! own](crate::base::process::have_own_files) neither can happen.

#![expect(unsafe_code, reason = "makes a descriptor of another one")]

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{FileExt, MetadataExt};

use rtl_write::Target;

use super::close::Close;
use crate::base::process;

/// The smallest descriptor of a recording.
const LEAST: i32 = 3;

/// A file, as long as its descriptor still belongs to it.
#[derive(Debug)]
pub(super) struct OwnFile {
    file: ManuallyDrop<File>,
    /// Device and inode.
    identity: (u64, u64),
    /// Bytes that are written; `room` has the allocated ones.
    written: u64,
    reserved: u64,
}

impl OwnFile {
    /// `file` has just been created.
    pub(super) fn new(file: File) -> io::Result<Self> {
        // SAFETY: the descriptor is open.
        let higher = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, LEAST) };
        if higher < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor has just been made, and nobody else knows it.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(higher) });
        let identity = identity(&file)?;
        Ok(Self { file, identity, written: 0, reserved: 0 })
    }

    fn is_itself(&self) -> bool {
        identity(&self.file).is_ok_and(|identity| identity == self.identity)
    }
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let known = file.metadata()?;
    Ok((known.dev(), known.ino()))
}

impl Target for OwnFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if !self.is_itself() {
            return Err(io::Error::other("the program has closed it"));
        }
        self.file.write_all_at(bytes, offset)?;
        self.written = self.written.max(offset + bytes.len() as u64);
        Ok(())
    }

    const RESERVES: bool = true;

    fn reserve(&mut self, length: u64) -> io::Result<()> {
        if length > process::largest_file() {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        if length <= self.reserved || !self.is_itself() {
            return Ok(());
        }
        let signed = |number: u64| libc::off_t::try_from(number).unwrap_or(libc::off_t::MAX);
        let (from, more) = (signed(self.reserved), signed(length - self.reserved));
        // SAFETY: the descriptor is open; the call changes only the space that the file has on the disk.
        let done = unsafe { libc::fallocate(self.file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, from, more) };
        let error = io::Error::last_os_error();
        let is_known = matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG));
        if done != 0 && is_known {
            return Err(error);
        }
        self.reserved = length;
        Ok(())
    }

    fn check(&self, length: u64) -> io::Result<()> {
        // A descriptor that belongs to another file by then is not checked.
        if self.is_itself() { self.file.check(length) } else { Ok(()) }
    }
}

impl Close for OwnFile {
    fn close(self) -> io::Result<()> {
        let (is_itself, file) = (self.is_itself(), self.file.as_raw_fd());
        if is_itself && self.reserved > self.written {
            // Space that was not needed is returned; it does no harm if that fails.
            let _ = self.file.set_len(self.written);
        }
        std::mem::forget(self);
        // SAFETY: the descriptor still belongs to the file, and nobody else closes it.
        if is_itself && unsafe { libc::close(file) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if self.is_itself() {
            // SAFETY: the file is not used again.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created(folder: &std::path::Path) -> io::Result<OwnFile> {
        OwnFile::new(File::create_new(folder.join("trace.db"))?)
    }

    #[test]
    fn a_file_is_written_and_closed() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let mut file = created(folder.path())?;
        let number = file.file.as_raw_fd();
        file.write_at(b"rows", 2)?;
        assert!(number >= LEAST);
        assert_eq!(std::fs::read(folder.path().join("trace.db"))?, b"\0\0rows");
        drop(file);
        let open = std::fs::read_link(format!("/proc/self/fd/{number}"));
        assert!(open.map_or(true, |open| !open.starts_with(folder.path())));
        Ok(())
    }

    #[test]
    fn another_file_of_its_number_is_neither_written_to_nor_closed() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let mut file = created(folder.path())?;
        let other = File::create_new(folder.path().join("other"))?;
        // SAFETY: both descriptors are open.
        unsafe { libc::dup2(other.as_raw_fd(), file.file.as_raw_fd()) };
        assert_eq!(file.write_at(b"rows", 0).unwrap_err().to_string(), "the program has closed it");
        assert_eq!(std::fs::read(folder.path().join("other"))?, b"");
        let number = file.file.as_raw_fd();
        drop(file);
        assert_eq!(std::fs::read_link(format!("/proc/self/fd/{number}"))?, folder.path().join("other"));
        Ok(())
    }
}
