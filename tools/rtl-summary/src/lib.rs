#![doc = "rtl-summary"]

pub mod style;
