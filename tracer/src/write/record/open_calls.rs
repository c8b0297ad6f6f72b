//! Calls that threads have been in for a long time.

use std::time::Duration;

use rtl_schema::layout::tags::OPEN_CALL;

use crate::base::clock;
use crate::events::calls::record::Open;
use crate::events::calls::sources;
use crate::events::reader::Reader;

/// Calls that find room in a publication beside all counts.
const MOST: usize = 16;

/// Calls that have been open for at least `period`.
pub(super) fn open_for(period: Duration, reader: &Reader) -> Vec<Open> {
    reader.open_calls(clock::now() - period.as_nanos() as i64, MOST)
}

pub(super) fn row(&Open { tid, call }: &Open) -> (&'static str, String) {
    let row = serde_json::json!({
        "pid": std::process::id(),
        "tid": tid,
        "name": sources::name(call.function),
        "domain": call.function.source().map(sources::domain),
        "category": sources::category(call.function),
        "start": call.start,
        "correlationId": call.correlation,
        "parentId": call.parent,
    });
    (OPEN_CALL, row.to_string())
}

#[cfg(test)]
mod tests {
    use crate::base::call_interface::{Function, Source};

    use super::*;
    use crate::events::calls::open::OpenCall;

    #[test]
    fn as_many_as_are_told_have_room_in_a_publication_beside_the_counts() {
        let function = Function::new(Source::Hsa, u16::MAX);
        let call = OpenCall { correlation: u64::MAX >> 1, parent: 0, start: i64::MAX, function };
        let (tag, row) = row(&Open { tid: u32::MAX, call });
        // This is the length of the longest name.
        let longest = 60;
        let bytes = MOST * (tag.len() + row.len() + longest + 16);
        assert!(bytes <= 6 << 10, "{bytes} of the 16 KiB that a publication has for all its rows");
    }
}
