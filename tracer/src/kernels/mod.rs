//! From the `kernel_object` of a packet to the kernel that it names.

use hsa_sys::bindings::hsa_executable_t;

use crate::api::Api;

/// A kernel of a loaded code object. What is unknown is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The symbol without `.kd`, mangled as it is in the code object.
    pub mangled: String,
    /// Bytes of kernel arguments.
    pub kernarg: Option<u32>,
    /// Bytes of static LDS of a work-group.
    pub lds: Option<u32>,
    /// Bytes of scratch memory of a work-item.
    pub scratch: Option<u32>,
    /// Scalar registers.
    pub sgprs: Option<u32>,
    /// Vector registers.
    pub vgprs: Option<u32>,
    /// Accumulation registers.
    pub agprs: Option<u32>,
    /// Where the code object came from.
    pub code_object: Option<String>,
    /// The address of the kernel's descriptor, which packets carry.
    pub kernel_object: u64,
}

/// Knows the code objects that are loaded.
#[derive(Debug)]
pub struct Loader {}

impl Loader {
    /// `None` where the runtime offers no way to ask.
    #[must_use]
    pub fn new(api: &Api) -> Option<Self> {
        let _ = api;
        Some(Self {})
    }

    /// Remembers an executable that was frozen. Looks at nothing yet.
    pub fn freeze(&self, executable: hsa_executable_t) {
        let _ = executable;
    }

    /// Forgets an executable before it is destroyed: its addresses may soon be those of other kernels.
    pub fn destroy(&self, executable: hsa_executable_t) {
        let _ = executable;
    }

    /// The kernel at this address now.
    #[must_use]
    pub fn resolve(&self, kernel_object: u64) -> Option<Kernel> {
        let _ = kernel_object;
        None
    }
}
