//! Raw HSA types, and where each function is in the tables that the ROCm runtime hands to a tool.
//!
//! [`bindings`] has the `#[repr(C)]` types and constants of the headers of ROCr 5.2.3. [`table`] says where the functions of a
//! table are in the version that it carries, because AMD's extension table is not append-only. [`function`](mod@function) has the
//! types of those functions. The crate links to nothing, calls nothing, follows no pointer and has no `unsafe` code. It is for 64
//! bits only, as ROCm is.
//!
//! Start with [`table::AmdTable`] (one generation of the extension table), [`table::Entry`] (a function in it, with its type) and
//! [`table::UnknownTable`] (why a process runs untraced).
//!
//! ```
//! use hsa_sys::bindings::ApiTableVersion;
//! use hsa_sys::table::{AmdTable, QUEUE_INTERCEPT_CREATE};
//!
//! let version = ApiTableVersion { major_id: 2, minor_id: 624, step_id: 8, reserved: 0 };
//! let table = AmdTable::for_version(&version)?;
//! assert_eq!(table.offset(&QUEUE_INTERCEPT_CREATE), Some(312));
//! # Ok::<(), hsa_sys::table::UnknownTable>(())
//! ```

#![forbid(unsafe_code)]

#[allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    clippy::type_complexity,
    reason = "written by bindgen; names are those of the C headers, which document them"
)]
pub mod bindings;
pub mod function;
mod layout;
pub mod table;
