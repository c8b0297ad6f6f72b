//! CooperativeQueues queues. The runtime has one for each GPU, which it shares among all users, counts them, and destroys itself.
//!
//! An interceptible queue in its place has one owner too many: destroying it makes every release of the runtime crash at its end.
//! So the interceptible queue is shared among all users and never destroyed, and when its last user leaves, the runtime's count
//! is brought to zero in another way ([`crate::intercept::hooks`]).

use std::sync::{Mutex, TryLockError};

use crate::base::try_lock::lock;

#[derive(Debug, Default)]
pub struct CooperativeQueues(Mutex<Vec<CooperativeQueue>>);

#[derive(Debug)]
struct CooperativeQueue {
    gpu: u16,
    /// Address of the `hsa_queue_t`.
    address: u64,
    users: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemainingUsers {
    /// Other users remain.
    Others,
    /// The last user has left, on the GPU with this number.
    Last(u16),
}

impl CooperativeQueues {
    /// Adds a user to the queue that a GPU has already; returns the queue's address.
    pub fn join(&self, gpu: u16) -> Option<u64> {
        let mut kept = lock(&self.0);
        let kept = kept.iter_mut().find(|kept| kept.gpu == gpu)?;
        kept.users += 1;
        Some(kept.address)
    }

    /// Adds a new queue with its first user.
    pub fn keep(&self, gpu: u16, address: u64) {
        lock(&self.0).push(CooperativeQueue { gpu, address, users: 1 });
    }

    /// Removes a user; `None` if the queue is not cooperative.
    pub fn leave(&self, address: u64) -> Option<RemainingUsers> {
        Self::leave_one(&mut lock(&self.0), address)
    }

    /// Removes a user at the end of the process, where nobody is waited for. While another thread holds the list, the queue
    /// counts as in use, so that it is left alone.
    pub fn leave_at_once(&self, address: u64) -> Option<RemainingUsers> {
        match self.0.try_lock() {
            Ok(mut kept) => Self::leave_one(&mut kept, address),
            Err(TryLockError::Poisoned(kept)) => Self::leave_one(&mut kept.into_inner(), address),
            Err(TryLockError::WouldBlock) => Some(RemainingUsers::Others),
        }
    }

    fn leave_one(kept: &mut Vec<CooperativeQueue>, address: u64) -> Option<RemainingUsers> {
        let at = kept.iter().position(|kept| kept.address == address)?;
        kept[at].users -= 1;
        Some(if kept[at].users == 0 {
            RemainingUsers::Last(kept.swap_remove(at).gpu)
        } else {
            RemainingUsers::Others
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_shared_until_its_last_user_leaves() {
        let queues = CooperativeQueues::default();
        assert_eq!((queues.join(3), queues.leave(0x1000)), (None, None));
        queues.keep(3, 0x1000);
        assert_eq!((queues.join(3), queues.join(2)), (Some(0x1000), None));
        assert_eq!(queues.leave(0x1000), Some(RemainingUsers::Others));
        assert_eq!(queues.leave(0x1000), Some(RemainingUsers::Last(3)));
        assert_eq!((queues.join(3), queues.leave(0x1000)), (None, None));
    }

    #[test]
    fn a_queue_that_nothing_can_be_known_of_is_left_alone() {
        let queues = CooperativeQueues::default();
        queues.keep(3, 0x1000);
        let interrupted = lock(&queues.0);
        assert_eq!(queues.leave_at_once(0x2000), Some(RemainingUsers::Others));
        drop(interrupted);
        assert_eq!(
            (queues.leave_at_once(0x2000), queues.leave_at_once(0x1000)),
            (None, Some(RemainingUsers::Last(3)))
        );
    }
}
