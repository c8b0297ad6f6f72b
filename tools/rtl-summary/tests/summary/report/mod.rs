//! The whole report that people read.

macro_rules! report {
    ($story:literal, $expected:expr) => {
        snapbox::assert_data_eq!(crate::Folder::of(&[$story]).answer(concat!($story, ".db --all")), $expected)
    };
}

mod findings;
mod gpus;
mod host;
mod recorders;
mod widths;
