//! The clock of the file, and its relation to clocks of other machines.

/// One moment on two clocks, so that traces of several hosts can be laid side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    /// CLOCK_BOOTTIME in ns, as every time in the file.
    pub boottime: i64,
    /// CLOCK_REALTIME in ns since 1970.
    pub realtime: i64,
    /// The error of the pair in ns: the two clocks were read within this time.
    pub within: i64,
}

/// Both clocks are read this often, and the closest pair is taken.
const ATTEMPTS: usize = 4;

impl Anchor {
    #[must_use]
    pub fn now() -> Self {
        let read = |_| {
            let before = nanoseconds(libc::CLOCK_BOOTTIME);
            let realtime = nanoseconds(libc::CLOCK_REALTIME);
            let within = nanoseconds(libc::CLOCK_BOOTTIME) - before;
            Self { boottime: before + within / 2, realtime, within }
        };
        (0..ATTEMPTS).map(read).min_by_key(|anchor| anchor.within).unwrap_or_default()
    }

    /// The text of the metadata row.
    #[must_use]
    pub fn json(&self) -> String {
        let Self { boottime, realtime, within } = self;
        format!(r#"{{"boottime":{boottime},"realtime":{realtime},"within":{within}}}"#)
    }
}

/// CLOCK_BOOTTIME in ns.
#[inline]
#[must_use]
pub fn now() -> i64 {
    nanoseconds(libc::CLOCK_BOOTTIME)
}

/// CPU time of the calling thread in ns.
#[must_use]
pub fn thread_cpu() -> u64 {
    nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID).unsigned_abs()
}

/// CPU time of the process in ns.
#[must_use]
pub fn process_cpu() -> u64 {
    nanoseconds(libc::CLOCK_PROCESS_CPUTIME_ID).unsigned_abs()
}

#[expect(unsafe_code, reason = "calls libc")]
fn nanoseconds(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes `time` only; all of these clocks exist since Linux 2.6.39.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_go_on_together() {
        let first = Anchor::now();
        let second = Anchor::now();
        assert!(first.within >= 0 && first.boottime <= second.boottime);
        assert!(first.realtime > 1_700_000_000_000_000_000);
        let json = Anchor { boottime: 5, realtime: 6, within: 7 }.json();
        assert_eq!(json, r#"{"boottime":5,"realtime":6,"within":7}"#);
    }
}
