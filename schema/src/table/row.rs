//! Declares the struct of a row, whose columns can then be listed: a test that takes them from the declaration fails where a reader
//! or a writer forgets one.

use std::any::Any;

/// A row by its columns.
pub trait Row {
    /// Name and value of every column, in the order of the declaration.
    fn columns_mut(&mut self) -> Vec<(&'static str, &mut dyn Any)>;
}

/// Declares a struct and makes it a [`Row`].
macro_rules! row {
    (
        $(#[$meta:meta])*
        pub struct $Row:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $value:ty,)*
        }
    ) => {
        $(#[$meta])*
        pub struct $Row {
            $($(#[$field_meta])* pub $field: $value,)*
        }

        impl $crate::table::Row for $Row {
            fn columns_mut(&mut self) -> Vec<(&'static str, &mut dyn std::any::Any)> {
                let Self { $($field,)* } = self;
                vec![$((stringify!($field), $field as &mut dyn std::any::Any),)*]
            }
        }
    };
}
pub(crate) use row;
