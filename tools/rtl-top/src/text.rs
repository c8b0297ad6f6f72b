//! The figures as lines, for the screen and for `--once`.

use std::io;

use cli::color::Paint;
use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Layout, Table};
use rtl_analysis::DisplayNames;
use rtl_analysis::live::{CopyState, GpuState, LossState, NamedState, State};

use crate::document::{Document, Phase, Recording};

#[derive(Debug, Clone, Copy)]
pub struct View {
    /// The number of columns; `None` shortens nothing.
    pub width: Option<usize>,
    /// The number of lines of a screen.
    pub height: Option<usize>,
    /// The most rows of a table; `None` for as many as fit.
    pub rows: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub is_heading: bool,
}

/// A table with the number of rows that it should have at least where there is room.
struct Section {
    rows: usize,
    wanted: usize,
    /// Sections take the room that is left in this order.
    greed: usize,
    table: Box<dyn Fn(usize) -> Table>,
}

/// The lines of a table besides the rows: an empty one, the header and the rule.
const FRAME: usize = 3;

/// The lines of one recording in detail, or one line for each of several.
pub fn lines(document: &Document, view: View) -> io::Result<Vec<Line>> {
    let (head, sections) = match document.recordings.as_slice() {
        [recording] => (vec![title(recording), status(&recording.state)], detail(recording)),
        several => (vec![sum(several)], vec![ranks(several)]),
    };
    let mut lines: Vec<Line> = head.iter().map(|text| line(&clipped(text, view.width), true)).collect();
    let rows = shares(&sections, view, lines.len());
    for (section, rows) in sections.iter().zip(rows).filter(|(_, rows)| *rows > 0) {
        let mut bytes = Vec::new();
        let layout = Layout::Text { width: view.width, paint: Paint::default() };
        (section.table)(rows).render(layout, &mut bytes)?;
        lines.push(line("", false));
        let text = String::from_utf8_lossy(&bytes);
        lines.extend(text.lines().enumerate().map(|(at, text)| line(text, at == 0)));
    }
    Ok(lines)
}

fn line(text: &str, is_heading: bool) -> Line {
    Line { text: cli::escape_control(text).into_owned(), is_heading }
}

fn clipped(text: &str, width: Option<usize>) -> String {
    match width {
        Some(width) if text.chars().count() > width => {
            text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
        }
        _ => text.to_owned(),
    }
}

/// Divides the lines of the screen among the sections.
fn shares(sections: &[Section], view: View, used: usize) -> Vec<usize> {
    let most = view.rows.unwrap_or(usize::MAX);
    let Some(height) = view.height else {
        return sections.iter().map(|section| section.rows.min(most)).collect();
    };
    let mut left = height.saturating_sub(used);
    let mut shares = vec![0; sections.len()];
    for (share, section) in shares.iter_mut().zip(sections) {
        if section.rows > 0 && left > FRAME {
            *share = section.rows.min(section.wanted).min(most).min(left - FRAME);
            left -= *share + FRAME;
        }
    }
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|&at| sections[at].greed);
    for at in order.into_iter().filter(|&at| shares[at] > 0).collect::<Vec<_>>() {
        let more = (sections[at].rows.min(most) - shares[at]).min(left);
        shares[at] += more;
        left -= more;
    }
    shares
}

fn title(recording: &Recording) -> String {
    let mut words = Vec::new();
    words.extend(recording.pid.map(|pid| format!("pid {pid}")));
    words.extend(recording.rank.map(|rank| format!("rank {rank}")));
    words.extend(recording.host.clone());
    words.push(recording.phase.label().to_owned());
    words.extend(recording.recorded_ns.map(|time| format!("{} s", units::fixed(time as f64 / 1e9, 1))));
    words.extend(recording.command.clone());
    words.join("  ")
}

fn status(state: &State) -> String {
    let mut words = vec![format!("API calls {}/s", rate(state.recent_calls, state.window_ns))];
    words.extend(state.pending.map(|pending| format!("pending {}", units::count(pending))));
    words.push(format!("lost {}", reasons(&state.losses)));
    if !state.skipped.is_empty() {
        words.push(format!("skipped {}", reasons(&state.skipped)));
    }
    if state.late_ops > 0 {
        words.push(format!("{} ops too late for busy time", units::count(state.late_ops)));
    }
    words.join("  ")
}

fn reasons(losses: &[LossState]) -> String {
    if losses.is_empty() {
        return "0".to_owned();
    }
    let words = losses.iter().map(|LossState { reason, count }| {
        let reason = reason.replace("lost:", "").replace("skipped:", "");
        format!("{} ({})", units::count(*count), reason.replace('_', " "))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn detail(recording: &Recording) -> Vec<Section> {
    let State { gpus, kernels, copies, ranges, calls, window_ns, .. } = recording.state.clone();
    let window = window_ns;
    let names = DisplayNames::of(kernels.iter().map(|kernel| kernel.name.as_str()));
    let kernels: Vec<NamedState> = kernels
        .into_iter()
        .map(|kernel| NamedState { name: names.get(&kernel.name).to_owned(), ..kernel })
        .collect();
    let named = |header: &'static str, rows: Vec<NamedState>, wanted, greed| Section {
        rows: rows.len(),
        wanted,
        greed,
        table: Box::new(move |count| named(header, &rows[..count], window)),
    };
    vec![
        Section {
            rows: gpus.len(),
            wanted: 8,
            greed: 1,
            table: Box::new(move |count| gpu_table(&gpus[..count], window)),
        },
        named("Kernel", kernels, 5, 0),
        Section {
            rows: copies.len(),
            wanted: 2,
            greed: 4,
            table: Box::new(move |count| copy_table(&copies[..count], window)),
        },
        named("Range", ranges, 3, 2),
        named("API call", calls, 3, 3),
    ]
}

fn gpu_table(gpus: &[GpuState], window: i64) -> Table {
    let has_depth = gpus.iter().any(|gpu| gpu.mean_depth.is_some());
    let oldest = |gpu: &GpuState| gpu.in_flight.iter().max_by_key(|open| open.waited_ns).cloned();
    let is_waiting = gpus.iter().any(|gpu| !gpu.in_flight.is_empty());
    Table::of(gpus)
        .column(Column::left("GPU"), |gpu| Cell::text(&gpu.label))
        .column(Column::right("Busy now"), |gpu| Cell::text(percent(gpu.recent_busy_share)))
        .column(Column::left("").optional(), |gpu| Cell::text(bar(gpu.recent_busy_share)))
        .column(Column::right("Busy"), |gpu| Cell::text(percent(gpu.busy_share)))
        .column(Column::right("Ops/s"), |gpu| Cell::text(rate(gpu.recent_ops, window)))
        .column(Column::right("Ops").optional(), |gpu| Cell::text(units::count(gpu.ops)))
        .column_if(has_depth, Column::right("Depth"), |gpu| {
            gpu.mean_depth.map_or_else(Cell::none, |depth| Cell::text(units::fixed(depth, 1)))
        })
        .column_if(is_waiting, Column::name("In flight"), |gpu| {
            let text = |name: &str, waited| format!("{} {name}", units::duration(waited));
            oldest(gpu).map_or_else(Cell::none, |open| Cell::text(text(&open.name, open.waited_ns)))
        })
        .build()
}

fn named(header: &str, rows: &[NamedState], window: i64) -> Table {
    let total =
        TimeUnit::of(rows.iter().map(|row| row.total_ns).max().unwrap_or(0) / 10).max(TimeUnit::Microseconds);
    let longest =
        TimeUnit::of(rows.iter().map(|row| row.max_ns).max().unwrap_or(0)).max(TimeUnit::Microseconds);
    Table::of(rows)
        .column(Column::name(header), |row| Cell::text(&row.name))
        .column(Column::right("Now"), |row| Cell::text(percent(row.recent_ns as f64 / window.max(1) as f64)))
        .column(Column::right("Per s"), |row| Cell::text(rate(row.recent_count, window)))
        .column(Column::right(format!("Total ({})", total.symbol())), |row| {
            Cell::text(total.short_number(row.total_ns))
        })
        .column(Column::right("Count"), |row| Cell::text(units::count(row.count)))
        .column(Column::right(format!("Max ({})", longest.symbol())).optional(), |row| {
            Cell::text(longest.short_number(row.max_ns))
        })
        .build()
}

fn copy_table(rows: &[CopyState], window: i64) -> Table {
    let bytes_per_second = |bytes: u64| (bytes as f64 * 1e9 / window.max(1) as f64) as u64;
    Table::of(rows)
        .column(Column::left("Copies"), |row| Cell::text(&row.direction))
        .column(Column::right("Now"), |row| Cell::text(percent(row.recent_ns as f64 / window.max(1) as f64)))
        .column(Column::right("Per s"), |row| Cell::text(rate(row.recent_count, window)))
        .column(Column::right("Bytes/s"), |row| Cell::text(units::bytes(bytes_per_second(row.recent_bytes))))
        .column(Column::right("Bytes"), |row| Cell::text(units::bytes(row.bytes)))
        .column(Column::right("Count").optional(), |row| Cell::text(units::count(row.count)))
        .build()
}

fn sum(recordings: &[Recording]) -> String {
    let mut words = vec![format!("{} recordings", units::count(recordings.len() as u64))];
    for phase in [Phase::Recording, Phase::Ended, Phase::Stopped] {
        let count = recordings.iter().filter(|recording| recording.phase == phase).count();
        if count > 0 {
            words.push(format!("{} {}", units::count(count as u64), phase.word()));
        }
    }
    words.join("  ")
}

fn ranks(recordings: &[Recording]) -> Section {
    let recordings = recordings.to_vec();
    Section {
        rows: recordings.len(),
        wanted: usize::MAX,
        greed: 0,
        table: Box::new(move |count| rank_table(&recordings[..count])),
    }
}

fn rank_table(recordings: &[Recording]) -> Table {
    let has_hosts = recordings.iter().any(|recording| recording.host != recordings[0].host);
    let mean = |gpus: &[GpuState], share: fn(&GpuState) -> f64| match gpus.len() {
        0 => 0.0,
        count => gpus.iter().map(share).sum::<f64>() / count as f64,
    };
    let first = |recording: &Recording| {
        let kernel = recording.state.kernels.first().filter(|kernel| kernel.recent_ns > 0)?;
        let names = DisplayNames::of([kernel.name.as_str()]);
        Some(names.get(&kernel.name).to_owned())
    };
    let ops = |recording: &Recording| recording.state.gpus.iter().map(|gpu| gpu.recent_ops).sum();
    let lost = |recording: &Recording| recording.state.losses.iter().map(|loss| loss.count).sum();
    Table::of(recordings)
        .column(Column::right("Rank"), |row| {
            row.rank.map_or_else(Cell::none, |rank| Cell::text(rank.to_string()))
        })
        .column(Column::right("Pid"), |row| {
            row.pid.map_or_else(Cell::none, |pid| Cell::text(pid.to_string()))
        })
        .column_if(has_hosts, Column::left("Host").optional(), |row| {
            row.host.as_deref().map_or_else(Cell::none, Cell::text)
        })
        .column(Column::left("State"), |row| Cell::text(row.phase.word()))
        .column(Column::right("Busy now"), |row| {
            Cell::text(percent(mean(&row.state.gpus, |gpu| gpu.recent_busy_share)))
        })
        .column(Column::right("Busy").optional(), |row| {
            Cell::text(percent(mean(&row.state.gpus, |gpu| gpu.busy_share)))
        })
        .column(Column::right("Ops/s"), move |row| Cell::text(rate(ops(row), row.state.window_ns)))
        .column(Column::right("Pending"), |row| {
            row.state.pending.map_or_else(Cell::none, |pending| Cell::text(units::count(pending)))
        })
        .column(Column::right("Lost").optional(), move |row| Cell::text(units::count(lost(row))))
        .column(Column::name("First kernel"), move |row| first(row).map_or_else(Cell::none, Cell::text))
        .build()
}

fn percent(share: f64) -> String {
    format!("{}%", units::fixed(share * 100.0, 1))
}

fn rate(count: u64, window: i64) -> String {
    units::count((count as f64 * 1e9 / window.max(1) as f64).round() as u64)
}

fn bar(share: f64) -> String {
    const BLOCKS: usize = 20;
    let full = ((share * BLOCKS as f64).round() as usize).min(BLOCKS);
    format!("{}{}", "█".repeat(full), "·".repeat(BLOCKS - full))
}
