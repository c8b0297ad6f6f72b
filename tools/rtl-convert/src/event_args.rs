//! The arguments of an event: what viewers show besides its name and times.

use rtl_analysis::Categories;
use rtl_schema::table::{Collective, Shape, Symbol};
use rtl_schema::{NameId, Strings, Tables};

use crate::event::{DIRECTIONS, Event, Kind};
use crate::labelled_enum::labelled_enum;
use crate::names::SharedCache;

labelled_enum! {
    /// An argument of an event.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EventArg {
        /// Work-items of the launch, by axis.
        WorkItems = "work-items",
        /// Work-items of a work-group, by axis.
        WorkGroup = "work-group",
        /// Work-groups by axis, where work-items are unknown.
        WorkGroups = "work-groups",
        /// Bytes of LDS of a work-group.
        Lds = "lds",
        /// Bytes of scratch of a work-item.
        Scratch = "scratch",
        /// Vector registers.
        Vgprs = "vgprs",
        /// Accumulation registers.
        Agprs = "agprs",
        /// Scalar registers.
        Sgprs = "sgprs",
        /// The category of a kernel, as reports group by it.
        Category = "category",
        /// The direction of a copy.
        Direction = "direction",
        /// Bytes of a copy.
        Bytes = "bytes",
        /// The thread that enqueued an op.
        Thread = "thread",
        /// The innermost range around the launch of an op.
        Range = "range",
        /// The correlation id of a call and its ops.
        Correlation = "correlation",
        /// The arguments of a call as one text.
        Arguments = "arguments",
        /// The function of a call that is named after its kernel.
        Function = "function",
        /// Nanoseconds from enqueueing to start.
        Latency = "launch_latency_ns",
        /// The status that a call returned, unless 0.
        Result = "result",
        /// The number of the GPU of an op.
        Device = "device",
        /// The stream or queue of an op.
        Stream = "stream",
        /// The stream of a range on a GPU.
        AnnotatedStream = "annotated stream",
        /// Sizes of the inputs of an operator, as its framework wrote them.
        InputShapes = "Input Dims",
        /// Types of the inputs of an operator, as its framework wrote them.
        InputTypes = "Input type",
        /// Strides of the inputs of an operator, as its framework wrote them.
        InputStrides = "Input Strides",
        /// Values of the inputs of an operator, as its framework wrote them.
        InputValues = "Concrete Inputs",
        /// The node of the autograd graph that an operator made or executes.
        Sequence = "Sequence number",
        /// The number of the thread of a backward operator's forward one.
        ForwardThread = "Fwd thread id",
        /// The number of a Python frame.
        PythonId = "Python id",
        /// The number of the frame that called it.
        PythonCaller = "Python parent id",
        /// The number of a module among those of its class.
        PythonModule = "Python module id",
        /// The operation of a collective.
        Collective = "Collective name",
        /// The name of its communicator.
        Communicator = "Process Group Name",
        /// The ranks of the communicator.
        CommunicatorRanks = "Process Group Ranks",
        /// How many they are.
        CommunicatorSize = "Group size",
        /// The type of its elements.
        ElementType = "dtype",
        /// The number of elements that a rank gives.
        ElementsSent = "In msg nelems",
        /// The number of elements that a rank gets.
        ElementsReceived = "Out msg nelems",
        /// The number within the communicator.
        CollectiveSequence = "Seq",
        /// The innermost operator, Python function or range around the thread that a GPU was idle for.
        Within = "within",
        /// The call of that thread.
        Call = "call",
    }
}

/// Writes arguments in a format.
pub trait ArgWriter {
    /// Work-groups are written beside work-items.
    const HAS_GROUPS: bool = false;

    /// Appends a number, in the unit of the argument.
    fn number(name: EventArg, value: i64, out: &mut Vec<u8>);

    /// Appends a text, whose rendering is kept.
    fn text(&mut self, name: EventArg, text: &str, out: &mut Vec<u8>);

    /// Appends a stored text.
    fn stored(&mut self, name: EventArg, text: NameId, strings: &Strings, out: &mut Vec<u8>);

    /// Appends a stored text that may be JSON.
    fn document(&mut self, name: EventArg, text: NameId, strings: &Strings, out: &mut Vec<u8>) {
        self.stored(name, text, strings, out);
    }

    /// Appends sizes along the axes.
    fn axes(&mut self, name: EventArg, sizes: [u64; 3], out: &mut Vec<u8>);

    /// Appends the arguments of a call, unless they are a text without a structure: then the answer is false.
    fn call(&mut self, _arguments: &str, _out: &mut Vec<u8>) -> bool {
        false
    }
}

/// The arguments of events; those of a kernel, shape, symbol or direction are rendered once.
#[derive(Debug)]
pub struct EventArgs {
    categories: Categories,
    kernels: SharedCache,
    shapes: SharedCache,
    symbols: SharedCache,
    directions: SharedCache,
}

impl EventArgs {
    /// The arguments of the events of a trace.
    pub fn new(tables: &Tables) -> Self {
        Self {
            categories: Categories::default(),
            kernels: SharedCache::new(tables.strings.len()),
            shapes: SharedCache::new(tables.shapes.rows().len()),
            symbols: SharedCache::new(tables.symbols.len()),
            directions: SharedCache::new(DIRECTIONS.len()),
        }
    }

    /// Appends the arguments of an event.
    pub fn write<W: ArgWriter>(&self, event: &Event, tables: &Tables, writer: &mut W, out: &mut Vec<u8>) {
        if event.kind == Kind::Operator {
            return operator(event, tables, writer, out);
        }
        if event.kind == Kind::Kernel && event.name.is_some() {
            self.category(event.name, tables, writer, out);
        }
        if let Some(shape) = event.shape {
            self.shapes.append(shape.index(), out, |out| of_shape(tables.shapes.get(shape), writer, out));
        }
        if let Some(symbol) = event.symbol {
            let symbol = symbol.index();
            self.symbols.append(symbol, out, |out| of_symbol::<W>(&tables.symbols[symbol], out));
        }
        if event.kind == Kind::Python {
            return python_frame::<W>(event, out);
        }
        if event.kind == Kind::Idle {
            for (argument, text) in [(EventArg::Within, event.text), (EventArg::Call, event.function)] {
                if text.is_some() {
                    writer.stored(argument, text, &tables.strings, out);
                }
            }
            return;
        }
        if event.kind == Kind::Call
            && event.text.is_some()
            && writer.call(tables.strings.get(event.text), out)
        {
            return;
        }
        if let Some(collective) = event.collective() {
            of_collective(&tables.collectives.get(collective), tables, writer, out);
        }
        if event.kind == Kind::Copy {
            let direction = event.direction();
            self.directions.append(direction as usize, out, |out| {
                writer.text(EventArg::Direction, direction.label(), out);
            });
        }
        if let Some(bytes) = event.bytes {
            W::number(EventArg::Bytes, i64::try_from(bytes).unwrap_or(i64::MAX), out);
        }
        if let Some(thread) = event.tid {
            W::number(EventArg::Thread, thread, out);
        }
        for (argument, id) in [(EventArg::Range, event.range), (EventArg::Correlation, event.correlation)] {
            if id != 0 {
                W::number(argument, id, out);
            }
        }
        if let Some(detail) = event.detail {
            let is_call = event.kind == Kind::Call;
            W::number(if is_call { EventArg::Result } else { EventArg::Latency }, detail, out);
        }
        if event.kind == Kind::Call && event.text.is_some() {
            writer.stored(EventArg::Arguments, event.text, &tables.strings, out);
        }
        if event.kind == Kind::Call && event.function.is_some() {
            writer.stored(EventArg::Function, event.function, &tables.strings, out);
        }
    }
}

impl EventArgs {
    /// Passes the texts of an event on, to a writer that appends nothing.
    #[inline]
    pub fn texts<W: ArgWriter>(&self, event: &Event, tables: &Tables, writer: &mut W) {
        match event.kind {
            Kind::Kernel if event.collective().is_none() => {
                if event.name.is_some() {
                    self.category(event.name, tables, writer, &mut Vec::new());
                }
            }
            Kind::Barrier | Kind::Range | Kind::Marker | Kind::Python | Kind::GpuRange | Kind::Overhead => {}
            Kind::Kernel | Kind::Copy | Kind::Call | Kind::Operator | Kind::Idle => {
                self.write(event, tables, writer, &mut Vec::new());
            }
        }
    }

    #[inline]
    fn category<W: ArgWriter>(&self, name: NameId, tables: &Tables, writer: &mut W, out: &mut Vec<u8>) {
        self.kernels.append(name.index(), out, |out| {
            let category = self.categories.of(rtl_schema::identity(tables.strings.get(name)));
            writer.text(EventArg::Category, category, out);
        });
    }
}

fn operator<W: ArgWriter>(event: &Event, tables: &Tables, writer: &mut W, out: &mut Vec<u8>) {
    let text = |number: Option<u32>| number.map_or(NameId::NONE, NameId);
    for (argument, text) in [
        (EventArg::InputShapes, event.text),
        (EventArg::InputTypes, event.function),
        (EventArg::InputStrides, text(event.shape.map(|shape| shape.0))),
        (EventArg::InputValues, text(event.symbol.map(|symbol| symbol.0))),
    ] {
        if text.is_some() {
            writer.document(argument, text, &tables.strings, out);
        }
    }
    if let Some(sequence) = event.detail {
        W::number(EventArg::Sequence, sequence, out);
        W::number(EventArg::ForwardThread, event.range, out);
    }
}

fn python_frame<W: ArgWriter>(event: &Event, out: &mut Vec<u8>) {
    let caller = Some(event.correlation).filter(|&caller| caller >= 0);
    let module = event.bytes.and_then(|module| i64::try_from(module).ok());
    for (argument, number) in [
        (EventArg::PythonId, event.detail),
        (EventArg::PythonCaller, caller),
        (EventArg::PythonModule, module),
    ] {
        if let Some(number) = number {
            W::number(argument, number, out);
        }
    }
}

fn of_collective<W: ArgWriter>(collective: &Collective, tables: &Tables, writer: &mut W, out: &mut Vec<u8>) {
    for (argument, text) in [
        (EventArg::Collective, collective.operation),
        (EventArg::Communicator, collective.communicator),
        (EventArg::CommunicatorRanks, collective.ranks),
        (EventArg::ElementType, collective.data_type),
    ] {
        if text.is_some() {
            writer.stored(argument, text, &tables.strings, out);
        }
    }
    for (argument, number) in [
        (EventArg::CommunicatorSize, collective.size.map(u64::from)),
        (EventArg::ElementsSent, collective.sent),
        (EventArg::ElementsReceived, collective.received),
        (EventArg::CollectiveSequence, collective.sequence.map(u64::from)),
    ] {
        if let Some(number) = number {
            W::number(argument, i64::try_from(number).unwrap_or(i64::MAX), out);
        }
    }
}

fn of_shape<W: ArgWriter>(shape: Shape, writer: &mut W, out: &mut Vec<u8>) {
    let axes = [
        (EventArg::WorkItems, shape.items),
        (EventArg::WorkGroup, shape.workgroup.map(|axes| axes.map(u64::from))),
        // With work-items known, work-groups follow.
        (EventArg::WorkGroups, shape.groups.filter(|_| W::HAS_GROUPS || shape.items.is_none())),
    ];
    for (argument, axes) in axes {
        if let Some(axes) = axes {
            writer.axes(argument, axes, out);
        }
    }
    known_numbers::<W>([(EventArg::Lds, shape.lds), (EventArg::Scratch, shape.scratch)], out);
}

fn of_symbol<W: ArgWriter>(symbol: &Symbol, out: &mut Vec<u8>) {
    let [vgprs, agprs, sgprs] = [symbol.vgprs, symbol.agprs, symbol.sgprs];
    known_numbers::<W>([(EventArg::Vgprs, vgprs), (EventArg::Agprs, agprs), (EventArg::Sgprs, sgprs)], out);
}

fn known_numbers<W: ArgWriter>(
    numbers: impl IntoIterator<Item = (EventArg, Option<u32>)>,
    out: &mut Vec<u8>,
) {
    for (argument, number) in numbers {
        if let Some(number) = number {
            W::number(argument, i64::from(number), out);
        }
    }
}
