//! The printed forms of kernel names: different kernels never have equal ones.

use std::collections::{HashMap, HashSet};

use rtl_analysis::display_names::distinct_short_names;
use rtl_analysis::kernels::Group;
use rtl_schema::{NameId, Tables};

use crate::choices::Names;

#[derive(Debug, Default)]
pub struct KernelNames {
    names: Names,
    /// The mangled names by stored name, with [`Names::Mangled`].
    mangled: HashMap<String, String>,
    /// The printed name of each kernel of the report; `None` where it is the stored name. With [`Names::Full`] a kernel
    /// that no form differs for has no entry.
    forms: HashMap<String, Option<String>>,
}

impl KernelNames {
    /// The names of `kernels`. A kernel whose demangled name is also another kernel's name keeps its stored name.
    pub fn new(names: Names, tables: &Tables, kernels: &[Group]) -> Self {
        let mangled = if names == Names::Mangled { mangled_names(tables) } else { HashMap::new() };
        let mut all = Self { names, mangled, forms: HashMap::new() };
        for name in kernels.iter().filter_map(|group| group.kernel.as_deref()) {
            if !all.forms.contains_key(name) {
                let form = all.form(name).filter(|form| form != name);
                if form.is_some() || names != Names::Full {
                    all.forms.insert(name.to_owned(), form);
                }
            }
        }
        match names {
            Names::Full => {
                keep_distinct(&mut all.forms, kernels.iter().filter_map(|group| group.kernel.as_deref()));
            }
            Names::Short => {
                let stored: Vec<String> = all.forms.keys().cloned().collect();
                let short = distinct_short_names(&stored.iter().map(String::as_str).collect::<Vec<_>>());
                all.forms = stored.into_iter().zip(short.into_iter().map(Some)).collect();
            }
            Names::Mangled => {}
        }
        all
    }

    pub fn printed(&self, stored: String) -> String {
        let form = match self.forms.get(&stored) {
            Some(form) => form.clone(),
            // A copy, or a kernel that is not in the report.
            None => self.form(&stored),
        };
        form.unwrap_or(stored)
    }

    pub fn rename(&self, name: &mut String) {
        *name = self.printed(std::mem::take(name));
    }

    /// Renames the kernel of a group, in its label too.
    pub fn rename_group(&self, group: &mut Group) {
        if let Some(stored) = &group.kernel {
            let printed = self.printed(stored.to_string());
            if printed != **stored {
                group.label = group.label.replacen(&**stored, &printed, 1).into();
                group.kernel = Some(printed.into());
            }
        }
    }

    fn form(&self, stored: &str) -> Option<String> {
        match self.names {
            Names::Full => rtl_schema::demangle(stored),
            Names::Mangled => self.mangled.get(stored).cloned(),
            Names::Short => {
                let full = rtl_schema::demangle(stored);
                Some(rtl_schema::shorten(full.as_deref().unwrap_or(stored)).to_owned())
            }
        }
    }
}

/// Removes the forms that several kernels share, of which those without a form are printed as they are stored.
fn keep_distinct<'a>(forms: &mut HashMap<String, Option<String>>, stored: impl Iterator<Item = &'a str>) {
    let mut users: HashMap<&str, u32> = HashMap::new();
    for form in forms.values().flatten() {
        *users.entry(form).or_default() += 1;
    }
    for name in stored.filter(|name| !forms.contains_key(*name)) {
        if let Some(users) = users.get_mut(name) {
            *users += 1;
        }
    }
    let shared: HashSet<String> =
        users.into_iter().filter(|(_, users)| *users > 1).map(|(form, _)| form.to_owned()).collect();
    for form in forms.values_mut() {
        form.take_if(|form| shared.contains(form));
    }
}

fn mangled_names(tables: &Tables) -> HashMap<String, String> {
    let name = |id| rtl_schema::identity(tables.strings.get(id)).to_owned();
    let symbols = tables.symbols.iter().filter(|symbol| symbol.mangled != NameId::NONE);
    symbols.map(|symbol| (name(symbol.name), name(symbol.mangled))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_become_equal_stay_as_they_are_stored() {
        let stored = ["_ZN1AC1Ev", "_ZN1AC2Ev", "_Z4gemmv", "_Z4copyv"];
        let mut forms = stored.map(|name| (name.to_owned(), rtl_schema::demangle(name))).into();
        let form = |forms: &HashMap<String, Option<String>>, name: &str| forms[name].clone();
        assert_eq!(form(&forms, "_ZN1AC1Ev"), form(&forms, "_ZN1AC2Ev"), "both are A::A()");
        // Another kernel is stored as the last of them is demangled.
        keep_distinct(&mut forms, stored.into_iter().chain(["copy()"]));
        assert_eq!(stored.map(|name| form(&forms, name)), [None, None, Some("gemm()".to_owned()), None]);
    }
}
