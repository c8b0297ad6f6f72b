//! Databases that `nsys export` could write, or nearly.

use std::fmt::Write;
use std::path::Path;

use rusqlite::Connection;

use super::Choices;

/// Tables that every row of the GPU is like, with their own columns behind these.
const TIMED: &str = "start,end,deviceId,streamId,correlationId,globalPid,";

const TABLES: [(&str, &str, &str); 16] = [
    ("META_DATA_EXPORT", "", "name,value"),
    ("TARGET_INFO_SESSION_START_TIME", "", "utcEpochNs"),
    (
        "CUPTI_ACTIVITY_KIND_KERNEL",
        TIMED,
        "demangledName,shortName,mangledName,registersPerThread,gridX,gridY,gridZ,blockX,blockY,blockZ,\
         staticSharedMemory,dynamicSharedMemory,graphNodeId",
    ),
    ("CUPTI_ACTIVITY_KIND_KERNEL", TIMED, "demangledName"),
    ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", TIMED, "graphId"),
    ("CUPTI_ACTIVITY_KIND_MEMCPY", TIMED, "bytes,copyKind,srcDeviceId,dstDeviceId"),
    ("CUPTI_ACTIVITY_KIND_MEMSET", TIMED, "bytes"),
    (
        "CUDA_GPU_MEMORY_USAGE_EVENTS",
        "",
        "start,deviceId,globalPid,address,bytes,memoryOperationType,correlationId",
    ),
    ("CUPTI_ACTIVITY_KIND_RUNTIME", "", "start,end,globalTid,correlationId,nameId,returnValue"),
    ("CUPTI_ACTIVITY_KIND_DRIVER", "", "start,end,globalTid,correlationId,nameId,returnValue"),
    ("NVTX_EVENTS", "", "start,end,eventType,text,textId,globalTid,domainId"),
    ("PROCESSES", "", "globalPid,name"),
    ("ThreadNames", "", "globalTid,nameId"),
    ("TARGET_INFO_GPU", "", "id,name,uuid,chipName,smCount,totalMemory"),
    ("TARGET_INFO_CUDA_DEVICE", "", "gpuId,cudaId,pid"),
    ("TARGET_INFO_SYSTEM_ENV", "", "name,value"),
];

const TEXTS: [&str; 10] = [
    "'k'",
    "'void gemm<float>(int)'",
    "'cudaLaunchKernel_v7000'",
    "'MPI Rank 3'",
    "'MPI Rank 99999999999'",
    "'Hostname'",
    "'EXPORT_SCHEMA_VERSION'",
    "'a_v\u{663}\u{664}\u{665}\u{666}'",
    "''",
    "cast(x'ff00fe' as text)",
];

impl Choices<'_> {
    fn value(&mut self, to: &mut String) {
        let written = match self.below(24) {
            0 => to.write_str("NULL"),
            1 => write!(to, "{}", i64::MAX),
            2 => to.write_str("-9223372036854775808"),
            3 => to.write_str("-1"),
            4 => to.write_str("0.5"),
            5 => to.write_str("1e300"),
            6 => to.write_str("x'00ff'"),
            7..=9 => to.write_str(self.of(&TEXTS)),
            // A process of nsys is in the upper bits.
            10..=12 => write!(to, "{}", (i64::from(self.below(4)) << 24) + i64::from(self.below(3))),
            13 => write!(to, "{}", self.of(&[34, 39, 59, 60, 75])),
            14 => write!(to, "{}", 1_700_000_000_000_000_000_i64 + i64::from(self.byte())),
            _ => write!(to, "{}", self.below(8)),
        };
        written.expect("a text takes all");
    }

    /// A table whose columns have some of these names, and its rows.
    fn table(&mut self, name: &str, columns: &str, to: &mut String) {
        let columns: Vec<&str> =
            columns.split(',').filter(|column| !column.is_empty() && self.below(16) > 0).collect();
        let list = if columns.is_empty() { "other".to_owned() } else { columns.join(", ") };
        let kind = self.of(&["", " integer", " text", " real", " integer primary key"]);
        let list = list.replacen(',', &format!("{kind},"), 1).replace("end", "\"end\"");
        _ = writeln!(to, "create table if not exists {name}({list});");
        for _ in 0..self.below(4) {
            _ = write!(to, "insert or ignore into {name} values(");
            for at in 0..columns.len().max(1) {
                if at > 0 {
                    to.push(',');
                }
                self.value(to);
            }
            to.push_str(");\n");
        }
    }
}

/// Writes the database that the bytes choose; there must be no file yet.
///
/// # Errors
/// If SQLite cannot write it.
pub fn nsys(bytes: &[u8], path: &Path) -> rusqlite::Result<()> {
    let mut choices = Choices(bytes);
    let mut text =
        String::from("pragma page_size=512; pragma journal_mode=off; pragma synchronous=off; begin;\n");
    choices.table("StringIds", "id,value", &mut text);
    for _ in 0..=choices.below(6) {
        let (name, first, others) = choices.of(&TABLES);
        choices.table(name, &format!("{first}{others}"), &mut text);
    }
    text.push_str("commit;");
    let connection = Connection::open(path)?;
    // A table that is chosen twice may have other columns the second time.
    let written = connection.execute_batch(&text);
    if written.is_err() {
        connection.execute_batch("commit")?;
    }
    Ok(())
}
