//! Two works at the same time.

use crate::pipeline::map;

/// The results of two works, at the same time where the bound allows it, else one after the other.
pub fn both<A: Send, B: Send>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B + Send) -> (A, B) {
    let (mut first, mut second) = (None, None);
    let works: [Box<dyn FnOnce() + Send + '_>; 2] =
        [Box::new(|| first = Some(one())), Box::new(|| second = Some(other()))];
    map(works, |work| work());
    first.zip(second).expect("`map` ends when both works have")
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;

    #[test]
    fn both_results_come_with_any_number_of_threads() {
        for threads in [1, 2, 5] {
            crate::set_limit(NonZero::new(threads).unwrap());
            assert_eq!(both(|| 1, || both(|| "2", || 3.0)), (1, ("2", 3.0)), "{threads} threads");
        }
    }
}
