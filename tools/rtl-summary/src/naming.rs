//! Which form of a kernel's name is printed.

use std::collections::HashMap;

use analysis::kernels::Group;
use schema::{NameId, Tables};

use crate::answer::Answer;
use crate::args::Names;

/// Gives every kernel name of `answer` the form that was asked for. Names that would become equal to
/// another kernel's by demangling stay as they are stored.
pub(crate) fn apply(answer: &mut Answer, tables: &Tables, names: Names) {
    let mangled = if names == Names::Mangled { mangled_names(tables) } else { HashMap::new() };
    let form = |stored: &str| -> Option<String> {
        match names {
            Names::Full => schema::demangle(stored),
            Names::Mangled => mangled.get(stored).cloned(),
            Names::Short => {
                let full = schema::demangle(stored);
                Some(schema::shorten(full.as_deref().unwrap_or(stored)).to_owned())
            }
        }
    };
    let mut forms: HashMap<String, String> = HashMap::new();
    let stored = answer.report.kernels.iter().flatten().filter_map(|group| group.kernel.as_deref());
    for name in stored {
        if let Some(new) = form(name).filter(|new| new != name) {
            forms.insert(name.to_owned(), new);
        }
    }
    if names == Names::Full {
        keep_distinct(&mut forms, answer.report.kernels.as_deref().unwrap_or_default());
    }
    let rename = |name: &mut String| {
        if let Some(new) = forms.get(name.as_str()) {
            name.clone_from(new);
        } else if let Some(new) = form(name) {
            *name = new;
        }
    };
    let groups = answer.report.kernels.iter_mut().chain(answer.groups.iter_mut());
    for group in groups.flatten() {
        if let Some(kernel) = &mut group.kernel {
            let stored = kernel.clone();
            rename(kernel);
            group.label = group.label.replacen(&stored, kernel, 1);
        }
    }
    for gap in answer.report.longest_gaps.iter_mut().flatten() {
        rename(&mut gap.before);
        rename(&mut gap.after);
    }
    for dominant in answer.report.sanity.iter_mut().flat_map(|sanity| &mut sanity.dominant) {
        rename(&mut dominant.kernel);
    }
}

/// Takes back the new form of every kernel whose form another kernel has, too.
fn keep_distinct(forms: &mut HashMap<String, String>, kernels: &[Group]) {
    let mut users: HashMap<String, u32> = HashMap::new();
    for name in kernels.iter().filter_map(|group| group.kernel.as_deref()) {
        let shown = forms.get(name).map_or(name, String::as_str);
        *users.entry(shown.to_owned()).or_default() += 1;
    }
    forms.retain(|_, new| users.get(new) == Some(&1));
}

fn mangled_names(tables: &Tables) -> HashMap<String, String> {
    let symbols = tables.symbols.iter().filter(|symbol| symbol.mangled != NameId::NONE);
    symbols
        .map(|symbol| {
            let [name, mangled] =
                [symbol.name, symbol.mangled].map(|id| schema::identity(tables.strings.get(id)).to_owned());
            (name, mangled)
        })
        .collect()
}
