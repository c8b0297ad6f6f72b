//! Code on the application's threads: functions in place of the runtime's, and the packets that pass through intercepted queues.

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
