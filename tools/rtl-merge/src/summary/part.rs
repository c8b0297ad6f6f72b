//! What one trace adds to the lists of the report, as JSON.

use rtl_analysis::streaming::Totals;
use rtl_report_types::{Input, RankReport, StreamedInfo};
use serde_json::Result;

use super::json_array::Elements;
use super::kernels::KernelName;
use super::rows::{gpu_row, kernel_rows};

/// The totals of a trace, once its kernels and GPUs have their names and numbers in the report: any thread may render them.
pub(super) struct Part {
    /// The position of the trace.
    pub(super) input: usize,
    pub(super) about: Input<StreamedInfo>,
    pub(super) ran: Totals,
    /// Of each of [`Totals::kernels`].
    pub(super) names: Vec<KernelName>,
    /// Of each of [`Totals::gpus`].
    pub(super) numbers: Vec<i64>,
}

/// A part as JSON.
#[derive(Default)]
pub(super) struct RenderedPart {
    pub(super) inputs: Elements,
    pub(super) gpus: Elements,
    pub(super) ranks: Elements,
}

impl Part {
    /// The part as JSON.
    ///
    /// # Errors
    /// Where a row has no JSON.
    pub(super) fn render(self) -> Result<RenderedPart> {
        let Self { input, about, ran, names, numbers } = self;
        let mut rendered = RenderedPart::default();
        rendered.inputs.push(&about)?;
        for rank in ran.ranks {
            let durations = rank.kernels.iter().map(|(kernel, sketch)| (&names[*kernel], sketch));
            let kernels = kernel_rows(durations);
            rendered.ranks.push(&RankReport { input, rank: rank.rank, kernels, gpus: rank.gpus })?;
        }
        for (gpu, number) in ran.gpus.into_iter().zip(numbers) {
            rendered.gpus.push(&gpu_row(&names, gpu, number))?;
        }
        Ok(rendered)
    }
}
