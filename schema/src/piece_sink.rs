//! Receivers of the pieces of a trace.

use std::convert::Infallible;
use std::marker::PhantomData;

use crate::{Error, Tables};

/// The consumer of [`Trace::stream_to`](crate::Trace::stream_to). Work that does not need the order of pieces is done apart, by
/// all threads that are free, while other pieces are read.
pub trait PieceSink {
    /// The work for a piece.
    type Task: Send;
    /// The result of one piece.
    type Output: Send;
    /// Why the sink takes no more.
    type Error: From<Error>;

    /// Takes a piece, in the order of pieces, and returns the work for it. It may take rows out of the tables, but nothing that
    /// rows refer to.
    ///
    /// # Errors
    /// The errors of the sink: no other piece comes then.
    fn begin(&mut self, piece: &mut Tables) -> Result<Vec<Self::Task>, Self::Error>;

    /// Does a part of the work for a piece, on any thread.
    fn work(task: Self::Task) -> Self::Output;

    /// Takes the results, in the order in which [`Self::begin`] returned their tasks, and returns what is left to do with them.
    /// Later pieces may have begun already.
    ///
    /// # Errors
    /// The errors of the sink: nothing else comes then.
    fn end(&mut self, output: Self::Output) -> Result<Vec<Self::Task>, Self::Error>;

    /// Takes a piece and does its work, which free threads share.
    ///
    /// # Errors
    /// The errors of the sink.
    fn take(&mut self, piece: &mut Tables) -> Result<(), Self::Error> {
        let tasks = self.begin(piece)?;
        self.finish_tasks(tasks)
    }

    /// Does the work of tasks, which free threads share.
    ///
    /// # Errors
    /// The errors of the sink.
    fn finish_tasks(&mut self, mut tasks: Vec<Self::Task>) -> Result<(), Self::Error> {
        while tasks.len() == 1
            && let Some(task) = tasks.pop()
        {
            tasks = self.end(Self::work(task))?;
        }
        if tasks.is_empty() {
            return Ok(());
        }
        threads::pipeline(
            threads::Results::Large,
            Self::work,
            |output| self.end(output),
            |pipeline| tasks.into_iter().try_for_each(|task| pipeline.push(task)),
        )
    }
}

/// A sink that only sees the pieces.
#[expect(missing_debug_implementations, reason = "a function")]
pub struct Each<F, E>(F, PhantomData<E>);

impl<F: FnMut(&mut Tables) -> Result<(), E>, E: From<Error>> Each<F, E> {
    /// Passes the pieces to `each`.
    pub fn new(each: F) -> Self {
        Self(each, PhantomData)
    }
}

impl<F: FnMut(&mut Tables) -> Result<(), E>, E: From<Error>> PieceSink for Each<F, E> {
    type Task = Infallible;
    type Output = Infallible;
    type Error = E;

    fn begin(&mut self, piece: &mut Tables) -> Result<Vec<Infallible>, E> {
        (self.0)(piece).map(|()| Vec::new())
    }

    fn work(task: Infallible) -> Infallible {
        task
    }

    fn end(&mut self, output: Infallible) -> Result<Vec<Infallible>, E> {
        match output {}
    }
}
