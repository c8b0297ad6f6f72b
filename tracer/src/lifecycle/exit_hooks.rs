//! Ways out of a process on which nobody is told of its end: `_exit`, which Python's multiprocessing ends its children
//! with, and becoming another program. And ways on which a process gives up the right to create its file: becoming
//! another user, and another root directory.
//!
//! Where this library is preloaded these functions are called in place of the C library's. They do what is to be done
//! first and leave no frame behind: what follows finds the registers and the stack as its caller left them, so it does
//! not matter what its arguments are.
//!
//! They may be called by a signal handler, or by a child that has the memory of its parent (`vfork`) or one of its
//! threads (`fork`). So nothing here takes a lock or asks for memory, and nothing happens where another process began
//! to record.

#![expect(unsafe_code, reason = "stands in front of functions of the C library")]

use std::ffi::{c_int, c_void};
use std::panic::catch_unwind;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use crate::base::process;
use crate::base::recording_state;
use crate::events::recorder_waker;
use crate::intercept::context;
use crate::lifecycle::recording;
use crate::lifecycle::tracer::{self, END};
use crate::write::callback;

/// How long to sleep between two looks at how far the recorder is.
const LOOK: Duration = Duration::from_micros(200);

/// A function of the C library that this one stands in front of.
struct Function {
    /// With a 0 behind it.
    name: &'static str,
    kind: Kind,
    original: AtomicPtr<c_void>,
}

/// The effect of a function on the process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It ends.
    End,
    /// It becomes another program.
    Exec,
    /// It gives up rights.
    Rights,
}

impl Function {
    fn find(&self) -> *mut c_void {
        // SAFETY: asks for a symbol of the libraries behind this one.
        let original = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr().cast()) };
        self.original.store(original, Ordering::Relaxed);
        original
    }

    fn original(&self) -> *mut c_void {
        let mut original = self.original.load(Ordering::Relaxed);
        if original.is_null() {
            original = self.find();
        }
        match () {
            () if !original.is_null() => original,
            () if self.kind == Kind::End => exits as *mut c_void,
            () => fails as *mut c_void,
        }
    }
}

/// Looks for the functions behind ours, before anyone needs them: a forked child must not look for anything.
pub fn find_originals() {
    for function in &FUNCTIONS {
        function.find();
    }
}

/// A process without any other `_exit`.
extern "C" fn exits(code: c_int) {
    // SAFETY: ends the process.
    unsafe { libc::syscall(libc::SYS_exit_group, code) };
}

/// A process without any other function of this name.
extern "C" fn fails() -> c_int {
    -1
}

/// Does the work before this function; returns the address to go on at.
extern "C" fn before(number: usize) -> *mut c_void {
    let function = &FUNCTIONS[number];
    if process::is_own() {
        let _ = catch_unwind(match function.kind {
            Kind::End => end,
            Kind::Exec => complete,
            Kind::Rights => keep_file,
        });
    }
    function.original()
}

/// Ends the recording.
fn end() {
    let Some(recorder) = recorder_waker::get() else { return };
    if callback::is_running() {
        return;
    }
    let until = Instant::now() + END;
    recording_state::end();
    if let Some(context) = context::get() {
        context.count_unseen();
    }
    let collects = tracer::get().is_some_and(tracer::Tracer::leaves);
    while !recorder.is_done() && Instant::now() < until {
        // Where there is a collector, the recorder ends when that has handed over the last dispatch.
        if !collects {
            recorder.close();
        }
        std::thread::sleep(LOOK);
    }
}

/// Brings the file up to date: the process may be another program in a moment. Or it may not.
fn complete() {
    complete_until(Instant::now() + END);
}

/// Has the file created while the process may do so. Other than the ends above this may start the recorder, which none of
/// these functions is too early for. Where the process has no rights to give up, nothing is done.
fn keep_file() {
    if process::is_root() && recording::keep_file(tracer::settings_in_use()) {
        complete();
    }
}

/// Has everything recorded that has completed; whether that is so by then. Where nothing is recorded it is.
pub fn complete_until(until: Instant) -> bool {
    let Some(recorder) = recorder_waker::get() else { return true };
    if callback::is_running() {
        return false;
    }
    let wait_for = |is_so: &dyn Fn() -> bool| {
        while !is_so() && !recorder.is_done() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        is_so()
    };
    let mut is_complete = true;
    // What the recorder had been shown before keeps the collector from showing more.
    for _round in 0..2 {
        if let Some(has_passed) = tracer::get().and_then(tracer::Tracer::pass) {
            is_complete &= wait_for(&has_passed);
        }
        let asked = recorder.ask();
        is_complete &= wait_for(&|| {
            recorder.give();
            recorder.has_answered(asked)
        });
    }
    is_complete || recorder.is_done()
}

/// For each function of the C library that ends the process or changes what it may do: its number, its place in the table, and a
/// function of ours by its name.
macro_rules! stand_ins {
    ($($name:ident: $kind:ident;)+) => {
        #[expect(non_camel_case_types, reason = "as the C library has them")]
        enum Number { $($name),+ }

        /// By number.
        static FUNCTIONS: [Function; [$(Number::$name),+].len()] = [$(Function {
            name: concat!(stringify!($name), "\0"),
            kind: Kind::$kind,
            original: AtomicPtr::new(ptr::null_mut()),
        }),+];

        $(
            /// Does what is to be done before it, and goes on with the C library's.
            ///
            /// # Safety
            /// As for the C library's.
            #[cfg(target_arch = "x86_64")]
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                // All that arguments may be in: of functions with any number of them `al` says how many are elsewhere. Seven
                // words and the return address align the stack for the call.
                std::arch::naked_asm!(
                    "endbr64",
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "push rcx",
                    "push r8",
                    "push r9",
                    "push rax",
                    "mov edi, {number}",
                    "call {before}",
                    "mov r11, rax",
                    "pop rax",
                    "pop r9",
                    "pop r8",
                    "pop rcx",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    "jmp r11",
                    number = const Number::$name as usize,
                    before = sym before,
                )
            }
        )+
    };
}

stand_ins! {
    _exit: End;
    _Exit: End;
    execve: Exec;
    execv: Exec;
    execvp: Exec;
    execvpe: Exec;
    execl: Exec;
    execlp: Exec;
    execle: Exec;
    fexecve: Exec;
    chroot: Rights;
    setuid: Rights;
    seteuid: Rights;
    setreuid: Rights;
    setresuid: Rights;
    setgid: Rights;
    setegid: Rights;
    setregid: Rights;
    setresgid: Rights;
    setgroups: Rights;
}
