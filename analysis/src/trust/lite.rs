//! A mode of recording that leaves kernels out.

use rtl_schema::TraceInfo;

use super::reason::Reason;
use crate::trace::overview;

pub(super) fn reason(info: &TraceInfo) -> Option<Reason> {
    Some(Reason::new("lite-mode", 1, 0, overview::lite_note(info)?.to_owned()))
}
