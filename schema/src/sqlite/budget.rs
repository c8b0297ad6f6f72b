//! Bounds on the work of SQLite's library, relative to the size of the file: a trace is someone else's file, and its views
//! and generated columns are programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, Row};

/// Instructions of the virtual machine between two checks.
const INTERVAL: u16 = 1000;
/// Instructions that a statement may take on any file, and for each byte of it. A row of 20 bytes with 24 columns, one of
/// them generated, takes about 70.
const STEPS: u64 = 2_000_000;
const STEPS_PER_BYTE: u64 = 32;
/// Bytes of text that a statement may return for any file, and for each byte of it.
const TEXT: u64 = 1 << 20;
const TEXT_PER_BYTE: u64 = 4;
/// The shortest limit on a value: generated columns compute more than a small file has.
const MIN_VALUE: u64 = 64 << 10;
/// Functions whose cost is that of reading their arguments.
const CHEAP: [&str; 20] = [
    "abs",
    "avg",
    "coalesce",
    "count",
    "if",
    "ifnull",
    "iif",
    "json_extract",
    "length",
    "lower",
    "max",
    "min",
    "nullif",
    "round",
    "substr",
    "substring",
    "sum",
    "total",
    "typeof",
    "upper",
];
/// Functions of rtl's own generated columns. The limit on values bounds each call, and the text of the result all of them.
const FORMATTING: [&str; 2] = ["format", "printf"];

/// The instructions and text that one statement may still spend.
#[derive(Debug)]
pub(super) struct Budget {
    steps: u64,
    left: Arc<AtomicU64>,
    is_denied: Arc<AtomicBool>,
    text: u64,
}

/// A statement returned more text than its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exceeded;

impl Budget {
    /// Bounds all statements of `connection` by the size of its file in bytes.
    pub(super) fn impose(connection: &mut Connection, size: u64) -> rusqlite::Result<Self> {
        let steps = size.saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS);
        let left = Arc::new(AtomicU64::new(steps));
        let value = i32::try_from(size.max(MIN_VALUE)).unwrap_or(i32::MAX);
        // The library lowers what exceeds its own limit.
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, value)?;
        let counter = Arc::clone(&left);
        let count = move || {
            let left = counter.load(Ordering::Relaxed);
            counter.store(left.saturating_sub(u64::from(INTERVAL)), Ordering::Relaxed);
            left == 0
        };
        connection.progress_handler(i32::from(INTERVAL), Some(count))?;
        let is_denied = Arc::new(AtomicBool::new(false));
        let denied = Arc::clone(&is_denied);
        let authorize = move |context: AuthContext<'_>| {
            if is_allowed(context) {
                return Authorization::Allow;
            }
            denied.store(true, Ordering::Relaxed);
            Authorization::Deny
        };
        connection.authorizer(Some(authorize))?;
        Ok(Self { steps, left, is_denied, text: size.saturating_mul(TEXT_PER_BYTE).saturating_add(TEXT) })
    }

    /// Renews the budget for another statement.
    pub(super) fn start(&self) -> TextBudget {
        self.left.store(self.steps, Ordering::Relaxed);
        self.is_denied.store(false, Ordering::Relaxed);
        TextBudget(self.text)
    }

    /// True if the statement asked for a function or recursion that is denied.
    pub(super) fn is_denied(&self) -> bool {
        self.is_denied.load(Ordering::Relaxed)
    }
}

/// The text that a statement may still return.
#[derive(Debug)]
pub(super) struct TextBudget(u64);

impl TextBudget {
    /// Takes the text of a row.
    pub(super) fn take(&mut self, row: &Row<'_>, columns: usize) -> Result<(), Exceeded> {
        for column in 0..columns {
            let bytes = row.get_ref(column).ok().and_then(|value| value.as_bytes().ok()).unwrap_or_default();
            self.0 = self.0.checked_sub(bytes.len() as u64).ok_or(Exceeded)?;
        }
        Ok(())
    }
}

/// Views may join, rename and aggregate. Recursion and functions that make much of little are denied.
fn is_allowed(context: AuthContext<'_>) -> bool {
    match context.action {
        AuthAction::Recursive => false,
        AuthAction::Function { function_name } => {
            let is_one_of =
                |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(function_name));
            is_one_of(&CHEAP) || context.accessor.is_none() && is_one_of(&FORMATTING)
        }
        _ => true,
    }
}
