//! Writes notes for a program that reports on a run (rtl-trace): which processes have loaded the tracer, and why one is not
//! recorded.

use std::io::Write;
use std::path::PathBuf;

use crate::base::process;

/// The variable that names the folder of the notes.
const FOLDER: &str = "RTL_NOTES";

/// Notes that the runtime has loaded the tracer, and the reason if it does not record. Errors are ignored: the traced program
/// must not notice them.
pub fn note(refusal: Option<&str>) {
    let Some(folder) = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()) else { return };
    let kind = if refusal.is_some() { "refused" } else { "loaded" };
    let path = PathBuf::from(folder).join(format!("{}.{kind}", std::process::id()));
    process::within_any_file_size(|| {
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
        if let (Ok(mut file), Some(why)) = (file, refusal) {
            let _ = file.write_all(why.as_bytes());
        }
    });
}
