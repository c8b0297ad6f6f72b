//! Functions after which no exit handler runs: `_exit`, with which Python's multiprocessing ends its children, and `exec`. Also
//! functions after which a process may have no right to create its file: changing the user, and changing the root directory.
//!
//! Where this library is preloaded these functions are called in place of the C library's. They first do the work that cannot be
//! done later and leave no frame behind: the C library's function finds registers and stack as its caller left them, so its
//! arguments do not matter.
//!
//! They may be called by a signal handler, or by a child that has the memory of its parent (`vfork`) or one of its threads
//! (`fork`). So nothing here takes a lock or allocates, and nothing happens in another process than the one that records.

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

/// Time to sleep between two looks at the recorder's progress.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// A function of the C library that this library stands in for.
struct Function {
    /// Ends with a 0.
    name: &'static str,
    kind: Kind,
    original: AtomicPtr<c_void>,
}

/// The effect of a function on the process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    End,
    /// Becoming another program.
    Exec,
    /// Giving up rights.
    Rights,
}

impl Function {
    fn find(&self) -> *mut c_void {
        // SAFETY: looks a symbol up in the libraries behind this one; the name ends with a 0.
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

/// Looks all functions up in advance, because a forked child must not use the loader.
pub fn find_originals() {
    for function in &FUNCTIONS {
        function.find();
    }
}

/// Called in a process without any other `_exit`.
extern "C" fn exits(code: c_int) {
    // SAFETY: the system call ends the process.
    unsafe { libc::syscall(libc::SYS_exit_group, code) };
}

/// Called in a process without any other function of this name.
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
        // Where there is a collector, the recorder ends after it has handed over the last dispatch.
        if !collects {
            recorder.close();
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Brings the file up to date, because the process may become another program. It goes on where that fails.
fn complete() {
    complete_until(Instant::now() + END);
}

/// Creates the file while the process may do so. Unlike `end` and `complete` this may start the recorder, because a process may
/// give up its rights before it uses a GPU. Nothing is done where the process has no rights to give up.
fn keep_file() {
    if process::is_root() && recording::keep_file(tracer::settings_in_use()) {
        complete();
    }
}

/// Waits until everything that has completed is recorded; false if that is not so by then. True where nothing is recorded.
pub fn complete_until(until: Instant) -> bool {
    let Some(recorder) = recorder_waker::get() else { return true };
    if callback::is_running() {
        return false;
    }
    let wait_for = |is_so: &dyn Fn() -> bool| {
        while !is_so() && !recorder.is_done() && Instant::now() < until {
            std::thread::sleep(POLL_INTERVAL);
        }
        is_so()
    };
    let mut is_complete = true;
    // While the recorder has unread dispatches, the collector does not hand over more, so a second round is needed.
    for _round in 0..2 {
        if let Some(has_passed) = tracer::get().and_then(tracer::Tracer::pass) {
            is_complete &= wait_for(&has_passed);
        }
        let request = recorder.request();
        is_complete &= wait_for(&|| {
            recorder.wake();
            recorder.has_answered(request)
        });
    }
    is_complete || recorder.is_done()
}

/// Declares, for each function of the C library that ends the process or changes what it may do, its number, its place in the
/// table, and a function of ours with the same name.
macro_rules! stand_ins {
    ($($name:ident: $kind:ident;)+) => {
        #[expect(non_camel_case_types, reason = "as the C library has them")]
        enum Number { $($name),+ }

        static FUNCTIONS: [Function; [$(Number::$name),+].len()] = [$(Function {
            name: concat!(stringify!($name), "\0"),
            kind: Kind::$kind,
            original: AtomicPtr::new(ptr::null_mut()),
        }),+];

        $(
            /// Does the work before the function, and goes on with the C library's.
            ///
            /// # Safety
            /// The requirements are those of the C library's function.
            #[cfg(target_arch = "x86_64")]
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                // These registers may hold arguments; `al` is the number of vector registers of a variadic call. Seven words and
                // the return address align the stack for the call.
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
