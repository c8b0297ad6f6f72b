//! Functions of a guest in a process: its owner, threads that get none of its signals, and its exits and forks.

#![expect(unsafe_code, reason = "calls libc")]

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::base::memory;

/// Limit on the time that the starter of a thread waits for it.
const BEGINNING: Duration = Duration::from_millis(100);

/// A flag that the new thread sets and its creator waits for.
#[derive(Debug, Default)]
struct StartSignal(Mutex<bool>, Condvar);

impl StartSignal {
    fn notify(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.1.notify_one();
    }

    fn wait(&self) {
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.1.wait_timeout_while(begun, BEGINNING, |begun| !*begun);
    }
}

/// Starts a thread of the tracer. No signal is ever delivered to it, because handlers of the application must run on the
/// application's threads. The C library and Rust have allocated their memory for the thread when this returns, since the limits
/// of the program may be lower later.
///
/// # Errors
/// The thread could not be started.
pub fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    if !memory::is_there_for_others() {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the call only writes the set.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: `all` has been written, and the call writes `before`. A thread inherits the mask of the one that starts it.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    let begun = Arc::<StartSignal>::default();
    let starter = Arc::clone(&begun);
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        // The first allocation of a thread reserves address space.
        let _ = memory::is_there_for_others();
        starter.notify();
        run()
    });
    // SAFETY: `before` was written above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    if thread.is_ok() {
        begun.wait();
    }
    thread
}

/// Lets the calling thread sleep for short times: without this the kernel adds 50 us to each.
pub fn sleep_finely() {
    // SAFETY: this sets an attribute of the calling thread; the other arguments are not used.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000_u64, 0, 0, 0) };
}

/// The process in which the tracer has begun anything; 0 where it has not.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Makes this process the owner of the threads and files of the tracer.
pub fn own() {
    OWNER.store(std::process::id(), Ordering::Relaxed);
}

/// Called in the child of a fork, which takes over the ownership of its parent.
pub fn inherit() {
    if OWNER.load(Ordering::Relaxed) != 0 {
        own();
    }
}

/// True in the process that owns threads and files of the tracer. It is false in a child of `vfork`, which lives in its parent's
/// memory, and in one that was made by a system call of which no library learns.
#[must_use]
pub fn is_own() -> bool {
    let owner = OWNER.load(Ordering::Relaxed);
    owner != 0 && owner == std::process::id()
}

/// True where this process is a copy of the owner, and no handler of forks has run.
#[must_use]
pub fn is_copied() -> bool {
    let owner = OWNER.load(Ordering::Relaxed);
    owner != 0 && owner != std::process::id()
}

/// True where the program has rights that its caller lacks, by set-user-ID. Then nothing may be written to a path from the
/// environment.
#[must_use]
pub fn is_privileged() -> bool {
    // SAFETY: the call only returns a number.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// True where the process has rights that it can give up.
#[must_use]
pub fn is_root() -> bool {
    // SAFETY: the call only returns a number.
    unsafe { libc::geteuid() == 0 }
}

/// Gives the calling thread an empty table of open files of its own: the program's descriptors keep their numbers, and a program
/// that closes all of them does not close ours. False where the kernel cannot do so (before Linux 5.9). The thread also gets a
/// root directory of its own, so that paths stay valid when the program changes its root.
pub fn have_own_files() -> bool {
    const FIRST: u32 = 0;
    // SAFETY: the other threads keep the directories that they share.
    unsafe { libc::unshare(libc::CLONE_FS) };
    // SAFETY: the other threads keep their table and all open files in it.
    unsafe { libc::syscall(libc::SYS_close_range, FIRST, u32::MAX, libc::CLOSE_RANGE_UNSHARE) == 0 }
}

/// Ends the process like the end of its last thread does, but runs no exit handlers.
pub fn leave() -> ! {
    // SAFETY: the call only ends the process.
    unsafe { libc::_exit(0) }
}

/// Registers a function for the exit of the process by `exit` or `quick_exit`.
pub fn at_exit(exit: extern "C" fn()) {
    // SAFETY: the library is never unloaded (build.rs), so the function stays where it is.
    unsafe { libc::atexit(exit) };
    // SAFETY: the function stays where it is, as above.
    unsafe { at_quick_exit(exit) };
}

/// Registers a function for the child of a fork. It may find any lock taken, even that of the allocator.
pub fn at_fork(fork: extern "C" fn()) {
    // SAFETY: the library is never unloaded, so the function stays where it is.
    unsafe { libc::pthread_atfork(None, None, Some(fork_handler(fork))) };
}

unsafe extern "C" {
    fn at_quick_exit(function: extern "C" fn()) -> libc::c_int;
}

/// The size limit in bytes on files that this process writes (RLIMIT_FSIZE).
pub fn largest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the call writes `limit` only.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    limit.rlim_cur
}

/// Runs `write`, which writes to a file whose size may be limited (RLIMIT_FSIZE), so that the signal of that limit, which kills
/// by default, never reaches the program for something that it did not write.
pub fn within_any_file_size<T>(write: impl FnOnce() -> T) -> T {
    let mut limit = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    let mut pending = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the call only writes the set.
    unsafe { libc::sigemptyset(limit.as_mut_ptr()) };
    // SAFETY: the set was written above.
    unsafe { libc::sigaddset(limit.as_mut_ptr(), libc::SIGXFSZ) };
    // SAFETY: `limit` has been written, and the call writes `before`.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, limit.as_ptr(), before.as_mut_ptr()) };
    // SAFETY: the call only writes the set.
    unsafe { libc::sigpending(pending.as_mut_ptr()) };
    // SAFETY: the set was written above.
    let was_pending = unsafe { libc::sigismember(pending.as_ptr(), libc::SIGXFSZ) == 1 };
    let written = write();
    if !was_pending {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both arguments are written; the call takes the signal, if there is one, without waiting.
        unsafe { libc::sigtimedwait(limit.as_ptr(), std::ptr::null_mut(), &raw const at_once) };
    }
    // SAFETY: `before` was written above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    written
}

/// Converts to the type that `pthread_atfork` takes.
fn fork_handler(handler: extern "C" fn()) -> unsafe extern "C" fn() {
    handler
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_of_the_tracer_blocks_every_signal_and_its_parent_does_not() {
        let blocked = || {
            let mut now = MaybeUninit::<libc::sigset_t>::uninit();
            // SAFETY: without a new set the call only writes the present one.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), now.as_mut_ptr()) };
            // SAFETY: the set was written above.
            unsafe { libc::sigismember(now.as_ptr(), libc::SIGUSR1) == 1 }
        };
        assert!(spawn("rtl-test", blocked).unwrap().join().unwrap());
        assert!(!blocked());
    }

    #[test]
    fn a_thread_has_begun_when_its_starter_goes_on() {
        let runs = |name: &str| {
            let threads = std::fs::read_dir("/proc/self/task").unwrap();
            let name_of =
                |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("comm")).ok();
            threads.flatten().filter_map(name_of).any(|found| found.trim_end() == name)
        };
        for _ in 0..if cfg!(miri) { 0 } else { 100 } {
            let (end, ends) = std::sync::mpsc::channel::<()>();
            let thread = spawn("rtl-begun", move || ends.recv().is_err()).unwrap();
            assert!(runs("rtl-begun"));
            drop(end);
            assert!(thread.join().unwrap());
        }
    }
}
