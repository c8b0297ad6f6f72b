//! Reads the merged trace back and counts its rows: a merge that lost some must not replace anything.

use std::path::Path;

use cli::Failure;
use rtl_schema::{Error, Select, Trace};

use crate::read::Rows;

/// Checks that the merged trace has the rows that were written.
///
/// # Errors
/// Where some are missing.
pub(super) fn check(merged: &Path, all: &Rows) -> Result<(), Failure> {
    let written = count(merged, all.links() > 0)?;
    if written != *all {
        let lost: Vec<String> = (all.beside(&written).filter(|(_, read, written)| read != written))
            .map(|(table, read, written)| format!("{read} {table} were read and {written} are there"))
            .collect();
        let wrong = Failure::input(anyhow::anyhow!("the merged trace is wrong: {}", lost.join(", ")));
        return Err(wrong.with_hint("this is an error of rtl-merge; nothing was written"));
    }
    Ok(())
}

/// Launch shapes, ids and what ties ops to calls are no rows, and would take as long as all the rest; only a file that should have
/// `links` is asked for some.
fn count(path: &Path, links: bool) -> Result<Rows, Failure> {
    let select = Select { launch: false, ids: false, links, collectives: true, ..Select::everything() };
    let trace = Trace::open(path)?;
    let mut rows = Rows::default();
    let last = trace.stream(&select, |chunk| {
        rows.add(chunk);
        Ok::<(), Error>(())
    });
    rows.add_last(&last?);
    Ok(rows)
}
