//! The layouts of the traces that each tool writes, one dialect per module.
//!
//! To add a dialect: its module with a `READER`, its lines in this file, a fixture with a test, and its row in
//! `docs/reference`. A dialect of large JSON files (one that should be read as a stream) is a `Reader::Text` whose rows
//! go through a `DeserializeSeed`, as `rocprofiler_json` does.

/// Passes the declaration of every dialect to a macro: variant, label (stable: reports and JSON use it), description
/// and reader. The order is that of recognition. rocprofv3's databases have RPD's schema number and come first;
/// rocm-trace-lite's file states nothing and comes after RPD's.
macro_rules! with_dialects {
    ($then:ident) => {
        $then! {
            Rocprofiler: "rocprofv3-rocpd", "rocprofv3's rocpd database, schema 3.0.x", rocprofiler READER;
            Native: "rtl", "rtl's native layout", native READER;
            Rpd2: "rpd-2", "rocmProfileData, schema 2", rpd SECOND;
            Rpd3: "rpd-3", "rocmProfileData, schema 3", rpd THIRD;
            Nsys: "nsys-sqlite", "Nsight Systems' SQLite export", nsys READER;
            RocprofDatabase: "rocprof-db", "rocprof's database (before rocprofv3)", rocprof DATABASE;
            Lite: "rocm-trace-lite", "rocm-trace-lite's database", lite READER;
            RocprofilerJson: "rocprofv3-json", "rocprofv3's JSON", rocprofiler_json READER;
            RocprofJson: "rocprof-json", "rocprof's JSON (before rocprofv3)", rocprof JSON;
            RocprofCsv: "rocprof-csv", "rocprof's results.csv (before rocprofv3)", rocprof CSV;
            Roctracer: "roctracer-text", "roctracer's text files", rocprof TEXT;
            JaxJson: "xprof-json", "the JSON of JAX's profiler (XLA)", jax JSON;
            Xplane: "xplane", "planes of JAX's profiler (xplane.pb)", jax XPLANE;
            RocprofilerCsv: "rocprofv3-csv", "rocprofv3's CSV files", rocprofiler_csv READER;
            Kineto: "kineto-json", "torch.profiler's JSON (Kineto)", kineto READER;
            Rtg: "rtg-text", "RTG's HCC_PROFILE text", rtg READER;
        }
    };
}

/// The dialects in a sentence, for help texts.
pub const READABLE: &str = "rtl, rocm-trace-lite, RPD (schema 2 and 3), rocprofv3 (rocpd database, JSON or CSV), \
                            torch.profiler (JSON), JAX (trace.json or xplane.pb), Nsight Systems (SQLite export), rocprof \
                            (results.csv, .json or .db), roctracer (text) and RTG's HCC_PROFILE text";

/// The hint for a file that no dialect recognises.
pub(crate) const READABLE_HINT: &str = "rtl reads traces of rtl, rocm-trace-lite, RPD, rocprofv3 (.db, .json or .csv), \
                                        rocprof, roctracer, torch.profiler, JAX, Nsight Systems (SQLite export) and RTG's \
                                        HCC_PROFILE text";

mod chrome;
mod jax;
mod kind;
mod kineto;
mod lite;
mod live;
mod native;
mod nsys;
mod opaque_tables;
mod reader;
pub(crate) mod registry;
mod rocpd;
mod rocprof;
mod rocprofiler;
mod rocprofiler_csv;
mod rocprofiler_json;
mod rpd;
mod rtg;
mod run_name;

pub use kind::Dialect;
pub use live::{InFlight, LiveTrace};
pub(crate) use reader::Reader;
pub(crate) use rocpd::PreparedOps;
pub use rocpd::copy_type;
pub(crate) use run_name::run_of;
