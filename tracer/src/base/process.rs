//! Being a guest in a process: whose process it is, threads that get none of its signals, its end and its forks.

#![expect(unsafe_code, reason = "calls libc")]

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::base::memory;

/// How long a thread may take to begin before its starter goes on.
const BEGINNING: Duration = Duration::from_millis(100);

/// A flag that the new thread sets and its creator waits for.
#[derive(Debug, Default)]
struct Begun(Mutex<bool>, Condvar);

impl Begun {
    fn tell(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.1.notify_one();
    }

    fn wait(&self) {
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.1.wait_timeout_while(begun, BEGINNING, |begun| !*begun);
    }
}

/// Starts a thread of the tracer. No signal is ever delivered to it: handlers of the application run on the
/// application's threads. It has taken what the C library and Rust take for a thread when this returns: by then the program may
/// be allowed less.
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
    // SAFETY: writes the set that it is given.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: `all` has been written, `before` will be. A thread inherits the mask of the one that starts it.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    let begun = Arc::<Begun>::default();
    let told = Arc::clone(&begun);
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        // Its first allocation sets address space aside.
        let _ = memory::is_there_for_others();
        told.tell();
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
    // SAFETY: an attribute of the calling thread; the other arguments are not used.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000_u64, 0, 0, 0) };
}

/// The process in which something was begun; 0 where nothing was.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Something is begun in this process, by which it will be known.
pub fn own() {
    OWNER.store(std::process::id(), Ordering::Relaxed);
}

/// In the child of a fork: what was begun in its parent counts as begun here.
pub fn inherit() {
    if OWNER.load(Ordering::Relaxed) != 0 {
        own();
    }
}

/// True where something was begun, and in this process. Threads and files are not those of a child of `vfork`, which lives
/// in its parent's memory, nor of one that was made by a system call of which no library learns.
#[must_use]
pub fn is_own() -> bool {
    let owner = OWNER.load(Ordering::Relaxed);
    owner != 0 && owner == std::process::id()
}

/// True where this process is a copy of one in which something was begun, and no handler of forks has run.
#[must_use]
pub fn is_copied() -> bool {
    let owner = OWNER.load(Ordering::Relaxed);
    owner != 0 && owner != std::process::id()
}

/// True where the program has rights that its caller lacks, as set-user-ID gives them: then nothing may be written to a path
/// from the environment.
#[must_use]
pub fn is_privileged() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// True where the process has rights that it can give up.
#[must_use]
pub fn is_root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}

/// Gives the calling thread a table of open files of its own, without any in it: the program's descriptors keep their
/// numbers, and a program that closes all of them does not close ours. False where the kernel cannot do so (before Linux 5.9).
/// Its root directory is its own too: paths stay what they are when the program changes its own.
pub fn have_own_files() -> bool {
    const FIRST: u32 = 0;
    // SAFETY: the other threads keep what they share.
    unsafe { libc::unshare(libc::CLONE_FS) };
    // SAFETY: the other threads keep their table and all that is open in it.
    unsafe { libc::syscall(libc::SYS_close_range, FIRST, u32::MAX, libc::CLOSE_RANGE_UNSHARE) == 0 }
}

/// Ends the process as the end of its last thread does, but without anything that is to be done at its exit.
pub fn leave() -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(0) }
}

/// Has a function called when the process exits by `exit` or `quick_exit`.
pub fn at_exit(exit: extern "C" fn()) {
    // SAFETY: the library is never unloaded (build.rs), so the function stays where it is.
    unsafe { libc::atexit(exit) };
    // SAFETY: as above.
    unsafe { at_quick_exit(exit) };
}

/// Has a function called in the child after a fork. It may find any lock taken, that of memory too.
pub fn at_fork(fork: extern "C" fn()) {
    // SAFETY: as above.
    unsafe { libc::pthread_atfork(None, None, Some(fork_handler(fork))) };
}

unsafe extern "C" {
    fn at_quick_exit(function: extern "C" fn()) -> libc::c_int;
}

/// Bytes that a file may have which this process writes (RLIMIT_FSIZE).
pub fn largest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: writes the limit that it is given.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    limit.rlim_cur
}

/// Writes to a file of the host, whose size may be limited (RLIMIT_FSIZE): the signal of that, which kills by default, never
/// reaches the host for something that it did not write.
pub fn within_any_file_size<T>(write: impl FnOnce() -> T) -> T {
    let mut limit = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    let mut pending = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: writes the set that it is given.
    unsafe { libc::sigemptyset(limit.as_mut_ptr()) };
    // SAFETY: written above.
    unsafe { libc::sigaddset(limit.as_mut_ptr(), libc::SIGXFSZ) };
    // SAFETY: `limit` has been written, `before` will be.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, limit.as_ptr(), before.as_mut_ptr()) };
    // SAFETY: writes the set that it is given.
    unsafe { libc::sigpending(pending.as_mut_ptr()) };
    // SAFETY: written above.
    let was_pending = unsafe { libc::sigismember(pending.as_ptr(), libc::SIGXFSZ) == 1 };
    let written = write();
    if !was_pending {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both are written; takes the signal, if there is one, without waiting.
        unsafe { libc::sigtimedwait(limit.as_ptr(), std::ptr::null_mut(), &raw const at_once) };
    }
    // SAFETY: `before` was written above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    written
}

/// The type that `pthread_atfork` asks for.
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
            // SAFETY: without a new set only the present one is written.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), now.as_mut_ptr()) };
            // SAFETY: written above.
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
