//! Entry points of the runtime, the exit handler, and the handler in the child of a fork.

#![expect(unsafe_code, reason = "the runtime finds these functions by their names and calls them")]

use std::ffi::{c_char, c_void};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hsa_sys::bindings::HsaApiTable;

use crate::base::api::{Tables, Unusable};
use crate::base::output_sink::{self, OutputSink};
use crate::base::recording_state::{self, RecordingState};
use crate::base::settings::{Mode, Settings};
use crate::base::{fault, gpus, log, memory, process};
use crate::events::{thread, thread_state};
use crate::intercept::{context, hooks, hsa};
use crate::lifecycle::{exit_hooks, presence, recording, tracer};
use crate::write::{callback, callback_counters};

/// True once the runtime has loaded this library.
static HAS_LOADED: AtomicBool = AtomicBool::new(false);

/// True once the settings have been read, and complaints about them printed.
static HAS_COMPLAINED: AtomicBool = AtomicBool::new(false);

static HAS_EXIT_HANDLER: AtomicBool = AtomicBool::new(false);

/// Limit on the time by which the tracer delays the end of the process.
const EXIT: Duration = Duration::from_millis(500);

/// Called when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// Runs before any recording can begin, because a fork may come at any moment.
extern "C" fn loaded() {
    memory::on_shortage(run_short);
    process::at_fork(forked);
    exit_hooks::find_originals();
}

/// Called at every start of the runtime, of which a process may have several: each is a recording of its own. `table` is the
/// runtime's `HsaApiTable`, which it has filled anew. The result is always true: a library that cannot record lets the program
/// run all the same.
///
/// # Safety
/// `table` is the table that the runtime passes to a tool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OnLoad(
    table: *mut c_void,
    _runtime_version: u64,
    _failed_tool_count: u64,
    _failed_tool_names: *const *const c_char,
) -> bool {
    let loaded = catch_unwind(|| {
        // SAFETY: the caller promised the runtime's table.
        unsafe { load(table.cast()) }
    });
    match loaded {
        Ok(Ok(())) => (),
        // The environment of a program with more rights than its caller is not to be trusted, so no note is written.
        Ok(Err(why @ Unusable::Privileged)) => log::warn(format_args!("{why}; nothing is recorded")),
        Ok(Err(why)) => refuse(&why.to_string()),
        Err(_) => refuse("failed to start"),
    }
    true
}

/// Reports why nothing is recorded, on standard error and to a program that reports on the run.
fn refuse(why: &str) {
    let _ = catch_unwind(|| {
        log::warn(format_args!("{why}; nothing is recorded"));
        presence::note(Some(why));
    });
}

/// Called by `hsa_shut_down`, which HIP programs of ROCm 5 never call.
#[unsafe(no_mangle)]
pub extern "C" fn OnUnload() {
    let _ = catch_unwind(|| {
        if let Some(tracer) = tracer::get() {
            tracer.unload();
        }
    });
}

/// Called when the process exits, by `quick_exit` too. HIP of ROCm 5 and 6 never shuts the runtime down, and Debian's builds
/// print a line about signals that remain at the end.
extern "C" fn exit() {
    if !process::is_own() {
        return;
    }
    let _ = catch_unwind(|| {
        let deadline = Instant::now() + EXIT;
        count_unseen();
        end();
        fault::point("exit");
        // This is the recording of a process that never used a GPU.
        recording::end(deadline);
        if let Some(tracer) = tracer::get() {
            tracer.give_signals_back(deadline);
        }
    });
}

/// Called by any code that cannot allocate: from now on nothing new is recorded. Takes no lock.
fn run_short() {
    recording_state::end();
    if let Some(context) = context::get() {
        context.shared.run_short();
    }
}

/// Called in a forked child, where a lock may be held for ever by a thread that the child does not have. So it takes none and
/// does not allocate.
extern "C" fn forked() {
    memory::try_again();
    process::inherit();
    thread::forget();
    output_sink::forget();
    callback::forget();
    callback_counters::forget();
    thread_state::forget();
    recording::forget();
    if let Some(context) = context::get() {
        context.forked();
    }
}

/// The runtime still has all its queues here: if someone had shut it down, the recording would have ended.
fn count_unseen() {
    let _ = catch_unwind(|| {
        if let Some(context) = context::get() {
            context.count_unseen();
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
/// `table` is the table that the runtime passes to a tool.
unsafe fn load(table: *mut HsaApiTable) -> Result<(), Unusable> {
    if process::is_privileged() {
        return Err(Unusable::Privileged);
    }
    be_own();
    if matches!(output_sink::output_sink(), OutputSink::None) {
        return Ok(());
    }
    let (settings, is_first) = (read_settings(), !HAS_LOADED.swap(true, Ordering::Relaxed));
    fault::point("load");
    // SAFETY: the caller promised the runtime's table.
    let tables = unsafe { Tables::from_root(table) }?;
    let api = match context::get().filter(|_| hooks::are_in(&tables)) {
        Some(before) => before.api.clone(),
        None => tables.functions()?,
    };
    let gpus = gpus::list(&api);
    let (mode, count) = (settings.mode.name(), gpus.len());
    log::debug(format_args!("mode {mode}, {count} GPUs, {:?}", api.layout.generation()));
    tracer::begin(api, settings.clone(), gpus);
    if settings.mode == Mode::Hip && is_first && !is_companion_there() {
        log::warn_of_file(format_args!(
            "mode hip without librtl_hip.so in LD_PRELOAD: no calls are recorded"
        ));
    }
    hooks::install(&tables);
    let last = recording::known().counters.snapshot().seen;
    hsa::install(&tables, &settings, last, begin_with_ranges);
    presence::note(None);
    Ok(())
}

fn is_companion_there() -> bool {
    // SAFETY: looks a symbol up by its name.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"rtl_hip_1".as_ptr()) }.is_null()
}

/// Complaints about the settings are printed once, however often they are read.
pub(crate) fn read_settings() -> Settings {
    let is_first = !HAS_COMPLAINED.swap(true, Ordering::Relaxed);
    let mut complaints = Vec::new();
    let mut settings = Settings::read(&mut complaints);
    if let OutputSink::Callbacks(registered) = output_sink::output_sink() {
        registered.adapt(&mut settings);
    }
    log::set_level(settings.debug);
    if is_first {
        // This library has a Rust runtime of its own, so the hook is not called for panics of other libraries.
        std::panic::set_hook(Box::new(|panic| log::debug(format_args!("{panic}"))));
    }
    for complaint in complaints.iter().filter(|_| is_first) {
        log::warn(format_args!("{complaint}"));
    }
    recording_state::apply_start(settings.is_stopped);
    settings
}

/// Makes the recording this process's own before anything begins, so that its end is reported.
fn be_own() {
    if process::is_copied() {
        forked();
    }
    process::own();
    if !HAS_EXIT_HANDLER.swap(true, Ordering::Relaxed) {
        process::at_exit(exit);
    }
}

/// Begins a recording for ranges, in a process that may never start the runtime.
pub fn begin_with_ranges() {
    if process::is_privileged() {
        return recording_state::end();
    }
    be_own();
    if matches!(output_sink::output_sink(), OutputSink::None) {
        return recording_state::end();
    }
    let settings = read_settings();
    if recording_state::state() == RecordingState::Idle {
        recording::begin(&settings);
    }
}
