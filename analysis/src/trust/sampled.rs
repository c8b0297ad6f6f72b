//! A file from which most calls were cut, and with them the ops that they launched: a sample of a trace, or an extract.

use rtl_schema::{Dialect, Tables};

use super::reason::Reason;

/// The ids of recorded calls are farther apart on average and in the median. In whole traces of torch.profiler, public ones and those
/// of the tests, the mean is at most 36 and the median at most 17, because CUPTI counts calls that are not recorded, too; in samples
/// they are from 200 and 36 on.
const MEAN: i64 = 100;
const MEDIAN: i64 = 25;

/// Fewer calls show nothing.
const FEW: usize = 4;

/// Of the calls of a process: how many ids lie between the first and the last of them, and how many are those of calls.
fn sampled(tables: &Tables) -> Option<(u64, u64)> {
    if tables.info.dialect != Dialect::Kineto {
        return None;
    }
    let calls = &tables.api_calls;
    let space =
        |row: usize| tables.processes.get(calls.process.get(row).index()).map_or(0, |process| process.space);
    let mut spaces: Vec<(u32, i64, i64, usize)> = Vec::new();
    for row in 0..calls.len() {
        let (space, id) = (space(row), calls.correlation.get(row));
        if id == 0 {
            continue;
        }
        match spaces.iter_mut().find(|(known, ..)| *known == space) {
            Some((_, first, last, count)) => {
                (*first, *last, *count) = ((*first).min(id), (*last).max(id), *count + 1);
            }
            None => spaces.push((space, id, id, 1)),
        }
    }
    let is_thin = |&(of, first, last, count): &(u32, i64, i64, usize)| {
        let span = last.saturating_sub(first);
        if count < FEW || span / count as i64 <= MEAN {
            return false;
        }
        let rows = (0..calls.len()).filter(|&row| space(row) == of);
        let mut ids: Vec<i64> = rows.map(|row| calls.correlation.get(row)).filter(|&id| id != 0).collect();
        ids.sort_unstable();
        let mut steps: Vec<i64> = ids.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let middle = steps.len() / 2;
        *steps.select_nth_unstable(middle).1 > MEDIAN
    };
    let thin: Vec<_> = spaces.into_iter().filter(is_thin).collect();
    let ids: u64 = thin.iter().map(|(_, first, last, _)| last.abs_diff(*first).saturating_add(1)).sum();
    let seen: u64 = thin.iter().map(|(.., count)| *count as u64).sum();
    (!thin.is_empty()).then_some((ids, seen))
}

pub(crate) fn is_sampled(tables: &Tables) -> bool {
    sampled(tables).is_some()
}

pub(super) fn reason(tables: &Tables) -> Option<Reason> {
    let (ids, seen) = sampled(tables)?;
    let sentence = format!(
        "most calls are missing from the file: it has {seen}, whose ids are {} apart on average, and a whole recording has one at \
         least every 36; the ops that the missing ones launched are probably missing, too",
        ids / seen.max(1),
    );
    Some(Reason::new("sampled", ids.saturating_sub(seen), ids, sentence))
}
