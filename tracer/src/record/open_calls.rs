//! Calls that threads are in for long, as the file has them while it may be the last that is known of a process.
//!
//! A call has a row when it has returned, or when the recording ends. A process that hangs in one and is killed comes to
//! neither: so each publication says in metadata rows which calls are under way, in place of those that the one before said.

use std::time::{Duration, Instant};

use rtl_schema::layout::tags::OPEN_CALL;

use super::PERIOD;
use crate::calls::reader::{Open, Reader};
use crate::calls::sources;
use crate::clock;

/// So many have room in a publication beside all counts.
const MOST: usize = 16;

/// While there are any and nothing else happens the file is brought up to date so often, and says by it how long they have
/// taken.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Those that were there at least since the publication before this one.
pub(super) fn of(calls: &Reader) -> Vec<Open> {
    calls.open(clock::now() - PERIOD.as_nanos() as i64, MOST)
}

/// What is said of them.
#[derive(Debug)]
pub(super) struct OpenCalls {
    /// What the next publication says.
    pub(super) now: Vec<Open>,
    published: Vec<Open>,
    since: Instant,
}

impl Default for OpenCalls {
    fn default() -> Self {
        Self { now: Vec::new(), published: Vec::new(), since: Instant::now() }
    }
}

impl OpenCalls {
    /// Whether there is a reason for one.
    pub(super) fn are_news(&self) -> bool {
        self.now != self.published || !self.now.is_empty() && self.since.elapsed() >= HEARTBEAT
    }

    /// The file says what was shown.
    pub(super) fn publish(&mut self) {
        self.published.clone_from(&self.now);
        self.since = Instant::now();
    }

    /// Their rows.
    pub(super) fn closing(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.now.iter().map(|open| (OPEN_CALL, row(open)))
    }
}

fn row(&Open { tid, call }: &Open) -> String {
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
    row.to_string()
}

#[cfg(test)]
mod tests {
    use calls::{Function, Source};

    use super::*;
    use crate::calls::open::OpenCall;

    fn open(number: u64) -> Open {
        let function = Function::new(Source::Hsa, number as u16);
        Open { tid: u32::MAX, call: OpenCall { correlation: number, parent: 0, start: i64::MAX, function } }
    }

    fn said(open: &OpenCalls) -> Vec<i64> {
        let number = |(tag, row): (&str, String)| {
            assert_eq!(tag, "open_call");
            let row: serde_json::Value = serde_json::from_str(&row).unwrap();
            row["correlationId"].as_i64().unwrap()
        };
        open.closing().map(number).collect()
    }

    #[test]
    fn what_changes_is_news_and_what_stays_is_only_now_and_then() {
        let mut calls = OpenCalls::default();
        assert!(!calls.are_news());
        calls.now = vec![open(5), open(7)];
        assert!(calls.are_news());
        calls.publish();
        calls.now = vec![open(5), open(7)];
        assert!(!calls.are_news());
        assert_eq!(said(&calls), [5, 7]);
        calls.since = Instant::now().checked_sub(HEARTBEAT).unwrap();
        assert!(calls.are_news(), "they have taken longer by now");
        calls.now = vec![open(7)];
        calls.publish();
        assert_eq!(said(&calls), [7]);
        calls.now = Vec::new();
        assert!(calls.are_news(), "none of them is under way any more");
        calls.publish();
        calls.since = Instant::now().checked_sub(HEARTBEAT).unwrap();
        assert!(!calls.are_news());
    }

    #[test]
    fn as_many_as_are_told_have_room_in_a_publication_beside_the_counts() {
        let now = (0..MOST as u64).map(|_| open(u64::MAX >> 1)).collect();
        let calls = OpenCalls { now, ..OpenCalls::default() };
        // Of the longest name that there is.
        let longest = 60;
        let bytes: usize = calls.closing().map(|(tag, row)| tag.len() + row.len() + longest + 16).sum();
        assert!(bytes <= 6 << 10, "{bytes} of the 12 KiB that a publication has for all its rows");
    }
}
