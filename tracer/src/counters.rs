//! What became of every dispatch that the application queued.
//!
//! Each is counted as seen when it is submitted and exactly once more: as recorded, as lost for one reason, or as
//! skipped for one reason. At any other moment the difference is what is still on its way.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Declares an enum of reasons with the tag that each has in the file.
macro_rules! reasons {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $reason:ident = $tag:literal, $description:literal;)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$what])* $reason,)+ }

        impl $name {
            /// Every reason, in the order in which they are written.
            pub const ALL: &[Self] = &[$(Self::$reason,)+];

            /// The tag of its metadata row (docs/reference/native.md).
            #[must_use]
            pub const fn tag(self) -> &'static str {
                match self { $(Self::$reason => $tag,)+ }
            }

            /// What a user is told of these dispatches.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self { $(Self::$reason => $description,)+ }
            }
        }
    };
}

reasons! {
    /// Why a dispatch that should be in the file is not.
    Lost {
        /// The recorder was so far behind that every slot was taken, or the runtime made no more signals: the packet
        /// went through as it was.
        Behind = "lost:behind", "while the recorder was behind";
        /// The GPU's times were missing, inverted or could not be translated.
        Times = "lost:times", "without valid times";
        /// Its own completion signal was used again or destroyed before the times could be read.
        Reused = "lost:reused", "whose signal was used again";
        /// It had not completed when its queue was destroyed.
        QueueDestroyed = "lost:queue_destroyed", "unfinished when their queue was destroyed";
        /// It had not completed when the recording ended.
        Unfinished = "lost:unfinished", "still running at the end";
        /// It was submitted after the recording had ended.
        Ended = "lost:ended", "after the end of the recording";
        /// Of calls: a signal handler made it while its thread was at another one, or a thread at its very end.
        Interrupted = "lost:interrupted", "in signal handlers or at the very end of threads";
        /// It completed, but the time allowed for writing at the end of the process was over.
        Unwritten = "lost:unwritten", "not written in time";
        /// The file could not be written: no space, no permission, an error of the disk.
        Write = "lost:write", "that could not be written";
        /// The file had reached RTL_MAX_SIZE.
        Full = "lost:full", "beyond RTL_MAX_SIZE";
        /// The tracer itself failed and had switched itself off.
        Failure = "lost:failure", "after a failure of the tracer";
    }
}

reasons! {
    /// Why a dispatch was left out on purpose.
    Skipped {
        /// Mode lite leaves kernels alone that carry a completion signal.
        Signal = "skipped:completion_signal", "with a completion signal";
        /// A batch that this runtime might not survive with a tool in between (docs/guide/modes.md).
        Batch = "skipped:batch", "in large batches";
        /// Recording was paused when it was submitted.
        Paused = "skipped:paused", "while recording was paused";
        /// Of calls: the program that gets the records does not want them.
        Unwanted = "skipped:unwanted", "that nobody wanted";
    }
}

reasons! {
    /// Why a range or a marker is not in the file.
    LostRange {
        /// The recorder was so far behind that the thread's ring was full.
        Behind = "ranges_lost:behind", "while the recorder was behind";
        /// Too many were open at once, or too many threads had any (docs/guide/ranges.md).
        Bounds = "ranges_lost:bounds", "beyond the bounds of what is kept track of";
        /// A signal handler used them while its thread was at it, or a thread that was at its very end.
        Elsewhere = "ranges_lost:interrupted", "in signal handlers or at the very end of threads";
        /// They began after the recording had ended.
        Ended = "ranges_lost:ended", "after the end of the recording";
        /// The time allowed for writing at the end of the process was over.
        Unwritten = "ranges_lost:unwritten", "not written in time";
        /// The file could not be written.
        Write = "ranges_lost:write", "that could not be written";
        /// The file had reached RTL_MAX_SIZE.
        Full = "ranges_lost:full", "beyond RTL_MAX_SIZE";
        /// The tracer itself failed and had switched itself off.
        Failure = "ranges_lost:failure", "after a failure of the tracer";
        /// Recording was paused when they began.
        Paused = "ranges_skipped:paused", "while recording was paused";
    }
}

/// What became of ranges and markers.
#[derive(Debug, Default)]
pub struct RangeCounters {
    recorded: AtomicU64,
    unnamed: AtomicU64,
    lost: [AtomicU64; LostRange::ALL.len()],
}

/// What threads of the application could not hand over, until a recorder takes note of it.
pub static UNHANDED: RangeCounters = RangeCounters {
    recorded: AtomicU64::new(0),
    unnamed: AtomicU64::new(0),
    lost: [const { AtomicU64::new(0) }; LostRange::ALL.len()],
};

impl RangeCounters {
    /// Counts some that are in the file.
    pub fn record(&self, count: u64) {
        self.recorded.fetch_add(count, Relaxed);
    }

    /// Counts one whose text is not in the file.
    pub fn leave_unnamed(&self) {
        self.unnamed.fetch_add(1, Relaxed);
    }

    /// Counts some that will never be in the file.
    pub fn lose(&self, why: LostRange, count: u64) {
        self.lost[why as usize].fetch_add(count, Relaxed);
    }

    /// What was in the file is not: all of it is lost.
    pub fn lose_recorded(&self, why: LostRange) {
        self.lose(why, self.recorded.swap(0, Relaxed));
    }

    /// Takes over what `other` has counted as lost.
    pub fn take_over(&self, other: &Self) {
        for (ours, theirs) in self.lost.iter().zip(&other.lost) {
            ours.fetch_add(theirs.swap(0, Relaxed), Relaxed);
        }
    }

    /// In the child of a fork: what was lost is its parent's.
    pub fn forget(&self) {
        self.lost.iter().for_each(|lost| lost.store(0, Relaxed));
    }

    /// Those in the file.
    pub fn recorded(&self) -> u64 {
        self.recorded.load(Relaxed)
    }

    /// Those left out because recording was paused.
    pub fn paused(&self) -> u64 {
        self.lost[LostRange::Paused as usize].load(Relaxed)
    }

    /// The counts that are not 0, with the tags that they have in the file.
    pub fn rows(&self) -> Vec<(&'static str, u64)> {
        let lost = LostRange::ALL.iter().map(|&why| (why.tag(), &self.lost[why as usize]));
        let all = [("ranges_recorded", &self.recorded), ("ranges_unnamed", &self.unnamed)];
        let all = all.into_iter().chain(lost).map(|(tag, count)| (tag, count.load(Relaxed)));
        all.filter(|&(_, count)| count > 0).collect()
    }

    /// Those lost, by reason, without the reasons that never occurred.
    pub fn lost(&self) -> Vec<(LostRange, u64)> {
        let lost = LostRange::ALL.iter().map(|&why| (why, self.lost[why as usize].load(Relaxed)));
        lost.filter(|&(why, count)| count > 0 && why != LostRange::Paused).collect()
    }
}

impl From<Lost> for LostRange {
    /// What ended the recording of dispatches ended that of ranges.
    fn from(why: Lost) -> Self {
        match why {
            Lost::Write => Self::Write,
            Lost::Full => Self::Full,
            Lost::Unwritten => Self::Unwritten,
            Lost::Ended => Self::Ended,
            Lost::Behind => Self::Behind,
            _ => Self::Failure,
        }
    }
}

/// One set per process.
#[derive(Debug, Default)]
pub struct Counters {
    seen: AtomicU64,
    recorded: AtomicU64,
    lost: [AtomicU64; Lost::ALL.len()],
    skipped: [AtomicU64; Skipped::ALL.len()],
}

impl Counters {
    /// Counts `count` dispatches as seen; how many there were before them.
    pub fn see(&self, count: u64) -> u64 {
        self.seen.fetch_add(count, Relaxed)
    }

    /// Counts dispatches that are in the file.
    pub fn record(&self, count: u64) {
        self.recorded.fetch_add(count, Relaxed);
    }

    /// Counts dispatches that will never be in the file.
    pub fn lose(&self, why: Lost, count: u64) {
        self.lost[why as usize].fetch_add(count, Relaxed);
    }

    /// What was in the file is not: all of it is lost.
    pub fn lose_recorded(&self, why: Lost) {
        self.lose(why, self.recorded.swap(0, Relaxed));
    }

    /// Counts dispatches that were left out on purpose.
    pub fn skip(&self, why: Skipped, count: u64) {
        self.skipped[why as usize].fetch_add(count, Relaxed);
    }

    /// The counts now. `seen` is read last, so that what is on its way is never negative.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let recorded = self.recorded.load(Relaxed);
        let lost = Lost::ALL.iter().map(|&why| (why, self.lost[why as usize].load(Relaxed)));
        let lost: Vec<_> = lost.filter(|&(_, count)| count > 0).collect();
        let skipped = Skipped::ALL.iter().map(|&why| (why, self.skipped[why as usize].load(Relaxed)));
        let skipped: Vec<_> = skipped.filter(|&(_, count)| count > 0).collect();
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        Snapshot { seen: self.seen.load(Relaxed), recorded, lost, skipped }
    }
}

/// The counts at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Kernel dispatches that the application put on its queues.
    pub seen: u64,
    /// Those in the file.
    pub recorded: u64,
    /// Those lost, by reason, without the reasons that never occurred.
    pub lost: Vec<(Lost, u64)>,
    /// Those left out on purpose, by reason, without the reasons that never occurred.
    pub skipped: Vec<(Skipped, u64)>,
}

impl Snapshot {
    /// As they will be when what is on its way now is lost.
    #[must_use]
    pub fn without_the_rest(mut self, why: Lost) -> Self {
        let rest = self.on_the_way();
        match self.lost.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += rest,
            None if rest > 0 => self.lost.push((why, rest)),
            None => {}
        }
        self
    }

    /// All that were lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.iter().map(|&(_, count)| count).sum()
    }

    /// All that were left out on purpose.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped.iter().map(|&(_, count)| count).sum()
    }

    /// Seen, and neither recorded nor lost nor skipped yet. 0 when the recording has ended.
    #[must_use]
    pub fn on_the_way(&self) -> u64 {
        self.seen.saturating_sub(self.recorded + self.lost() + self.skipped())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_recorded_lost_skipped_or_on_its_way() {
        let counters = Counters::default();
        assert_eq!((counters.see(1), counters.see(9)), (0, 1));
        counters.record(5);
        counters.lose(Lost::Times, 2);
        counters.skip(Skipped::Signal, 1);
        let now = counters.snapshot();
        assert_eq!((now.lost(), now.skipped(), now.on_the_way()), (2, 1, 2));
        assert_eq!(now.lost, [(Lost::Times, 2)]);
    }

    #[test]
    fn tags_are_distinct_and_say_what_they_count() {
        let lost = Lost::ALL.iter().map(|why| why.tag());
        let mut tags: Vec<&str> = lost.chain(Skipped::ALL.iter().map(|why| why.tag())).collect();
        // Whoever adds up what became of dispatches does not meet those of ranges.
        assert!(LostRange::ALL.iter().all(|why| why.tag().starts_with("ranges_")));
        assert!(tags.iter().all(|tag| tag.starts_with("lost:") || tag.starts_with("skipped:")));
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), Lost::ALL.len() + Skipped::ALL.len());
    }
}
