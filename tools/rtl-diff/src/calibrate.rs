//! `rtl-diff calibrate`: measures how much the kernels of one build vary between runs.

use std::collections::BTreeMap;
use std::io::Write;

use cli::{Exit, Failure, Output};
use rtl_analysis::compare::{Noise, Run};

use crate::args::Calibrate;
use crate::settings::ReadOptions;
use crate::{input, noise};

/// Fewer runs show too little of how runs vary.
const MIN_RUNS: usize = 3;

pub(crate) fn run(arguments: &Calibrate, out: &mut Output) -> Result<Exit, Failure> {
    arguments.destination.write(&arguments.runs, out, |out| calibrate(arguments, out))
}

fn calibrate(arguments: &Calibrate, out: &mut Output) -> Result<Exit, Failure> {
    let options = ReadOptions::new(&arguments.reading)?;
    if options.work.is_some() {
        return Err(Failure::usage("kernels are calibrated, not operators, modules, categories or steps")
            .with_hint("leave out --by, or give `name` or `launch`"));
    }
    let files = input::distinct(&arguments.runs, arguments.console.quiet, out);
    let runs = input::read_side(&files, &options)?;
    if runs.len() < MIN_RUNS {
        return Err(Failure::input(anyhow::anyhow!("{} runs show too little of how runs vary", runs.len()))
            .with_hint("record the same build at least three times, better ten"));
    }
    out.write_all(noise::to_text(measure(&runs))?.as_bytes())?;
    Ok(Exit::Success)
}

fn measure(runs: &[input::Run]) -> Noise {
    let mut kernels: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        for kernel in &run.profile.kernels {
            // Collectives are compared by their transfers, so calibration measures those.
            let calls = match &kernel.waiting {
                Some(waiting) => &waiting.run,
                None if kernel.collective => continue,
                None => &kernel.run,
            };
            let all = kernels.entry(input::label(&kernel.name, kernel.launch.as_deref())).or_default();
            all.resize(at, Run::default());
            all.push(calls.clone());
        }
    }
    for all in kernels.values_mut() {
        all.resize(runs.len(), Run::default());
    }
    let kernels: Vec<(&str, &[Run])> =
        kernels.iter().map(|(name, runs)| (name.as_str(), runs.as_slice())).collect();
    Noise::calibrate(&kernels)
}
