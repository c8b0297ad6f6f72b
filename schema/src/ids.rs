//! Newtypes of ids and positions.

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<u32> for $name {
            fn from(index: u32) -> Self {
                Self(index)
            }
        }

        impl From<$name> for u32 {
            fn from(id: $name) -> Self {
                id.0
            }
        }
    )*};
}

indices! {
    /// A string of [`crate::Strings`]; [`NameId::NONE`] and [`NameId::DANGLING`] are absent ones.
    NameId;
    /// A row of [`crate::table::Tracks`]: where an op ran.
    TrackId;
    /// A row of [`crate::table::Shapes`]: how a kernel was launched.
    ShapeId;
    /// A row of [`crate::Tables::collectives`]: what a framework states of a collective.
    CollectiveId;
    /// A row of [`crate::Tables::symbols`]: a kernel as it was loaded, with its register counts.
    SymbolId;
    /// A row of [`crate::Tables::processes`].
    ProcessId;
    /// A row of [`crate::Tables::agents`].
    AgentId;
}

impl NameId {
    /// The source stored NULL.
    pub const NONE: Self = Self(u32::MAX);
    /// The source stored an id that its string table does not have.
    pub const DANGLING: Self = Self(u32::MAX - 1);

    /// True for the id of a string; false for NULL and for a dangling reference.
    pub fn is_some(self) -> bool {
        self.0 < Self::DANGLING.0
    }
}

/// An id of the source, kept so that links and messages can refer to it. Ids of RPD exceed 2^32
/// (session << 32), and those of rocprofv3 are unique only within one process ([`crate::table::Process::space`]).
pub type Id = i64;
