//! Did it get slower? Runs become profiles, kernels of both sides are matched, and each change is judged and explained.

pub mod compare;
pub mod complete_steps;
pub mod decomposition;
pub mod facts;
pub mod identity;
pub mod profile;
pub mod run;
pub mod work;
