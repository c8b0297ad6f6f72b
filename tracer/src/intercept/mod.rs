//! On the application's threads: the functions that stand in front of the runtime's, and the packets that pass through
//! intercepted queues.

pub mod context;
pub mod cooperative;
pub mod flow_control;
pub mod hooks;
pub mod hsa;
pub mod lookup;
pub mod staging;
pub mod submit;
pub mod unseen;
pub mod wrapped;
