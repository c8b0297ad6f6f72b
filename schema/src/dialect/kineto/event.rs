//! The fields of one event.

use super::scalar::number;
use super::scan::{Raw, Scanner, Stop};

/// Declares the arguments that are read, with their keys.
macro_rules! arguments {
    ($($field:ident: $($key:literal)|+;)*) => {
        /// The arguments of an event, as far as a category has a meaning for them.
        #[derive(Debug, Clone, Copy, Default)]
        pub(super) struct Arguments<'a> {
            $(pub(super) $field: Raw<'a>,)*
        }

        impl<'a> Arguments<'a> {
            /// Reads the object at `scanner`; any other value is passed.
            fn scan(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Stop> {
                if scanner.peek()? != b'{' {
                    return scanner.value().map(|_| ());
                }
                scanner.pass();
                while let Some(key) = scanner.key()? {
                    let value = scanner.value()?;
                    match key {
                        $($($key)|+ => self.$field = value,)*
                        _ => {}
                    }
                }
                Ok(())
            }
        }
    };
}

arguments! {
    device: b"device";
    stream: b"stream";
    annotated_stream: b"annotated stream";
    correlation: b"correlation";
    external: b"External id" | b"external id";
    grid: b"grid";
    block: b"block";
    registers: b"registers per thread";
    shared: b"shared memory";
    graph: b"graph id";
    graph_node: b"graph node id";
    bytes: b"bytes" | b"Bytes";
    size: b"size";
    sequence: b"Sequence number";
    forward: b"Fwd thread id";
    dims: b"Input Dims" | b"Input dims";
    types: b"Input type";
    strides: b"Input Strides";
    values: b"Concrete Inputs";
    address: b"Addr";
    device_id: b"Device Id";
    device_type: b"Device Type";
    allocated: b"Total Allocated";
    reserved: b"Total Reserved";
    rank: b"rank";
    collective: b"Collective name";
    group: b"Process Group Name";
    group_ranks: b"Process Group Ranks";
    group_size: b"Group size";
    data_type: b"dtype";
    sent: b"In msg nelems";
    received: b"Out msg nelems";
    collective_sequence: b"Seq";
    name: b"name";
    thread: b"thread";
    python: b"Python id";
    python_caller: b"Python parent id";
    python_module: b"Python module id";
}

/// One event of `traceEvents`, as text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Event<'a> {
    pub(super) phase: Raw<'a>,
    pub(super) category: Raw<'a>,
    pub(super) name: Raw<'a>,
    pub(super) pid: Raw<'a>,
    pub(super) tid: Raw<'a>,
    pub(super) start: Raw<'a>,
    pub(super) duration: Raw<'a>,
    pub(super) id: Raw<'a>,
    /// The object that `arguments` comes from.
    pub(super) all_arguments: Raw<'a>,
    pub(super) arguments: Arguments<'a>,
}

impl<'a> Event<'a> {
    /// The thread of an event of the host. rtl-convert states it apart where slices overlap that viewers nest.
    #[inline]
    pub(super) fn thread(&self) -> Option<i64> {
        let stated = self.arguments.thread;
        number(if stated.is_empty() { self.tid } else { stated })
    }

    /// Reads the object at `scanner`.
    #[inline]
    pub(super) fn scan(scanner: &mut Scanner<'a>) -> Result<Self, Stop> {
        if !scanner.accept(b'{')? {
            return Err(Stop::Malformed);
        }
        let mut event = Self::default();
        while let Some(key) = scanner.key()? {
            let field = match key {
                b"ph" => &mut event.phase,
                b"cat" => &mut event.category,
                b"name" => &mut event.name,
                b"pid" => &mut event.pid,
                b"tid" => &mut event.tid,
                b"ts" => &mut event.start,
                b"dur" => &mut event.duration,
                b"id" => &mut event.id,
                b"args" => {
                    scanner.peek()?;
                    let from = *scanner;
                    event.arguments.scan(scanner)?;
                    event.all_arguments = from.until(scanner);
                    continue;
                }
                _ => {
                    scanner.value()?;
                    continue;
                }
            };
            *field = scanner.value()?;
        }
        Ok(event)
    }
}
