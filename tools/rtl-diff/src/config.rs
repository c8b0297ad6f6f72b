//! The shape of `rtl-diff.toml`. Flags take precedence over it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cli::{Exit, Failure};
use platform::regular;
use serde::Deserialize;

use crate::args::Thresholds;
use crate::quantity::Share;

const FILE: &str = "rtl-diff.toml";

/// The bytes of the largest settings file that is read.
const LARGEST: u64 = 16 << 20;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) gate: Thresholds,
    /// The first entry that matches a kernel counts.
    pub(crate) kernel: Vec<KernelTable>,
    /// Kernels that may fail for a while.
    pub(crate) allow: Vec<AllowTable>,
    /// Names in the baseline and in the candidate.
    pub(crate) rename: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KernelTable {
    /// A regular expression, searched in the name.
    #[serde(rename = "match")]
    pub(crate) pattern: String,
    /// The largest slowdown that passes.
    pub(crate) max: Share,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AllowTable {
    /// A regular expression, searched in the name.
    #[serde(rename = "match")]
    pub(crate) pattern: String,
    /// The last day on which the entry counts, `2027-01-31`.
    pub(crate) expires: String,
    pub(crate) reason: String,
}

impl Config {
    /// Reads the file that is `named`, else [`FILE`] if it exists; also returns its path.
    pub(crate) fn read(named: Option<&Path>) -> Result<(Self, Option<PathBuf>), Failure> {
        let path = match named {
            Some(path) => path,
            None if Path::new(FILE).is_file() => Path::new(FILE),
            None => return Ok((Self::default(), None)),
        };
        let unusable = |error: anyhow::Error| {
            Failure::new(Exit::Usage, error)
                .context(path.display().to_string())
                .with_hint("docs/guide/ci.md shows a settings file with every key")
        };
        let text = regular::read_text(path, LARGEST).map_err(|error| unusable(error.into()))?;
        let mut config: Self = toml::from_str(&text).map_err(|error| {
            let line =
                error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            unusable(anyhow::anyhow!("line {line}: {}", error.message()))
        })?;
        // A noise file is named relative to the settings file.
        if let (Some(noise), Some(folder)) = (&mut config.gate.noise, path.parent()) {
            *noise = folder.join(&*noise);
        }
        Ok((config, Some(path.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Inconclusive;
    use crate::quantity::{Duration, Points};

    #[test]
    fn a_whole_file_is_read() {
        let config: Config = toml::from_str(
            r##"
            [gate]
            kernel = "5%"
            idle = "2pp"
            min-change = "200ns"
            inconclusive = "fail"
            [[kernel]]
            match = "Cijk_.*"
            max = "8%"
            [[allow]]
            match = "my_new_kernel"
            expires = "2027-01-31"
            reason = "#123"
            [rename]
            "old" = "new"
            "##,
        )
        .expect("all keys are known");
        let gate = &config.gate;
        assert_eq!((gate.kernel, gate.idle), (Some(Share(0.05)), Some(Points(0.02))));
        assert_eq!((gate.min_change, gate.inconclusive), (Some(Duration(200.0)), Some(Inconclusive::Fail)));
        assert_eq!((config.kernel[0].max, config.allow[0].reason.as_str()), (Share(0.08), "#123"));
        assert_eq!(config.rename["old"], "new");
    }

    #[test]
    fn a_misspelt_key_is_an_error() {
        assert!(toml::from_str::<Config>("[gates]\nkernel = \"5%\"").is_err());
        assert!(toml::from_str::<Config>("[gate]\nkernel = 5").is_err());
    }
}
