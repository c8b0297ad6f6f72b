//! The arguments of an event: what viewers show besides its name and times.

use rtl_schema::table::{Shape, Symbol};

use crate::event::{Event, Kind};
use crate::labelled_enum::labelled_enum;
use crate::timeline;

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
    }
}

/// The value of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgValue<'a> {
    /// A number, in the unit of the argument.
    Number(i64),
    /// A text.
    Text(&'a str),
}

/// The arguments of a launch shape.
pub fn of_shape(shape: Shape, mut each: impl FnMut(EventArg, ArgValue<'_>)) {
    let axes = [
        (EventArg::WorkItems, shape.items),
        (EventArg::WorkGroup, shape.workgroup.map(|axes| axes.map(u64::from))),
        // With work-items known, work-groups follow.
        (EventArg::WorkGroups, shape.groups.filter(|_| shape.items.is_none())),
    ];
    for (argument, axes) in axes {
        if let Some([x, y, z]) = axes {
            each(argument, ArgValue::Text(&format!("{x}x{y}x{z}")));
        }
    }
    for (argument, bytes) in [(EventArg::Lds, shape.lds), (EventArg::Scratch, shape.scratch)] {
        if let Some(bytes) = bytes {
            each(argument, ArgValue::Number(i64::from(bytes)));
        }
    }
}

/// The arguments of a loaded kernel.
pub fn of_symbol(symbol: &Symbol, mut each: impl FnMut(EventArg, i64)) {
    let registers =
        [(EventArg::Vgprs, symbol.vgprs), (EventArg::Agprs, symbol.agprs), (EventArg::Sgprs, symbol.sgprs)];
    for (argument, count) in registers {
        if let Some(count) = count {
            each(argument, i64::from(count));
        }
    }
}

/// The direction of a copy; `None` for other events.
#[inline]
pub fn direction(event: &Event) -> Option<&'static str> {
    (event.kind == Kind::Copy).then(|| timeline::direction(event).label())
}

/// The arguments of the event itself.
#[inline]
pub fn of_event(event: &Event, mut each: impl FnMut(EventArg, i64)) {
    if let Some(bytes) = event.bytes {
        each(EventArg::Bytes, i64::try_from(bytes).unwrap_or(i64::MAX));
    }
    if let Some(thread) = event.tid {
        each(EventArg::Thread, thread);
    }
    for (argument, id) in [(EventArg::Range, event.range), (EventArg::Correlation, event.correlation)] {
        if id != 0 {
            each(argument, id);
        }
    }
    if let Some(detail) = event.detail {
        let is_call = event.kind == Kind::Call;
        each(if is_call { EventArg::Result } else { EventArg::Latency }, detail);
    }
}
