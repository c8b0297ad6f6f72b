//! The types of the parameters of HIP's functions. Each is passed as the type in HIP's headers, notes its part in a copy, fill or
//! launch, and writes its value as text.

use std::ffi::{CStr, c_char, c_void};

use crate::call_interface::{CallDetails, CallKind};

use crate::text::ArgumentText;

pub(crate) trait Argument {
    /// The kind of the functions that have such a parameter.
    #[inline]
    fn call_kind() -> CallKind
    where
        Self: Sized,
    {
        CallKind::Other
    }

    /// Sets the fields that the argument decides.
    #[inline]
    fn note(&self, _: &mut CallDetails) {}

    /// Sets the stream where the argument is or holds one.
    #[inline]
    fn note_stream(&self, _: &mut u64) {}

    fn write(&self, name: &str, text: &mut ArgumentText);
}

macro_rules! numbers {
    ($($number:ty)+) => {$(
        impl Argument for $number {
            fn write(&self, name: &str, text: &mut ArgumentText) {
                text.push(name, format_args!("{self}"));
            }
        }
    )+};
}

numbers! { i32 u32 u64 u8 u16 f32 }

/// Types that are passed and written as the inner one, each with the fields that it sets.
macro_rules! meanings {
    ($($(#[$about:meta])* $name:ident$(<const $axis:ident: $size:ty>)?($inner:ty) $(in $kind:ident)? => $note:expr;)+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(crate) struct $name$(<const $axis: $size>)?($inner);

        impl$(<const $axis: $size>)? Argument for $name$(<$axis>)? {
            $(#[inline] fn call_kind() -> CallKind { CallKind::$kind })?

            #[inline]
            fn note(&self, details: &mut CallDetails) {
                let note: fn($inner, &mut CallDetails) = $note;
                note(self.0, details);
            }

            fn write(&self, name: &str, text: &mut ArgumentText) {
                self.0.write(name, text);
            }
        }
    )+};
}

/// An address, or a handle that is one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Pointer(*const c_void);

impl Argument for Pointer {
    fn write(&self, name: &str, text: &mut ArgumentText) {
        text.push(name, format_args!("{:#x}", self.0 as usize));
    }
}

/// `hipStream_t`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Stream(Pointer);

impl Argument for Stream {
    #[inline]
    fn note(&self, details: &mut CallDetails) {
        self.note_stream(&mut details.stream);
    }

    #[inline]
    fn note_stream(&self, stream: &mut u64) {
        *stream = self.0.0 as u64;
    }

    fn write(&self, name: &str, text: &mut ArgumentText) {
        self.0.write(name, text);
    }
}

meanings! {
    Destination(Pointer) => |address, details| details.destination = address.0 as u64;
    Source(Pointer) in Copy => |address, details| (details.source, details.call) = (address.0 as u64, CallKind::Copy);
    Filled(Pointer) in Fill => |address, details| (details.destination, details.call) = (address.0 as u64, CallKind::Fill);
    Bytes(u64) => |bytes, details| details.bytes = bytes;
    /// A size in elements of `SIZE` bytes.
    Elements<const SIZE: u64>(u64) => |count, details| details.bytes = count.saturating_mul(SIZE);
    /// Bytes of a row.
    Width(u64) => |bytes, details| details.extent[0] = bytes;
    /// Elements of a row, of `SIZE` bytes each.
    Columns<const SIZE: u64>(u64) => |count, details| details.extent[0] = count.saturating_mul(SIZE);
    Height(u64) => |rows, details| {
        details.extent[1] = rows;
        details.bytes = details.extent[0].saturating_mul(rows);
    };
    /// `hipMemcpyKind`.
    Kind(i32) => |kind, details| details.kind = kind;
    DestinationDevice(i32) => |_, _| ();
    SourceDevice(i32) => |_, _| ();
    /// `hipFunction_t`, or the address of a kernel's stub.
    Kernel(Pointer) in Launch => |kernel, details| (details.kernel, details.call) = (kernel.0 as u64, CallKind::Launch);
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
    fn note(&self, details: &mut CallDetails) {
        details.lds = self.0.into();
    }

    fn write(&self, name: &str, text: &mut ArgumentText) {
        self.0.write(name, text);
    }
}

/// A string of C.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Text(pub(crate) *const c_char);

impl Argument for Text {
    fn write(&self, name: &str, text: &mut ArgumentText) {
        if self.0.is_null() {
            return text.push(name, format_args!("0x0"));
        }
        // SAFETY: the pointer is a C string, which HIP reads, too.
        text.push_quoted(name, unsafe { CStr::from_ptr(self.0) }.to_bytes());
    }
}

/// Declares structures that are passed by value, as arrays of their words.
macro_rules! structures {
    ($($(#[$about:meta])* $name:ident([$word:ty; $count:literal]);)+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub(crate) struct $name([$word; $count]);

        impl Argument for $name {
            fn write(&self, name: &str, text: &mut ArgumentText) {
                text.push(name, format_args!("{:x?}", self.0));
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

/// `dim3` of HIP: sizes along x, y and z.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Dim3([u32; 3]);

impl Argument for Dim3 {
    fn write(&self, name: &str, text: &mut ArgumentText) {
        let [x, y, z] = self.0;
        text.push(name, format_args!("{{{x},{y},{z}}}"));
    }
}

/// `const hipLaunchConfig_t *`.
pub(crate) type LaunchConfiguration = Configuration<u64>;

/// `const HIP_LAUNCH_CONFIG *`.
pub(crate) type DriverLaunchConfiguration = Configuration<u32>;

/// A pointer to the configuration of a launch, with the type of its size of LDS.
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
    fn note(&self, details: &mut CallDetails) {
        // SAFETY: the pointer is null or a configuration, which HIP reads, too.
        if let Some(fields) = unsafe { self.0.as_ref() } {
            (details.groups, details.items) = (fields.grid.0, fields.block.0);
            details.lds = fields.lds.into();
            fields.stream.note(details);
        }
    }

    fn note_stream(&self, stream: &mut u64) {
        // SAFETY: the pointer is null or a configuration, which HIP reads, too.
        if let Some(fields) = unsafe { self.0.as_ref() } {
            fields.stream.note_stream(stream);
        }
    }

    fn write(&self, name: &str, text: &mut ArgumentText) {
        Pointer(self.0.cast()).write(name, text);
    }
}
