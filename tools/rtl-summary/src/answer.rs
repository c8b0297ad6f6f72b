//! What one trace says to the question.

use std::path::{Path, PathBuf};

use cli::Failure;
use rtl_analysis::facts::{Fact, facts};
use rtl_analysis::kernels::{self, Group};
use rtl_analysis::profile::{self, KernelKey, Profile, Warmup};
use rtl_analysis::ranks::{self, Ranks};
use rtl_analysis::region::{self, Region};
use rtl_analysis::{Report, rocprofv3, rpt};
use rtl_schema::Tables;

use crate::args::Style;
use crate::info::Stored;
use crate::naming;
use crate::question::{Question, key};

/// The answer of one trace, or of all together.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The trace; `None` for all together.
    pub path: Option<PathBuf>,
    /// What was kept of it.
    pub region: Region,
    /// The report by kernel.
    pub report: Report,
    /// The main table, if it is not by kernel.
    pub groups: Option<Vec<Group>>,
    /// Ranks beside each other, where that was asked for.
    pub ranks: Option<Ranks>,
    /// What the file itself holds, where that was asked.
    pub stored: Option<Stored>,
    /// The report of another tool, where that was asked for.
    pub styled: Option<Styled>,
    /// What rtl-diff compares saved reports by.
    pub comparable: Option<Comparable>,
}

/// What rtl-diff compares saved reports by.
#[derive(Debug, Clone)]
pub struct Comparable {
    /// Trimmed means, and what ran on each GPU.
    pub profile: Profile,
    /// The names of its kernels as they are printed.
    pub names: Vec<String>,
    /// What the trace was recorded on and with.
    pub facts: Vec<Fact>,
    /// The job that it is from.
    pub run: Option<String>,
}

impl Comparable {
    fn of(tables: &Tables, question: &Question) -> Self {
        let profile = profile::profile(tables, &question.options.categories, KernelKey::Name, Warmup::Keep);
        let names = profile.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        let run = tables.info.metadata.iter().find(|(tag, _)| tag == "run_id");
        Self { profile, names, facts: facts(tables), run: run.map(|(_, value)| value.clone()) }
    }
}

/// The report of another tool.
#[derive(Debug, Clone)]
pub enum Styled {
    /// RTG's rpt.
    Rpt(Box<rpt::Report>),
    /// rocprofv3's -S table.
    Rocprofv3(rocprofv3::Summary),
}

impl Answer {
    /// Keeps the region of interest of `tables` and answers about it.
    ///
    /// # Errors
    /// Where the trace has no such region.
    pub fn of(path: &Path, tables: &mut Tables, question: &Question) -> Result<Self, Failure> {
        let region = region::apply(tables, &question.filter).map_err(|error| {
            Failure::input(error)
                .context(path.display().to_string())
                .with_hint("`rtl-summary --section trace,ranges,kernels` shows what there is to choose from")
        })?;
        Ok(Self { path: Some(path.to_owned()), region, ..Self::combined(tables, question) })
    }

    /// Answers about all rows of `tables`.
    pub fn combined(tables: &Tables, question: &Question) -> Self {
        let mut answer = Self {
            path: None,
            region: Region::default(),
            report: Report::default(),
            groups: None,
            ranks: None,
            stored: None,
            styled: None,
            comparable: question.comparable.then(|| Comparable::of(tables, question)),
        };
        match question.style {
            Some(Style::Rpt) => {
                answer.styled = Some(Styled::Rpt(Box::new(rpt::report(tables, &rpt::Options::default()))));
                return answer;
            }
            Some(Style::Rocprofv3) => {
                answer.styled = Some(Styled::Rocprofv3(rocprofv3::summary(tables)));
                return answer;
            }
            None => {}
        }
        answer.report = rtl_analysis::report(tables, &question.options);
        if let (true, Some(by)) = (question.options.sections.kernels, question.by) {
            let mut groups = kernels::by(tables, key(by), &question.options.categories);
            kernels::sort(&mut groups, question.options.sort);
            answer.groups = Some(groups);
        }
        answer.ranks = question.ranks.then(|| ranks::ranks(tables, &question.options.categories));
        naming::apply(&mut answer, tables, question.names);
        answer
    }

    /// Each reason for `--strict` to fail, with the file in front.
    pub fn strict_failures(&self) -> Vec<String> {
        let path = self.path.as_ref().map(|path| format!("{}: ", path.display())).unwrap_or_default();
        let sanity = self.report.sanity.iter();
        sanity.flat_map(|sanity| sanity.strict_failures()).map(|reason| format!("{path}{reason}")).collect()
    }
}
