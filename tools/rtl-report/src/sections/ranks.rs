//! Ranks side by side: how late each comes to collectives, and how long each waits.

use cli::units;
use html_page::heat::{self, Row};
use html_page::table::{Cell, Table};
use html_page::{Bytes, Data, Section};
use maud::html;
use rtl_analysis::pictures::Arrivals;
use rtl_analysis::ranks::{Rank, Ranks};
use serde::Serialize;

use crate::view::View;

/// The most rows of the table: thousands make a page slow, and its report has all of them.
const TABLE_ROWS: usize = 256;

/// The most rows and columns that are drawn without the script.
const ROWS: usize = 32;
const COLUMNS: usize = 40;

#[derive(Serialize)]
struct About<'a> {
    ranks: &'a [String],
    /// The display name of the kernel of each column.
    kernels: Vec<&'a str>,
    /// The end of each column's first collective, from the start of the trace.
    end_ns: Vec<i64>,
    collectives: u64,
    each: u64,
    /// Cells have the full colour from this lateness on, in ns.
    most_ns: i64,
}

pub(super) fn section<'a>(view: &'a View<'a>) -> Option<(Section, Vec<Data>)> {
    let ranks = view.sections().ranks.as_ref().filter(|ranks| ranks.ranks.len() > 1)?;
    let arrivals = view.pictures.arrivals.as_ref();
    let straggler = match &ranks.straggler {
        Some(rank) => format!("The others wait for {rank}."),
        None => "No rank stands out as the one that the others wait for.".to_owned(),
    };
    let content = html! {
        p { (html_page::text(&straggler)) }
        @if let Some(arrivals) = arrivals {
            h3 { "How late each rank comes to each collective" }
            canvas #arrivals-canvas role="img" aria-label=(label(arrivals)) {}
            div.static { (heat::heat(&label(arrivals), &rows(arrivals), None, "c2")) }
            p.note {
                "A row is a rank, a column " @if arrivals.collectives_per_column == 1 { "a collective" } @else {
                    (units::count(arrivals.collectives_per_column)) " collectives (their mean)"
                } ". Full colour: " (units::duration(most(arrivals))) " after the first rank or more. Without a common clock the rank \
                that stays shortest came last."
            }
        }
        (table(ranks).render())
    };
    let note = "Waiting for other ranks is time in collectives beyond the shortest call of all members, so it needs no common clock.";
    let data = arrivals.map(|arrivals| data(view, arrivals)).unwrap_or_default();
    Some((Section { id: "ranks-section", title: "Ranks", note: note.to_owned(), content }, data))
}

fn label(arrivals: &Arrivals) -> String {
    format!("Lateness of {} ranks in {} collectives", arrivals.ranks.len(), arrivals.collectives)
}

/// The lateness in ns from which on a cell has the full colour: that of the 98th of 100 cells, so that outliers do not dim
/// the others.
fn most(arrivals: &Arrivals) -> i64 {
    let mut all: Vec<i64> =
        arrivals.late_ns.iter().flatten().flatten().copied().filter(|&ns| ns > 0).collect();
    let at = all.len().saturating_sub(1) * 98 / 100;
    if all.is_empty() { 1 } else { *all.select_nth_unstable(at).1 }
}

/// The rows of the latest ranks, with fewer columns than the script draws.
fn rows(arrivals: &Arrivals) -> Vec<Row> {
    let full = most(arrivals) as f64;
    let each = arrivals.kernels.len().div_ceil(COLUMNS).max(1);
    let mut chosen: Vec<usize> = (0..arrivals.ranks.len()).collect();
    let sum = |rank: &usize| {
        arrivals.late_ns[*rank].iter().flatten().fold(0_i64, |sum, &ns| sum.saturating_add(ns))
    };
    chosen.sort_by_key(|rank| std::cmp::Reverse(sum(rank)));
    chosen.truncate(ROWS);
    chosen.sort_unstable();
    let row = |rank: &usize| {
        let shade = |part: &[Option<i64>]| {
            let known: Vec<f64> = part.iter().flatten().map(|&ns| ns as f64).collect();
            (!known.is_empty()).then(|| (known.iter().sum::<f64>() / known.len() as f64 / full).min(1.0))
        };
        let cells: Vec<Option<f64>> = arrivals.late_ns[*rank].chunks(each).map(shade).collect();
        Row { label: arrivals.ranks[*rank].clone(), tips: vec![String::new(); cells.len()], cells }
    };
    chosen.iter().map(row).collect()
}

fn data<'a>(view: &'a View<'a>, arrivals: &'a Arrivals) -> Vec<Data> {
    let about = About {
        ranks: &arrivals.ranks,
        kernels: arrivals.kernels.iter().map(|kernel| view.name(kernel)).collect(),
        end_ns: arrivals.end_ns.iter().map(|end| end.saturating_sub(view.origin)).collect(),
        collectives: arrivals.collectives,
        each: arrivals.collectives_per_column,
        most_ns: most(arrivals),
    };
    let mut late = Bytes::default();
    for ns in arrivals.late_ns.iter().flatten() {
        late.number(ns.map_or(0, |ns| ns.max(0).unsigned_abs() + 1));
    }
    vec![Data::json("arrivals-data", &about), Data::bytes("arrivals-late", &late.0)]
}

fn table(ranks: &Ranks) -> Table {
    let time = |ns: i64| Cell::number(units::duration(ns), ns);
    let known = |ns: Option<i64>| ns.map_or_else(Cell::none, time);
    let cells = |rank: &Rank| {
        vec![
            Cell::text(&rank.name),
            Cell::number(rank.gpu.to_string(), rank.gpu),
            time(rank.wall_ns),
            time(rank.busy_ns),
            time(rank.compute_ns),
            Cell::number(units::count(rank.collectives), rank.collectives),
            time(rank.clock_free_wait_ns),
            time(rank.exposed_wait_ns),
            Cell::number(units::count(rank.clock_free_last), rank.clock_free_last),
            known(rank.wait_ns),
            known(rank.delay_ns),
        ]
    };
    let heads = [
        ("Rank", "name"),
        ("GPU", "gpu"),
        ("Wall", "wall_ns"),
        ("Busy", "busy_ns"),
        ("Compute", "compute_ns"),
        ("Collectives", "collectives"),
        ("Waits", "clock_free_wait_ns"),
        ("Waits alone", "exposed_wait_ns"),
        ("Last", "clock_free_last"),
        ("Waits by clock", "wait_ns"),
        ("Holds up others", "delay_ns"),
    ];
    Table {
        id: "ranks",
        caption: "Ranks".to_owned(),
        columns: heads.to_vec(),
        rows: ranks.ranks.iter().take(TABLE_ROWS).map(cells).collect(),
        all: ranks.ranks.len(),
        filter: Some("rank"),
    }
}
