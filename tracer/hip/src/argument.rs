//! The parameters of HIP's functions: how they are passed, what they say of a copy or launch, and how they are written.
//!
//! Each type is passed as the one that HIP's headers have in its place.

use std::ffi::{CStr, c_char, c_void};

use calls::{Details, What};

use crate::text::Text as Written;

/// A parameter of a function.
pub(crate) trait Argument {
    /// What a function that has one asks for.
    #[inline]
    fn asks() -> What
    where
        Self: Sized,
    {
        What::Other
    }

    /// Adds what it says of what the call asks for.
    #[inline]
    fn note(&self, _: &mut Details) {}

    /// Adds the stream, if it says that.
    #[inline]
    fn note_stream(&self, _: &mut u64) {}

    /// Writes it.
    fn say(&self, name: &str, text: &mut Written);
}

macro_rules! numbers {
    ($($number:ty)+) => {$(
        impl Argument for $number {
            fn say(&self, name: &str, text: &mut Written) {
                text.say(name, format_args!("{self}"));
            }
        }
    )+};
}

numbers! { i32 u32 u64 u8 u16 f32 }

/// Types that are passed as another one and written as that: each with what it notes.
macro_rules! meanings {
    ($($(#[$about:meta])* $name:ident$(<const $axis:ident: $size:ty>)?($inner:ty) $(asks $asks:ident)? => $note:expr;)+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(crate) struct $name$(<const $axis: $size>)?($inner);

        impl$(<const $axis: $size>)? Argument for $name$(<$axis>)? {
            $(#[inline] fn asks() -> What { What::$asks })?

            #[inline]
            fn note(&self, details: &mut Details) {
                let note: fn($inner, &mut Details) = $note;
                note(self.0, details);
            }

            fn say(&self, name: &str, text: &mut Written) {
                self.0.say(name, text);
            }
        }
    )+};
}

/// An address, or a handle that is one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Pointer(*const c_void);

impl Argument for Pointer {
    fn say(&self, name: &str, text: &mut Written) {
        text.say(name, format_args!("{:#x}", self.0 as usize));
    }
}

/// `hipStream_t`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Stream(Pointer);

impl Argument for Stream {
    #[inline]
    fn note(&self, details: &mut Details) {
        self.note_stream(&mut details.stream);
    }

    #[inline]
    fn note_stream(&self, stream: &mut u64) {
        *stream = self.0.0 as u64;
    }

    fn say(&self, name: &str, text: &mut Written) {
        self.0.say(name, text);
    }
}

meanings! {
    /// Where a copy goes to.
    Destination(Pointer) => |address, details| details.destination = address.0 as u64;
    /// Where a copy comes from.
    Source(Pointer) asks Copy => |address, details| (details.source, details.what) = (address.0 as u64, What::Copy);
    /// What is filled.
    Filled(Pointer) asks Fill => |address, details| (details.destination, details.what) = (address.0 as u64, What::Fill);
    /// How much is copied or filled.
    Bytes(u64) => |bytes, details| details.bytes = bytes;
    /// How much is filled, in elements.
    Elements<const SIZE: u64>(u64) => |count, details| details.bytes = count.saturating_mul(SIZE);
    /// Bytes of a row.
    Width(u64) => |bytes, details| details.extent[0] = bytes;
    /// Elements of a row.
    Columns<const SIZE: u64>(u64) => |count, details| details.extent[0] = count.saturating_mul(SIZE);
    /// How many rows.
    Height(u64) => |rows, details| {
        details.extent[1] = rows;
        details.bytes = details.extent[0].saturating_mul(rows);
    };
    /// `hipMemcpyKind`.
    Kind(i32) => |kind, details| details.kind = kind;
    /// The number of a device.
    DestinationDevice(i32) => |_, _| ();
    /// The number of a device.
    SourceDevice(i32) => |_, _| ();
    /// `hipFunction_t`, or the address of a kernel's stub.
    Kernel(Pointer) asks Launch => |kernel, details| (details.kernel, details.what) = (kernel.0 as u64, What::Launch);
    /// Work-groups.
    Grid(Dim3) => |sizes, details| details.groups = sizes.0;
    /// Work-items of a work-group.
    Block(Dim3) => |sizes, details| details.items = sizes.0;
    /// Work-groups along an axis.
    Groups<const AXIS: usize>(u32) => |size, details| details.groups[AXIS] = size;
    /// Work-items of a work-group along an axis.
    Items<const AXIS: usize>(u32) => |size, details| details.items[AXIS] = size;
    /// All work-items along an axis.
    AllItems<const AXIS: usize>(u32) => |size, details| details.groups[AXIS] = size;
    /// Work-items of a work-group along an axis, behind the number of all of them.
    ItemsOfAll<const AXIS: usize>(u32) => |size, details| {
        details.groups[AXIS] = details.groups[AXIS].div_ceil(size.max(1));
        details.items[AXIS] = size;
    };
}

/// Dynamic LDS of a launch in bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Lds<T>(T);

impl<T: Argument + Copy + Into<u64>> Argument for Lds<T> {
    fn note(&self, details: &mut Details) {
        details.lds = self.0.into();
    }

    fn say(&self, name: &str, text: &mut Written) {
        self.0.say(name, text);
    }
}

/// A text of C.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Text(pub(crate) *const c_char);

impl Argument for Text {
    fn say(&self, name: &str, text: &mut Written) {
        if self.0.is_null() {
            return text.say(name, format_args!("0x0"));
        }
        // SAFETY: HIP reads it as a text of C, too.
        text.quote(name, unsafe { CStr::from_ptr(self.0) }.to_bytes());
    }
}

/// Structures of integers that are passed by value: their words.
macro_rules! structures {
    ($($(#[$about:meta])* $name:ident([$word:ty; $count:literal]);)+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub(crate) struct $name([$word; $count]);

        impl Argument for $name {
            fn say(&self, name: &str, text: &mut Written) {
                text.say(name, format_args!("{:x?}", self.0));
            }
        }
    )+};
}

structures! {
    /// `hipExtent`.
    Extent([u64; 3]);
    /// `hipPitchedPtr`.
    PitchedPointer([u64; 4]);
    /// `hipMemLocation`.
    Location([u32; 2]);
    /// `hipIpcMemHandle_t` and `hipIpcEventHandle_t`.
    IpcHandle([u8; 64]);
}

/// `dim3`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Dim3([u32; 3]);

impl Argument for Dim3 {
    fn say(&self, name: &str, text: &mut Written) {
        let [x, y, z] = self.0;
        text.say(name, format_args!("{{{x},{y},{z}}}"));
    }
}

/// `const hipLaunchConfig_t *`.
pub(crate) type LaunchConfiguration = Configuration<u64>;

/// `const HIP_LAUNCH_CONFIG *`.
pub(crate) type DriverLaunchConfiguration = Configuration<u32>;

/// What a launch is to be, with the size of its LDS as this type.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Configuration<Bytes>(*const LaunchFields<Bytes>);

#[repr(C)]
struct LaunchFields<Bytes> {
    grid: Dim3,
    block: Dim3,
    lds: Bytes,
    stream: Stream,
}

impl<Bytes: Copy + Into<u64>> Argument for Configuration<Bytes> {
    fn note(&self, details: &mut Details) {
        // SAFETY: null, or what HIP reads, too.
        if let Some(fields) = unsafe { self.0.as_ref() } {
            (details.groups, details.items) = (fields.grid.0, fields.block.0);
            details.lds = fields.lds.into();
            fields.stream.note(details);
        }
    }

    fn note_stream(&self, stream: &mut u64) {
        // SAFETY: null, or what HIP reads, too.
        if let Some(fields) = unsafe { self.0.as_ref() } {
            fields.stream.note_stream(stream);
        }
    }

    fn say(&self, name: &str, text: &mut Written) {
        Pointer(self.0.cast()).say(name, text);
    }
}
