//! From the list of functions to functions.

use std::ffi::c_char;

use calls::{Details, What};

use crate::argument::{Argument, Text};
use crate::telling::Call;
use crate::text;

/// How a program got at a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupKind {
    /// It is linked with HIP.
    Linked,
    /// It asked for the function's name in a library that it had opened.
    Opened,
}

/// What a function of HIP returns.
pub(crate) trait Outcome: Sized {
    /// What it returns where there is no HIP.
    const MISSING: Self;

    /// The status that it is; 0 where it is none.
    fn status(&self) -> i32 {
        0
    }
}

/// `hipError_t`.
pub(crate) type Status = i32;

impl Outcome for Status {
    /// `hipErrorNotInitialized`.
    const MISSING: Self = 3;

    fn status(&self) -> i32 {
        *self
    }
}

/// `hiprtcResult`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct CompilerStatus(i32);

impl Outcome for CompilerStatus {
    /// `HIPRTC_ERROR_INTERNAL_ERROR`.
    const MISSING: Self = Self(11);

    fn status(&self) -> i32 {
        self.0
    }
}

impl Outcome for Text {
    const MISSING: Self = Self(c"".as_ptr().cast::<c_char>());
}

impl Outcome for () {
    const MISSING: Self = ();
}

/// `hipChannelFormatDesc`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ChannelDescriptor([i32; 5]);

impl Outcome for ChannelDescriptor {
    const MISSING: Self = Self([0; 5]);
}

/// A call is over, of which the arguments are told.
#[cold]
pub(crate) fn tell_all(call: Call, status: i32, arguments: &[(&str, &dyn Argument)]) {
    let mut details = Details { kind: -1, ..Details::default() };
    let mut written = text::Text::new();
    for (name, argument) in arguments {
        argument.note(&mut details);
        argument.say(name, &mut written);
    }
    let is_more = details.what != What::Other;
    call.end(status, details.stream, is_more.then_some(&details), written.bytes());
}

/// Makes two functions of each, one for each [`LookupKind`], with what its type says.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        use crate::argument::*;
        use crate::telling::Call;
        use crate::wrap::*;

        /// The numbers of the functions.
        #[derive(Clone, Copy)]
        #[repr(u16)]
        #[expect(non_camel_case_types, reason = "as HIP spells them")]
        enum Number { $($name,)+ }

        /// Their names, in order.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name),)+];

        /// What `dlsym` answers, by number.
        pub(crate) fn opened_ones() -> [*mut std::ffi::c_void; NAMES.len()] {
            [$(opened::$name as *mut std::ffi::c_void,)+]
        }

        /// What a linked program calls, by number.
        pub(crate) fn linked_ones() -> [*mut std::ffi::c_void; NAMES.len()] {
            [$(linked::$name as *mut std::ffi::c_void,)+]
        }

        crate::wrap::functions! { @all linked Linked (cfg_attr(not(test), unsafe(no_mangle)))
            $($name($($argument: $type),*) -> $result;)+ }
        crate::wrap::functions! { @all opened Opened (inline(never))
            $($name($($argument: $type),*) -> $result;)+ }
    };
    (@all $module:ident $lookup:ident $attribute:tt $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        #[expect(non_snake_case, reason = "as HIP has them")]
        pub(crate) mod $module {
            use super::*;

            $(crate::wrap::functions! { @one $lookup $attribute $name($($argument: $type),*) -> $result })+
        }
    };
    (@one $lookup:ident ($($attribute:tt)+) $name:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        #[$($attribute)+]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
            type Real = unsafe extern "C-unwind" fn($($type),*) -> $result;
            const NUMBER: u16 = Number::$name as u16;
            let Some(real) = crate::real::find(LookupKind::$lookup, NUMBER) else { return <$result as Outcome>::MISSING };
            // SAFETY: what was found under this name has the type that HIP's headers give it.
            let real = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Real>(real) };
            let call = Call::begin(NUMBER);
            // SAFETY: as the caller called us.
            let result = unsafe { real($($argument),*) };
            if let Some(call) = call {
                let status = Outcome::status(&result);
                if call.tells_arguments() {
                    tell_all(call, status, &[$((stringify!($argument), &$argument)),*]);
                } else if $(call.tells(<$type as Argument>::asks()) ||)* false {
                    #[allow(unused_mut, reason = "some have no parameters")]
                    let mut details = calls::Details { kind: -1, ..Default::default() };
                    $(Argument::note(&$argument, &mut details);)*
                    call.end(status, details.stream, Some(&details), &[]);
                } else {
                    #[allow(unused_mut, reason = "some have no parameters")]
                    let mut stream = 0;
                    $(Argument::note_stream(&$argument, &mut stream);)*
                    call.end(status, stream, None, &[]);
                }
            }
            result
        }
    };
}

pub(crate) use functions;
