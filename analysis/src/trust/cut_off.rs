//! A file without the end of the work.

use rtl_schema::TraceInfo;

use super::reason::Reason;

pub(super) fn reason(info: &TraceInfo) -> Option<Reason> {
    Some(Reason::new("cut-off", 1, 0, info.cut_off()?.to_owned()))
}
