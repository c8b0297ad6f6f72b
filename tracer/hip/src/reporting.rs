//! Reports calls to librtl.so, where that is in the process and records them.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::call_interface::{
    CallDetails, CallKind, EndedCall, Find, Function, Interface, SYMBOL, Selection, Source, StartedCall, Text,
};
use crate::names::NAMES;
use crate::{real, warn};

struct Subscription {
    interface: &'static Interface,
    /// True for recorded functions, by number.
    functions: &'static [bool],
    arguments: bool,
    launches: bool,
}

/// Null until the first call.
static SUBSCRIPTION: AtomicPtr<Subscription> = AtomicPtr::new(ptr::null_mut());

#[inline]
fn subscription() -> &'static Subscription {
    // SAFETY: the pointer is null or a subscription that `subscribe` has stored and nothing frees.
    unsafe { SUBSCRIPTION.load(Ordering::Acquire).as_ref() }.unwrap_or_else(subscribe)
}

#[cold]
fn subscribe() -> &'static Subscription {
    let new = Box::into_raw(Box::new(join().unwrap_or_else(no_calls)));
    match SUBSCRIPTION.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: the subscription has just been made and is never freed.
        Ok(_) => unsafe { &*new },
        // SAFETY: another thread was faster; its subscription is never freed either.
        Err(other) => unsafe { &*other },
    }
}

fn no_calls() -> Subscription {
    extern "C" fn begin(_: Function) -> StartedCall {
        StartedCall::default()
    }
    unsafe extern "C" fn end(_: &StartedCall, _: &EndedCall) {}
    unsafe extern "C" fn join(_: Source, _: *const Text, _: usize) -> Selection {
        Selection::default()
    }
    Subscription {
        interface: &Interface { join, begin, end },
        functions: &[false; NAMES.len()],
        arguments: false,
        launches: false,
    }
}

/// Joins the recording; `None` where there is no librtl.so, or it records no calls.
fn join() -> Option<Subscription> {
    let find = real::symbol(libc::RTLD_DEFAULT, SYMBOL);
    if find.is_null() {
        warn::of_missing_tracer();
        return None;
    }
    // SAFETY: librtl.so has a function of this type under this name.
    let find = unsafe { std::mem::transmute::<*mut libc::c_void, Find>(find) };
    let interface = find();
    let names: Vec<Text> = NAMES.iter().map(|name| Text::new(name)).collect();
    // SAFETY: the slice has `names.len()` texts, which are never freed.
    let selection = unsafe { (interface.join)(Source::Hip, names.as_ptr(), names.len()) };
    if selection.functions.is_null() {
        return None;
    }
    // SAFETY: librtl.so returns one flag for each name, for as long as the process lives.
    let functions = unsafe { std::slice::from_raw_parts(selection.functions, names.len()) };
    let Selection { arguments, launches, .. } = selection;
    Some(Subscription { interface, functions, arguments, launches })
}

pub(crate) fn is_recorded(number: u16) -> bool {
    subscription().functions[usize::from(number)]
}

pub(crate) struct Call {
    subscription: &'static Subscription,
    started: StartedCall,
    number: u16,
}

impl Call {
    /// `None` where calls of the function are not recorded.
    #[inline]
    pub(crate) fn begin(number: u16) -> Option<Self> {
        let subscription = subscription();
        if !subscription.functions[usize::from(number)] {
            return None;
        }
        let started = (subscription.interface.begin)(Function::new(Source::Hip, number));
        if started.correlation == 0 {
            return None;
        }
        Some(Self { subscription, started, number })
    }

    pub(crate) fn records_arguments(&self) -> bool {
        self.subscription.arguments
    }

    /// True if details of such a call are recorded even where its arguments are not.
    #[inline]
    pub(crate) fn records_details(&self, kind: CallKind) -> bool {
        match kind {
            CallKind::Other => false,
            CallKind::Launch => self.subscription.launches,
            CallKind::Copy | CallKind::Fill => true,
        }
    }

    #[inline]
    pub(crate) fn end(self, status: i32, stream: u64, details: Option<&CallDetails>, arguments: &[u8]) {
        self.report(status, stream, details, arguments);
        std::mem::forget(self);
    }

    #[inline]
    fn report(&self, status: i32, stream: u64, details: Option<&CallDetails>, arguments: &[u8]) {
        let ended = EndedCall {
            function: Function::new(Source::Hip, self.number),
            status,
            stream,
            details: details.map_or(ptr::null(), ptr::from_ref),
            arguments: if arguments.is_empty() { ptr::null() } else { arguments.as_ptr() },
            length: arguments.len(),
        };
        // SAFETY: everything that `ended` points to outlives the call.
        unsafe { (self.subscription.interface.end)(&self.started, &ended) };
    }
}

/// Also ends a call that an exception of the program leaves, or in which the thread ends.
impl Drop for Call {
    fn drop(&mut self) {
        self.report(0, 0, None, &[]);
    }
}
