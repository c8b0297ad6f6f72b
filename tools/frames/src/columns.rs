//! Tables as frames: one column each, null where the trace does not know.

use polars::prelude::*;
use rtl_schema::Tables;

/// The dispatches, in the order of the source: `name` (number of the stored name), `agent`, `queue`, `start_ns` and
/// `duration_ns` (null where the end is missing).
///
/// # Errors
/// Where polars refuses the columns.
pub fn dispatches(tables: &Tables) -> PolarsResult<DataFrame> {
    let dispatches = &tables.dispatches;
    let tracks = tables.tracks.rows();
    let name: Vec<u32> = dispatches.name.iter().map(|name| name.0).collect();
    let agent: Vec<u32> = dispatches.track.iter().map(|track| tracks[track.index()].agent.0).collect();
    let queue: Vec<i64> = dispatches.track.iter().map(|track| tracks[track.index()].queue).collect();
    let duration = if dispatches.duration.all_short() {
        let short = dispatches.duration.short().iter().map(|&short| i64::from(short));
        Column::new("duration_ns".into(), short.collect::<Vec<i64>>())
    } else {
        let any = (0..dispatches.len()).map(|row| dispatches.duration.get(row));
        Column::new("duration_ns".into(), any.collect::<Vec<Option<i64>>>())
    };
    DataFrame::new_infer_height(vec![
        Column::new("name".into(), name),
        Column::new("agent".into(), agent),
        Column::new("queue".into(), queue),
        Column::new("start_ns".into(), dispatches.start.as_slice()),
        duration,
    ])
}

/// The copies, in the order of the source: `direction`, `agent`, `bytes`, `start_ns` and `duration_ns`.
///
/// # Errors
/// Where polars refuses the columns.
pub fn copies(tables: &Tables) -> PolarsResult<DataFrame> {
    let copies = &tables.copies;
    let direction: Vec<&str> = copies.iter().map(|copy| copy.direction.label()).collect();
    let agent: Vec<u32> = copies.iter().map(|copy| tables.tracks.get(copy.track).agent.0).collect();
    let bytes: Vec<Option<u64>> = copies.iter().map(|copy| copy.bytes).collect();
    let start: Vec<i64> = copies.iter().map(|copy| copy.start).collect();
    let duration: Vec<Option<i64>> = copies.iter().map(|copy| copy.duration).collect();
    DataFrame::new_infer_height(vec![
        Column::new("direction".into(), direction),
        Column::new("agent".into(), agent),
        Column::new("bytes".into(), bytes),
        Column::new("start_ns".into(), start),
        Column::new("duration_ns".into(), duration),
    ])
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{Dispatch, Track};

    use super::*;

    #[test]
    fn an_end_that_is_missing_is_null() {
        let mut tables = Tables::default();
        let track = tables.tracks.intern(Track { queue: 7, ..Track::default() });
        let name = tables.strings.intern("gemm");
        for duration in [Some(40), None] {
            tables.dispatches.push(Dispatch { name, track, start: 100, duration, ..Dispatch::default() });
        }
        let frame = dispatches(&tables).expect("five columns of two rows");
        assert_eq!((frame.height(), frame.width()), (2, 5));
        let durations =
            frame.column("duration_ns").and_then(|column| column.i64().cloned()).expect("integers");
        assert_eq!(durations.iter().collect::<Vec<_>>(), [Some(40), None]);
        let queues = frame.column("queue").and_then(|column| column.i64().cloned()).expect("integers");
        assert_eq!(queues.get(1), Some(7));
    }

    #[test]
    fn no_rows_are_a_frame_without_rows() {
        let frame = copies(&Tables::default()).expect("five empty columns");
        assert_eq!((frame.height(), frame.width()), (0, 5));
    }
}
