//! Pairs by similarity: the last resort for renamed or replaced kernels.

use std::collections::BTreeSet;

use super::features::KernelFeatures;
use super::form::normal;

/// The least similarity of a pair.
const ENOUGH: f64 = 0.6;

/// Most comparisons: builds with more unmatched kernels share hardly any.
const LIMIT: usize = 1_000_000;

/// The most similar pairs of unmatched kernels, best first, each position at most once.
pub(super) fn pairs(
    baseline: &[KernelFeatures],
    candidate: &[KernelFeatures],
    removed: &[usize],
    new: &[usize],
) -> Vec<(usize, usize, f64)> {
    if removed.len().saturating_mul(new.len()) > LIMIT {
        return Vec::new();
    }
    let before: Vec<Traits> = removed.iter().map(|&at| Traits::of(&baseline[at])).collect();
    let after: Vec<Traits> = new.iter().map(|&at| Traits::of(&candidate[at])).collect();
    let mut scores = Vec::new();
    for (one, old) in before.iter().enumerate() {
        for (other, new) in after.iter().enumerate() {
            let score = old.likeness(new);
            if score >= ENOUGH {
                scores.push((one, other, score));
            }
        }
    }
    let name = |one: usize, other: usize| (&baseline[removed[one]].name, &candidate[new[other]].name);
    scores.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| name(a.0, a.1).cmp(&name(b.0, b.1))));
    let (mut used, mut taken) = (vec![false; removed.len()], vec![false; new.len()]);
    scores.retain(|&(one, other, _)| {
        let free = !used[one] && !taken[other];
        used[one] |= free;
        taken[other] |= free;
        free
    });
    scores.into_iter().map(|(one, other, score)| (removed[one], new[other], score)).collect()
}

struct Traits<'a> {
    words: BTreeSet<String>,
    neighbours: [Option<String>; 2],
    shapes: &'a [String],
    calls: u64,
}

impl<'a> Traits<'a> {
    fn of(subject: &'a KernelFeatures) -> Self {
        let words = subject.name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        Self {
            words: words.map(str::to_ascii_lowercase).collect(),
            neighbours: [0, 1].map(|side| subject.neighbours[side].as_deref().map(normal)),
            shapes: &subject.shapes,
            calls: subject.calls,
        }
    }

    /// 0 to 1: 0.4 words of the name in common, 0.3 the same neighbours, 0.2 launch shapes in common, 0.1 the ratio of
    /// calls. What one side does not know counts for nothing, and the rest for more. Nothing is alike whose names have
    /// no word in common.
    fn likeness(&self, other: &Self) -> f64 {
        let common = self.words.intersection(&other.words).count();
        let all = self.words.union(&other.words).count();
        if common == 0 {
            return 0.0;
        }
        let mut parts = vec![(0.4, common as f64 / all as f64)];
        let places: Vec<bool> = (0..2)
            .filter_map(|side| Some(self.neighbours[side].as_ref()? == other.neighbours[side].as_ref()?))
            .collect();
        if !places.is_empty() {
            let same = places.iter().filter(|&&same| same).count();
            parts.push((0.3, same as f64 / places.len() as f64));
        }
        if !self.shapes.is_empty() && !other.shapes.is_empty() {
            let common = self.shapes.iter().filter(|shape| other.shapes.contains(shape)).count();
            let all = self.shapes.len() + other.shapes.len() - common;
            parts.push((0.2, common as f64 / all as f64));
        }
        let (fewer, more) = (self.calls.min(other.calls), self.calls.max(other.calls));
        if more > 0 {
            parts.push((0.1, fewer as f64 / more as f64));
        }
        let weight: f64 = parts.iter().map(|(weight, _)| weight).sum();
        parts.iter().map(|(weight, likeness)| weight * likeness).sum::<f64>() / weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(name: &str, calls: u64, neighbours: [&str; 2], shape: &str) -> KernelFeatures {
        KernelFeatures {
            name: name.to_owned(),
            calls,
            neighbours: neighbours.map(|name| Some(name.to_owned())),
            shapes: vec![shape.to_owned()],
            ..KernelFeatures::default()
        }
    }

    #[test]
    fn the_same_place_shape_and_calls_outweigh_half_a_new_name() {
        let old = [subject("fused_norm_fwd", 100, ["gemm", "relu"], "64x1x1")];
        let new = [
            subject("norm_fwd_v2", 100, ["gemm", "relu"], "64x1x1"),
            subject("other_fwd", 7, ["copy", "copy"], "1x1x1"),
        ];
        let found = pairs(&old, &new, &[0], &[0, 1]);
        // Words: norm and fwd of fused, norm, fwd, v2.
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0, found[0].1), (0, 0));
        assert!((found[0].2 - (0.4 * 0.5 + 0.3 + 0.2 + 0.1)).abs() < 1e-9);
    }

    #[test]
    fn names_without_a_common_word_are_never_alike() {
        let place = ["a", "b"];
        assert!(
            pairs(&[subject("gemm", 5, place, "s")], &[subject("softmax", 5, place, "s")], &[0], &[0])
                .is_empty()
        );
    }

    #[test]
    fn each_kernel_has_one_partner_and_the_likeliest_first() {
        let old = [subject("layer norm one", 10, ["a", "b"], "s")];
        let new =
            [subject("layer norm two", 9, ["a", "b"], "s"), subject("layer norm one v", 10, ["a", "b"], "s")];
        let found = pairs(&old, &new, &[0], &[0, 1]);
        assert_eq!(found.iter().map(|pair| pair.1).collect::<Vec<_>>(), [1]);
    }
}
