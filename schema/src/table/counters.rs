use super::row;
use crate::{AgentId, Id, NameId, ProcessId, Strings};

row! {
    /// A hardware counter's value for one dispatch; several rows of one name are its instances and add up.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Counter {
        /// The dispatch's id of the source.
        pub dispatch: Id,
        /// The process that the ids belong to.
        pub process: ProcessId,
        /// The agent it was read on.
        pub agent: Option<AgentId>,
        /// The counter's name.
        pub name: NameId,
        /// In the unit of the counter, as the source states it.
        pub value: f64,
    }
}

/// All counter values of a trace.
pub type Counters = Vec<Counter>;

row! {
    /// A sampled quantity that held from `start` to `end` (clock, power; RPD's `rocpd_monitor`).
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Monitor {
        /// The id of the source.
        pub id: Id,
        /// The kind of the sampled device, e.g. `gpu`.
        pub device_kind: NameId,
        /// The source's number of the device.
        pub device: i64,
        /// The quantity, e.g. `sclk`.
        pub name: NameId,
        /// Start in ns.
        pub start: i64,
        /// End in ns.
        pub end: i64,
        /// The value as stored text.
        pub value: NameId,
    }
}

impl Monitor {
    /// True where [`Monitor::device`] counts GPUs.
    #[must_use]
    pub fn is_gpu(&self, strings: &Strings) -> bool {
        self.device_kind.is_some() && strings.get(self.device_kind).eq_ignore_ascii_case("gpu")
    }
}

row! {
    /// One frame of the call stack of an API call.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct StackFrame {
        /// The call's id of the source.
        pub call: Id,
        /// 0 is the innermost.
        pub depth: i64,
        /// The frame's text.
        pub name: NameId,
    }
}
