//! The kernels of a process, as rocprofv3 lists them: a symbol each, with an id that dispatches refer to.

use std::borrow::Cow;

use rtl_schema::table::{Dispatch, Symbol};
use rtl_schema::{Id, NameId, ProcessId, SymbolId, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::names;

/// A kernel that was launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// Unique in its process and never 0, because rocprofv3's entry 0 is a placeholder.
    pub id: Id,
    pub name: NameId,
    pub symbol: Option<SymbolId>,
}

impl Kernel {
    /// Empty where the source has no symbol.
    pub fn loaded(&self, tables: &Tables) -> Symbol {
        self.symbol.map_or(Symbol::default(), |symbol| tables.symbols[symbol.index()])
    }

    /// `--names` selects the shown one, as rocprofv3's `-M` and `-T` do.
    pub fn names<'a>(&self, tables: &'a Tables, how: names::NameStyle) -> KernelNames<'a> {
        let mut shown = match how {
            names::NameStyle::Full => names::shown(&tables.strings, self.name),
            names::NameStyle::Mangled => Cow::Borrowed(rtl_schema::identity(tables.strings.get(self.name))),
            names::NameStyle::Short => {
                let full = names::shown(&tables.strings, self.name);
                Cow::Owned(rtl_schema::shorten(&full).to_owned())
            }
        };
        // Readers would cut another `.kd` off.
        if rtl_schema::identity(&shown) != shown {
            shown.to_mut().push_str(".kd");
        }
        let mangled = match self.loaded(tables).mangled {
            name if self.symbol.is_some() && name.is_some() => tables.strings.get(name).to_owned(),
            _ => format!("{}.kd", rtl_schema::identity(tables.strings.get(self.name))),
        };
        KernelNames { mangled, shown }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelNames<'a> {
    /// As in its code object, with the `.kd` of the descriptor.
    pub mangled: String,
    /// The shown name, without `.kd`.
    pub shown: Cow<'a, str>,
}

/// The kernels of one process in order of first appearance. A symbol keeps the id of the source if that is unique; two
/// symbols of one name are two kernels.
#[derive(Debug, Default)]
pub struct Kernels {
    pub rows: Vec<Kernel>,
    positions: FxHashMap<(Option<SymbolId>, NameId), u32>,
    ids: FxHashSet<Id>,
    next: Id,
}

impl Kernels {
    /// The position of a dispatch's kernel.
    #[inline]
    pub fn position(&mut self, dispatch: &Dispatch, tables: &Tables) -> usize {
        match self.positions.get(&(dispatch.symbol, dispatch.name)) {
            Some(&position) => position as usize,
            None => self.add(dispatch, tables),
        }
    }

    #[cold]
    fn add(&mut self, dispatch: &Dispatch, tables: &Tables) -> usize {
        let position = self.rows.len();
        self.positions.insert((dispatch.symbol, dispatch.name), position as u32);
        let stated = dispatch.symbol.map(|symbol| tables.symbols[symbol.index()].id);
        let id = match stated {
            Some(id) if id > 0 && self.ids.insert(id) => id,
            _ => self.free(tables),
        };
        self.rows.push(Kernel { id, name: dispatch.name, symbol: dispatch.symbol });
        position
    }

    fn free(&mut self, tables: &Tables) -> Id {
        let greatest = tables.symbols.iter().map(|symbol| symbol.id).max().unwrap_or(0);
        // Behind the greatest of all ids, which may be taken, are the smallest ones.
        let following = |id: Id| id.checked_add(1).unwrap_or(1);
        self.next = following(self.next.max(greatest));
        while !self.ids.insert(self.next) {
            self.next = following(self.next);
        }
        self.next
    }

    /// Adds the kernels that `process` loaded but never launched.
    pub fn add_loaded(&mut self, process: ProcessId, tables: &Tables) {
        let met: FxHashSet<SymbolId> = self.rows.iter().filter_map(|kernel| kernel.symbol).collect();
        for (symbol, row) in (0..).map(SymbolId).zip(&tables.symbols) {
            if row.process == process && !met.contains(&symbol) {
                self.position(
                    &Dispatch { name: row.name, symbol: Some(symbol), ..Dispatch::default() },
                    tables,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_has_one_id_and_symbols_keep_theirs() {
        let mut tables = Tables::default();
        let [gemm, relu, other] = ["gemm", "relu", "other"].map(|text| tables.strings.intern(text));
        tables.symbols = [7, 7].map(|id| Symbol { id, name: gemm, ..Symbol::default() }).to_vec();
        let dispatch = |name, symbol| Dispatch { name, symbol, ..Dispatch::default() };
        let mut kernels = Kernels::default();
        let launched = [
            dispatch(gemm, Some(SymbolId(0))),
            dispatch(relu, None),
            // Another symbol with the id of the first, and the first under another name.
            dispatch(gemm, Some(SymbolId(1))),
            dispatch(other, Some(SymbolId(0))),
            dispatch(NameId::DANGLING, None),
        ];
        for _ in 0..2 {
            let positions: Vec<usize> = launched.iter().map(|row| kernels.position(row, &tables)).collect();
            assert_eq!(positions, [0, 1, 2, 3, 4]);
        }
        let ids: Vec<Id> = kernels.rows.iter().map(|kernel| kernel.id).collect();
        assert_eq!(ids, [7, 8, 9, 10, 11]);
    }
}
