//! Says of a call that it begins and that it has ended, whatever happens.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

use calls::{Begun, Function, Source};

use super::arguments::Text;
use crate::events::calls::here;

static ARE_TOLD: AtomicBool = AtomicBool::new(false);

/// From now on, whether calls are told with their arguments.
pub fn tell_arguments(are_told: bool) {
    ARE_TOLD.store(are_told, Ordering::Relaxed);
}

/// The arguments of a call that is about to begin, where they are told.
#[inline(always)]
pub fn arguments(say: impl FnOnce(&mut Text)) -> Option<Text> {
    ARE_TOLD.load(Ordering::Relaxed).then(|| {
        let mut text = Text::default();
        say(&mut text);
        text
    })
}

/// A call of this function begins.
pub fn begin(number: u16) -> Begun {
    catch_unwind(|| here::begin(Function::new(Source::Hsa, number))).unwrap_or_default()
}

/// The call of this function has ended with this status, 0 where it returns none.
pub fn end(begun: &Begun, number: u16, status: i32, arguments: Option<&Text>) {
    let arguments = arguments.map_or(&[][..], Text::bytes);
    let _ = catch_unwind(|| here::end(begun, Function::new(Source::Hsa, number), status, 0, None, arguments));
}
