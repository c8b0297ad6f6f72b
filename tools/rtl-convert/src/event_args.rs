//! What viewers show of an event besides its name and its time.

use rtl_schema::table::{Shape, Symbol};

use crate::event::{Event, Kind};
use crate::timeline;

/// What an argument tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventArg {
    /// Work-items of the launch by axis.
    WorkItems,
    /// Work-items of a work-group by axis.
    WorkGroup,
    /// Work-groups by axis, where work-items are unknown.
    WorkGroups,
    /// Bytes of LDS of a work-group.
    Lds,
    /// Bytes of scratch of a work-item.
    Scratch,
    /// Vector registers.
    Vgprs,
    /// Accumulation registers.
    Agprs,
    /// Scalar registers.
    Sgprs,
    /// Which way a copy went.
    Direction,
    /// Bytes of a copy.
    Bytes,
    /// The thread that asked for an op.
    Thread,
    /// The innermost range that an op was launched in.
    Range,
    /// What ties a call to its ops.
    Correlation,
    /// The arguments of a call, as one text.
    Arguments,
    /// The function of a call that goes by its kernel's name.
    Function,
    /// Nanoseconds from enqueueing to start.
    Latency,
    /// The status that a call returned, where it is not 0.
    Result,
}

impl EventArg {
    /// All of them; the position is the number of each.
    pub const ALL: [Self; 17] = [
        Self::WorkItems,
        Self::WorkGroup,
        Self::WorkGroups,
        Self::Lds,
        Self::Scratch,
        Self::Vgprs,
        Self::Agprs,
        Self::Sgprs,
        Self::Direction,
        Self::Bytes,
        Self::Thread,
        Self::Range,
        Self::Correlation,
        Self::Arguments,
        Self::Function,
        Self::Latency,
        Self::Result,
    ];

    /// The word that viewers show.
    pub fn label(self) -> &'static str {
        match self {
            Self::WorkItems => "work-items",
            Self::WorkGroup => "work-group",
            Self::WorkGroups => "work-groups",
            Self::Lds => "lds",
            Self::Scratch => "scratch",
            Self::Vgprs => "vgprs",
            Self::Agprs => "agprs",
            Self::Sgprs => "sgprs",
            Self::Direction => "direction",
            Self::Bytes => "bytes",
            Self::Thread => "thread",
            Self::Range => "range",
            Self::Correlation => "correlation",
            Self::Arguments => "arguments",
            Self::Function => "function",
            Self::Latency => "launch_latency_ns",
            Self::Result => "result",
        }
    }
}

/// What an argument says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgValue<'a> {
    /// A number, in the unit of the argument.
    Number(i64),
    /// A text.
    Text(&'a str),
}

/// The arguments that all launches of a shape share.
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

/// The numbers that all launches of a kernel share.
pub fn of_symbol(symbol: &Symbol, mut each: impl FnMut(EventArg, i64)) {
    let registers =
        [(EventArg::Vgprs, symbol.vgprs), (EventArg::Agprs, symbol.agprs), (EventArg::Sgprs, symbol.sgprs)];
    for (argument, count) in registers {
        if let Some(count) = count {
            each(argument, i64::from(count));
        }
    }
}

/// Which way a copy went, in a word; `None` for what is no copy.
#[inline]
pub fn direction(event: &Event) -> Option<&'static str> {
    (event.kind == Kind::Copy).then(|| timeline::direction(event).label())
}

/// The numbers that an event has of its own.
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
