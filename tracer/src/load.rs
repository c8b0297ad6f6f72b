//! What the runtime calls by name, and what is called at the end of the process and in the child of a fork.

#![expect(unsafe_code, reason = "the runtime finds these functions by their names and calls them")]

use std::ffi::{c_char, c_void};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hsa_sys::bindings::HsaApiTable;

use crate::api::{Tables, Unusable};
use crate::control::Gate;
use crate::settings::{Mode, Settings};
use crate::{control, fault, gpus, hooks, process, recording, roctx, story, thread, tracer};

/// How much longer the process may live because of us.
const EXIT: Duration = Duration::from_millis(500);

/// Called at every start of the runtime, of which a process may have several: each is a recording of its own. `table` is the
/// runtime's `HsaApiTable`, which it has filled anew. Always true: a library that cannot record lets the program run all
/// the same.
///
/// # Safety
/// `table` is what the runtime hands to a tool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OnLoad(
    table: *mut c_void,
    _runtime_version: u64,
    _failed_tool_count: u64,
    _failed_tool_names: *const *const c_char,
) -> bool {
    let loaded = catch_unwind(|| {
        // SAFETY: as the caller promised.
        unsafe { load(table.cast()) }
    });
    match loaded {
        Ok(Ok(())) => (),
        Ok(Err(why)) => story::say(format_args!("{why}; nothing is recorded")),
        Err(_) => story::say(format_args!("failed to start; nothing is recorded")),
    }
    true
}

/// Called by `hsa_shut_down`, which HIP programs of ROCm 5 never call.
#[unsafe(no_mangle)]
pub extern "C" fn OnUnload() {
    end();
}

/// Called when the process exits, by `quick_exit` too. HIP of ROCm 5 and 6 never shuts the runtime down, and Debian's builds remark at their
/// end upon signals that stayed behind.
extern "C" fn exit() {
    let _ = catch_unwind(|| {
        let deadline = Instant::now() + EXIT;
        end();
        fault::point("exit");
        // That of a process that never asked a GPU for anything.
        recording::end(deadline);
        if let Some(tracer) = tracer::get() {
            tracer.give_signals_back(deadline);
        }
    });
}

/// Called in a forked child.
extern "C" fn forked() {
    let _ = catch_unwind(|| {
        thread::forget();
        roctx::forget();
        recording::forget();
        if let Some(tracer) = tracer::get() {
            tracer.forked();
        }
    });
}

fn end() {
    let _ = catch_unwind(|| {
        if let Some(tracer) = tracer::get() {
            tracer.end();
        }
    });
}

/// # Safety
/// `table` is what the runtime hands to a tool.
unsafe fn load(table: *mut HsaApiTable) -> Result<(), Unusable> {
    let (settings, is_first) = settings();
    fault::point("load");
    // SAFETY: as the caller promised.
    let tables = unsafe { Tables::of(table) }?;
    let api = match tracer::get().filter(|_| hooks::are_in(&tables)) {
        Some(before) => before.api.clone(),
        None => tables.functions()?,
    };
    let gpus = gpus::list(&api);
    let mode = settings.mode;
    story::tell(format_args!("mode {}, {} GPUs, {:?}", mode.name(), gpus.len(), api.layout.generation()));
    tracer::begin(api, settings, gpus);
    if mode == Mode::Hip && is_first {
        story::say(format_args!("mode hip records what mode standard does: no API calls yet"));
    }
    hooks::install(&tables);
    be_at_end();
    Ok(())
}

/// What the environment asks for, and whether this is the first time that the runtime asks.
fn settings() -> (Settings, bool) {
    static STARTED: AtomicBool = AtomicBool::new(false);
    (read_settings(), !STARTED.swap(true, Ordering::Relaxed))
}

/// What the environment asks for. What is to be said of it is said once, however often it is read.
fn read_settings() -> Settings {
    static SAID: AtomicBool = AtomicBool::new(false);
    let is_first = !SAID.swap(true, Ordering::Relaxed);
    let mut complaints = Vec::new();
    let settings = Settings::read(&mut complaints);
    story::set_level(settings.debug);
    // This library has a Rust runtime of its own, so this says nothing about panics of anyone else.
    std::panic::set_hook(Box::new(|panic| story::tell(format_args!("{panic}"))));
    for complaint in complaints.iter().filter(|_| is_first) {
        story::say(format_args!("{complaint}"));
    }
    control::ask(settings.is_stopped);
    settings
}

fn be_at_end() {
    static AT_END: AtomicBool = AtomicBool::new(false);
    if !AT_END.swap(true, Ordering::Relaxed) {
        process::at_end(exit, forked);
    }
}

/// Begins a recording for the sake of ranges, in a process that may never start the runtime.
pub fn begin_with_ranges() {
    let settings = read_settings();
    if control::gate() == Gate::Idle {
        recording::begin(&settings);
        be_at_end();
    }
}
