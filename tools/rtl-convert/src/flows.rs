use schema::{Id, ProcessId, Tables};

/// The arrows from calls to what they launched: an op and a call of one space with the same correlation id.
#[derive(Debug, Default)]
pub struct Flows {
    /// Space and correlation id of every call, ascending.
    calls: Vec<(u32, Id)>,
    /// Which of them launched an op.
    launched: Vec<bool>,
}

impl Flows {
    /// The flows of these calls, which must come before any op.
    pub fn of(tables: &Tables) -> Self {
        let calls = &tables.api_calls;
        let mut keys: Vec<_> = (0..calls.len())
            .filter(|&row| calls.correlation.get(row) != 0)
            .map(|row| (tables.process(calls.process.get(row)).space, calls.correlation.get(row)))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let launched = vec![false; keys.len()];
        Self { calls: keys, launched }
    }

    /// The number of the flow that ends in an op, which has one from now on; 0 where no call has its id.
    #[inline]
    pub fn into_op(&mut self, process: ProcessId, correlation: Id, tables: &Tables) -> u32 {
        if correlation == 0 || self.calls.is_empty() {
            return 0;
        }
        let number = self.number(process, correlation, tables);
        if let Some(at) = number.checked_sub(1) {
            self.launched[at as usize] = true;
        }
        number
    }

    /// The number of the flow that may begin in a call; 0 is none.
    pub fn number(&self, process: ProcessId, correlation: Id, tables: &Tables) -> u32 {
        let key = (tables.process(process).space, correlation);
        self.calls.binary_search(&key).map_or(0, |at| at as u32 + 1)
    }

    /// Whether an op ends the flow.
    pub fn ends(&self, number: u32) -> bool {
        number.checked_sub(1).is_some_and(|at| self.launched[at as usize])
    }
}
