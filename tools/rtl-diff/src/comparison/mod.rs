//! Two sides of runs, compared: values only, nothing is printed and no gate is known here.

mod books;
mod comparable;
mod join;
mod mix;
mod totals;
mod waits;

use std::path::PathBuf;

use cli::Failure;
use rtl_analysis::compare::history::{Drift, judge_history};
use rtl_analysis::compare::{self, Judgement, KernelPair, Run as KernelRun, Side, Status};
use rtl_analysis::decomposition::WallDecomposition;
use rtl_analysis::facts::CUT_OFF;
use rtl_analysis::identity::{self, Matching, Method};

pub use self::comparable::Difference;
use self::join::{Joined, join};
pub use self::totals::{Total, Totals};
pub use self::waits::Waits;
use crate::input::Run;
use crate::settings::Settings;

/// Everything that a comparison found.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// The files of each run of the baseline; empty where there is no baseline yet.
    pub baseline: Vec<Vec<PathBuf>>,
    /// The files of each run of the candidate.
    pub candidate: Vec<Vec<PathBuf>>,
    /// All kernels of either side, most telling first.
    pub rows: Vec<Row>,
    /// Kernels of one family that are gone and new, too many to say which is which.
    pub kin: Vec<Kin>,
    /// GPU time, wall, idle time and launches of the runs.
    pub totals: Totals,
    /// Where the change of wall comes from, between two typical runs.
    pub books: WallDecomposition,
    /// Which run of each side the books are of: the one with the median wall. `None` without a baseline.
    pub typical: Option<[usize; 2]>,
    /// In what the two sides were recorded differently.
    pub differences: Vec<Difference>,
    /// What a reader should know before believing the numbers.
    pub notes: Vec<String>,
    /// Why the amounts of work differ, if they do: then totals cannot be compared.
    pub other_work: Option<String>,
    /// Why nothing can be compared at all, if so.
    pub incomparable: Option<String>,
}

/// A family of kernels of which several are gone and several new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kin {
    /// What they have in common.
    pub name: String,
    /// How many are gone.
    pub removed: usize,
    /// How many are new.
    pub new: usize,
}

/// What happened to a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// Slower beyond doubt.
    Regressed,
    /// Faster beyond doubt.
    Improved,
    /// Only the candidate has it.
    New,
    /// Only the baseline has it.
    Removed,
    /// A guess says that it has another name now.
    Renamed,
    /// The data does not decide.
    Inconclusive,
    /// Neither slower nor faster.
    Unchanged,
}

impl Change {
    /// The word of every format.
    pub fn label(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::New => "new",
            Self::Removed => "removed",
            Self::Renamed => "renamed?",
            Self::Inconclusive => "inconclusive",
            Self::Unchanged => "unchanged",
        }
    }
}

/// One kernel.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its name in the candidate; in the baseline where it is removed.
    pub name: String,
    /// Its name in the baseline, where that is another.
    pub former: Option<String>,
    /// The launch shape, where kernels are told apart by it.
    pub launch: Option<String>,
    /// Whether it waits for other ranks.
    pub collective: bool,
    /// What it waited in the baseline and in the candidate, where its ranks were matched: then the rest of the row is about
    /// transfers, and gated. A collective without is shown and never gated.
    pub waits: Option<[Waits; 2]>,
    /// What happened.
    pub change: Change,
    /// What the runs say.
    pub judgement: Judgement,
    /// What crept in over many past runs, where there are as many.
    pub drift: Option<Drift>,
    /// How the two names were found to be one kernel, where both sides have it.
    pub pairing: Option<(Method, f64)>,
    /// Its part of the GPU time, on the side where that is larger.
    pub share: f64,
    /// Its part of the GPU time on each side.
    pub shares: [f64; 2],
    /// Change of its time in a run, averaged over runs, in ns.
    pub change_ns: f64,
}

impl Row {
    /// The name, with the launch shape where there is one.
    pub fn title(&self) -> String {
        match &self.launch {
            Some(launch) => format!("{} [{launch}]", self.name),
            None => self.name.clone(),
        }
    }

    /// The baseline and the candidate.
    pub fn sides(&self) -> [&Side; 2] {
        [&self.judgement.baseline, &self.judgement.candidate]
    }

    /// Whether something happened to it beyond doubt, or it came or went.
    pub fn has_changed(&self) -> bool {
        !matches!(self.change, Change::Inconclusive | Change::Unchanged)
    }

    /// Whether a gate may look at it as a kernel.
    pub fn is_gated(&self) -> bool {
        (!self.collective || self.waits.is_some())
            && !matches!(self.change, Change::New | Change::Removed | Change::Renamed)
    }

    /// What comes first: regressions, then what else changed, then by time.
    fn rank(&self) -> (Change, std::cmp::Reverse<i64>, &str, Option<&str>) {
        (self.change, std::cmp::Reverse(self.change_ns.abs() as i64), &self.name, self.launch.as_deref())
    }
}

/// Compares. A side without runs or without kernels is told in [`Comparison::incomparable`].
///
/// # Errors
/// Where the tables of kernels cannot be joined.
pub fn compare(baseline: &[Run], candidate: &[Run], settings: &Settings) -> Result<Comparison, Failure> {
    let mut joined = join(baseline, candidate)?;
    let matching =
        identity::matching(&joined.subjects[0], &joined.subjects[1], &joined.exact(), &settings.renames);
    waits::set_apart(&mut joined, &matching, [baseline, candidate]);
    mix::level(&mut joined, &matching, [baseline, candidate]);
    let rows = rows(&joined, &matching, settings);
    let typical = books::typical(baseline).zip(books::typical(candidate)).map(|(one, other)| [one, other]);
    let books = typical.map_or_else(WallDecomposition::default, |[one, other]| {
        books::of(
            [&baseline[one], &candidate[other]],
            [&joined.of_run[0][one], &joined.of_run[1][other]],
            &matching,
        )
    });
    let files = |runs: &[Run]| runs.iter().map(|run| run.files.clone()).collect();
    let kin = matching.rename_candidates.iter().map(|kin| Kin {
        name: kin.name.clone(),
        removed: kin.baseline.len(),
        new: kin.candidate.len(),
    });
    let mut comparison = Comparison {
        baseline: files(baseline),
        candidate: files(candidate),
        kin: kin.collect(),
        totals: Totals::of(baseline, candidate),
        books,
        typical,
        differences: comparable::differences(baseline, candidate),
        ..Comparison::default()
    };
    comparison.incomparable = comparable::nothing_in_common(baseline, candidate, &rows);
    if comparison.incomparable.is_none() {
        comparison.other_work = comparable::other_work(&rows);
    }
    comparison.notes = notes(baseline, candidate);
    let typical = typical.map(|[one, other]| [&baseline[one], &candidate[other]]);
    comparison.notes.extend(waits::notes(&rows, typical));
    if joined.runs.iter().flatten().flatten().any(|run| run.at_equal_mix.is_some()) {
        comparison.notes.push(
            "kernels of several launch shapes are compared at equal mix of them; before and after are as they ran"
                .to_owned(),
        );
    }
    comparison.rows = rows;
    comparison.rows.sort_by(|one, other| one.rank().cmp(&other.rank()));
    Ok(comparison)
}

fn notes(baseline: &[Run], candidate: &[Run]) -> Vec<String> {
    let mut notes = Vec::new();
    if baseline.len() == 1 && candidate.len() == 1 && !(baseline[0].report || candidate[0].report) {
        notes.push(
            "one run per side: the uncertainty is within-run only, and says nothing of how runs differ; \
             compare several runs, or calibrate"
                .to_owned(),
        );
    }
    if baseline.len() == 1 && candidate.len() == 1 && (baseline[0].report || candidate[0].report) {
        notes.push(
            "one report per side: nothing says how much a kernel varies, so nothing is decided".to_owned(),
        );
    }
    for (side, runs) in [("baseline", baseline), ("candidate", candidate)] {
        let cut_off = runs.iter().filter(|run| run.facts.iter().any(|fact| fact.what == CUT_OFF));
        notes.extend(cut_off.filter_map(|run| run.files.first()).map(|file| {
            format!(
                "{side}: {} was cut off before its end; totals of whole runs do not compare",
                file.display()
            )
        }));
    }
    notes
}

/// One row for each pair and for each kernel without a partner.
fn rows(joined: &Joined, matching: &Matching, settings: &Settings) -> Vec<Row> {
    let mut drafts: Vec<Draft> = matching
        .pairs
        .iter()
        .map(|pair| Draft {
            at: [Some(pair.baseline), Some(pair.candidate)],
            pairing: Some((pair.method, pair.score)),
        })
        .collect();
    drafts.extend(matching.removed.iter().map(|&at| Draft { at: [Some(at), None], pairing: None }));
    drafts.extend(matching.new.iter().map(|&at| Draft { at: [None, Some(at)], pairing: None }));

    // Guesses and kernels of one side must not count among those that are looked at together.
    let (certain, rest): (Vec<&Draft>, Vec<&Draft>) = drafts.iter().partition(|draft| draft.is_certain());
    let mut rows = Vec::with_capacity(drafts.len());
    for group in [certain, rest] {
        let facts: Vec<About> = group.iter().map(|draft| About::of(draft, joined, settings)).collect();
        let pairs: Vec<KernelPair> = facts.iter().map(About::pair).collect();
        let noise = settings.noise.as_ref();
        let judgements: Vec<(Judgement, Option<Drift>)> = if settings.history {
            let pasts = judge_history(&pairs, &settings.rules, noise);
            pasts.into_iter().map(|past| (past.judgement, past.drift)).collect()
        } else {
            let judgements = compare::judge(&pairs, &settings.rules, noise);
            judgements.into_iter().map(|judgement| (judgement, None)).collect()
        };
        for ((draft, about), (judgement, drift)) in group.into_iter().zip(facts).zip(judgements) {
            rows.push(Row { drift, ..about.row(draft, judgement, joined) });
        }
    }
    rows
}

/// Positions on both sides that belong together.
struct Draft {
    at: [Option<usize>; 2],
    pairing: Option<(Method, f64)>,
}

impl Draft {
    fn is_certain(&self) -> bool {
        self.pairing.is_some_and(|(method, _)| !method.is_guess())
    }

    fn change(&self, status: Status) -> Change {
        match (self.at, self.is_certain(), status) {
            ([Some(_), None], ..) => Change::Removed,
            ([None, _], ..) => Change::New,
            (_, false, _) => Change::Renamed,
            (.., Status::Regressed) => Change::Regressed,
            (.., Status::Improved) => Change::Improved,
            (.., Status::Unchanged) => Change::Unchanged,
            (.., Status::Inconclusive) => Change::Inconclusive,
        }
    }
}

/// What judging one draft needs.
struct About<'a> {
    /// What calibration knows it by.
    known: &'a str,
    runs: [&'a [KernelRun]; 2],
    shares: [f64; 2],
    collective: bool,
    waits: Option<[Waits; 2]>,
    gated: bool,
    threshold: Option<f64>,
}

impl<'a> About<'a> {
    fn of(draft: &Draft, joined: &'a Joined, settings: &Settings) -> Self {
        let runs = [0, 1].map(|side| match draft.at[side] {
            Some(at) => joined.runs[side][at].as_slice(),
            None => &[],
        });
        let share = |side: usize| draft.at[side].map_or(0.0, |at| joined.share(side, at));
        let side = usize::from(draft.at[0].is_none());
        let at = draft.at[side].unwrap_or_default();
        let name = &joined.subjects[side][at].name;
        let collective = joined.collective[side][at];
        let of = |side: usize| draft.at[side].and_then(|at| joined.waits[side][at]);
        let waits = of(0).zip(of(1)).map(|(before, after)| [before, after]);
        Self {
            known: &joined.titles[side][at],
            runs,
            shares: [share(0), share(1)],
            collective,
            waits,
            gated: draft.is_certain() && (!collective || waits.is_some()),
            threshold: settings.threshold_of(name),
        }
    }

    fn pair(&self) -> KernelPair<'a> {
        KernelPair {
            name: self.known,
            baseline: self.runs[0],
            candidate: self.runs[1],
            share: self.shares[0].max(self.shares[1]),
            gated: self.gated,
            threshold: self.threshold,
        }
    }

    fn row(self, draft: &Draft, judgement: Judgement, joined: &Joined) -> Row {
        let subject = |side: usize| draft.at[side].map(|at| &joined.subjects[side][at]);
        let name = subject(1).or(subject(0)).map(|subject| subject.name.clone()).unwrap_or_default();
        let former = subject(0).map(|subject| subject.name.clone()).filter(|former| *former != name);
        // All of its time, what it waited included.
        let average = |side: usize, total: i64| {
            let all =
                self.waits.map_or(total, |waits| waits[side].transfer_ns.saturating_add(waits[side].wait_ns));
            all as f64 / joined.run_count(side).max(1) as f64
        };
        Row {
            former,
            launch: subject(1).or(subject(0)).and_then(|subject| subject.launch.clone()),
            name,
            collective: self.collective,
            waits: self.waits,
            change: draft.change(judgement.status),
            pairing: draft.pairing,
            share: self.shares[0].max(self.shares[1]),
            shares: self.shares,
            change_ns: average(1, judgement.candidate.total_ns) - average(0, judgement.baseline.total_ns),
            judgement,
            drift: None,
        }
    }
}
