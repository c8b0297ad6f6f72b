//! Telling librtl.so.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use calls::{Begun, Details, Ended, Find, Function, Interface, Source, Text, What};

use crate::functions::NAMES;
use crate::{real, warn};

/// The calls that librtl.so records.
struct Subscription {
    interface: &'static Interface,
    /// By number.
    functions: &'static [bool],
    arguments: bool,
    launches: bool,
}

/// Null until someone has asked.
static SUBSCRIPTION: AtomicPtr<Subscription> = AtomicPtr::new(ptr::null_mut());

/// What librtl.so wants to be told, once it has been asked; nothing where it is not in the process.
#[inline]
fn wanted() -> &'static Subscription {
    // SAFETY: null, or what `ask` has put there, which is never freed.
    unsafe { SUBSCRIPTION.load(Ordering::Acquire).as_ref() }.unwrap_or_else(ask)
}

#[cold]
fn ask() -> &'static Subscription {
    let told = Box::into_raw(Box::new(join().unwrap_or_else(nothing)));
    match SUBSCRIPTION.compare_exchange(ptr::null_mut(), told, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: it has just been made, and is never freed.
        Ok(_) => unsafe { &*told },
        // SAFETY: another thread was faster with the same answer.
        Err(other) => unsafe { &*other },
    }
}

fn nothing() -> Subscription {
    extern "C" fn begin(_: Function) -> Begun {
        Begun::default()
    }
    unsafe extern "C" fn end(_: &Begun, _: &Ended) {}
    unsafe extern "C" fn join(_: Source, _: *const Text, _: usize) -> calls::Wanted {
        calls::Wanted::default()
    }
    Subscription {
        interface: &Interface { join, begin, end },
        functions: &[false; NAMES.len()],
        arguments: false,
        launches: false,
    }
}

/// `None` where there is no librtl.so, or it does not want to be told anything.
fn join() -> Option<Subscription> {
    let find = real::symbol(libc::RTLD_DEFAULT, calls::SYMBOL);
    if find.is_null() {
        warn::of_missing_tracer();
        return None;
    }
    // SAFETY: librtl.so has a function of this type under this name.
    let find = unsafe { std::mem::transmute::<*mut libc::c_void, Find>(find) };
    let interface = find();
    let names: Vec<Text> = NAMES.iter().map(|name| Text::new(name)).collect();
    // SAFETY: the names are there, of texts that are never freed.
    let wanted = unsafe { (interface.join)(Source::Hip, names.as_ptr(), names.len()) };
    if wanted.functions.is_null() {
        return None;
    }
    // SAFETY: one for each name, for as long as the process lives.
    let functions = unsafe { std::slice::from_raw_parts(wanted.functions, names.len()) };
    Some(Subscription { interface, functions, arguments: wanted.arguments, launches: wanted.launches })
}

/// Whether calls of the function with this number are told.
pub(crate) fn tells(number: u16) -> bool {
    wanted().functions[usize::from(number)]
}

/// A call that is going on and will be told.
pub(crate) struct Call {
    told: &'static Subscription,
    begun: Begun,
    number: u16,
}

impl Call {
    /// A call of this function begins; `None` where that is not told.
    #[inline]
    pub(crate) fn begin(number: u16) -> Option<Self> {
        let told = wanted();
        if !told.functions[usize::from(number)] {
            return None;
        }
        let begun = (told.interface.begin)(Function::new(Source::Hip, number));
        if begun.correlation == 0 {
            return None;
        }
        Some(Self { told, begun, number })
    }

    /// Whether its arguments are told, too.
    pub(crate) fn tells_arguments(&self) -> bool {
        self.told.arguments
    }

    /// Whether what it asks for is told without its arguments.
    #[inline]
    pub(crate) fn tells(&self, asks: What) -> bool {
        match asks {
            What::Other => false,
            What::Launch => self.told.launches,
            What::Copy | What::Fill => true,
        }
    }

    /// It has ended.
    #[inline]
    pub(crate) fn end(self, status: i32, stream: u64, details: Option<&Details>, arguments: &[u8]) {
        self.tell(status, stream, details, arguments);
        std::mem::forget(self);
    }

    #[inline]
    fn tell(&self, status: i32, stream: u64, details: Option<&Details>, arguments: &[u8]) {
        let ended = Ended {
            function: Function::new(Source::Hip, self.number),
            status,
            stream,
            details: details.map_or(ptr::null(), ptr::from_ref),
            arguments: if arguments.is_empty() { ptr::null() } else { arguments.as_ptr() },
            length: arguments.len(),
        };
        // SAFETY: everything in it outlives the call.
        unsafe { (self.told.interface.end)(&self.begun, &ended) };
    }
}

/// An exception of the program leaves it, or the thread ends in it.
impl Drop for Call {
    fn drop(&mut self) {
        self.tell(0, 0, None, &[]);
    }
}
