//! The features by which kernels are matched.

/// One kernel of one side, as far as matching needs it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KernelFeatures {
    /// The full name, without descriptor suffix.
    pub name: String,
    /// The launch shape in words, where kernels are distinguished by it.
    pub launch: Option<String>,
    /// The launch shapes that it ran in, in words, sorted; empty where unknown.
    pub shapes: Vec<String>,
    /// How often it ran.
    pub calls: u64,
    /// The kernels launched before and after its first call, where known.
    pub neighbours: [Option<String>; 2],
}
