//! Gives kernels that are stored mangled their full names.

use std::collections::BTreeMap;

use rtl_analysis::profile::{Activity, Profile};

/// Demangles the names of kernels, as reports do. A name that would become equal to that of another kernel stays mangled.
pub(super) fn demangle(profile: &mut Profile) {
    let full = |name: &str| rtl_schema::demangle(name).unwrap_or_else(|| name.to_owned());
    let mut stored: BTreeMap<String, &str> = BTreeMap::new();
    let mut shared = Vec::new();
    for kernel in &profile.kernels {
        let first = *stored.entry(full(&kernel.name)).or_insert(&kernel.name);
        if first != kernel.name {
            shared.push(full(&kernel.name));
        }
    }
    let rename = |name: &mut String| {
        let full = full(name);
        if !shared.contains(&full) {
            *name = full;
        }
    };
    for kernel in &mut profile.kernels {
        rename(&mut kernel.name);
        kernel.neighbours.iter_mut().flatten().for_each(rename);
    }
    sort(profile);
}

/// Restores the order by name, which [`Profile`] has.
fn sort(profile: &mut Profile) {
    let key = |at: &usize| (&profile.kernels[*at].name, &profile.kernels[*at].launch);
    let mut order: Vec<usize> = (0..profile.kernels.len()).collect();
    order.sort_by(|one, other| key(one).cmp(&key(other)));
    let mut position = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        position[old] = new;
    }
    profile.kernels = order.iter().map(|&old| std::mem::take(&mut profile.kernels[old])).collect();
    for work in profile.gpus.iter_mut().flat_map(|gpu| &mut gpu.work) {
        if let Activity::Kernel(kernel) = &mut work.item {
            *kernel = position[*kernel];
        }
    }
}

#[cfg(test)]
mod tests {
    use rtl_analysis::profile::{ActivityTotal, GpuProfile, Kernel};

    use super::*;

    fn profile(names: &[&str]) -> Profile {
        let kernels =
            names.iter().map(|name| Kernel { name: (*name).to_owned(), ..Kernel::default() }).collect();
        let work = |at: usize| ActivityTotal {
            item: Activity::Kernel(at),
            shape: None,
            calls: 1,
            total_ns: at as i64,
        };
        let gpu = GpuProfile { work: (0..names.len()).map(work).collect(), ..GpuProfile::default() };
        Profile { kernels, gpus: vec![gpu], straggler: None }
    }

    #[test]
    fn mangled_names_are_demangled_and_their_work_follows() {
        let mut profile = profile(&["_Z4gemmv", "add"]);
        demangle(&mut profile);
        let names: Vec<_> = profile.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["add", "gemm()"]);
        assert_eq!(profile.gpus[0].work[0].item, Activity::Kernel(1));
    }

    #[test]
    fn names_that_would_become_equal_stay_as_stored() {
        let mut profile = profile(&["_ZN1AC1Ev", "_ZN1AC2Ev"]);
        demangle(&mut profile);
        assert_eq!(profile.kernels[1].name, "_ZN1AC2Ev");
    }
}
