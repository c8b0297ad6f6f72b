//! Traces whose recorder was killed.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use rtl_schema::layout::tags::COMPLETE;
use rtl_write::{Op, Recording};
use rusqlite::Connection;

use crate::{Layout, database};

/// One of ours: whole, and not complete.
///
/// # Errors
/// Where it cannot be written.
pub fn native(path: &Path) -> rtl_schema::Result<()> {
    let mut recording = Recording::create(path, None)?;
    recording.push_metadata("schema_version", "rtl-1")?;
    let description = Some(recording.intern("gemm")?);
    for start in [1_000, 2_000, 3_000] {
        let (gpu, queue, end) = (Some(0), Some(0), Some(start + 500));
        recording.push_op(&Op { gpu, queue, start, end, description, ..Op::default() })?;
    }
    recording.publish(&[(COMPLETE, "0".to_owned())])
}

/// One of rocm-trace-lite: its last row, of a kernel `last`, is in a -wal beside it.
///
/// # Errors
/// Where it cannot be written.
pub fn lite(path: &Path) -> Result<(), Box<dyn Error>> {
    let kernel = "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, 1000, 2000, 'first');";
    let beside = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    let living = path.with_extension("living");
    fs::copy(database(kernel, Layout::Lite)?, &living)?;
    let writer = Connection::open(&living)?;
    writer.execute_batch(
        "PRAGMA journal_mode = wal;
        INSERT INTO rocpd_string(string) VALUES ('last');
        INSERT INTO rocpd_op(gpuId, queueId, sequenceId, start, end, description_id, opType_id)
            SELECT 0, 0, 0, 3000, 4000, last_insert_rowid(), opType_id FROM rocpd_op LIMIT 1;",
    )?;
    // As it is while the writer lives, and after it was killed.
    fs::copy(&living, path)?;
    fs::copy(beside(&living), beside(path))?;
    drop(writer);
    fs::remove_file(living)?;
    Ok(())
}
