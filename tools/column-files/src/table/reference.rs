//! Tables that rows refer to.

use std::ops::Range;

use rtl_schema::table::{Agent, AgentKind};

use crate::rows::{Column, Piece, Rows};

pub(super) fn agents(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    let kind = |row: &Agent| match row.kind {
        AgentKind::Gpu => Some("gpu"),
        AgentKind::Cpu => Some("cpu"),
        AgentKind::Other => Some("other"),
        AgentKind::Unknown => None,
    };
    Rows::new(piece, &piece.rows.agents[rows])
        .word("kind", kind)
        .add("gpu", |row| (row.kind == AgentKind::Gpu).then_some(row.number))
        .add("node", |row| row.node)
        .add("source_id", |row| row.source_id)
        .word("target", |row| row.target.as_deref())
        .word("product", |row| row.product.as_deref())
        .word("uuid", |row| row.uuid.as_deref())
        .word("details", |row| row.details.as_deref())
        .finish()
}

pub(super) fn processes(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.processes[rows])
        .add("pid", |row| row.pid)
        .add("ppid", |row| row.ppid)
        .add("node", |row| row.node)
        .add("rank", |row| row.rank)
        .add("world_size", |row| row.world)
        .word("host", |row| row.host.as_deref())
        .word("machine_id", |row| row.machine_id.as_deref())
        .word("guid", |row| row.guid.as_deref())
        .word("command", |row| row.command.as_deref())
        .word("environment", |row| row.environment.as_deref())
        .add("start_ns", |row| row.start)
        .add("end_ns", |row| row.end)
        .finish()
}

pub(super) fn threads(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.threads[rows])
        .process(|row| row.process)
        .add("tid", |row| row.tid)
        .word("name", |row| row.name.as_deref())
        .finish()
}

pub(super) fn kernels(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.symbols[rows])
        .add("kernel_id", |row| row.id)
        .process(|row| row.process)
        .text("name", |row| row.name)
        .text("mangled", |row| row.mangled)
        .add("kernarg_bytes", |row| row.kernarg)
        .add("lds_bytes", |row| row.lds)
        .add("scratch_bytes", |row| row.scratch)
        .add("sgprs", |row| row.sgprs)
        .add("vgprs", |row| row.vgprs)
        .add("agprs", |row| row.agprs)
        .finish()
}

pub(super) fn metadata(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.info.metadata[rows])
        .word("tag", |row| Some(row.0.as_str()))
        .word("value", |row| Some(row.1.as_str()))
        .finish()
}
