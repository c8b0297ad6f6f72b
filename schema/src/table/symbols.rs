use serde::{Deserialize, Serialize};

use super::row;
use crate::{Id, NameId, ProcessId};

row! {
    /// A kernel as one process loaded it. Two symbols may share a name and differ in registers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Symbol {
        /// The process that loaded it.
        #[serde(skip)]
        pub process: ProcessId,
        /// The id of the source.
        pub id: Id,
        /// The name that dispatches carry: formatted or display name.
        #[serde(skip)]
        pub name: NameId,
        /// The mangled name, `NONE` where unknown.
        #[serde(skip)]
        pub mangled: NameId,
        /// The code object's id; 0 is unknown.
        #[serde(skip_serializing_if = "is_unknown")]
        pub code_object: Id,
        /// The handle that packets carry; 0 is unknown.
        #[serde(skip_serializing_if = "is_unknown")]
        pub kernel_object: u64,
        /// Size of its arguments in bytes, if known.
        pub kernarg: Option<u32>,
        /// Static LDS in bytes, if known.
        pub lds: Option<u32>,
        /// Static scratch in bytes, if known.
        pub scratch: Option<u32>,
        /// Scalar registers, if known.
        pub sgprs: Option<u32>,
        /// Vector registers, if known.
        pub vgprs: Option<u32>,
        /// Accumulation registers, if known.
        pub agprs: Option<u32>,
        /// Alignment of its arguments in bytes, if known.
        #[serde(skip_serializing_if = "is_unknown")]
        pub kernarg_alignment: Option<u32>,
        /// Offset of its code from the descriptor in bytes, if known.
        #[serde(skip_serializing_if = "is_unknown")]
        pub entry_offset: Option<i64>,
        /// Address of its code, if known.
        #[serde(skip_serializing_if = "is_unknown")]
        pub address: Option<u64>,
    }
}

fn is_unknown<T: Default + PartialEq>(id: &T) -> bool {
    *id == T::default()
}
