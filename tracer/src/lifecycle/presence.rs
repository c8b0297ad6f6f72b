//! Notes for a program that reports on a run (rtl-trace): which processes have loaded the tracer, and why one runs untraced.

use std::io::Write;
use std::path::PathBuf;

use crate::base::process;

/// The folder of the notes.
const FOLDER: &str = "RTL_NOTES";

/// Notes that the runtime has loaded the tracer, which records, or does not for this reason. What cannot be written is not
/// the program's problem.
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
