//! Which kernel of the candidate is which of the baseline, where names are not equal.
//!
//! Exact names first, then what the user says, then ever looser forms of the names that are left; a form pairs two
//! kernels only if it is that of exactly one left on each side, so that nothing is paired by chance. What is still
//! left may be paired by likeness. Every pair carries how it was found and how sure that is.

mod family;
mod features;
mod form;
mod similarity;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::family::family;
pub use self::features::KernelFeatures;
pub use self::form::{normal, without_templates};

/// How a pair was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The names are equal.
    Exact,
    /// From the user's configuration.
    Config,
    /// Equal up to suffixes, addresses and ordinals of lambdas, which compilers and tools add.
    Normalised,
    /// Equal without template arguments and parameters.
    Template,
    /// Kernels of one family of generated kernels.
    Family,
    /// Alike in name, place in the launch order, launch shape and number of calls.
    #[serde(rename = "likeness")]
    Similarity,
}

impl Method {
    /// Returns whether the pair is a guess: shown as such and in a term of its own.
    pub fn is_guess(self) -> bool {
        self >= Self::Template
    }

    /// The word of reports.
    pub fn label(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Config => "config",
            Self::Normalised => "normalised",
            Self::Template => "template",
            Self::Family => "family",
            Self::Similarity => "likeness",
        }
    }

    /// How sure a pair found this way is, 0 to 1; likeness has a score of its own.
    fn score(self) -> f64 {
        match self {
            Self::Exact | Self::Config => 1.0,
            Self::Normalised => 0.95,
            Self::Template => 0.8,
            Self::Family => 0.7,
            Self::Similarity => 0.0,
        }
    }
}

/// Two positions, one on each side, and why they belong together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Position in the baseline.
    pub baseline: usize,
    /// Position in the candidate.
    pub candidate: usize,
    /// How it was found.
    pub method: Method,
    /// How sure it is, 0 to 1.
    pub score: f64,
}

/// Unmatched kernels of one family on both sides, too many to pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameCandidates {
    /// Name of the family.
    pub name: String,
    /// Positions in the baseline.
    pub baseline: Vec<usize>,
    /// Positions in the candidate.
    pub candidate: Vec<usize>,
}

/// The answer: every position of each side is in exactly one of `pairs` and `removed` or `new`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matching {
    /// In order of the baseline.
    pub pairs: Vec<Pair>,
    /// Positions in the baseline that have no partner.
    pub removed: Vec<usize>,
    /// Positions in the candidate that have no partner.
    pub new: Vec<usize>,
    /// Families among `removed` and `new` that both have members of.
    pub rename_candidates: Vec<RenameCandidates>,
}

/// Pairs the kernels of both sides. `exact` are the pairs of equal names (a join of large tables has them);
/// `renames` are the user's, baseline's name first.
pub fn matching(
    baseline: &[KernelFeatures],
    candidate: &[KernelFeatures],
    exact: &[(usize, usize)],
    renames: &BTreeMap<String, String>,
) -> Matching {
    let mut matcher = Matcher {
        kernels: [baseline, candidate],
        pairs: Vec::new(),
        taken: [vec![false; baseline.len()], vec![false; candidate.len()]],
    };
    for &(one, other) in exact {
        matcher.add(one, other, Method::Exact, 1.0);
    }
    matcher.by_config(renames);
    matcher.by_form(Method::Normalised, normal);
    matcher.by_form(Method::Template, without_templates);
    matcher.by_form(Method::Family, |name| family(name).unwrap_or_default());
    for (one, other, score) in similarity::pairs(baseline, candidate, &matcher.left(0), &matcher.left(1)) {
        matcher.add(one, other, Method::Similarity, score);
    }
    matcher.finish()
}

struct Matcher<'a> {
    kernels: [&'a [KernelFeatures]; 2],
    pairs: Vec<Pair>,
    taken: [Vec<bool>; 2],
}

impl Matcher<'_> {
    fn add(&mut self, baseline: usize, candidate: usize, method: Method, score: f64) {
        let free = |side: usize, at: usize| self.taken[side].get(at) == Some(&false);
        if free(0, baseline) && free(1, candidate) {
            self.taken[0][baseline] = true;
            self.taken[1][candidate] = true;
            self.pairs.push(Pair { baseline, candidate, method, score });
        }
    }

    /// Positions of a side that have no partner yet.
    fn left(&self, side: usize) -> Vec<usize> {
        (0..self.taken[side].len()).filter(|&at| !self.taken[side][at]).collect()
    }

    fn by_config(&mut self, renames: &BTreeMap<String, String>) {
        let [baseline, candidate] = self.kernels;
        for at in self.left(0) {
            let Some(name) = renames.get(&baseline[at].name) else { continue };
            let is_partner = |&other: &usize| {
                candidate[other].name == *name && candidate[other].launch == baseline[at].launch
            };
            if let Some(other) = self.left(1).into_iter().find(is_partner) {
                self.add(at, other, Method::Config, 1.0);
            }
        }
    }

    /// Pairs unmatched kernels whose form is unique on each side.
    fn by_form(&mut self, method: Method, form: impl Fn(&str) -> String) {
        let [before, after] = [0, 1].map(|side| {
            self.grouped(side, |kernel| {
                let form = form(&kernel.name);
                (!form.is_empty()).then(|| (form, kernel.launch.clone()))
            })
        });
        for (key, one) in before {
            if let ([one], Some([other])) = (one.as_slice(), after.get(&key).map(Vec::as_slice)) {
                self.add(*one, *other, method, method.score());
            }
        }
    }

    /// The positions of a side that have no partner yet, by key; kernels without a key are left out.
    fn grouped<K: Ord>(
        &self,
        side: usize,
        key: impl Fn(&KernelFeatures) -> Option<K>,
    ) -> BTreeMap<K, Vec<usize>> {
        let mut positions: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        for at in self.left(side) {
            if let Some(key) = key(&self.kernels[side][at]) {
                positions.entry(key).or_default().push(at);
            }
        }
        positions
    }

    fn finish(mut self) -> Matching {
        self.pairs.sort_by_key(|pair| pair.baseline);
        let [mut before, after] = [0, 1].map(|side| self.grouped(side, |kernel| family(&kernel.name)));
        let rename_candidates = after
            .into_iter()
            .filter_map(|(name, candidate)| {
                let baseline = before.remove(&name)?;
                Some(RenameCandidates { name, baseline, candidate })
            })
            .collect();
        Matching { removed: self.left(0), new: self.left(1), pairs: self.pairs, rename_candidates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(names: &[&str]) -> Vec<KernelFeatures> {
        names
            .iter()
            .map(|name| KernelFeatures { name: (*name).to_owned(), calls: 10, ..KernelFeatures::default() })
            .collect()
    }

    /// The pairs as `baseline -> candidate: method`.
    fn found(baseline: &[&str], candidate: &[&str]) -> Vec<String> {
        let exact: Vec<(usize, usize)> = (0..baseline.len())
            .filter_map(|one| Some((one, candidate.iter().position(|name| *name == baseline[one])?)))
            .collect();
        let answer = matching(&subjects(baseline), &subjects(candidate), &exact, &BTreeMap::new());
        let words = |pair: &Pair| {
            format!("{} -> {}: {}", baseline[pair.baseline], candidate[pair.candidate], pair.method.label())
        };
        answer.pairs.iter().map(words).collect()
    }

    #[test]
    fn equal_names_come_first_and_leave_the_rest() {
        assert_eq!(
            found(&["f<1>()", "g"], &["g", "f<2>()"]),
            ["f<1>() -> f<2>(): template", "g -> g: exact"]
        );
    }

    #[test]
    fn ordinals_of_lambdas_are_not_part_of_a_kernel() {
        assert_eq!(
            found(&["void k<f()::{lambda(int)#1}>(int)"], &["void k<f()::{lambda(int)#3}>(int)"]),
            ["void k<f()::{lambda(int)#1}>(int) -> void k<f()::{lambda(int)#3}>(int): normalised"]
        );
    }

    #[test]
    fn two_that_could_both_be_meant_are_not_paired_by_form() {
        let baseline = ["void k<f()::{lambda(int)#1}>(int)", "void k<f()::{lambda(int)#2}>(int)"];
        let candidate = ["void k<f()::{lambda(int)#3}>(int)", "void k<f()::{lambda(int)#4}>(int)"];
        assert!(found(&baseline, &candidate).iter().all(|pair| pair.ends_with("likeness")));
    }

    #[test]
    fn another_tile_of_a_gemm_is_family_and_several_are_kin() {
        let one = ["Cijk_Ailk_Bljk_BBS_BH_MT64x64x32_SN"];
        let other = ["Cijk_Ailk_Bljk_BBS_BH_MT128x64x32_SN"];
        assert_eq!(found(&one, &other), [format!("{} -> {}: family", one[0], other[0])]);

        let three = ["Cijk_Ailk_Bljk_BBS_BH_MT1x4x256_A", "Cijk_Ailk_Bljk_BBS_BH_MT2x4x256_B", "unlike"];
        let answer = matching(
            &subjects(&three),
            &subjects(&["Cijk_Ailk_Bljk_BBS_BH_MT9x9x9_zz_yy_xx_ww"]),
            &[],
            &BTreeMap::new(),
        );
        assert!(answer.pairs.is_empty(), "{answer:?}");
        assert_eq!(
            answer.rename_candidates,
            [RenameCandidates {
                name: "Cijk_Ailk_Bljk_BBS_BH".to_owned(),
                baseline: vec![0, 1],
                candidate: vec![0]
            }]
        );
    }

    #[test]
    fn the_user_decides() {
        let renames = BTreeMap::from([("old".to_owned(), "brand_new".to_owned())]);
        let answer = matching(&subjects(&["old"]), &subjects(&["brand_new"]), &[], &renames);
        assert_eq!((answer.pairs[0].method, answer.pairs[0].score), (Method::Config, 1.0));
        assert!(!Method::Config.is_guess() && !Method::Normalised.is_guess() && Method::Template.is_guess());
    }

    #[test]
    fn nothing_in_common_is_removed_and_new() {
        let answer = matching(&subjects(&["softmax"]), &subjects(&["gemm"]), &[], &BTreeMap::new());
        assert_eq!((answer.pairs.len(), answer.removed, answer.new), (0, vec![0], vec![0]));
    }
}
