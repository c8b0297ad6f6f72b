//! Identifies the traces of a job: their ranks, and the machines and GPUs that several of them share.

mod gpus;
mod machines;
mod ranks;
mod runs;

use cli::Failure;

use crate::args::{Allow, Options};
use crate::read::Input;

pub(crate) use gpus::Devices;
pub(crate) use machines::{Evidence, Machines};
pub(crate) use ranks::{RankOverrides, assign as assign_ranks, rank_of_name};
pub(crate) use runs::check as check_runs;

/// Where a job ran.
pub(crate) struct Places {
    pub(crate) machines: Machines,
    pub(crate) devices: Devices,
}

impl Places {
    /// Assigns ranks to the inputs, sorts them by rank and finds where they ran.
    ///
    /// # Errors
    /// Where the ranks contradict each other, or without `--allow different-runs` where the traces are not of one run.
    pub(crate) fn find(
        inputs: &mut [Input],
        overrides: &RankOverrides,
        options: &Options,
    ) -> Result<Self, Failure> {
        assign_ranks(inputs, overrides, options.allows(Allow::MissingRanks))?;
        let machines = Machines::find(inputs);
        if !options.allows(Allow::DifferentRuns) {
            check_runs(inputs, &machines)?;
        }
        let devices = Devices::find(inputs, &machines, options.identity.same_gpus);
        Ok(Self { machines, devices })
    }
}
