//! Cooperative queues, of which the runtime has one for each GPU: it gives the same to all who ask, counts them, and
//! destroys it itself.
//!
//! Made interceptible, that queue has an owner too many, and destroying it brings every release of the runtime down
//! at its end. So the interceptible one is given to all who ask and never destroyed; when its last user leaves, the
//! runtime is told in a way that it understands ([`crate::intercept::hooks`]).

use std::sync::{Mutex, TryLockError};

use crate::base::try_lock::lock;

/// The interceptible queues that are in use.
#[derive(Debug, Default)]
pub struct Cooperative(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    gpu: u16,
    /// Of its `hsa_queue_t`.
    address: u64,
    users: usize,
}

/// The effect of a user's leaving a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Others use it.
    Others,
    /// It was the last one, on the GPU with this number.
    Last(u16),
}

impl Cooperative {
    /// One user more of the queue that a GPU has already; its address.
    pub fn join(&self, gpu: u16) -> Option<u64> {
        let mut kept = lock(&self.0);
        let kept = kept.iter_mut().find(|kept| kept.gpu == gpu)?;
        kept.users += 1;
        Some(kept.address)
    }

    /// Takes note of a new queue and its first user.
    pub fn keep(&self, gpu: u16, address: u64) {
        lock(&self.0).push(Kept { gpu, address, users: 1 });
    }

    /// One user less; `None` when it is none of these queues.
    pub fn leave(&self, address: u64) -> Option<Leave> {
        Self::leave_one(&mut lock(&self.0), address)
    }

    /// Leaves at the end of the process, where nobody is waited for: a queue of which nothing can be known then is left
    /// alone.
    pub fn leave_at_once(&self, address: u64) -> Option<Leave> {
        match self.0.try_lock() {
            Ok(mut kept) => Self::leave_one(&mut kept, address),
            Err(TryLockError::Poisoned(kept)) => Self::leave_one(&mut kept.into_inner(), address),
            Err(TryLockError::WouldBlock) => Some(Leave::Others),
        }
    }

    fn leave_one(kept: &mut Vec<Kept>, address: u64) -> Option<Leave> {
        let at = kept.iter().position(|kept| kept.address == address)?;
        kept[at].users -= 1;
        Some(if kept[at].users == 0 { Leave::Last(kept.swap_remove(at).gpu) } else { Leave::Others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_shared_until_its_last_user_leaves() {
        let queues = Cooperative::default();
        assert_eq!((queues.join(3), queues.leave(0x1000)), (None, None));
        queues.keep(3, 0x1000);
        assert_eq!((queues.join(3), queues.join(2)), (Some(0x1000), None));
        assert_eq!(queues.leave(0x1000), Some(Leave::Others));
        assert_eq!(queues.leave(0x1000), Some(Leave::Last(3)));
        assert_eq!((queues.join(3), queues.leave(0x1000)), (None, None));
    }

    #[test]
    fn a_queue_that_nothing_can_be_known_of_is_left_alone() {
        let queues = Cooperative::default();
        queues.keep(3, 0x1000);
        let interrupted = lock(&queues.0);
        assert_eq!(queues.leave_at_once(0x2000), Some(Leave::Others));
        drop(interrupted);
        assert_eq!(
            (queues.leave_at_once(0x2000), queues.leave_at_once(0x1000)),
            (None, Some(Leave::Last(3)))
        );
    }
}
