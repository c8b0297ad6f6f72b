//! How evenly the ranks share their work, and which stands out, as it is reported.

use std::collections::BTreeMap;

use rtl_analysis::ranks::kernels::{KernelTotals, imbalances};
use rtl_analysis::ranks::outliers::{RankValues, outliers};
use rtl_analysis::ranks::streaming::KernelIndex;
use rtl_analysis::ranks::{KernelImbalance, Outlier, Steps};
use rtl_analysis::stats::CallTotal;
use serde::Serialize;

use super::members::{Member, Members};
use super::waits::Waits;
use crate::read::Input;

/// The number of kernels and outliers in the document, at most.
pub const MOST: usize = 200;

#[derive(Debug, Clone, Serialize)]
pub struct Rank {
    /// The name in the table of waits.
    pub member: String,
    pub rank: Option<u32>,
    /// The number in the merged trace.
    pub gpu: Option<i64>,
    /// The union of its ops in ns, of a process in several traces summed over them; unknown where rows are far from the
    /// order of their starts.
    pub busy_ns: Option<i64>,
    /// The union of its ops that are no collectives in ns, as far as `busy_ns` is known.
    pub compute_ns: Option<i64>,
}

/// The comparison of ranks. All but `ranks` needs two of them.
#[derive(Debug, Clone, Serialize, Default)]
pub struct Imbalance {
    /// Sorted by rank, then by trace, process and GPU.
    pub ranks: Vec<Rank>,
    /// How even the steps between the collectives of the largest group are, where it has enough.
    pub steps: Option<Steps>,
    /// How even each kernel is, what evenness would save most first; [`MOST`] at most.
    pub kernels: Vec<KernelImbalance>,
    /// The number of kernels beyond [`MOST`].
    pub other_kernels: usize,
    /// The outliers among ranks; [`MOST`] at most.
    pub outliers: Vec<Outlier>,
    /// The number of outliers beyond [`MOST`].
    pub other_outliers: usize,
}

impl Imbalance {
    pub(crate) fn new(inputs: &[Input], members: &Members, waits: &Waits, kernels: &KernelIndex) -> Self {
        let names = members.names();
        let mut busy: Vec<Option<(i64, i64)>> = vec![Some((0, 0)); names.len()];
        let mut totals: Vec<BTreeMap<usize, CallTotal>> = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            for own in &input.totals {
                let Some(member) = members.position(at, own.process, own.agent) else { continue };
                let sum = busy[member].zip(own.busy_ns);
                busy[member] =
                    sum.map(|(one, other)| (one.0.saturating_add(other.0), one.1.saturating_add(other.1)));
                for (kernel, total) in &own.kernels {
                    let kernel = *kernel as usize;
                    totals.resize_with(totals.len().max(kernel + 1), BTreeMap::new);
                    totals[kernel].entry(member).or_default().append(*total);
                }
            }
        }
        let rank = |(member, busy): (&Member, &Option<(i64, i64)>)| Rank {
            member: member.name.clone(),
            rank: member.rank,
            gpu: member.gpu,
            busy_ns: busy.map(|(busy_ns, _)| busy_ns),
            compute_ns: busy.map(|(_, compute_ns)| compute_ns),
        };
        let mut imbalance =
            Self { ranks: members.all.iter().zip(&busy).map(rank).collect(), ..Self::default() };
        if names.len() > 1 {
            imbalance.steps.clone_from(&waits.steps);
            imbalance.compare(&names, &waits.by_member, &with_names(totals, kernels));
        }
        imbalance
    }

    fn compare(&mut self, names: &[&str], waits: &[(i64, u64)], totals: &[KernelTotals]) {
        let compute: Vec<Option<i64>> = self.ranks.iter().map(|rank| rank.compute_ns).collect();
        let values =
            RankValues { names, compute: &compute, steps: self.steps.as_ref(), waits, kernels: totals };
        self.outliers = outliers(&values);
        self.other_outliers = self.outliers.len().saturating_sub(MOST);
        self.outliers.truncate(MOST);
        self.kernels = imbalances(totals, names);
        self.other_kernels = self.kernels.len().saturating_sub(MOST);
        self.kernels.truncate(MOST);
        let kernels = self.kernels.iter_mut().map(|kernel| &mut kernel.name);
        let outliers = self.outliers.iter_mut().filter_map(|outlier| outlier.kernel.as_mut());
        let steps = self.steps.iter_mut().map(|steps| &mut steps.name);
        for name in kernels.chain(outliers).chain(steps) {
            *name = rtl_schema::demangle(name).unwrap_or_else(|| std::mem::take(name));
        }
    }
}

/// The kernels that any rank ran, by name.
fn with_names(totals: Vec<BTreeMap<usize, CallTotal>>, kernels: &KernelIndex) -> Vec<KernelTotals> {
    let all = kernels.labels().zip(totals).filter(|(_, ran)| !ran.is_empty());
    let mut named: Vec<KernelTotals> = all
        .map(|(label, ran)| KernelTotals { name: label.to_owned(), ran: ran.into_iter().collect() })
        .collect();
    named.sort_by(|one, other| one.name.cmp(&other.name));
    named
}
