//! One loaded code object: finds the name of a kernel in it, and pays for an index only from the second name on.

use super::descriptor::{Generation, Resources, size_of_form};
use super::elf::{Form, Image, Index, Layout, Symbol};

/// How names are found in a code object.
#[derive(Debug)]
pub(super) struct Names {
    layout: Option<Layout>,
    lookup: LookupKind,
}

#[derive(Debug)]
enum LookupKind {
    /// Nobody has asked for one.
    Unread,
    /// One was found by looking at every symbol.
    One,
    /// The second one made an index worthwhile.
    Many(Index),
    /// The image does not tell; the runtime named every kernel: offset, symbol with `.kd`. Sorted.
    FromRuntime(Vec<(u64, Vec<u8>)>),
}

/// A kernel at an offset in a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Without `.kd`.
    pub(super) name: Vec<u8>,
    pub(super) resources: Resources,
}

impl Names {
    /// In a code object with these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { layout: Layout::of(bytes).ok(), lookup: LookupKind::Unread }
    }

    /// The kernel at an offset in the code object with these bytes. `ask` is called at most once for a code object:
    /// every kernel that the runtime knows in it, as in [`LookupKind::FromRuntime`], in any order.
    pub(super) fn find(
        &mut self,
        bytes: &[u8],
        offset: u64,
        ask: impl FnOnce() -> Vec<(u64, Vec<u8>)>,
    ) -> Option<Found> {
        let image = self.layout.as_ref().and_then(|layout| layout.image(bytes));
        let (name, form) = match image.and_then(|image| self.lookup.read(image, offset)) {
            Some(symbol) => (symbol.name.to_vec(), symbol.form),
            None => self.lookup.told(offset, ask)?,
        };
        let from = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
        let bytes = &from[..from.len().min(size_of_form(form))];
        let generation = self.layout.as_ref().and_then(|layout| Generation::of(layout.flags));
        Some(Found { name, resources: Resources::read(bytes, form, generation) })
    }
}

impl LookupKind {
    fn read<'a>(&mut self, image: Image<'a>, offset: u64) -> Option<Symbol<'a>> {
        if matches!(self, Self::One) {
            *self = Self::Many(image.index());
        }
        match self {
            Self::Unread => {
                let found = image.find(offset)?;
                *self = Self::One;
                Some(found)
            }
            Self::Many(index) => image.find_in(index, offset),
            Self::One | Self::FromRuntime(_) => None,
        }
    }

    fn told(&mut self, offset: u64, ask: impl FnOnce() -> Vec<(u64, Vec<u8>)>) -> Option<(Vec<u8>, Form)> {
        if !matches!(self, Self::FromRuntime(_)) {
            let mut names = ask();
            names.sort_unstable();
            *self = Self::FromRuntime(names);
        }
        let Self::FromRuntime(names) = self else { return None };
        let at = names.partition_point(|&(other, _)| other < offset);
        let (_, symbol) = names.get(at).filter(|&&(other, _)| other == offset)?;
        Some(match symbol.strip_suffix(b".kd") {
            Some(name) => (name.to_vec(), Form::Descriptor),
            None => (symbol.clone(), Form::KernelCode),
        })
    }
}

#[cfg(test)]
mod tests {
    use support::code_object::{Kernel, Symbols, Target, code_object, loaded, many};

    use super::*;

    fn memory(kernels: &[Kernel], symbols: Symbols) -> Vec<u8> {
        loaded(&code_object(Target::named("gfx90a").unwrap(), kernels, symbols))
    }

    fn offsets(memory: &[u8]) -> Vec<u64> {
        Layout::of(memory)
            .unwrap()
            .image(memory)
            .unwrap()
            .index()
            .into_iter()
            .map(|(offset, _)| offset)
            .collect()
    }

    fn never() -> Vec<(u64, Vec<u8>)> {
        panic!("the image tells")
    }

    #[test]
    fn an_index_is_made_for_the_second_name_and_serves_all_others() {
        let kernels = many(50);
        let memory = memory(&kernels, Symbols::Both);
        let mut names = Names::of(&memory);
        for (at, (offset, kernel)) in offsets(&memory).into_iter().zip(&kernels).enumerate() {
            let found = names.find(&memory, offset, never).unwrap();
            assert_eq!(found.name, kernel.name);
            assert_eq!(found.resources.lds, Some(kernel.lds));
            match at {
                0 => assert!(matches!(names.lookup, LookupKind::One)),
                _ => assert!(matches!(names.lookup, LookupKind::Many(_))),
            }
        }
    }

    #[test]
    fn the_runtime_is_asked_once_where_the_image_does_not_tell() {
        let memory = memory(&many(3), Symbols::SectionOnly);
        let told = || vec![(192, b"second.kd".to_vec()), (128, b"first".to_vec())];
        let mut names = Names::of(&memory);
        assert_eq!(names.find(&memory, 192, told).unwrap().name, b"second");
        assert_eq!(names.find(&memory, 128, never).unwrap().name, b"first");
        assert_eq!(names.find(&memory, 64, never), None, "no kernel begins there");
    }

    #[test]
    fn a_kernel_that_is_not_exported_is_asked_for_and_the_rest_still_found() {
        let kernels = many(2);
        let memory = memory(&kernels, Symbols::Both);
        let offsets = offsets(&memory);
        let hidden = offsets[1] + 64;
        let told = || {
            let exported = offsets.iter().zip(&kernels).map(|(&at, kernel)| (at, kernel.name.clone()));
            exported.chain([(hidden, b"hidden.kd".to_vec())]).collect()
        };
        let mut names = Names::of(&memory);
        assert_eq!(names.find(&memory, offsets[0], never).unwrap().name, kernels[0].name);
        assert_eq!(names.find(&memory, hidden, told).unwrap().name, b"hidden");
        assert_eq!(names.find(&memory, offsets[1], never).unwrap().name, kernels[1].name);
    }

    #[test]
    fn a_name_without_a_descriptor_in_memory_is_still_a_name() {
        let mut names = Names::of(&[0]);
        let found = names.find(&[0], 0, || vec![(0, b"kernel.kd".to_vec())]).unwrap();
        assert_eq!(found, Found { name: b"kernel".to_vec(), resources: Resources::default() });
    }
}
