//! `rtl-diff calibrate`: what runs of one build differ by, and the file that keeps it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use cli::{Exit, Failure, Output, Progress};
use rtl_analysis::compare::noise::KernelNoise;
use rtl_analysis::compare::spread::VarianceEstimate;
use rtl_analysis::compare::{Noise, Run};
use serde::{Deserialize, Serialize};

use crate::args::Calibrate;
use crate::export;
use crate::input;
use crate::settings::Manner;

/// The name and version of the file.
const SCHEMA: &str = "rtl-diff-noise/1";

/// Fewer runs say too little of how runs differ.
const LEAST: usize = 3;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoiseFile {
    schema: String,
    /// From how many runs.
    runs: usize,
    shared: Shift,
    #[serde(default)]
    kernel: Vec<KernelEntry>,
}

/// Variance of ln(trimmed mean) of one run, and its degrees of freedom.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shift {
    variance: f64,
    freedom: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelEntry {
    name: String,
    variance: f64,
    freedom: f64,
    /// What calls within a run explain of it.
    within: f64,
}

/// Reads the runs and writes what they differ by.
///
/// # Errors
/// Where a run cannot be read, there are too few, or the file cannot be written.
pub fn run(arguments: &Calibrate, out: &mut Output) -> Result<Exit, Failure> {
    let manner = Manner::of(&arguments.reading)?;
    let progress = Progress::new("reading", 0, arguments.console.quiet);
    let runs = input::side(&arguments.runs, &manner, &progress)?;
    drop(progress);
    if runs.len() < LEAST {
        return Err(Failure::input(anyhow::anyhow!("{} runs say too little of how runs differ", runs.len()))
            .with_hint("record the same build at least three times, better ten"));
    }
    let noise = learn(&runs);
    let text = text(&noise)?;
    match &arguments.output {
        None => out.write_all(text.as_bytes())?,
        Some(path) => export::replace(path, text.as_bytes(), &arguments.runs)?,
    }
    Ok(Exit::Success)
}

fn learn(runs: &[input::Run]) -> Noise {
    let mut kernels: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        for kernel in &run.profile.kernels {
            // Of collectives what is compared, too: without the waits.
            let known = match &kernel.waiting {
                Some(waiting) => &waiting.run,
                None if kernel.collective => continue,
                None => &kernel.run,
            };
            let launch = kernel.launch.as_ref().map(|launch| format!(" [{launch}]")).unwrap_or_default();
            let all = kernels.entry(format!("{}{launch}", kernel.name)).or_default();
            all.resize(at, Run::default());
            all.push(known.clone());
        }
    }
    for all in kernels.values_mut() {
        all.resize(runs.len(), Run::default());
    }
    let kernels: Vec<(&str, &[Run])> =
        kernels.iter().map(|(name, runs)| (name.as_str(), runs.as_slice())).collect();
    Noise::calibrate(&kernels)
}

fn text(noise: &Noise) -> Result<String, Failure> {
    let file = NoiseFile {
        schema: SCHEMA.to_owned(),
        runs: noise.runs,
        shared: Shift { variance: noise.shared.variance, freedom: noise.shared.freedom },
        kernel: noise
            .kernels
            .iter()
            .map(|kernel| KernelEntry {
                name: kernel.name.clone(),
                variance: kernel.own.variance,
                freedom: kernel.own.freedom,
                within: kernel.within,
            })
            .collect(),
    };
    Ok(toml::to_string(&file)?)
}

/// Reads what [`run`] wrote.
///
/// # Errors
/// Where the file cannot be read or is no such file.
pub fn read(path: &Path) -> Result<Noise, Failure> {
    let unusable = |error: anyhow::Error| {
        Failure::input(error)
            .context(format!("{}: no noise floor", path.display()))
            .with_hint("write one with `rtl-diff calibrate RUN... -o noise.toml`")
    };
    let text = std::fs::read_to_string(path).map_err(|error| unusable(error.into()))?;
    let file: NoiseFile =
        toml::from_str(&text).map_err(|error| unusable(anyhow::anyhow!("{}", error.message())))?;
    if file.schema != SCHEMA {
        return Err(unusable(anyhow::anyhow!("its schema is {}, not {SCHEMA}", file.schema)));
    }
    Ok(Noise {
        runs: file.runs,
        shared: VarianceEstimate { variance: file.shared.variance, freedom: file.shared.freedom },
        kernels: file
            .kernel
            .into_iter()
            .map(|kernel| KernelNoise {
                name: kernel.name,
                own: VarianceEstimate { variance: kernel.variance, freedom: kernel.freedom },
                within: kernel.within,
            })
            .collect(),
    })
}
