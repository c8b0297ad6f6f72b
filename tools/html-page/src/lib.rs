//! Pages of HTML that need nothing but themselves.
//!
//! A [`Page`] is a title, sections and data. Its policy (CSP) allows one script and one style, both of this crate and known by
//! their hashes: no request, no `eval`, no handler in an attribute. Texts of traces are escaped by `maud`, and characters
//! that control or reorder text by [`text`]. Without JavaScript all tables and drawings are there; the script adds sorting,
//! filters, copies of tables, exact values under the pointer and the pictures drawn from data ([`Data`]).

pub mod bars;
mod blob;
pub mod color;
pub mod heat;
pub mod lines;
mod page;
pub mod svg;
pub mod table;
pub mod treemap;
pub mod waterfall;

pub use blob::{Bytes, Data};
pub use cli::escape_control as text;
pub use page::{Page, Section};
