//! Finds the names of kernels in one loaded code object. An index is built only when the second name is looked up.

use super::descriptor::{Generation, Resources, size_of_form};
use super::elf::{Form, Image, Index, Layout, Symbol};

/// The state of name lookups in a code object.
#[derive(Debug)]
pub(super) struct Names {
    layout: Option<Layout>,
    lookup: LookupKind,
}

#[derive(Debug)]
enum LookupKind {
    /// No name was looked up.
    Unread,
    /// One name was found by looking at every symbol.
    One,
    /// The second name made an index worthwhile.
    Many(Index),
    /// The image lacks a name, so the runtime listed every kernel: offset, and symbol with `.kd`. Sorted.
    FromRuntime(Vec<(u64, Vec<u8>)>),
}

/// A kernel in a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundKernel {
    /// Symbol without `.kd`.
    pub(super) name: Vec<u8>,
    pub(super) resources: Resources,
}

impl Names {
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self { layout: Layout::read(bytes).ok(), lookup: LookupKind::Unread }
    }

    /// Finds the kernel at an offset in the code object with these bytes. `list_kernels` is called at most once for a code object
    /// and returns every kernel that the runtime knows in it, as in [`LookupKind::FromRuntime`], in any order.
    pub(super) fn find(
        &mut self,
        bytes: &[u8],
        offset: u64,
        list_kernels: impl FnOnce() -> Vec<(u64, Vec<u8>)>,
    ) -> Option<FoundKernel> {
        let image = self.layout.as_ref().and_then(|layout| layout.image(bytes));
        let (name, form) = match image.and_then(|image| self.lookup.read(image, offset)) {
            Some(symbol) => (symbol.name.to_vec(), symbol.form),
            None => self.lookup.find_listed(offset, list_kernels)?,
        };
        let from = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
        let bytes = &from[..from.len().min(size_of_form(form))];
        let generation = self.layout.as_ref().and_then(|layout| Generation::from_flags(layout.flags));
        Some(FoundKernel { name, resources: Resources::read(bytes, form, generation) })
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

    fn find_listed(
        &mut self,
        offset: u64,
        list_kernels: impl FnOnce() -> Vec<(u64, Vec<u8>)>,
    ) -> Option<(Vec<u8>, Form)> {
        if !matches!(self, Self::FromRuntime(_)) {
            let mut names = list_kernels();
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
        Layout::read(memory)
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
        let mut names = Names::new(&memory);
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
        let list = || vec![(192, b"second.kd".to_vec()), (128, b"first".to_vec())];
        let mut names = Names::new(&memory);
        assert_eq!(names.find(&memory, 192, list).unwrap().name, b"second");
        assert_eq!(names.find(&memory, 128, never).unwrap().name, b"first");
        assert_eq!(names.find(&memory, 64, never), None, "no kernel begins there");
    }

    #[test]
    fn a_kernel_that_is_not_exported_is_asked_for_and_the_rest_still_found() {
        let kernels = many(2);
        let memory = memory(&kernels, Symbols::Both);
        let offsets = offsets(&memory);
        let hidden = offsets[1] + 64;
        let list = || {
            let exported = offsets.iter().zip(&kernels).map(|(&at, kernel)| (at, kernel.name.clone()));
            exported.chain([(hidden, b"hidden.kd".to_vec())]).collect()
        };
        let mut names = Names::new(&memory);
        assert_eq!(names.find(&memory, offsets[0], never).unwrap().name, kernels[0].name);
        assert_eq!(names.find(&memory, hidden, list).unwrap().name, b"hidden");
        assert_eq!(names.find(&memory, offsets[1], never).unwrap().name, kernels[1].name);
    }

    #[test]
    fn a_name_without_a_descriptor_in_memory_is_still_a_name() {
        let mut names = Names::new(&[0]);
        let found = names.find(&[0], 0, || vec![(0, b"kernel.kd".to_vec())]).unwrap();
        assert_eq!(found, FoundKernel { name: b"kernel".to_vec(), resources: Resources::default() });
    }
}
