//! Flow arrows from calls to their ops: an op and a call of one correlation space with the same correlation id.

use std::ops::Range;

use rtl_schema::{Id, ProcessId, Tables};

/// The calls that ops may belong to, by number; 0 is none.
#[derive(Debug, Default)]
pub struct Flows {
    /// Space and correlation id of every call, ascending; number 1 is the first.
    calls: Vec<(u32, Id)>,
    /// The return of each call in ns; of several calls with one id, that of the first.
    returned: Vec<i64>,
    launched: Vec<u32>,
}

impl Flows {
    pub fn new(tables: &Tables) -> Self {
        let calls = &tables.api_calls;
        let call = |row: usize| {
            let key = (tables.process(calls.process.get(row)).space, calls.correlation.get(row));
            (key, calls.start[row], calls.duration.valid(row).unwrap_or(0))
        };
        let mut all: Vec<_> =
            (0..calls.len()).filter(|&row| calls.correlation.get(row) != 0).map(call).collect();
        all.sort_unstable();
        all.dedup_by_key(|(key, ..)| *key);
        let launched = vec![0; all.len()];
        let (calls, returned) =
            all.into_iter().map(|(key, start, duration)| (key, start.saturating_add(duration))).unzip();
        Self { calls, returned, launched }
    }

    /// The number of the calls with a correlation id; 0 is none.
    #[inline]
    pub fn number(&self, process: ProcessId, correlation: Id, tables: &Tables) -> u32 {
        if correlation == 0 || self.calls.is_empty() {
            return 0;
        }
        let key = (tables.process(process).space, correlation);
        self.calls.binary_search(&key).map_or(0, |at| at as u32 + 1)
    }

    #[inline]
    pub fn launch(&mut self, number: u32) {
        if let Some(at) = number.checked_sub(1) {
            self.launched[at as usize] += 1;
        }
    }

    pub fn arrows(self) -> Arrows {
        let mut next = 0_u32;
        let first = |&count: &u32| {
            let first = next;
            next = next.wrapping_add(count);
            first
        };
        let first = self.launched.iter().map(first).collect();
        Arrows {
            first,
            launched: self.launched,
            arrived: vec![None; self.calls.len()],
            returned: self.returned,
        }
    }
}

/// One end of an arrow, or of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// At a call, which launched these ops.
    Leaves {
        call: u32,
        ops: Range<u32>,
    },
    Arrives {
        call: u32,
        op: u32,
    },
}

/// The arrows while events are written in time order. An arrow points forward: an op that starts before its call,
/// because their clocks disagree, has none.
#[derive(Debug, Default)]
pub struct Arrows {
    /// By call.
    first: Vec<u32>,
    launched: Vec<u32>,
    /// By call; `None` before the call itself.
    arrived: Vec<Option<u32>>,
    returned: Vec<i64>,
}

impl Arrows {
    /// The arrows that leave a call. Of several calls with one correlation id, the first has them all.
    pub fn leaving(&mut self, number: u32) -> Option<End> {
        let at = number.checked_sub(1)? as usize;
        let (first, count) = (self.first[at], self.launched[at]);
        if count == 0 || self.arrived[at].is_some() {
            return None;
        }
        self.arrived[at] = Some(0);
        Some(End::Leaves { call: number, ops: first..first.wrapping_add(count) })
    }

    /// In ns.
    #[inline]
    pub fn returned(&self, number: u32) -> Option<i64> {
        self.returned.get(number.checked_sub(1)? as usize).copied()
    }

    pub fn arriving(&mut self, number: u32) -> Option<End> {
        let at = number.checked_sub(1)? as usize;
        let arrived = self.arrived[at].as_mut()?;
        *arrived += 1;
        Some(End::Arrives { call: number, op: self.first[at].wrapping_add(*arrived - 1) })
    }
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{ApiCall, Process};

    use super::*;

    fn arrows(launched: &[u32]) -> Arrows {
        let calls = (1..).map(|id| (0, id)).take(launched.len()).collect();
        Flows { calls, returned: vec![0; launched.len()], launched: launched.to_vec() }.arrows()
    }

    #[test]
    fn every_op_of_a_call_has_an_arrow_of_its_own() {
        let mut arrows = arrows(&[1, 2]);
        assert_eq!(arrows.leaving(2), Some(End::Leaves { call: 2, ops: 1..3 }));
        assert_eq!(arrows.arriving(2), Some(End::Arrives { call: 2, op: 1 }));
        assert_eq!(arrows.arriving(2), Some(End::Arrives { call: 2, op: 2 }));
    }

    #[test]
    fn an_op_before_its_call_has_no_arrow() {
        let mut arrows = arrows(&[1]);
        assert_eq!(arrows.arriving(1), None);
        assert!(arrows.leaving(1).is_some());
    }

    #[test]
    fn calls_of_one_id_share_what_they_launched() {
        let mut arrows = arrows(&[1]);
        assert!(arrows.leaving(1).is_some());
        assert_eq!(arrows.leaving(1), None);
        assert!(arrows.arriving(1).is_some());
    }

    #[test]
    fn of_calls_of_one_id_the_first_says_when_it_returned() {
        let mut tables = Tables { processes: vec![Process::default()], ..Tables::default() };
        for (start, duration, correlation) in [(50, Some(5), 7), (10, Some(20), 7), (40, None, 9)] {
            tables.api_calls.push(ApiCall { start, duration, correlation, ..ApiCall::default() });
        }
        let flows = Flows::new(&tables);
        let number = |correlation| flows.number(ProcessId(0), correlation, &tables);
        let (seven, nine, none) = (number(7), number(9), number(8));
        let arrows = flows.arrows();
        assert_eq!([seven, nine, none].map(|flow| arrows.returned(flow)), [Some(30), Some(40), None]);
    }

    #[test]
    fn what_launched_nothing_has_no_arrow() {
        let mut arrows = arrows(&[0]);
        assert_eq!([arrows.leaving(1), arrows.leaving(0), arrows.arriving(0)], [None, None, None]);
    }
}
