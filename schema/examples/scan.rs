//! Scans the columns of a summary from `rocpd_op` and prints their sum of durations: the cost of reading
//! alone, to be held against `sqlite3 FILE 'select sum(end-start) from rocpd_op'`.

use std::path::PathBuf;

use rtl_schema::sqlite::Database;

#[derive(Default)]
struct Columns {
    place: Vec<(i64, i64)>,
    start: Vec<i64>,
    duration: Vec<u32>,
    name: Vec<u32>,
    kind: Vec<u32>,
    range: Vec<u32>,
}

#[expect(clippy::print_stdout, reason = "an example is a program")]
fn main() -> Result<(), rtl_schema::Error> {
    let path: PathBuf = std::env::args_os().nth(1).unwrap_or_default().into();
    let database = Database::open(&path, &path)?;
    let columns = ["gpuId", "queueId", "start", "end", "description_id", "opType_id", "roctxId"];
    let parts = database.scan_parts("rocpd_op", &columns, Columns::default, |part, row| {
        let small = |at| row.int(at).unwrap_or(0) as u32;
        let start = row.int(2).unwrap_or(0);
        part.start.push(start);
        part.duration.push((row.int(3).unwrap_or(0) - start) as u32);
        part.name.push(small(4));
        part.kind.push(small(5));
        part.range.push(small(6));
        let place = (row.int(0).unwrap_or(0), row.int(1).unwrap_or(0));
        if part.place.last() != Some(&place) && part.place.len() < 64 {
            part.place.push(place);
        }
    })?;
    let total: u64 = parts.iter().flat_map(|part| &part.duration).map(|&duration| u64::from(duration)).sum();
    println!("{total} ns in {} ops", parts.iter().map(|part| part.start.len()).sum::<usize>());
    Ok(())
}
