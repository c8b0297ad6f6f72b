/// How many first calls of each kernel on each GPU to leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Warmup {
    /// Every call counts.
    #[default]
    Keep,
    /// This number of calls.
    Calls(usize),
    /// The first ones that are longer than all but outliers: above the third quartile by three times the distance of
    /// the quartiles. At most a tenth of the calls, so that a kernel that got faster halfway is not halved.
    Auto,
}

impl Warmup {
    /// How many of `durations`, in launch order, are warm-up.
    pub(super) fn calls(self, durations: &[i64]) -> usize {
        match self {
            Self::Keep => 0,
            Self::Calls(calls) => calls.min(durations.len()),
            Self::Auto => {
                let most = durations.len() / 10;
                if most == 0 {
                    return 0;
                }
                let mut sorted = durations.to_vec();
                let quarter = sorted.len() / 4;
                let (_, &mut lower, _) = sorted.select_nth_unstable(quarter);
                let (_, &mut upper, _) = sorted.select_nth_unstable(durations.len() - 1 - quarter);
                let fence = upper.saturating_add(upper.saturating_sub(lower).saturating_mul(3));
                durations.iter().take(most).take_while(|&&duration| duration > fence).count()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_calls_that_stand_out_are_warm_up() {
        let mut durations = vec![100; 40];
        durations[0] = 9_000;
        durations[1] = 300;
        assert_eq!(Warmup::Auto.calls(&durations), 2);
        durations[0] = 100;
        assert_eq!(Warmup::Auto.calls(&durations), 0, "only a beginning is a warm-up");
    }

    #[test]
    fn at_most_a_tenth_is_warm_up() {
        let durations: Vec<i64> = (0..40).map(|call| if call < 8 { 900 } else { 100 }).collect();
        assert_eq!(Warmup::Auto.calls(&durations), 4);
        assert_eq!(Warmup::Auto.calls(&[900, 100, 100]), 0);
    }

    #[test]
    fn a_number_is_that_many_if_there_are_so_many() {
        assert_eq!((Warmup::Calls(2).calls(&[1, 2, 3]), Warmup::Calls(9).calls(&[1])), (2, 1));
        assert_eq!(Warmup::Auto.calls(&[]), 0);
    }
}
