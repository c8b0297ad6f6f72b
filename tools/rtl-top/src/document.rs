//! The JSON of `--once --format json`, and what text and screen show.

use rtl_analysis::live::State;
use serde::{Deserialize, Serialize};

/// The name and version of the document.
pub const SCHEMA: &str = "rtl-top/1";

/// The document.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// By rank, then by path.
    pub recordings: Vec<Recording>,
}

/// A recording.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Recording {
    /// The file.
    pub path: String,
    /// Whether it grows.
    pub phase: Phase,
    /// The process.
    pub pid: Option<i64>,
    /// Its rank in the distributed job.
    pub rank: Option<u32>,
    /// Its host.
    pub host: Option<String>,
    /// Its command line.
    pub command: Option<String>,
    /// From the start of the recording to the end of the last moments in ns.
    pub recorded_ns: Option<i64>,
    /// Its figures.
    #[serde(flatten)]
    pub state: State,
}

/// Whether a recording grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Its process records, as far as is known.
    #[default]
    Recording,
    /// Its recorder has ended properly.
    Ended,
    /// Its process is gone, and its recorder has not ended properly.
    Stopped,
}

impl Phase {
    /// In words.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Recording => "recording",
            Self::Ended => "ended",
            Self::Stopped => "stopped: its process is gone",
        }
    }
}
