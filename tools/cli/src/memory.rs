//! The bound on memory. A thread looks at what this process takes, and ends it with a message before the machine suffers: what grows
//! with a trace is in many places, some of them in libraries.

use std::io::Write;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use platform::memory::{available, taken};

use crate::{Exit, Failure, units};

/// Less than this is no limit: a tool takes it for itself.
const LEAST: u64 = 32 << 20;

/// More than a process can fill in a second.
const FASTEST: u64 = 8 << 30;

const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(100)];

/// The limit on a system that does not state its memory.
const UNKNOWN: u64 = u64::MAX;

static LIMIT: OnceLock<u64> = OnceLock::new();

/// Sets the limit, before anything asks for it.
pub(crate) fn set_limit(bytes: u64) {
    let _ = LIMIT.set(bytes.max(LEAST));
}

/// The bytes of memory that this process may take: those of `--max-memory`, else a quarter of what the machine or the control group
/// of this process has. `None` where neither is known.
pub fn limit() -> Option<u64> {
    let default = || available().map_or(UNKNOWN, |bytes| (bytes / 4).max(LEAST));
    Some(*LIMIT.get_or_init(default)).filter(|&limit| limit != UNKNOWN)
}

/// Ends this process from now on when it takes more than the limit. Without a thread there is no limit.
pub(crate) fn watch(name: String) {
    let Some(limit) = limit() else { return };
    let watch = move || {
        while let Some(taken) = taken() {
            let Some(left) = limit.checked_sub(taken) else { end(&name, limit) };
            let pause = Duration::from_secs_f64(left as f64 / FASTEST as f64);
            thread::sleep(pause.clamp(PAUSES[0], PAUSES[1]));
        }
    };
    let _ = thread::Builder::new().name("memory".to_owned()).stack_size(1 << 17).spawn(watch);
}

fn end(name: &str, limit: u64) -> ! {
    let failure = failure(limit, available());
    // No channel is left to report an error on.
    let _ = std::io::stderr().write_all(failure.lines(name).as_bytes());
    atomic_file::exit(Exit::Input.code())
}

fn failure(limit: u64, available: Option<u64>) -> Failure {
    let failure = Failure::input(anyhow::anyhow!("more than {} of memory are needed", units::bytes(limit)));
    let failure = match rtl_schema::last_opened() {
        Some(path) => failure.context(path.display().to_string()),
        None => failure,
    };
    let enough = available.is_none_or(|available| limit < available);
    let more = limit.saturating_mul(2).min(available.unwrap_or(u64::MAX));
    failure.with_hint(match enough {
        true => format!("--max-memory {} allows more", flag_value(more)),
        false => "this machine has no more; a part of the trace needs less".to_owned(),
    })
}

/// Bytes as `--max-memory` takes them, rounded up.
fn flag_value(bytes: u64) -> String {
    match bytes {
        0..0x4000_0000 => format!("{}M", bytes.div_ceil(1 << 20)),
        _ => format!("{}G", bytes.div_ceil(1 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_a_flag_that_allows_more_as_long_as_the_machine_has_it() {
        let hint = |limit, available| failure(limit, available).hint().map(str::to_owned);
        let gib = 1 << 30;
        assert_eq!(hint(100 << 20, Some(16 * gib)), Some("--max-memory 200M allows more".to_owned()));
        assert_eq!(hint(6 * gib, Some(8 * gib)), Some("--max-memory 8G allows more".to_owned()));
        assert_eq!(hint(gib + 5, None), Some("--max-memory 3G allows more".to_owned()));
        assert!(hint(8 * gib, Some(8 * gib)).unwrap().contains("a part of the trace"));
        assert_eq!(units::parse_bytes(&flag_value(gib + 5)), Ok(2 * gib));
    }
}
