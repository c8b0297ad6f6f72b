use super::interned::{Distinct, Interned};
use super::row;
use crate::{CollectiveId, NameId};

row! {
    /// A collective that a kernel executes, as its framework states it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Collective {
        /// The operation as the framework calls it, e.g. `allreduce`.
        pub operation: NameId,
        /// The name of the communicator (PyTorch's process group).
        pub communicator: NameId,
        /// The ranks of the communicator as the source's text.
        pub ranks: NameId,
        /// How many they are.
        pub size: Option<u32>,
        /// The type of the elements as the source calls it, e.g. `BFloat16`.
        pub data_type: NameId,
        /// The number of elements that a rank gives.
        pub sent: Option<u64>,
        /// The number of elements that a rank gets.
        pub received: Option<u64>,
        /// The sequence number within the communicator.
        pub sequence: Option<u32>,
    }
}

impl Default for Collective {
    fn default() -> Self {
        let none = NameId::NONE;
        Self {
            operation: none,
            communicator: none,
            ranks: none,
            size: None,
            data_type: none,
            sent: None,
            received: None,
            sequence: None,
        }
    }
}

impl Distinct for Collective {}

/// The distinct collectives of a trace.
pub type Collectives = Interned<Collective, CollectiveId>;
