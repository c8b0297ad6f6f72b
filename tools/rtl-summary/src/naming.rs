//! Which form of a kernel's name is printed.

use std::collections::HashMap;

use rtl_analysis::ranks::StepMethod;
use rtl_schema::{NameId, Tables};

use crate::answer::Answer;
use crate::args::Names;

/// Gives every kernel name of `answer` the form that was asked for. Names that would become equal to
/// another kernel's by demangling stay as they are stored.
pub(crate) fn apply(answer: &mut Answer, tables: &Tables, names: Names) {
    let mangled = if names == Names::Mangled { mangled_names(tables) } else { HashMap::new() };
    let form = |stored: &str| -> Option<String> {
        match names {
            Names::Full => rtl_schema::demangle(stored),
            Names::Mangled => mangled.get(stored).cloned(),
            Names::Short => {
                let full = rtl_schema::demangle(stored);
                Some(rtl_schema::shorten(full.as_deref().unwrap_or(stored)).to_owned())
            }
        }
    };
    let mut forms = Forms::default();
    for name in answer.report.kernels.iter().flatten().filter_map(|group| group.kernel.as_deref()) {
        forms.0.entry(name.to_owned()).or_insert_with(|| form(name).filter(|new| new != name));
    }
    if names == Names::Full {
        forms.keep_distinct();
    }
    let rename = |name: &mut String| match forms.0.get(name.as_str()) {
        Some(Some(new)) => name.clone_from(new),
        Some(None) => {}
        // The name of a copy, or of a kernel that is in no table.
        None => *name = form(name).unwrap_or_else(|| std::mem::take(name)),
    };
    let groups = answer.report.kernels.iter_mut().chain(answer.groups.iter_mut());
    for group in groups.flatten() {
        if let Some(kernel) = &mut group.kernel {
            let stored = kernel.clone();
            rename(kernel);
            if *kernel != stored {
                group.label = group.label.replacen(&stored, kernel, 1);
            }
        }
    }
    if let Some(comparable) = &mut answer.comparable {
        comparable.names.iter_mut().for_each(rename);
    }
    if let Some(ranks) = &mut answer.ranks {
        ranks.collectives.iter_mut().for_each(|group| rename(&mut group.kernel));
        ranks.kernels.iter_mut().for_each(|kernel| rename(&mut kernel.name));
        ranks.outliers.iter_mut().filter_map(|outlier| outlier.kernel.as_mut()).for_each(rename);
        let steps = ranks.steps.iter_mut().filter(|steps| steps.method == StepMethod::Collectives);
        steps.for_each(|steps| rename(&mut steps.name));
    }
    for kernel in answer.report.launches.iter_mut().flat_map(|latency| &mut latency.kernels) {
        rename(&mut kernel.name);
    }
    for gap in answer.report.longest_gaps.iter_mut().flatten() {
        rename(&mut gap.before);
        rename(&mut gap.after);
    }
    for dominant in answer.report.sanity.iter_mut().flat_map(|sanity| &mut sanity.dominant) {
        rename(&mut dominant.kernel);
    }
}

/// The new form of every kernel's stored name; `None` where it stays as it is.
#[derive(Debug, Default)]
struct Forms(HashMap<String, Option<String>>);

impl Forms {
    /// Takes back the new form of every kernel that another kernel would be called by, too.
    fn keep_distinct(&mut self) {
        let mut users: HashMap<String, u32> = HashMap::new();
        for (stored, new) in &self.0 {
            *users.entry(new.as_ref().unwrap_or(stored).clone()).or_default() += 1;
        }
        for new in self.0.values_mut() {
            new.take_if(|new| users.get(new.as_str()) != Some(&1));
        }
    }
}

fn mangled_names(tables: &Tables) -> HashMap<String, String> {
    let symbols = tables.symbols.iter().filter(|symbol| symbol.mangled != NameId::NONE);
    symbols
        .map(|symbol| {
            let [name, mangled] = [symbol.name, symbol.mangled]
                .map(|id| rtl_schema::identity(tables.strings.get(id)).to_owned());
            (name, mangled)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_become_equal_stay_as_they_are_stored() {
        let stored = ["_ZN1AC1Ev", "_ZN1AC2Ev", "_Z4gemmv"];
        let mut forms = Forms(stored.map(|name| (name.to_owned(), rtl_schema::demangle(name))).into());
        assert_eq!(forms.0["_ZN1AC1Ev"], forms.0["_ZN1AC2Ev"], "both are A::A()");
        forms.keep_distinct();
        assert_eq!(stored.map(|name| forms.0[name].as_deref()), [None, None, Some("gemm()")]);
    }
}
