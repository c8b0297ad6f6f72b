//! The behaviour of the simulated GPUs as far as it can be chosen: the settings that have a grammar.
//!
//! Settings that depend on the kernel are lists of rules with commas between them, `[KERNEL=]VALUE`. The first rule that names a
//! kernel applies to it, and a value alone to all others. KERNEL is a symbol without `.kd`, a beginning of symbols with `*` at
//! its end, or the address of a kernel object as the log shows it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A length of time in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    Fixed(u64),
    /// A random length between the two, both included.
    Between(u64, u64),
    Never,
}

impl Span {
    const GRAMMAR: &'static str = "NS, NS..NS or never";

    fn parse(text: &str) -> Option<Self> {
        // The limit is a quarter of what fits, so that no sum of a time and a span wraps.
        let time = |text: &str| text.parse().ok().filter(|time: &u64| *time <= u64::MAX / 4);
        match text.split_once("..") {
            _ if text == "never" => Some(Self::Never),
            Some((least, most)) => {
                let (least, most) = (time(least)?, time(most)?);
                (least <= most).then_some(Self::Between(least, most))
            }
            None => time(text).map(Self::Fixed),
        }
    }

    /// A length of time, for which `lot` gives a random number; `None` is for ever.
    pub(crate) fn draw(self, lot: impl FnOnce() -> u64) -> Option<u64> {
        match self {
            Self::Fixed(time) => Some(time),
            Self::Between(least, most) => Some(least + lot() % (most - least + 1)),
            Self::Never => None,
        }
    }
}

/// Content of a packet's timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timestamps {
    True,
    Zero,
    /// The end is before the start.
    Inverted,
    /// The bits are random.
    Garbage,
}

impl Timestamps {
    const GRAMMAR: &'static str = "true, zero, inverted or garbage";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "true" => Some(Self::True),
            "zero" => Some(Self::Zero),
            "inverted" => Some(Self::Inverted),
            "garbage" => Some(Self::Garbage),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ByKernel<T> {
    pub(crate) others: T,
    rules: Vec<(String, T)>,
}

impl<T: Copy> ByKernel<T> {
    fn parse(text: &str, default: T, value: impl Fn(&str) -> Option<T>) -> Option<Self> {
        let mut parsed = Self { others: default, rules: Vec::new() };
        let mut alone = 0;
        for rule in text.split(',') {
            match rule.rsplit_once('=') {
                Some(("", _)) => return None,
                Some((kernel, text)) => parsed.rules.push((kernel.to_owned(), value(text)?)),
                None => {
                    parsed.others = value(rule)?;
                    alone += 1;
                }
            }
        }
        (alone <= 1).then_some(parsed)
    }

    /// True if no rule names a kernel.
    pub(crate) fn is_uniform(&self) -> bool {
        self.rules.is_empty()
    }

    /// The value of the kernel with this name, if it has one, and this object.
    pub(crate) fn for_kernel(&self, name: Option<&str>, object: u64) -> T {
        let address = format!("{object:#x}");
        let names = |rule: &str| match (rule.strip_suffix('*'), name) {
            (Some(begin), Some(name)) => name.starts_with(begin),
            _ => name == Some(rule) || rule == address,
        };
        self.rules.iter().find(|(rule, _)| names(rule)).map_or(self.others, |(_, value)| *value)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Behaviour {
    /// Running time of a kernel.
    pub(crate) kernel: ByKernel<Span>,
    /// Time between the end of a packet and the change of its signal.
    pub(crate) delay: ByKernel<Span>,
    pub(crate) timestamps: ByKernel<Timestamps>,
    /// Number of packets of one queue that run at once, where no barrier bit is between them.
    pub(crate) overlap: usize,
    /// Another seed gives other random numbers.
    pub(crate) seed: u64,
    /// The clock of a GPU runs faster than its stated frequency by this many millionths.
    pub(crate) drift: i64,
    /// Bytes per microsecond; `None` is as fast as the host copies.
    pub(crate) copy_speed: Option<u64>,
}

impl Behaviour {
    /// Reads the values of `KFD_SIM_*`; settings that are absent have their defaults.
    pub(crate) fn read(variable: &impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        Ok(Self {
            kernel: rules(variable, "KFD_SIM_KERNEL_NS", Span::Fixed(10_000), Span::parse, Span::GRAMMAR)?,
            delay: rules(variable, "KFD_SIM_DELAY_NS", Span::Fixed(0), Span::parse, Span::GRAMMAR)?,
            timestamps: rules(
                variable,
                "KFD_SIM_TIMESTAMPS",
                Timestamps::True,
                Timestamps::parse,
                Timestamps::GRAMMAR,
            )?,
            overlap: number(variable, "KFD_SIM_OVERLAP", 1..=64)?.unwrap_or(1),
            seed: number(variable, "KFD_SIM_SEED", 0..=u64::MAX)?.unwrap_or(0),
            drift: number(variable, "KFD_SIM_DRIFT_PPM", -100_000..=100_000)?.unwrap_or(0),
            copy_speed: number(variable, "KFD_SIM_COPY_MB_S", 1..=1_000_000_000)?,
        })
    }

    /// A random number that is the same in every run for this packet of this queue and this purpose, however threads are
    /// scheduled.
    pub(crate) fn lot(&self, queue: u32, packet: u64, purpose: u64) -> u64 {
        [u64::from(queue), packet, purpose].into_iter().fold(self.seed, |state, part| mix(state ^ part))
    }
}

/// Spreads a difference in any bit over all of them (the finaliser of SplitMix64).
fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

fn rules<T: Copy>(
    variable: &impl Fn(&str) -> Option<String>,
    name: &str,
    default: T,
    value: impl Fn(&str) -> Option<T>,
    grammar: &str,
) -> Result<ByKernel<T>, String> {
    let Some(text) = variable(name) else { return Ok(ByKernel { others: default, rules: Vec::new() }) };
    ByKernel::parse(&text, default, value)
        .ok_or_else(|| format!("{name}={text}: not [KERNEL=]VALUE,... with {grammar} as VALUE"))
}

/// Parses a whole number within a range, if the variable is set.
pub(crate) fn number<N: FromStr + PartialOrd + Display>(
    variable: &impl Fn(&str) -> Option<String>,
    name: &str,
    range: RangeInclusive<N>,
) -> Result<Option<N>, String> {
    let Some(text) = variable(name) else { return Ok(None) };
    let number = text.parse().ok().filter(|number| range.contains(number));
    let refused = || format!("{name}={text}: not a whole number from {} to {}", range.start(), range.end());
    number.map(Some).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> Result<Behaviour, String> {
        Behaviour::read(&|variable: &str| (variable == name).then(|| value.to_owned()))
    }

    fn kernel_times(value: &str) -> ByKernel<Span> {
        read("KFD_SIM_KERNEL_NS", value).unwrap().kernel
    }

    #[test]
    fn a_value_alone_is_for_all_kernels() {
        let times = kernel_times("2500");
        assert_eq!(times.for_kernel(Some("vec_add"), 64), Span::Fixed(2500));
        assert!(times.is_uniform());
    }

    #[test]
    fn a_rule_is_for_the_kernels_that_it_names() {
        let times = kernel_times("vec_add=1,fill*=2..3,0x40=never,9");
        assert_eq!(times.for_kernel(Some("vec_add"), 1), Span::Fixed(1));
        assert_eq!(times.for_kernel(Some("fill_rows"), 1), Span::Between(2, 3));
        assert_eq!(times.for_kernel(None, 64), Span::Never);
        assert_eq!(times.for_kernel(Some("vec_add2"), 1), Span::Fixed(9));
        assert_eq!(kernel_times("vec_add=1").for_kernel(None, 1), Span::Fixed(10_000));
    }

    #[test]
    fn a_value_outside_the_grammar_is_refused_with_the_grammar() {
        for value in ["", "soon", "3..1", "1,2", "=1", "a=", "-1"] {
            let refusal = read("KFD_SIM_KERNEL_NS", value).unwrap_err();
            assert_eq!(
                refusal,
                format!(
                    "KFD_SIM_KERNEL_NS={value}: not [KERNEL=]VALUE,... with NS, NS..NS or never as VALUE"
                )
            );
        }
        assert!(read("KFD_SIM_TIMESTAMPS", "false").unwrap_err().ends_with("inverted or garbage as VALUE"));
        assert!(read("KFD_SIM_OVERLAP", "0").unwrap_err().ends_with("a whole number from 1 to 64"));
    }

    #[test]
    fn a_lot_depends_on_the_packet_and_on_the_seed_only() {
        let lots = |seed: &str| {
            let behaviour = read("KFD_SIM_SEED", seed).unwrap();
            [(1, 0), (1, 1), (2, 0)].map(|(queue, packet)| behaviour.lot(queue, packet, 0))
        };
        assert_eq!(lots("7"), lots("7"));
        let mut all = [lots("7"), lots("8")].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 6);
    }

    #[test]
    fn a_span_between_two_times_has_both() {
        let drawn = |lot| Span::Between(5, 7).draw(|| lot);
        assert_eq!([0, 1, 2, 3].map(drawn), [Some(5), Some(6), Some(7), Some(5)]);
        assert_eq!(Span::Never.draw(|| 0), None);
    }
}
