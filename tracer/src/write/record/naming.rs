//! Assigns names to kernels in the file.

use std::collections::{HashMap, HashSet};

use rtl_write::{Recording, StringId, Target};

use crate::base::gpus::known;
use crate::base::kernels::Kernel;
use crate::base::kernels::descriptor::Resources;
use crate::base::kernels::names::Names;

/// The columns that all dispatches of a kernel share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KernelColumns {
    pub(super) text: StringId,
    /// The id of the kernel's metadata row, where that is not the first one of its name.
    pub(super) symbol: Option<i64>,
}

/// The written kernels. Memory grows with the number of dispatched kernels.
#[derive(Debug, Default)]
pub(super) struct KernelNames {
    /// Keyed by kernel, whatever its address.
    known: HashMap<Kernel, KernelColumns>,
    names: Names,
    texts: HashSet<StringId>,
    symbols: i64,
}

impl KernelNames {
    /// Writes the metadata of a kernel, unless that has been done. A kernel that was loaded for several GPUs is one kernel.
    pub(super) fn name<T: Target>(
        &mut self,
        kernel: &Kernel,
        recording: &mut Recording<T>,
    ) -> rtl_schema::Result<KernelColumns> {
        let is_named = !kernel.mangled.is_empty();
        let anywhere = Kernel { kernel_object: 0, code_object: None, ..kernel.clone() };
        let key = if is_named { anywhere } else { kernel.clone() };
        if let Some(&named) = self.known.get(&key) {
            return Ok(named);
        }
        let name = if is_named {
            self.names.name(&kernel.mangled)
        } else {
            format!("kernel_{:#x}", kernel.kernel_object)
        };
        let text = recording.intern(&name)?;
        self.symbols += 1;
        recording.push_metadata("kernel", &row(self.symbols, &name, kernel))?;
        let is_first = self.texts.insert(text);
        let named = KernelColumns { text, symbol: (!is_first).then_some(self.symbols) };
        self.known.insert(key, named);
        Ok(named)
    }
}

fn row(id: i64, name: &str, kernel: &Kernel) -> String {
    let Resources { kernarg, lds, scratch, sgprs, vgprs, agprs } = kernel.resources;
    let row = serde_json::json!({
        "id": id,
        "pid": std::process::id(),
        "name": name,
        "mangled": Some(&kernel.mangled).filter(|mangled| *mangled != name && !mangled.is_empty()),
        "kernarg": kernarg,
        "lds": lds,
        "scratch": scratch,
        "sgprs": sgprs,
        "vgprs": vgprs,
        "agprs": agprs,
        "codeObject": kernel.code_object,
        "kernelObject": kernel.kernel_object,
    });
    known(row).to_string()
}
