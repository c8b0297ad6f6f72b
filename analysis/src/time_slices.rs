//! Slices of the time of all GPUs, which threads walk at the same time.
//!
//! An op that starts before a slice may run in it. So threads first note what the ops of each slice leave to later ones, and
//! add up the slices once that is known of all before. The figures of a GPU are those of its slices together.

use std::ops::Range;

use rtl_schema::Tables;

use crate::ops::{self, AgentOps, Order, Place, Simultaneous};
use crate::parallel;

/// Slices for each thread: other work takes threads meanwhile, and some slices take longer than others.
const SLICES: usize = 4;

/// With this many GPUs for each thread, threads walk whole GPUs: nothing has to be noted then. With fewer, most threads would have one
/// GPU, and fetch all rows for it.
const GPUS: usize = 2;

/// The least number of rows for each GPU of a slice, on average: its figures take memory.
const ROWS_OF_GPU: usize = 1 << 12;

/// Figures of one GPU that are added up in order of start, and that those of slices add up to.
pub(crate) trait Sliced<'a>: Send + Sized {
    /// Adds the next ops.
    fn add(&mut self, same: Simultaneous<'a>);

    /// Notes what the next ops leave to later ones, without their figures.
    fn note(&mut self, same: Simultaneous<'a>);

    /// Notes the same of all ops that `next` has noted.
    fn note_all(&mut self, next: &Self);

    /// Adds the figures of the next slice, which has noted all ops before it.
    fn append(&mut self, next: Self);
}

/// The ops of GPUs at about some rows.
#[derive(Debug)]
pub(crate) struct Slice {
    rows: Range<u32>,
    /// GPUs by their position in the order, with their ops; those without any are left out.
    parts: Vec<(usize, Range<Place>)>,
}

impl Slice {
    /// Walks the parts that are chosen; `states` has one state for each of them.
    fn walk<'a, S>(
        &self,
        (tables, order): (&'a Tables, &'a Order),
        is_chosen: impl Fn(usize, &Range<Place>) -> bool,
        states: &mut [S],
        each: impl FnMut(&mut S, Simultaneous<'a>),
    ) {
        let parts = self.parts.iter().filter(|(gpu, places)| is_chosen(*gpu, places));
        let gpus = parts.map(|(gpu, places)| order.agents[*gpu].within(tables, places.clone()));
        ops::side_by_side(gpus.collect(), states, self.rows.clone(), each);
    }
}

/// As many slices as threads walk at the same time; one of few rows, and where each thread has several GPUs.
pub(crate) fn slices(tables: &Tables, order: &Order) -> Vec<Slice> {
    let rows = tables.dispatches.len();
    let mut count = match parallel::shares(rows) {
        threads if threads == 1 || GPUS * threads <= order.agents.len() => 1,
        threads => SLICES * threads,
    };
    loop {
        let slices = cut(tables, order, rows.div_ceil(count));
        let parts: usize = slices.iter().map(|slice| slice.parts.len()).sum();
        if count == 1 || parts <= order.agents.len() + rows / ROWS_OF_GPU {
            return slices;
        }
        count = count.div_ceil(2);
    }
}

/// Slices of this number of rows.
pub(crate) fn cut(tables: &Tables, order: &Order, rows: usize) -> Vec<Slice> {
    let all = ops::all_rows(tables);
    let mut places = vec![Place::default(); order.agents.len()];
    let begins = all.clone().step_by(rows.max(1)).chain(all.is_empty().then_some(0));
    let slice = |begin: u32| {
        let end = begin.saturating_add(rows as u32).min(all.end);
        let mut parts = Vec::new();
        for (gpu, (ops, from)) in order.agents.iter().zip(&mut places).enumerate() {
            let to = if end == all.end { ops.end_place() } else { ops.place_of(tables, end).max(*from) };
            if *from < to {
                parts.push((gpu, *from..to));
                *from = to;
            }
        }
        Slice { rows: begin..end, parts }
    };
    begins.map(slice).collect()
}

/// The figures of each GPU; `new` has those of no op.
pub(crate) fn add_up<'a, S: Sliced<'a>>(
    tables: &'a Tables,
    order: &'a Order,
    slices: &[Slice],
    new: impl Fn(&'a AgentOps) -> S + Sync,
) -> Vec<S> {
    let agents = &order.agents;
    if slices.len() < 2 {
        let mut all: Vec<S> = agents.iter().map(new).collect();
        ops::in_order_on_threads(tables, order, &mut all, S::add);
        return all;
    }
    let inputs = (tables, order);
    // Nothing follows the last slice of a GPU.
    let is_followed = |gpu: usize, places: &Range<Place>| places.end < agents[gpu].end_place();
    let noted = threads::map(slices, |slice| {
        let followed = slice.parts.iter().filter(|(gpu, places)| is_followed(*gpu, places));
        let mut states: Vec<S> = followed.map(|(gpu, _)| new(&agents[*gpu])).collect();
        slice.walk(inputs, is_followed, &mut states, S::note);
        states
    });
    let mut before: Vec<S> = agents.iter().map(&new).collect();
    let begin = |(slice, noted): (&Slice, Vec<S>)| {
        let mut noted = noted.into_iter();
        let part = |(gpu, places): &(usize, Range<Place>)| {
            let mut state = new(&agents[*gpu]);
            state.note_all(&before[*gpu]);
            if is_followed(*gpu, places) {
                noted.next().iter().for_each(|noted| before[*gpu].note_all(noted));
            }
            state
        };
        slice.parts.iter().map(part).collect::<Vec<S>>()
    };
    let begun: Vec<Vec<S>> = slices.iter().zip(noted).map(begin).collect();
    let added = threads::map(slices.iter().zip(begun), |(slice, mut states)| {
        slice.walk(inputs, |_, _| true, &mut states, S::add);
        states
    });
    let mut all: Vec<Option<S>> = agents.iter().map(|_| None).collect();
    for (slice, states) in slices.iter().zip(added) {
        for ((gpu, _), state) in slice.parts.iter().zip(states) {
            match &mut all[*gpu] {
                Some(all) => all.append(state),
                none => *none = Some(state),
            }
        }
    }
    all.into_iter().zip(agents).map(|(all, ops)| all.unwrap_or_else(|| new(ops))).collect()
}
