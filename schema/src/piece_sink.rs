//! What becomes of the pieces of a trace.

use std::convert::Infallible;
use std::marker::PhantomData;

use crate::{Error, Tables};

/// The consumer of [`Trace::stream_to`](crate::Trace::stream_to). Work that does not need the order of pieces is done apart, by
/// all threads that are free, while other pieces are read.
pub trait PieceSink {
    /// The work for a piece.
    type Task: Send;
    /// Its result.
    type Output: Send;
    /// Why the sink takes no more.
    type Error: From<Error>;

    /// Takes a piece, in the order of pieces. It may take rows out of the tables, but nothing that rows refer to.
    ///
    /// # Errors
    /// Those of the sink: no other piece comes then.
    fn begin(&mut self, piece: &mut Tables) -> Result<Option<Self::Task>, Self::Error>;

    /// Does the work for a piece, on any thread.
    fn work(task: Self::Task) -> Self::Output;

    /// Takes the results, in the order of pieces. Later pieces may have begun already.
    ///
    /// # Errors
    /// Those of the sink: nothing else comes then.
    fn end(&mut self, output: Self::Output) -> Result<(), Self::Error>;

    /// Takes a piece and does its work on this thread.
    ///
    /// # Errors
    /// Those of the sink.
    fn take(&mut self, piece: &mut Tables) -> Result<(), Self::Error> {
        match self.begin(piece)? {
            Some(task) => self.end(Self::work(task)),
            None => Ok(()),
        }
    }
}

/// A sink that only sees the pieces.
pub(crate) struct Each<F, E>(F, PhantomData<E>);

impl<F: FnMut(&mut Tables) -> Result<(), E>, E: From<Error>> Each<F, E> {
    pub(crate) fn new(each: F) -> Self {
        Self(each, PhantomData)
    }
}

impl<F: FnMut(&mut Tables) -> Result<(), E>, E: From<Error>> PieceSink for Each<F, E> {
    type Task = Infallible;
    type Output = Infallible;
    type Error = E;

    fn begin(&mut self, piece: &mut Tables) -> Result<Option<Infallible>, E> {
        (self.0)(piece).map(|()| None)
    }

    fn work(task: Infallible) -> Infallible {
        task
    }

    fn end(&mut self, output: Infallible) -> Result<(), E> {
        match output {}
    }
}
