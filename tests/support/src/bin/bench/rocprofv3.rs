//! What it costs to write rocprofv3's formats, beside reading the trace and copying what is written.

use std::ffi::OsString;

use anyhow::Result;

use crate::{Bench, Call, Figure, median};

/// Ops of the traces whose CPU time is asked for.
const OPS: u64 = 1_000_000;

/// A format, the name of what it writes, and the CPU seconds that a million ops must and should take.
struct Format {
    name: &'static str,
    output: &'static str,
    must: Option<f64>,
    aim: Option<f64>,
}

const FORMATS: [Format; 3] = [
    Format { name: "rocprofv3-json", output: "bench_results.json", must: Some(1.5), aim: Some(0.8) },
    Format { name: "rocprofv3-csv", output: "bench_set", must: None, aim: None },
    Format { name: "rocpd", output: "bench_results.db", must: Some(4.0), aim: Some(3.0) },
];

impl Bench {
    /// All formats on a million ops, with shuffled rows and with as many API calls, and their memory on ten million.
    pub(super) fn rocprofv3(&self) -> Result<Vec<Figure>> {
        let plain = ["--layout", "native", "--seed", "1"];
        let traces = [
            ("ops", "ordered", plain.to_vec()),
            ("shuffled ops", "shuffled", [&plain[..], &["--shuffle"]].concat()),
            ("ops and their calls", "called", [&plain[..], &["--api"]].concat()),
        ];
        let mut figures = Vec::new();
        for format in &FORMATS {
            for (what, name, flags) in &traces {
                let trace = self.generated(name, OPS, flags)?;
                let work = format!("rtl-convert of {OPS} {what} to {}", format.name);
                eprintln!("bench: {} rounds of {work}", self.rounds);
                let folder = tempfile::tempdir_in(&self.cache)?;
                let output = folder.path().join(format.output);
                let words: [OsString; 6] = [
                    trace.clone().into(),
                    "-o".into(),
                    output.into(),
                    "--force".into(),
                    "--format".into(),
                    format.name.into(),
                ];
                let convert = Call::new(self.summary.with_file_name("rtl-convert"), words);
                let peak = convert.peak_anonymous()? as f64 / f64::from(1 << 20);
                let copies = tempfile::tempdir_in(&self.cache)?;
                let all: [OsString; 3] = ["-r".into(), folder.path().into(), copies.path().into()];
                let (read, copy) = (self.ours(&trace), Call::new("cp", all));
                let mut costs = [const { Vec::new() }; 3];
                for _ in 0..self.rounds {
                    for (costs, call) in costs.iter_mut().zip([&read, &copy, &convert]) {
                        costs.push(call.cost(1)?.cpu);
                    }
                }
                let [read, copied, cost] = costs.map(median);
                // Only ops alone have figures that are asked for.
                let asked = |figure: Option<f64>| figure.filter(|_| *what != "ops and their calls");
                figures.push(Figure {
                    work: format!("{work}: CPU, beside rtl-summary and copying the output"),
                    floor: format!("{read:.2} s + {copied:.2} s"),
                    measured: format!("{cost:.2} s"),
                    value: cost,
                    must: asked(format.must),
                    aim: asked(format.aim),
                    unit: " s",
                });
                figures.push(memory(&work, peak, *what != "ops and their calls"));
            }
            figures.push(self.rocprofv3_memory(format)?);
        }
        Ok(figures)
    }

    fn rocprofv3_memory(&self, format: &Format) -> Result<Figure> {
        let ops = 10 * OPS;
        let trace = self.generated("ordered", ops, &["--layout", "native", "--seed", "1"])?;
        let folder = tempfile::tempdir_in(&self.cache)?;
        let output = folder.path().join(format.output);
        let words: [OsString; 5] =
            [trace.into(), "-o".into(), output.into(), "--format".into(), format.name.into()];
        let peak = Call::new(self.summary.with_file_name("rtl-convert"), words).peak_anonymous()?;
        let work = format!("rtl-convert of {ops} ops to {}", format.name);
        Ok(memory(&work, peak as f64 / f64::from(1 << 20), true))
    }
}

fn memory(work: &str, peak: f64, asked: bool) -> Figure {
    Figure {
        work: format!("{work}: peak anonymous memory"),
        floor: String::new(),
        measured: format!("{peak:.0} MiB"),
        value: peak,
        must: Some(150.0).filter(|_| asked),
        aim: Some(64.0).filter(|_| asked),
        unit: " MiB",
    }
}
