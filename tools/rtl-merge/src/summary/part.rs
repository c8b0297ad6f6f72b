//! Renders the part of one trace in the lists of the report as JSON.

use cli::report::{Input, RankReport, StreamedInfo};
use rtl_analysis::streaming::{GpuTotals, RankTotals};
use rtl_analysis::sweep::Gpu;
use serde_json::Result;

use super::json_array::Elements;
use super::kernels::KernelName;
use super::rows::{Figures, gpu_row, kernel_rows};

/// The part of one trace, whose kernels and GPUs have their names and numbers in the report, so that any thread may render it.
pub(super) struct Part {
    /// The position of the trace.
    pub(super) input: usize,
    pub(super) about: Input<StreamedInfo>,
    pub(super) ranks: Vec<RankPart>,
    pub(super) gpus: Vec<GpuTotals>,
    /// By kernel of the trace.
    pub(super) names: Vec<KernelName>,
    /// By GPU of the trace.
    pub(super) numbers: Vec<i64>,
}

pub(super) struct RankPart {
    rank: Option<u32>,
    /// The positions of its kernels among those of the trace, and the figures of each.
    kernels: Vec<(usize, Figures)>,
    gpus: Vec<Gpu>,
}

impl RankPart {
    pub(super) fn new(totals: &RankTotals) -> Self {
        let kernels = totals.kernels.iter().map(|(kernel, sketch)| (*kernel, sketch.into()));
        Self { rank: totals.rank, kernels: kernels.collect(), gpus: totals.gpus.clone() }
    }
}

#[derive(Default)]
pub(super) struct RenderedPart {
    pub(super) inputs: Elements,
    pub(super) gpus: Elements,
    pub(super) ranks: Elements,
}

impl Part {
    /// # Errors
    /// Where a row has no JSON.
    pub(super) fn render(self) -> Result<RenderedPart> {
        let Self { input, about, ranks, gpus, names, numbers } = self;
        let mut rendered = RenderedPart::default();
        rendered.inputs.push(&about)?;
        for rank in ranks {
            let kernels =
                kernel_rows(rank.kernels.iter().map(|&(kernel, figures)| (&names[kernel], figures)));
            rendered.ranks.push(&RankReport { input, rank: rank.rank, kernels, gpus: rank.gpus })?;
        }
        for (gpu, number) in gpus.into_iter().zip(numbers) {
            rendered.gpus.push(&gpu_row(&names, gpu, number))?;
        }
        Ok(rendered)
    }
}
