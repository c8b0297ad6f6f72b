//! Reports in the words and columns of other tools, for eyes and scripts that know them.

pub mod rocprofv3;
pub mod rpt;
