//! The names of HIP's functions; a function's number is the position of its name in the list.

use crate::functions::hip_functions;

macro_rules! names {
    ($($name:ident($($parameters:tt)*) -> $result:tt;)+) => {
        #[derive(Clone, Copy)]
        #[repr(u16)]
        #[expect(non_camel_case_types, reason = "as HIP spells them")]
        pub(crate) enum Number { $($name,)+ }

        /// Names in ascending order, which `dlsym` searches.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name),)+];
    };
}

hip_functions!(names);
