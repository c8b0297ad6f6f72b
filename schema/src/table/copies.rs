use super::{Details, row};
use crate::{AgentId, Id, NameId, TrackId};

/// The direction of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Direction {
    /// Host memory to a GPU.
    HostToDevice,
    /// A GPU to host memory.
    DeviceToHost,
    /// Within one GPU or between two.
    DeviceToDevice,
    /// Host memory to host memory.
    HostToHost,
    /// A fill (memset): no source.
    Fill,
    /// Not stated.
    #[default]
    Unknown,
}

impl Direction {
    /// The label in reports: `host-to-device`.
    pub fn label(self) -> &'static str {
        match self {
            Self::HostToDevice => "host-to-device",
            Self::DeviceToHost => "device-to-host",
            Self::DeviceToDevice => "device-to-device",
            Self::HostToHost => "host-to-host",
            Self::Fill => "fill",
            Self::Unknown => "unknown",
        }
    }

    /// Reads any of the spellings in use: `CopyHostToDevice`, `CopyHostToDevice2D`,
    /// `MEMORY_COPY_HOST_TO_DEVICE`, `HostToDevice`, `hipMemcpyHostToDevice`, `FillBuffer`.
    pub fn parse(text: &str) -> Option<Self> {
        let plain: String = text.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
        [
            ("hosttodevice", Self::HostToDevice),
            ("devicetohost", Self::DeviceToHost),
            ("devicetodevice", Self::DeviceToDevice),
            ("hosttohost", Self::HostToHost),
            ("fillbuffer", Self::Fill),
            ("memset", Self::Fill),
            ("copy", Self::Unknown),
        ]
        .into_iter()
        .find_map(|(word, direction)| plain.contains(word).then_some(direction))
    }
}

row! {
    /// One memory copy or fill executed by an engine or a blit kernel of the runtime.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Copy {
        /// The id of the source.
        pub id: Id,
        /// The source's name for it.
        pub name: NameId,
        /// The track of the source GPU for device-to-host, else that of the destination.
        pub track: TrackId,
        /// Start in ns.
        pub start: i64,
        /// End minus start in ns: negative as stored, `None` where the end is missing.
        pub duration: Option<i64>,
        /// From where to where it copies, or that it fills.
        pub direction: Direction,
        /// Size in bytes, if known (copies of graph launches have none).
        pub bytes: Option<u64>,
        /// The agent read from.
        pub source: Option<AgentId>,
        /// The agent written to.
        pub destination: Option<AgentId>,
        /// Address read from.
        pub source_address: Option<u64>,
        /// Address written to.
        pub destination_address: Option<u64>,
        /// The thread that requested it, if known.
        pub tid: Option<i64>,
        /// Ties it to the call; 0 is unknown.
        pub correlation: Id,
        /// The id of the innermost range (roctxId); 0 is none.
        pub range: Id,
        /// The columns that our own formats pass on.
        pub details: Details,
    }
}

/// All copies of a trace, in the order of the source. Copies are few beside dispatches, so rows stay rows.
pub type Copies = Vec<Copy>;
