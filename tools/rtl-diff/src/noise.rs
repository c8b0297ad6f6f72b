//! The noise file `rtl-diff-noise/1`, in which `calibrate` saves how much the kernels of one build vary between runs.

use std::path::Path;

use cli::Failure;
use platform::regular;
use rtl_analysis::compare::Noise;
use rtl_analysis::compare::noise::KernelNoise;
use rtl_analysis::compare::spread::VarianceEstimate;
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "rtl-diff-noise/1";

/// The bytes of the largest noise file that is read: hundreds of thousands of kernels.
const LARGEST: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoiseFile {
    schema: String,
    /// The number of runs that were measured.
    runs: usize,
    shared: VarianceEstimate,
    #[serde(default)]
    kernel: Vec<KernelNoise>,
}

pub(crate) fn to_text(noise: Noise) -> Result<String, toml::ser::Error> {
    let Noise { runs, shared, kernels: kernel } = noise;
    toml::to_string(&NoiseFile { schema: SCHEMA.to_owned(), runs, shared, kernel })
}

pub(crate) fn read(path: &Path) -> Result<Noise, Failure> {
    let unusable = |error: anyhow::Error| {
        Failure::input(error)
            .context(format!("{}: not a noise file", path.display()))
            .with_hint("write one with `rtl-diff calibrate RUN... -o noise.toml`")
    };
    let text = regular::read_text(path, LARGEST).map_err(|error| unusable(error.into()))?;
    let file: NoiseFile =
        toml::from_str(&text).map_err(|error| unusable(anyhow::anyhow!("{}", error.message())))?;
    if file.schema != SCHEMA {
        return Err(unusable(anyhow::anyhow!("its schema is {}, not {SCHEMA}", file.schema)));
    }
    Ok(Noise { runs: file.runs, shared: file.shared, kernels: file.kernel })
}
