/// A small generator of random numbers (splitmix64): the same seed gives the same trace on every machine.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A whole number from 0 to below `bound`.
    #[inline]
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// True in one of `bound` calls, by lot.
    #[inline]
    pub(super) fn once_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    /// A real number in [0, 1).
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A lognormal number with this median and spread of its logarithm.
    #[inline]
    pub(super) fn lognormal(&mut self, median: f64, spread: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        median * (spread * radius * (std::f64::consts::TAU * self.unit()).cos()).exp()
    }
}
