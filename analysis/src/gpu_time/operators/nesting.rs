//! How the operators or Python frames of a thread nest: by time, as the thread executed them.

use std::cmp::Reverse;

use rtl_schema::ProcessId;
use rtl_schema::table::{Operators, PythonFrames};
use rustc_hash::FxHashMap;

use crate::base::first_use::{FirstUseMap, position_of};

/// Rows that a thread executes, one within the other.
pub(crate) trait Executed {
    fn rows(&self) -> usize;

    fn thread(&self, row: usize) -> ThreadKey;

    /// The start of a row in ns.
    fn start(&self, row: u32) -> i64;

    /// The end of a row in ns; its start where the end is unknown.
    fn end(&self, row: u32) -> i64;
}

macro_rules! executed {
    ($($Table:ident)*) => {
        $(impl Executed for $Table {
            fn rows(&self) -> usize {
                self.len()
            }

            fn thread(&self, row: usize) -> ThreadKey {
                (self.process.get(row), self.tid.get(row))
            }

            fn start(&self, row: u32) -> i64 {
                self.start[row as usize]
            }

            fn end(&self, row: u32) -> i64 {
                let length = self.duration.valid(row as usize).unwrap_or(0);
                self.start[row as usize].saturating_add(length)
            }
        })*
    };
}

executed! { Operators PythonFrames }

/// Stands for the absence of an operator.
pub(crate) const NONE: u32 = u32::MAX;

pub(crate) type ThreadKey = (ProcessId, Option<i64>);

/// The operators of a trace in the order in which each thread began them, and the one around each.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    /// Rows, thread by thread, by start; an operator comes before those that it calls.
    pub(crate) order: Vec<u32>,
    /// Indexed by row: the row of the operator around it, or [`NONE`].
    pub(crate) parent: Vec<u32>,
    /// The part of `order` of each thread.
    threads: FxHashMap<ThreadKey, (u32, u32)>,
}

impl Nesting {
    /// Operators without an end enclose nothing. One that begins within another belongs to it, even where it ends
    /// later: ends are rounded.
    pub(crate) fn of(operators: &impl Executed) -> Self {
        let rows = operators.rows();
        let mut nesting =
            Self { parent: vec![NONE; rows], order: Vec::with_capacity(rows), threads: FxHashMap::default() };
        let mut open: Vec<u32> = Vec::new();
        for (thread, mut of_thread) in by_thread(rows, |row| operators.thread(row)) {
            // Most sources have this order already.
            of_thread.sort_by_key(|&row| (operators.start(row), Reverse(operators.end(row)), row));
            open.clear();
            for &row in &of_thread {
                close(operators, &mut open, operators.start(row));
                nesting.parent[row as usize] = open.last().copied().unwrap_or(NONE);
                open.push(row);
            }
            let first = nesting.order.len() as u32;
            nesting.order.append(&mut of_thread);
            nesting.threads.insert(thread, (first, nesting.order.len() as u32));
        }
        nesting
    }

    /// The innermost operator at each of some moments of a thread, which come sorted; [`NONE`] where there is none.
    pub(crate) fn innermost(
        &self,
        operators: &impl Executed,
        thread: ThreadKey,
        moments: impl Iterator<Item = i64>,
        mut each: impl FnMut(u32),
    ) {
        let (first, last) = self.threads.get(&thread).copied().unwrap_or_default();
        let mut rows = self.order[first as usize..last as usize].iter().peekable();
        let mut open: Vec<u32> = Vec::new();
        for moment in moments {
            while let Some(&row) = rows.next_if(|&&row| operators.start(row) <= moment) {
                close(operators, &mut open, operators.start(row));
                open.push(row);
            }
            close(operators, &mut open, moment);
            each(open.last().copied().unwrap_or(NONE));
        }
    }
}

/// The rows of each thread in their order, threads by first use.
pub(crate) fn by_thread(
    rows: usize,
    thread: impl Fn(usize) -> ThreadKey,
) -> FirstUseMap<ThreadKey, Vec<u32>> {
    let mut threads: FirstUseMap<ThreadKey, Vec<u32>> = FirstUseMap::default();
    let mut last = (None, 0);
    for row in 0..rows {
        let key = thread(row);
        // Rows of one thread mostly follow each other.
        if last.0 != Some(key) {
            last = (Some(key), position_of(&mut threads, key));
        }
        threads[last.1].push(row as u32);
    }
    threads
}

/// Leaves the operators that have ended at `moment`.
fn close(operators: &impl Executed, open: &mut Vec<u32>, moment: i64) {
    while open.last().is_some_and(|&row| operators.end(row) <= moment) {
        open.pop();
    }
}
