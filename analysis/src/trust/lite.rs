//! A mode of recording that leaves kernels out.

use rtl_schema::TraceInfo;

use super::reason::{Reason, Trust};
use crate::trace::overview;

pub(super) fn reason(info: &TraceInfo) -> Option<Reason> {
    let reason = Reason::new("lite-mode", 1, 0, overview::lite_note(info)?.to_owned());
    // A mode that is not stated is no evidence that anything is missing.
    let trust = if info.mode.is_some() { Trust::Limited } else { Trust::Good };
    Some(Reason { trust, ..reason })
}
