//! The structs of `tracer/include/rtl.h`, where their fields are explained. A test compares their layouts.

use std::ffi::{c_char, c_void};

/// `rtl_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// `RTL_OK`.
    Ok,
    /// `RTL_ERROR_ARGUMENT`.
    Argument,
    /// `RTL_ERROR_LATE`.
    Late,
    /// `RTL_ERROR_REGISTERED`.
    Registered,
    /// `RTL_ERROR_UNREACHABLE`.
    Unreachable,
    /// `RTL_ERROR_TIMEOUT`.
    Timeout,
    /// `RTL_ERROR_CALLBACK`.
    Callback,
    /// `RTL_ERROR_FAILURE`.
    Failure,
    /// `RTL_ERROR_UNSUPPORTED`.
    Unsupported,
}

/// `struct rtl_kernel`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Kernel {
    pub start: i64,
    pub end: i64,
    pub enqueued: i64,
    pub correlation_id: u64,
    pub range_id: u64,
    pub name: *const c_char,
    pub mangled: *const c_char,
    pub queue: *const c_void,
    pub name_length: u32,
    pub mangled_length: u32,
    pub kernel_id: u32,
    pub gpu: u32,
    pub queue_id: u32,
    pub tid: u32,
    pub grid: [u32; 3],
    pub workgroup: [u32; 3],
    pub lds: u32,
    pub scratch: u32,
    pub vgprs: u32,
    pub agprs: u32,
    pub sgprs: u32,
    pub reserved: u32,
}

/// `RTL_HOST`.
pub const HOST: i32 = -1;

/// `struct rtl_copy`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Copy {
    pub start: i64,
    pub end: i64,
    pub enqueued: i64,
    pub correlation_id: u64,
    pub range_id: u64,
    pub bytes: u64,
    pub source: i32,
    pub destination: i32,
    pub tid: u32,
    pub reserved: u32,
}

/// `struct rtl_barrier`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Barrier {
    pub start: i64,
    pub end: i64,
    pub enqueued: i64,
    pub correlation_id: u64,
    pub range_id: u64,
    pub queue: *const c_void,
    pub gpu: u32,
    pub queue_id: u32,
    pub tid: u32,
    pub reserved: u32,
}

/// `RTL_RANGE_PUSHED` and the other kinds of `struct rtl_range`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RangeKind {
    /// `RTL_RANGE_PUSHED`.
    Pushed,
    /// `RTL_RANGE_STARTED`.
    Started,
    /// `RTL_RANGE_MARKER`.
    Marker,
}

/// `struct rtl_range`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Range {
    pub start: i64,
    pub end: i64,
    pub range_id: u64,
    pub text: *const c_char,
    pub text_length: u32,
    pub tid: u32,
    pub kind: RangeKind,
    pub reserved: u32,
}

/// `struct rtl_launch_params`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LaunchParams {
    pub groups: [u32; 3],
    pub workgroup: [u32; 3],
    pub lds: u64,
}

/// `struct rtl_copy_params`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CopyParams {
    pub bytes: u64,
    pub destination: u64,
    pub source: u64,
    pub width: u64,
    pub height: u64,
    pub kind: i32,
    pub is_fill: u32,
}

/// `struct rtl_call`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Call {
    pub start: i64,
    pub end: i64,
    pub correlation_id: u64,
    pub parent_id: u64,
    pub stream: u64,
    pub domain: *const c_char,
    pub function: *const c_char,
    pub arguments: *const c_char,
    pub launch: *const LaunchParams,
    pub copy: *const CopyParams,
    pub function_length: u32,
    pub arguments_length: u32,
    pub status: i32,
    pub tid: u32,
}

/// `RTL_NAME_GPU` and the other kinds of `struct rtl_name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum NameKind {
    /// `RTL_NAME_GPU`.
    Gpu,
    /// `RTL_NAME_GPU_TARGET`.
    GpuTarget,
    /// `RTL_NAME_GPU_PCI`.
    GpuPci,
    /// `RTL_NAME_THREAD`.
    Thread,
    /// `RTL_NAME_AGENT`.
    Agent,
    /// `RTL_NAME_DEVICE`.
    Device,
    /// `RTL_NAME_STREAM`.
    Stream,
}

/// `struct rtl_name`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Name {
    pub number: u64,
    pub text: *const c_char,
    pub text_length: u32,
    pub kind: NameKind,
}

/// `RTL_ENQUEUED`.
pub const ENQUEUED: u32 = 1;
/// `RTL_ARGUMENTS`.
pub const ARGUMENTS: u32 = 2;

/// The type of callbacks for records. An exception of one is stopped where it is called.
pub type Deliver<T> = unsafe extern "C-unwind" fn(records: *const T, count: usize, data: *mut c_void);

/// The type of the last callback.
pub type Ended = unsafe extern "C-unwind" fn(counters: *const Counters, data: *mut c_void);

/// `struct rtl_callbacks`. The default, all 0, registers nothing.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Callbacks {
    pub size: usize,
    pub data: *mut c_void,
    pub mode: *const c_char,
    pub kernels: Option<Deliver<Kernel>>,
    pub copies: Option<Deliver<Copy>>,
    pub ranges: Option<Deliver<Range>>,
    pub calls: Option<Deliver<Call>>,
    pub barriers: Option<Deliver<Barrier>>,
    pub names: Option<Deliver<Name>>,
    pub ended: Option<Ended>,
    pub options: u32,
    pub reserved: u32,
}

/// `struct rtl_counts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counts {
    pub seen: u64,
    pub delivered: u64,
    pub lost: u64,
    pub lost_behind: u64,
    pub skipped: u64,
}

/// `struct rtl_counters`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counters {
    pub size: usize,
    pub kernels: Counts,
    pub copies: Counts,
    pub ranges: Counts,
    pub calls: Counts,
    pub barriers: Counts,
}
