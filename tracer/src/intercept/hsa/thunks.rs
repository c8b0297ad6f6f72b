//! The functions that replace the runtime's in the tables, one for each in the list of `hsa_sys`.
//!
//! The runtime passes exceptions of an application's callbacks on to the application, so they pass through thunks, too.

#![expect(unsafe_code, reason = "called by the application in place of the runtime")]

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use hsa_sys::table::{FUNCTIONS, Number};

use super::arguments::{Chars as Text, Handle, Pointer, ReturnValue, Status};
use super::call_events::{self, Call};
use crate::base::api::{self, Tables};

/// A function of any type.
type Thunk = unsafe extern "C-unwind" fn();

/// Functions that were in the table before the thunks, by number; written before the thunk is put there.
static ORIGINALS: [AtomicPtr<c_void>; FUNCTIONS.len()] =
    [const { AtomicPtr::new(ptr::null_mut()) }; FUNCTIONS.len()];

macro_rules! thunks {
    ($($table:ident $name:ident($($parameter:ident: $type:ty),*) -> $result:ty, $places:tt;)+) => {
        static THUNKS: [Thunk; FUNCTIONS.len()] = [$({
            unsafe extern "C-unwind" fn thunk($($parameter: $type),*) -> $result {
                type Original = unsafe extern "C-unwind" fn($($type),*) -> $result;
                const NUMBER: u16 = Number::$name as u16;
                let original = ORIGINALS[NUMBER as usize].load(Ordering::Acquire);
                // SAFETY: the pointer was in the table at the place of this function, which is of this type in every generation;
                // it is not null, or the thunk would not have been put there.
                let original = unsafe { transmute::<*mut c_void, Original>(original) };
                let arguments = call_events::arguments(|_text| { $(_text.push(stringify!($parameter), $parameter);)* });
                let call = Call::begin(NUMBER, arguments);
                // SAFETY: the arguments are the caller's, passed on unchanged.
                let result = unsafe { original($($parameter),*) };
                call.end(result.status());
                result
            }
            // SAFETY: the function is only kept with this type; it is called with its own type, by the types of the table.
            unsafe { transmute::<unsafe extern "C-unwind" fn($($type),*) -> $result, Thunk>(thunk) }
        }),+];
    };
}

hsa_sys::every_function!(thunks);

/// Puts a thunk into the tables, if they have its function.
pub fn put(tables: &Tables, number: usize) {
    let Some(place) = tables.place(&FUNCTIONS[number]) else { return };
    let thunk = THUNKS[number] as *mut c_void;
    // SAFETY: the pointer is in the runtime's table, which only tools write, one after the other.
    let before = unsafe { place.read() };
    if before.is_null() || before == thunk {
        return;
    }
    ORIGINALS[number].store(before, Ordering::Release);
    // SAFETY: the place is in the runtime's table, and the thunk has the function's type.
    unsafe { api::publish(place, thunk) };
}

/// True if the tables have thunks already.
pub fn are_in(tables: &Tables) -> bool {
    FUNCTIONS.iter().zip(&THUNKS).any(|(function, &thunk)| {
        // SAFETY: the pointer is in the runtime's table.
        tables.place(function).is_some_and(|place| unsafe { place.read() } == thunk as *mut c_void)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_functions_have_one_thunk() {
        let mut addresses = THUNKS.map(|thunk| thunk as usize).to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!(addresses.len(), FUNCTIONS.len());
    }
}
