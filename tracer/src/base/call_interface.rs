//! The interface between librtl.so and librtl_hip.so, which includes this file as a C library would include a header.
//!
//! The two are libraries of one version, built and installed together, with a Rust runtime each: their shared types have C's
//! layout, and neither frees memory of the other. A library that intercepts calls looks up [`SYMBOL`] in the process,
//! [joins](Interface::join) with the names of its functions, and then reports when a call begins and ends.

/// The function of librtl.so that returns its [`Interface`]. Its name has a version: a library that looks for another one records
/// no calls.
pub const SYMBOL: &std::ffi::CStr = c"rtl_calls_1";

/// The type of [`SYMBOL`].
pub type Find = extern "C" fn() -> &'static Interface;

/// A text in C's layout: `length` bytes of UTF-8.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    pub bytes: *const u8,
    pub length: usize,
}

impl Text {
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self { bytes: text.as_ptr(), length: text.len() }
    }
}

/// The runtime whose functions are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Source {
    Hip = 0,
    Hsa = 1,
}

impl Source {
    pub const ALL: [Self; 2] = [Self::Hip, Self::Hsa];
}

/// A function: the source in the upper half, its number within the source in the lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Function(pub u32);

impl Function {
    #[inline]
    #[must_use]
    pub const fn new(source: Source, number: u16) -> Self {
        Self((source as u32) << 16 | number as u32)
    }

    /// `None` for a number that belongs to no source.
    #[inline]
    #[must_use]
    pub const fn source(self) -> Option<Source> {
        match self.0 >> 16 {
            0 => Some(Source::Hip),
            1 => Some(Source::Hsa),
            _ => None,
        }
    }

    /// The number within the source.
    #[inline]
    #[must_use]
    pub const fn number(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// A call in progress, which the caller passes to [`Interface::end`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct StartedCall {
    /// In ns of CLOCK_BOOTTIME.
    pub start: i64,
    /// The correlation id of every op that the thread enqueues meanwhile; 0 where the call is not recorded.
    pub correlation: u64,
    /// The correlation id of the enclosing call; 0 for none.
    pub parent: u64,
    /// The correlation id that the thread's ops carried before, to be restored at the end.
    pub link: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum CallKind {
    #[default]
    Other = 0,
    Launch = 1,
    Copy = 2,
    Fill = 3,
}

/// The parameters of a launch, copy or fill; 0 where the function has no such parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CallDetails {
    /// Decides which of the following fields count.
    pub call: CallKind,
    /// `hipMemcpyKind`, or -1.
    pub kind: i32,
    pub stream: u64,
    /// Work-groups of a launch.
    pub groups: [u32; 3],
    /// Work-items of a work-group.
    pub items: [u32; 3],
    /// Dynamic LDS of a launch in bytes.
    pub lds: u64,
    /// HIP's handle of the launched kernel.
    pub kernel: u64,
    /// The address that a copy or fill writes.
    pub destination: u64,
    /// The address that a copy reads.
    pub source: u64,
    pub bytes: u64,
    /// Bytes of a row and number of rows, for copies and fills in rows.
    pub extent: [u64; 2],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct EndedCall {
    pub function: Function,
    /// The returned status, where the function returns one; 0 is success.
    pub status: i32,
    /// 0 where the function has no stream.
    pub stream: u64,
    /// Null except for a launch, copy or fill.
    pub details: *const CallDetails,
    /// The arguments as text, or null where they are not recorded.
    pub arguments: *const u8,
    /// Bytes of `arguments`.
    pub length: usize,
}

/// The functions of librtl.so for a library that intercepts calls. Any thread may call them at any time.
#[repr(C)]
pub struct Interface {
    /// Registers the functions of a source by their numbers, with names that live as long as the process. A source that joins
    /// again gets the same result.
    pub join: unsafe extern "C" fn(source: Source, names: *const Text, count: usize) -> Selection,
    pub begin: extern "C" fn(function: Function) -> StartedCall,
    /// Ends the innermost call of the thread. Memory that `ended` points to is read before the function returns.
    pub end: unsafe extern "C" fn(started: &StartedCall, ended: &EndedCall),
}

/// The calls of a source that are recorded, and how much of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Selection {
    /// A flag for each function, which lives as long as the process; null where no call is recorded.
    pub functions: *const bool,
    /// True if arguments are recorded, too.
    pub arguments: bool,
    /// True if the parameters of launches are recorded even without arguments. Those of copies and fills always are.
    pub launches: bool,
}
