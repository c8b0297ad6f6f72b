//! Keys of the kernels of a trace: `k1`, `k2`, ...

use std::sync::Arc;

use rtl_schema::Tables;

use crate::Categories;
use crate::base::first_use::FirstUseSet;
use crate::names::kernel_names::KernelNames;

/// The kernels of a whole trace by total time, the largest first and equal ones by name: the first is `k1`. A key does not
/// depend on filters, on the order of a table or on the number of its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelKeys {
    names: FirstUseSet<Arc<str>>,
}

impl KernelKeys {
    /// The kernels of all rows of a trace.
    pub fn of(tables: &Tables) -> Self {
        let dispatches = &tables.dispatches;
        let kernels = KernelNames::new(tables, &Categories::default());
        let mut totals: Vec<(i64, u64)> = vec![(0, 0); kernels.kernels.len()];
        for (row, &name) in dispatches.name.iter().enumerate() {
            if let Some(duration) = dispatches.duration.valid(row) {
                let (total, calls) = &mut totals[kernels.kernel(name)];
                (*total, *calls) = (total.saturating_add(duration), *calls + 1);
            }
        }
        let mut all: Vec<(i64, Arc<str>)> = (kernels.kernels.into_iter().zip(totals))
            .filter(|(_, (_, calls))| *calls > 0)
            .map(|(kernel, (total, _))| (total, kernel.label))
            .collect();
        all.sort_unstable_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        Self::ordered(all.into_iter().map(|(_, name)| name))
    }

    /// Kernels that are in this order already.
    pub fn ordered(names: impl IntoIterator<Item = Arc<str>>) -> Self {
        Self { names: names.into_iter().collect() }
    }

    /// The key of a kernel: `k3`.
    pub fn key(&self, name: &str) -> Option<String> {
        self.names.get_index_of(name).map(|before| format!("k{}", before + 1))
    }

    /// The kernel of a number, counted from 1.
    pub fn name(&self, number: usize) -> Option<&str> {
        self.names.get_index(number.checked_sub(1)?).map(|name| &**name)
    }

    /// All kernels in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::Dispatch;

    use super::*;
    use crate::Analysis;

    #[test]
    fn keys_count_the_kernels_in_the_order_of_the_report() {
        let mut tables = Tables::default();
        for (name, duration) in
            [("add", Some(5)), ("gemm.kd", Some(9)), ("gemm", Some(1)), ("copy", Some(5)), ("lost", None)]
        {
            let name = tables.strings.intern(name);
            tables.dispatches.push(Dispatch { name, duration, ..Dispatch::default() });
        }
        let keys = KernelKeys::of(&tables);
        assert_eq!(keys.names().collect::<Vec<_>>(), ["gemm", "add", "copy"]);
        assert_eq!((keys.key("add").as_deref(), keys.name(2)), (Some("k2"), Some("add")));
        assert_eq!((keys.key("lost"), keys.name(0), keys.name(4)), (None, None, None));
        let categories = Categories::default();
        let analysis = Analysis::new(&tables, &categories);
        let report: Vec<&str> = analysis.kernels().iter().map(|group| &*group.label).collect();
        assert_eq!(report, keys.names().collect::<Vec<_>>());
    }
}
