//! The figures by which rtl-diff compares saved reports.

use std::collections::HashMap;

use cli::report::{Row, Transfers, Work, squares_ns2};
use rtl_analysis::Analysis;
use rtl_analysis::profile::{self, Activity, Kernel, KernelKey, Profile, Warmup};

use crate::kernel_names::KernelNames;

/// Trimmed means and transfers of kernels, and the activities of GPUs.
#[derive(Debug)]
pub struct Comparison {
    profile: Profile,
    /// The printed names of the kernels of the profile, in its order.
    names: Vec<String>,
}

impl Comparison {
    pub fn new(analysis: &Analysis<'_>, names: &KernelNames) -> Self {
        let profile = profile::profile(analysis, KernelKey::Name, Warmup::Keep);
        let names = profile.kernels.iter().map(|kernel| names.printed(kernel.name.clone())).collect();
        Self { profile, names }
    }

    pub fn extend(&self, rows: &mut [Row]) {
        let kernels: HashMap<&str, &Kernel> =
            self.names.iter().map(String::as_str).zip(&self.profile.kernels).collect();
        for row in rows {
            let kernel = kernels.get(row.name.as_str());
            row.trimmed_mean_ns = kernel.map(|kernel| kernel.run.trimmed_mean_ns);
            row.transfers = kernel.and_then(|kernel| kernel.waiting.as_ref()).map(Transfers::from);
            row.squares_ns2 = Some(squares_ns2(&row.stats));
        }
    }

    /// The activities of a GPU, summed over launch shapes.
    pub fn work(&self, gpu: i64) -> Option<Vec<Work>> {
        // They are sorted by number.
        let gpus = &self.profile.gpus;
        let profile = gpus.get(gpus.partition_point(|profile| profile.gpu < gpu))?;
        if profile.gpu != gpu {
            return None;
        }
        let mut all: Vec<Work> = Vec::new();
        for part in &profile.work {
            let (kernel, copies) = match &part.item {
                Activity::Kernel(kernel) => (Some(self.names[*kernel].clone()), None),
                Activity::Copies(direction) => (None, Some(direction.label().to_owned())),
            };
            match all.last_mut().filter(|last| last.kernel == kernel && last.copies == copies) {
                Some(last) => {
                    last.calls += part.calls;
                    last.total_ns = last.total_ns.saturating_add(part.total_ns);
                }
                None => all.push(Work { kernel, copies, calls: part.calls, total_ns: part.total_ns }),
            }
        }
        Some(all)
    }
}
