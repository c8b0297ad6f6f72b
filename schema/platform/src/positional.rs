//! Reads and writes at an offset. On Windows they move the position of the file, on Unix they do not: a caller uses one or the
//! other.

use std::fs::File;
use std::io;

/// Reads some bytes at `offset`; 0 at the end of the file.
pub fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    cfg_select! {
        unix => std::os::unix::fs::FileExt::read_at(file, bytes, offset),
        windows => std::os::windows::fs::FileExt::seek_read(file, bytes, offset),
    }
}

/// Fails with [`io::ErrorKind::UnexpectedEof`] where the file ends before.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    cfg_select! {
        unix => std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset),
        windows => {
            let mut done = 0;
            while done < bytes.len() {
                match read_at(file, &mut bytes[done..], offset + done as u64) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(count) => done += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        }
    }
}

pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    cfg_select! {
        unix => std::os::unix::fs::FileExt::write_all_at(file, bytes, offset),
        windows => {
            let mut done = 0;
            while done < bytes.len() {
                let rest = &bytes[done..];
                match std::os::windows::fs::FileExt::seek_write(file, rest, offset + done as u64) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(count) => done += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_at_an_offset_is_read_there() {
        let file = tempfile::tempfile().unwrap();
        write_all_at(&file, b"content", 3).unwrap();
        let mut bytes = [1; 5];
        read_exact_at(&file, &mut bytes, 2).unwrap();
        assert_eq!(&bytes, b"\0cont");
        assert_eq!(read_at(&file, &mut bytes, 8).unwrap(), 2);
        let error = read_exact_at(&file, &mut bytes, 8).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
