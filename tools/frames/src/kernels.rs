//! The kernels of many runs, numbered so that equal ones have equal numbers.

use polars::prelude::*;

/// A kernel's name and its launch shape (empty where kernels are not told apart by it).
pub type Key = (String, String);

/// The distinct kernels of several runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Numbered {
    /// By name, then by launch shape.
    pub keys: Vec<Key>,
    /// For each run and each of its rows the position in `keys`.
    pub of_run: Vec<Vec<usize>>,
}

/// Groups the rows of all runs by key, then joins each run with the groups.
///
/// # Errors
/// Where polars refuses the columns.
pub fn number(runs: &[Vec<Key>]) -> PolarsResult<Numbered> {
    if runs.iter().all(Vec::is_empty) {
        return Ok(Numbered { keys: Vec::new(), of_run: vec![Vec::new(); runs.len()] });
    }
    let all = frame(runs.iter().flatten())?;
    let distinct = all.group_by(KEY)?.select(["row"]).count()?;
    let distinct = distinct.select(KEY)?.sort(KEY, SortMultipleOptions::default())?;
    let texts = |name: &str| -> PolarsResult<Vec<String>> {
        Ok(distinct.column(name)?.str()?.iter().map(|text| text.unwrap_or_default().to_owned()).collect())
    };
    let keys: Vec<Key> = texts("kernel")?.into_iter().zip(texts("launch")?).collect();
    let numbers: Vec<u32> = (0..keys.len() as u32).collect();
    let numbered = distinct.hstack(&[Column::new("number".into(), numbers)])?;
    let of_run = runs.iter().map(|run| numbers_of(run, &numbered)).collect::<PolarsResult<_>>()?;
    Ok(Numbered { keys, of_run })
}

const KEY: [&str; 2] = ["kernel", "launch"];

fn frame<'a>(keys: impl Iterator<Item = &'a Key> + Clone) -> PolarsResult<DataFrame> {
    let kernels: Vec<&str> = keys.clone().map(|(kernel, _)| kernel.as_str()).collect();
    let launches: Vec<&str> = keys.map(|(_, launch)| launch.as_str()).collect();
    let rows: Vec<u32> = (0..kernels.len() as u32).collect();
    DataFrame::new_infer_height(vec![
        Column::new("kernel".into(), kernels),
        Column::new("launch".into(), launches),
        Column::new("row".into(), rows),
    ])
}

fn numbers_of(run: &[Key], numbered: &DataFrame) -> PolarsResult<Vec<usize>> {
    if run.is_empty() {
        return Ok(Vec::new());
    }
    let joined = frame(run.iter())?.inner_join(numbered, KEY, KEY)?;
    let mut numbers = vec![0; run.len()];
    let rows = joined.column("row")?.u32()?.iter().flatten();
    for (row, number) in rows.zip(joined.column("number")?.u32()?.iter().flatten()) {
        numbers[row as usize] = number as usize;
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(names: &[&str]) -> Vec<Key> {
        names.iter().map(|name| ((*name).to_owned(), String::new())).collect()
    }

    #[test]
    fn equal_kernels_of_different_runs_have_equal_numbers() {
        let numbered = number(&[keys(&["b", "a"]), keys(&["c", "b"]), Vec::new()]).expect("small frames");
        assert_eq!(numbered.keys, keys(&["a", "b", "c"]));
        assert_eq!(numbered.of_run, [vec![1, 0], vec![2, 1], vec![]]);
    }

    #[test]
    fn the_launch_shape_is_part_of_the_key() {
        let run = vec![("a".to_owned(), "1x1x1".to_owned()), ("a".to_owned(), "2x1x1".to_owned())];
        assert_eq!(number(&[run]).expect("small frames").of_run, [vec![0, 1]]);
    }

    #[test]
    fn no_runs_and_no_rows_are_no_kernels() {
        assert_eq!(number(&[]).expect("nothing"), Numbered::default());
        assert_eq!(number(&[Vec::new()]).expect("nothing").of_run, [Vec::<usize>::new()]);
    }
}
