//! What is under way, as the file has it while it may be the last that is known of a process.
//!
//! A call has a row when it has returned, a dispatch when it has completed. A process that hangs and is killed comes to
//! neither: so the metadata rows of each publication say what is under way, in place of those of the one before.

use std::time::{Duration, Instant};

/// While something is under way and nothing else happens, the file is brought up to date this often: its end then tells how
/// long that has taken.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// What is under way, and what of it the file has.
#[derive(Debug)]
pub(super) struct UnderWay<T> {
    /// What the next publication says.
    pub(super) now: Vec<T>,
    published: Vec<T>,
    since: Instant,
}

impl<T> Default for UnderWay<T> {
    fn default() -> Self {
        Self { now: Vec::new(), published: Vec::new(), since: Instant::now() }
    }
}

impl<T: Clone + PartialEq> UnderWay<T> {
    /// Whether there is a reason for a publication.
    pub(super) fn has_changed(&self) -> bool {
        self.now != self.published || !self.now.is_empty() && self.since.elapsed() >= HEARTBEAT
    }

    /// The file says what was shown.
    pub(super) fn publish(&mut self) {
        self.published.clone_from(&self.now);
        self.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_news_and_what_stays_is_only_now_and_then() {
        let mut under_way = UnderWay::default();
        assert!(!under_way.has_changed());
        under_way.now = vec![5, 7];
        assert!(under_way.has_changed());
        under_way.publish();
        under_way.now = vec![5, 7];
        assert!(!under_way.has_changed());
        under_way.since = Instant::now().checked_sub(HEARTBEAT).unwrap();
        assert!(under_way.has_changed(), "it has taken longer by now");
        under_way.publish();
        under_way.now = Vec::new();
        assert!(under_way.has_changed(), "none of it is under way any more");
        under_way.publish();
        under_way.since = Instant::now().checked_sub(HEARTBEAT).unwrap();
        assert!(!under_way.has_changed());
    }
}
