//! What librtl.so and a library that catches calls for it say to each other.
//!
//! They are two libraries of one version, built and installed together, with a Rust runtime each: what they share is in C's
//! layout, and nothing that one has allocated is freed by the other. A library that catches calls looks up [`SYMBOL`] in the
//! process, [joins](Interface::join) with the names of its functions, and then says when a call begins and ends.

#![no_std]

/// The function of librtl.so that returns its [`Interface`]. A library that finds another version records no calls.
pub const SYMBOL: &core::ffi::CStr = c"rtl_calls_1";

/// What [`SYMBOL`] names.
pub type Find = extern "C" fn() -> &'static Interface;

/// A text in C's layout: `length` bytes of UTF-8.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    /// Where it begins.
    pub bytes: *const u8,
    /// How long it is.
    pub length: usize,
}

impl Text {
    /// A text that lives as long as the library.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self { bytes: text.as_ptr(), length: text.len() }
    }
}

/// Where calls come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Source {
    /// The HIP runtime.
    Hip = 0,
    /// The HSA runtime.
    Hsa = 1,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Hip, Self::Hsa];
}

/// A function: its source, and which one of that source's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Function(pub u32);

impl Function {
    /// The function with this number.
    #[inline]
    #[must_use]
    pub const fn new(source: Source, number: u16) -> Self {
        Self((source as u32) << 16 | number as u32)
    }

    /// Its source; `None` for a number that nobody has given away.
    #[inline]
    #[must_use]
    pub const fn source(self) -> Option<Source> {
        match self.0 >> 16 {
            0 => Some(Source::Hip),
            1 => Some(Source::Hsa),
            _ => None,
        }
    }

    /// Which one of its source's.
    #[inline]
    #[must_use]
    pub const fn number(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// A call that is going on, as its end has to give it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Begun {
    /// In ns of CLOCK_BOOTTIME.
    pub start: i64,
    /// Its number, which everything that is enqueued meanwhile in the thread carries; 0 where the call is not recorded.
    pub correlation: u64,
    /// The number of the call that it is made from; 0 for none.
    pub parent: u64,
    /// What the thread enqueued before it carried, and does so again after it.
    pub link: u64,
}

/// What a call asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum What {
    /// Neither of the others.
    #[default]
    Other = 0,
    /// A kernel.
    Launch = 1,
    /// A copy.
    Copy = 2,
    /// A fill.
    Fill = 3,
}

/// What is known of what a call asked for; 0 where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Details {
    /// Which of the following count.
    pub what: What,
    /// `hipMemcpyKind`, or -1.
    pub kind: i32,
    /// The stream it is given.
    pub stream: u64,
    /// Of a launch: work-groups.
    pub groups: [u32; 3],
    /// Of a launch: work-items of a work-group.
    pub items: [u32; 3],
    /// Of a launch: dynamic LDS in bytes.
    pub lds: u64,
    /// Of a launch: what HIP knows the kernel by.
    pub kernel: u64,
    /// Of a copy or fill: the address.
    pub destination: u64,
    /// Of a copy: the address.
    pub source: u64,
    /// Of a copy or fill.
    pub bytes: u64,
    /// Of one in rows: bytes of a row, and how many.
    pub extent: [u64; 2],
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Ended {
    /// The function.
    pub function: Function,
    /// What it returned, where that is a status; 0 is success.
    pub status: i32,
    /// The stream it was given; 0 for none.
    pub stream: u64,
    /// What it asked for, where that is a launch, a copy or a fill; else null.
    pub details: *const Details,
    /// The arguments as text, where those are asked for; else null.
    pub arguments: *const u8,
    /// How long that text is.
    pub length: usize,
}

/// What librtl.so offers. Every function may be called by any thread at any time.
#[repr(C)]
pub struct Interface {
    /// Says the names of a source's functions, by their numbers; they live as long as the process. Whether calls are to be
    /// told at all: the answer does not change.
    pub join: unsafe extern "C" fn(source: Source, names: *const Text, count: usize) -> Wanted,
    /// A call begins.
    pub begin: extern "C" fn(function: Function) -> Begun,
    /// The innermost call of the thread ends. What `ended` points to is read before this returns.
    pub end: unsafe extern "C" fn(begun: &Begun, ended: &Ended),
}

/// What of a source's calls is to be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Wanted {
    /// For each function whether its calls are; null for none at all. Lives as long as the process.
    pub functions: *const bool,
    /// Whether arguments are, too.
    pub arguments: bool,
    /// Whether what launches ask for is, even without arguments. What copies and fills ask for always is.
    pub launches: bool,
}
