//! Makes the functions that stand in for those of the list: each calls the real one and reports the call.

use std::ffi::{c_char, c_void};

use crate::argument::*;
use crate::call_interface::{CallDetails, CallKind};
use crate::functions::hip_functions;
use crate::names::{NAMES, Number};
use crate::real::{self, LookupKind};
use crate::reporting::Call;
use crate::text::ArgumentText;

/// A type that functions of HIP return.
pub(crate) trait Outcome: Sized {
    /// Returned by a call where there is no HIP.
    const MISSING: Self;

    /// 0 where the result is no status.
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

#[cold]
fn end_with_arguments(call: Call, status: i32, arguments: &[(&str, &dyn Argument)]) {
    let mut details = CallDetails { kind: -1, ..CallDetails::default() };
    let mut text = ArgumentText::new();
    for (name, argument) in arguments {
        argument.note(&mut details);
        argument.write(name, &mut text);
    }
    let has_details = details.call != CallKind::Other;
    call.end(status, details.stream, has_details.then_some(&details), text.bytes());
}

/// Makes two functions of each in the list, one for each [`LookupKind`].
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        /// Addresses that `dlsym` returns, by number.
        pub(crate) fn opened_functions() -> [*mut c_void; NAMES.len()] {
            [$(opened::$name as *mut c_void,)+]
        }

        /// Addresses that a linked program calls, by number.
        pub(crate) fn linked_functions() -> [*mut c_void; NAMES.len()] {
            [$(linked::$name as *mut c_void,)+]
        }

        functions! { @all linked Linked (cfg_attr(not(test), unsafe(no_mangle)))
            $($name($($argument: $type),*) -> $result;)+ }
        functions! { @all opened Opened (inline(never))
            $($name($($argument: $type),*) -> $result;)+ }
    };
    (@all $module:ident $lookup:ident $attribute:tt $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        #[expect(non_snake_case, reason = "as HIP has them")]
        pub(crate) mod $module {
            use super::*;

            $(functions! { @one $lookup $attribute $name($($argument: $type),*) -> $result })+
        }
    };
    (@one $lookup:ident ($($attribute:tt)+) $name:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        #[$($attribute)+]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
            type Real = unsafe extern "C-unwind" fn($($type),*) -> $result;
            const NUMBER: u16 = Number::$name as u16;
            let Some(real) = real::find(LookupKind::$lookup, NUMBER) else { return <$result as Outcome>::MISSING };
            // SAFETY: HIP's headers give the function of this name this type.
            let real = unsafe { std::mem::transmute::<*mut c_void, Real>(real) };
            let call = Call::begin(NUMBER);
            // SAFETY: the arguments are those that the caller passed to this function of the same type.
            let result = unsafe { real($($argument),*) };
            if let Some(call) = call {
                let status = Outcome::status(&result);
                if call.records_arguments() {
                    end_with_arguments(call, status, &[$((stringify!($argument), &$argument)),*]);
                } else if $(call.records_details(<$type as Argument>::call_kind()) ||)* false {
                    #[allow(unused_mut, reason = "some have no parameters")]
                    let mut details = CallDetails { kind: -1, ..Default::default() };
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

hip_functions!(functions);
