use clap::Args;

/// The name of a run in a data set.
#[derive(Args, Debug, Clone, Default)]
pub struct RunName {
    /// The job of the run in a data set [default: default]
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,

    /// The run in a data set [default: the trace's name without its ending]
    #[arg(long = "run", value_name = "NAME")]
    pub name: Option<String>,
}
