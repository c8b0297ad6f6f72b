//! A recording of hardware counters, for which recorders of ROCm let kernels run one at a time.

use rtl_schema::TraceInfo;

use super::reason::Reason;

pub(super) fn reason(info: &TraceInfo) -> Option<Reason> {
    let sentence = "hardware counters were collected, so kernels ran one at a time";
    info.counters.then(|| Reason::new("counters", 1, 0, sentence.to_owned()))
}
