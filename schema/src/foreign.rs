//! Files of known formats that are no trace, or a trace that is not read, by their first bytes.

/// A format that is known, but not read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format {
    pub(crate) found: &'static str,
    /// How to get at the trace, if there is one; empty for the list of what is read.
    pub(crate) hint: &'static str,
    recognise: fn(&[u8]) -> bool,
}

const OTHERS: &str = "name a trace; the format of a file is recognised by its content";
const SOURCE: &str = "name the trace that it was made from";

/// The format of a file with this beginning. The first that fits counts.
pub(crate) fn format(head: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.recognise)(head))
}

macro_rules! formats {
    ($($found:literal, $hint:expr, $recognise:expr;)*) => {
        const FORMATS: &[Format] = &[$(Format { found: $found, hint: $hint, recognise: $recognise }),*];
    };
}

formats! {
    // Texts of columns.
    "statistics of rocprofv3 or rocprof (`--stats`)",
        "name the traces of the same run, e.g. RUN_kernel_trace.csv or results.csv; rtl-summary computes the statistics",
        |head| has_columns(head, &["name", "calls", "totaldurationns"]);
    "results.csv of rocprof without times", "record it with `rocprof --timestamp on` or `rocprof --stats`",
        |head| has_columns(head, &["kernelname", "gpu-id", "queue-id"]);
    "PC samples of rocprofv3", "record `rocprofv3 --kernel-trace` as well and name that file",
        |head| has_columns(head, &["sample_timestamp", "exec_mask"]);
    "a table that rtl-convert has written (CSV)", SOURCE, |head| has_columns(head, &["start_ns", "name"]);
    // Binary files.
    "a Parquet file", "name the trace that it was made from; DuckDB, pandas and polars read Parquet",
        |head| head.starts_with(b"PAR1");
    "a Perfetto trace (.pftrace)", "name the trace that it was made from; ui.perfetto.dev shows this one", is_perfetto;
    "a PyTorch memory snapshot (pickle)",
        "export the profile with `prof.export_chrome_trace(FILE)`; pytorch.org/memory_viz shows snapshots",
        |head| is_pickle(head) && (has(head, "device_traces") || has(head, "segments"));
    "a Python pickle", OTHERS, is_pickle;
    "a recording of perf (perf.data)", "perf samples the CPU; record the GPU with `rtl trace`",
        |head| head.starts_with(b"PERFILE2") || head.starts_with(b"2ELIFREP");
    "an ELF file (a program or a library)", "record it first: `rtl trace -- PROGRAM`", |head| head.starts_with(b"\x7fELF");
    "a report of Nsight Compute", "export a report of Nsight Systems: `nsys export --type sqlite REPORT.nsys-rep`",
        |head| head.starts_with(b"NVR\0");
    "a stream of LTTng (CTF)", OTHERS, |head| head.starts_with(&[0xc1, 0x1f, 0xfc, 0xc1]) || head.starts_with(&[0xc1, 0xfc, 0x1f, 0xc1]);
    "an Arrow file", SOURCE, |head| head.starts_with(b"ARROW1");
    "an HDF5 file", OTHERS, |head| head.starts_with(b"\x89HDF\r\n");
    "an image (PNG)", OTHERS, |head| head.starts_with(b"\x89PNG");
    "a PDF document", OTHERS, |head| head.starts_with(b"%PDF-");
    "a tar archive", "unpack it and name the traces in it", |head| head.get(257..262) == Some(b"ustar");
    // Texts.
    "a Git LFS pointer: the file itself is elsewhere", "fetch the file: `git lfs pull`",
        |head| head.starts_with(b"version https://git-lfs.github.com/spec/");
    "an HTML page", "a download may have failed: fetch the file again",
        |head| ["<!doctype html", "<html"].iter().any(|tag| starts(head, tag));
    "an XML document", OTHERS, |head| starts(head, "<?xml");
    // JSON.
    "a report of rtl-summary (JSON)", "rtl-diff compares such reports; the other tools read the trace itself",
        |head| is_json(head) && has(head, "\"rtl-summary/1\"");
    "a report of rtl-diff or rtl-merge (JSON)", SOURCE,
        |head| is_json(head) && (has(head, "\"rtl-diff/") || has(head, "\"rtl-merge/"));
    "a Chrome CPU profile (.cpuprofile)", "it has samples of the CPU only", |head| is_json(head) && has(head, "\"callFrame\"");
    "a speedscope profile", "it has samples of the CPU only", |head| is_json(head) && has(head, "speedscope.app");
    "a PyTorch execution trace (Chakra)", "export the profile with `prof.export_chrome_trace(FILE)`",
        |head| is_json(head) && has(head, "\"nodes\"") && has(head, "\"rf_id\"");
    "a Jupyter notebook", OTHERS, |head| is_json(head) && has(head, "\"nbformat\"");
    "a profile of the old torch.autograd.profiler, which states neither streams nor launches",
        "record with torch.profiler: `profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])`, `export_chrome_trace(FILE)`",
        |head| is_json(head) && has(head, "\"CPU functions\"") && has(head, "\"ph\"");
    "Chrome's trace format without events of a known profiler",
        "rtl reads Chrome traces of torch.profiler, JAX, rocprof and rtl-convert",
        |head| is_json(head) && (has(head, "\"traceEvents\"") || has(head, "\"ph\""));
    "JSON without a trace", "", is_json;
}

/// True where the first line of the text has these words, in any case.
fn has_columns(head: &[u8], words: &[&str]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default().to_ascii_lowercase();
    line.contains(&b',') && words.iter().all(|word| has(&line, word))
}

fn has(head: &[u8], word: &str) -> bool {
    head.windows(word.len()).any(|window| window == word.as_bytes())
}

/// True where the text begins with `tag` in any case, behind white space.
fn starts(head: &[u8], tag: &str) -> bool {
    let text = head.trim_ascii_start();
    text.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag.as_bytes()))
}

fn is_json(head: &[u8]) -> bool {
    matches!(head.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// The opcode for the version of the protocol.
fn is_pickle(head: &[u8]) -> bool {
    matches!(head, [0x80, 2..=5, ..])
}

/// Packets are fields of number 1, whose own fields include a sequence or a clock.
fn is_perfetto(head: &[u8]) -> bool {
    let Some((0x0a, rest)) = head.split_first().map(|(first, rest)| (*first, rest)) else { return false };
    let Some((length, packet)) = varint(rest) else { return false };
    let Some((key, _)) = varint(packet) else { return false };
    let behind = usize::try_from(length).ok().and_then(|length| packet.get(length));
    // Timestamp, clocks, sequence id and flags, tracks and their data.
    let is_field = matches!(key >> 3, 6 | 8 | 10..=13 | 33 | 36 | 42 | 43 | 44 | 58..=60);
    is_field && behind.is_none_or(|&next| next == 0x0a)
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = bytes.iter().take(10).position(|byte| *byte < 0x80)?;
    let value = bytes[..=length].iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f));
    Some((value, &bytes[length + 1..]))
}
