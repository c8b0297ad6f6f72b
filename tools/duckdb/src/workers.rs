//! Threads that execute statements, beside the one that starts a statement.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::database::{Connection, SharedConnection};
use crate::functions;
use crate::handles::TaskState;

/// The stack of a thread, as large as that of DuckDB's own threads.
const STACK: usize = 8 << 20;

/// Threads that start after some time: to start and to end them takes longer than a short statement. The database has the
/// setting `external_threads`, so that it has no threads of its own.
#[derive(Debug)]
pub struct Workers {
    /// The threads end when it is dropped.
    stop: Option<Sender<()>>,
    starter: Option<JoinHandle<bool>>,
}

impl Workers {
    /// Starts `count` threads after `patience`; where the system gives fewer, fewer.
    pub fn after(patience: Duration, connection: &Connection, count: usize) -> Self {
        let (stop, stopped) = channel();
        let connection = connection.shared.clone();
        let starter = move || {
            let is_time = stopped.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
            if is_time {
                work(&connection, count, &stopped);
            }
            is_time
        };
        Self { stop: Some(stop), starter: Builder::new().spawn(starter).ok() }
    }

    /// Ends the threads after their present tasks; true if they had started.
    pub fn end(mut self) -> bool {
        self.stop()
    }

    fn stop(&mut self) -> bool {
        drop(self.stop.take());
        self.starter.take().is_some_and(|starter| starter.join().unwrap_or(true))
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Executes tasks on `count` threads until `stopped` has lost its sender.
fn work(connection: &SharedConnection, count: usize, stopped: &Receiver<()>) {
    // SAFETY: The database is open longer than this function runs, and so longer than the state lives.
    let state = unsafe { functions::create_task_state(connection.database.handle) };
    std::thread::scope(|scope| {
        for _ in 0..count {
            // Without one more thread the others do its work.
            let _ = Builder::new().stack_size(STACK).spawn_scoped(scope, || execute(state));
        }
        // Nothing is ever sent.
        let _ = stopped.recv();
        // SAFETY: The state lives; it may be used by several threads.
        unsafe { functions::finish_execution(state) };
    });
    // SAFETY: No thread uses the state any more.
    unsafe { functions::destroy_task_state(state) };
}

fn execute(state: TaskState) {
    // SAFETY: The state lives until the threads of `work` have ended.
    unsafe { functions::execute_tasks_state(state) };
}
