//! What is made of the recordings: one trace, its summary, its picture.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Parser;
use cli::{Failure, Output, ResultExt};
use rtl_schema::Trace;

use crate::target::Target;

/// Makes one trace of the recordings in `folder`, and says what is missing in it. The old trace is replaced when the new
/// one is whole.
///
/// # Errors
/// There is no room, or none of them can be read.
pub fn collect(recordings: &[PathBuf], folder: &Path, target: &Target) -> Result<Option<String>, Failure> {
    let (whole, missing) = match recordings {
        [only] => {
            // What was there before is not given up for something else.
            Trace::open(only)
                .map_err(|error| Failure::input(error).context("the recording cannot be read"))?;
            (only.clone(), None)
        }
        several => {
            let merged = folder.join("merged");
            let missing = merge(several, &merged)?;
            (merged, missing)
        }
    };
    std::fs::rename(&whole, &target.trace)
        .with_context(|| format!("cannot write {}", target.trace.display()))?;
    Ok(missing)
}

/// Merges what can be read; what cannot is returned.
fn merge(recordings: &[PathBuf], merged: &Path) -> Result<Option<String>, Failure> {
    // All are of this run, whatever their processes say, and a launcher beside its ranks has none.
    let flags =
        ["rtl-merge", "--quiet", "--force", "--allow-missing", "--keep-going", "--to", "native", "--output"];
    let line =
        flags.iter().map(OsString::from).chain([merged.into()]).chain(recordings.iter().map(Into::into));
    let arguments = rtl_merge::args::Arguments::try_parse_from(line)?;
    let messages = Text::default();
    let mut out = Output::new("rtl-merge", Box::new(io::sink()), Box::new(messages.clone()));
    let exit = rtl_merge::run(arguments, &mut out)?;
    let told = messages.take();
    Ok((exit != cli::Exit::Success).then(|| told.lines().next().unwrap_or_default().to_owned()))
}

/// Writes the summary of the trace, and returns it.
///
/// # Errors
/// The trace cannot be read, or the file not be written.
pub fn summarise(target: &Target) -> Result<String, Failure> {
    let line: [&OsStr; 3] = ["rtl-summary".as_ref(), "--quiet".as_ref(), target.trace.as_ref()];
    let arguments = rtl_summary::args::Arguments::try_parse_from(line)?;
    let text = Text::default();
    let mut out = Output::new("rtl-summary", Box::new(text.clone()), Box::new(io::sink()));
    rtl_summary::run(arguments, &mut out)?;
    let text = text.take();
    write_whole(&target.summary, text.as_bytes())
        .with_context(|| format!("cannot write {}", target.summary.display()))?;
    Ok(text)
}

fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(parent)?;
    file.write_all(content)?;
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(everybody)?;
    file.persist(path)?;
    Ok(())
}

/// Writes the trace for Perfetto.
///
/// # Errors
/// The trace cannot be read, or the file not be written.
pub fn draw(target: &Target) -> Result<(), Failure> {
    let line: [&OsStr; 8] = [
        "rtl-convert".as_ref(),
        "--quiet".as_ref(),
        "--force".as_ref(),
        "--format".as_ref(),
        "perfetto-json".as_ref(),
        "--output".as_ref(),
        target.perfetto.as_ref(),
        target.trace.as_ref(),
    ];
    let arguments = rtl_convert::args::Arguments::try_parse_from(line)?;
    let mut out = Output::new("rtl-convert", Box::new(io::sink()), Box::new(io::sink()));
    rtl_convert::run(arguments, &mut out).map(drop)
}

/// Text that another tool writes.
#[derive(Debug, Clone, Default)]
struct Text(Rc<RefCell<Vec<u8>>>);

impl Text {
    fn take(&self) -> String {
        String::from_utf8_lossy(&self.0.take()).into_owned()
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
