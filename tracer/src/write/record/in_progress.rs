//! Calls and dispatches in progress, which the file shows because they may be the last facts about a process.
//!
//! A call has a row when it has returned, a dispatch when it has completed. A process that hangs and is killed comes to neither,
//! so the metadata rows of each publication show those in progress, in place of the rows of the publication before.

use std::time::{Duration, Instant};

/// While something is in progress and nothing else happens, the file is brought up to date this often, so that its end shows how
/// long that has taken.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Items in progress, and those that the file shows.
#[derive(Debug)]
pub(super) struct InProgress<T> {
    /// Items for the next publication.
    pub(super) now: Vec<T>,
    published: Vec<T>,
    since: Instant,
}

impl<T> Default for InProgress<T> {
    fn default() -> Self {
        Self { now: Vec::new(), published: Vec::new(), since: Instant::now() }
    }
}

impl<T: Clone + PartialEq> InProgress<T> {
    /// True if there is a reason for a publication.
    pub(super) fn has_changed(&self) -> bool {
        self.now != self.published || !self.now.is_empty() && self.since.elapsed() >= HEARTBEAT
    }

    /// Called when the file shows the present items.
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
        let mut in_progress = InProgress::default();
        assert!(!in_progress.has_changed());
        in_progress.now = vec![5, 7];
        assert!(in_progress.has_changed());
        in_progress.publish();
        in_progress.now = vec![5, 7];
        assert!(!in_progress.has_changed());
        in_progress.since = Instant::now().checked_sub(HEARTBEAT).unwrap();
        assert!(in_progress.has_changed(), "it has taken longer by now");
        in_progress.publish();
        in_progress.now = Vec::new();
        assert!(in_progress.has_changed(), "none of it is under way any more");
        in_progress.publish();
        in_progress.since = Instant::now().checked_sub(HEARTBEAT).unwrap();
        assert!(!in_progress.has_changed());
    }
}
