//! How the operators of a thread nest: by time, as the thread executed them.

use std::cmp::Reverse;

use rtl_schema::ProcessId;
use rtl_schema::table::Operators;
use rustc_hash::FxHashMap;

/// No operator.
pub(crate) const NONE: u32 = u32::MAX;

/// A thread of a process.
pub(crate) type ThreadKey = (ProcessId, Option<i64>);

/// The operators of a trace in the order in which each thread began them, and the one around each.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    /// Rows, thread by thread, by start; an operator comes before those that it calls.
    pub(crate) order: Vec<u32>,
    /// By row, the row of the operator around it, or [`NONE`].
    pub(crate) parent: Vec<u32>,
    /// The part of `order` of each thread.
    threads: FxHashMap<ThreadKey, (u32, u32)>,
}

impl Nesting {
    /// Operators without an end enclose nothing. One that begins within another belongs to it, even where it ends
    /// later: ends are rounded.
    pub(crate) fn of(operators: &Operators) -> Self {
        let rows = operators.len() as u32;
        let thread = |row: u32| thread_of(operators, row);
        let mut order: Vec<u32> = (0..rows).collect();
        let begins =
            |row: u32| (thread(row), operators.start[row as usize], Reverse(end(operators, row)), row);
        // Rows mostly are in this order already.
        order.sort_by_key(|&row| begins(row));
        let mut nesting = Self { parent: vec![NONE; rows as usize], ..Self::default() };
        let mut open: Vec<u32> = Vec::new();
        let mut first = 0;
        for at in 0..order.len() {
            let row = order[at];
            if at > 0 && thread(order[at - 1]) != thread(row) {
                nesting.threads.insert(thread(order[at - 1]), (first, at as u32));
                first = at as u32;
                open.clear();
            }
            close(operators, &mut open, operators.start[row as usize]);
            nesting.parent[row as usize] = open.last().copied().unwrap_or(NONE);
            open.push(row);
        }
        if let Some(&last) = order.last() {
            nesting.threads.insert(thread(last), (first, rows));
        }
        nesting.order = order;
        nesting
    }

    /// The innermost operator at each of some moments of a thread, which come sorted; [`NONE`] where there is none.
    pub(crate) fn innermost(
        &self,
        operators: &Operators,
        thread: ThreadKey,
        moments: impl Iterator<Item = i64>,
        mut each: impl FnMut(u32),
    ) {
        let (first, last) = self.threads.get(&thread).copied().unwrap_or_default();
        let mut rows = self.order[first as usize..last as usize].iter().peekable();
        let mut open: Vec<u32> = Vec::new();
        for moment in moments {
            while let Some(&row) = rows.next_if(|&&row| operators.start[row as usize] <= moment) {
                close(operators, &mut open, operators.start[row as usize]);
                open.push(row);
            }
            close(operators, &mut open, moment);
            each(open.last().copied().unwrap_or(NONE));
        }
    }
}

fn thread_of(operators: &Operators, row: u32) -> ThreadKey {
    (operators.process.get(row as usize), operators.tid.get(row as usize))
}

fn end(operators: &Operators, row: u32) -> i64 {
    let length = operators.duration.valid(row as usize).unwrap_or(0);
    operators.start[row as usize].saturating_add(length)
}

/// Leaves the operators that have ended at `moment`.
fn close(operators: &Operators, open: &mut Vec<u32>, moment: i64) {
    while open.last().is_some_and(|&row| end(operators, row) <= moment) {
        open.pop();
    }
}
