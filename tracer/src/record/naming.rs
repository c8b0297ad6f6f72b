//! How kernels are called in the file.

use std::collections::HashMap;

use schema::append::{Recording, Target};
use schema::write::TextId;
use serde_json::{Map, Value};

use crate::kernels::Kernel;

/// What the rows of a kernel's dispatches say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Its name.
    pub(super) text: TextId,
    /// The id of its metadata row, where that is not the first one of its name.
    pub(super) symbol: Option<i64>,
}

/// The names that were given. Memory grows with the kernels that were dispatched.
#[derive(Debug, Default)]
pub(super) struct Naming {
    /// By kernel, wherever it was loaded.
    known: HashMap<Kernel, Named>,
    /// Which symbol a text stands for.
    texts: HashMap<String, String>,
    code_objects: HashMap<String, i64>,
    symbols: i64,
}

impl Naming {
    /// Writes what is known of a kernel, unless that has been done. Loaded once for each of several GPUs it is still
    /// one kernel.
    pub(super) fn name<T: Target>(
        &mut self,
        kernel: &Kernel,
        recording: &mut Recording<T>,
    ) -> schema::Result<Named> {
        let place_of_no_matter = Kernel { kernel_object: 0, code_object: None, ..kernel.clone() };
        let key = if kernel.mangled.is_empty() { kernel.clone() } else { place_of_no_matter };
        if let Some(&named) = self.known.get(&key) {
            return Ok(named);
        }
        let name = self.text(kernel);
        let is_first = !self.texts.contains_key(&name);
        let text = recording.text(&name)?;
        let code_object =
            kernel.code_object.as_ref().map(|uri| self.code_object(uri, recording)).transpose()?;
        recording.metadata("kernel", &row(self.symbols + 1, &name, kernel, code_object))?;
        self.symbols += 1;
        self.texts.insert(name, kernel.mangled.clone());
        let named = Named { text, symbol: (!is_first).then_some(self.symbols) };
        self.known.insert(key, named);
        Ok(named)
    }

    /// The full name. Two symbols are never called the same: some mangled names of different functions mean the same
    /// to a demangler.
    fn text(&self, kernel: &Kernel) -> String {
        let symbol = schema::identity(&kernel.mangled);
        if symbol.is_empty() {
            return format!("kernel_{:#x}", kernel.kernel_object);
        }
        let name = schema::demangle(symbol).unwrap_or_else(|| symbol.to_owned());
        match self.texts.get(&name) {
            Some(other) if schema::identity(other) != symbol => format!("{name} [{symbol}]"),
            _ => name,
        }
    }

    fn code_object<T: Target>(&mut self, uri: &str, recording: &mut Recording<T>) -> schema::Result<i64> {
        if let Some(&id) = self.code_objects.get(uri) {
            return Ok(id);
        }
        let id = self.code_objects.len() as i64 + 1;
        recording.metadata("code_object", &serde_json::json!({ "id": id, "uri": uri }).to_string())?;
        self.code_objects.insert(uri.to_owned(), id);
        Ok(id)
    }
}

fn row(id: i64, name: &str, kernel: &Kernel, code_object: Option<i64>) -> String {
    let mangled = schema::identity(&kernel.mangled);
    let number = |value: Option<u32>| value.map(Value::from);
    let fields = [
        ("id", Some(id.into())),
        ("pid", Some(std::process::id().into())),
        ("name", Some(name.into())),
        ("mangled", (mangled != name && !mangled.is_empty()).then(|| mangled.into())),
        ("kernarg", number(kernel.kernarg)),
        ("lds", number(kernel.lds)),
        ("scratch", number(kernel.scratch)),
        ("sgprs", number(kernel.sgprs)),
        ("vgprs", number(kernel.vgprs)),
        ("agprs", number(kernel.agprs)),
        ("codeObject", code_object.map(Value::from)),
        ("kernelObject", Some(kernel.kernel_object.into())),
    ];
    let row = fields.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?)));
    Value::Object(row.collect::<Map<_, _>>()).to_string()
}
