//! Signals by which a user or a system ends a program. Windows has Ctrl-C only.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use signal_hook::consts;

/// Ctrl-C.
pub const INTERRUPT: i32 = consts::SIGINT;

/// The signals that ask a program to end.
pub const ENDS: &[i32] = cfg_select! {
    unix => &[consts::SIGHUP, consts::SIGINT, consts::SIGTERM],
    windows => &[consts::SIGINT, consts::SIGTERM],
};

/// From now on a write beyond the limit on the size of files (`ulimit -f`) is an error instead of the end of this process. Programs
/// that it starts keep their signals.
pub fn survive_file_size_limit() {
    cfg_select! {
        unix => {
            // Without a handler the signal keeps its effect.
            let _ = signal_hook::flag::register(rustix::process::Signal::XFSZ.as_raw(), Arc::default());
        }
        windows => {}
    }
}

/// Stores the number of a signal when it comes.
pub fn store(signals: &[i32], last: &Arc<AtomicUsize>) -> io::Result<()> {
    for &signal in signals {
        signal_hook::flag::register_usize(signal, Arc::clone(last), signal as usize)?;
    }
    Ok(())
}

/// A thread that handles signals, until [`Self::close`].
#[derive(Debug)]
pub struct Handler(
    #[cfg(unix)] signal_hook::iterator::Handle,
    #[cfg(windows)] Arc<std::sync::atomic::AtomicBool>,
);

impl Handler {
    /// Calls `handle` with the number of a signal when it comes, on a thread of its own. Without a thread the signals keep their effect.
    pub fn start(signals: &[i32], mut handle: impl FnMut(i32) + Send + 'static) -> io::Result<Self> {
        let (handler, wait) = cfg_select! {
            unix => {{
                let mut signals = signal_hook::iterator::Signals::new(signals)?;
                (Self(signals.handle()), move || signals.forever().for_each(&mut handle))
            }}
            windows => {{
                use std::sync::atomic::{AtomicBool, Ordering};

                /// The time between two looks: there is no iterator of signals.
                const TICK: std::time::Duration = std::time::Duration::from_millis(50);
                let (last, is_closed) = (Arc::default(), Arc::new(AtomicBool::new(false)));
                store(signals, &last)?;
                let stop = Arc::clone(&is_closed);
                let wait = move || {
                    while !stop.load(Ordering::Relaxed) {
                        match last.swap(0, Ordering::Relaxed) {
                            0 => std::thread::sleep(TICK),
                            signal => handle(signal as i32),
                        }
                    }
                };
                (Self(is_closed), wait)
            }}
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
        Ok(handler)
    }

    /// Ends the thread; signals that come later have no effect.
    pub fn close(&self) {
        cfg_select! {
            unix => self.0.close(),
            windows => self.0.store(true, std::sync::atomic::Ordering::Relaxed),
        }
    }
}

/// Ends this process with an exit code: no other thread and no library gets a turn.
pub fn exit_at_once(code: u8) -> ! {
    signal_hook::low_level::exit(code.into())
}

/// Ends this process as a signal does that no program handles.
pub fn end_by(signal: i32) {
    cfg_select! {
        unix => {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
        windows => {
            /// Windows ends a program with this code on Ctrl-C.
            const STATUS_CONTROL_C_EXIT: u32 = 0xC000_013A;
            let _ = signal;
            #[allow(clippy::exit, reason = "a signal ends the process")]
            std::process::exit(STATUS_CONTROL_C_EXIT.cast_signed());
        }
    }
}
