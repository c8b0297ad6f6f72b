//! Names of operators, ranges and Python functions for people.

use std::borrow::Cow;

/// A word with this number of letters and digits, of which some are digits, is a hash: the code that a compiler makes is named by one.
const HASH: usize = 20;

const PYBIND: &str = " of pybind11_builtins.";

/// How much of a hash is shown.
const SHOWN: usize = 6;

/// The folder of code that torch.compile has made.
const INDUCTOR: &str = "torchinductor_";

/// Shows the beginning of hashes, no address of an object, and no folder of compiled code: `CompiledFxGraph fynprr…`, `<built-in method
/// step of Engine>`, `cov463….py(2533): call`.
pub(crate) fn span_name(name: &str) -> Cow<'_, str> {
    let name = match (name.split_once(".py("), name.contains(INDUCTOR)) {
        (Some((file, _)), true) => &name[file.rfind('/').map_or(0, |slash| slash + 1)..],
        _ => name,
    };
    if let Some((start, address)) = name.split_once(" object at 0x") {
        let rest = address.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        // The type of pybind11's functions has a name of a hundred letters that says nothing.
        let start = start.split_once(PYBIND).map_or(start, |(start, _)| start);
        return Cow::Owned(format!("{start}{rest}"));
    }
    if !words(name).any(is_hash) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    for hash in words(name).filter(|word| is_hash(word)) {
        let Some((before, after)) = rest.split_once(hash) else { continue };
        text.push_str(before);
        text.push_str(&hash[..SHOWN]);
        text.push('…');
        rest = after;
    }
    text.push_str(rest);
    Cow::Owned(text)
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric())
}

fn is_hash(word: &str) -> bool {
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let digits = word.bytes().filter(|byte| byte.is_ascii_digit()).count();
    word.len() >= HASH && word.bytes().all(is_lower) && digits >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_compiled_code_lose_their_end_and_addresses_go() {
        for (name, text) in [
            ("## Call CompiledFxGraph fynprrql37lqbxcvq4e2mdzs7 ##", "## Call CompiledFxGraph fynprr… ##"),
            ("torchinductor_root/ov/cov463qy2hazgcrkkm5fp.py(2533): call", "cov463….py(2533): call"),
            (
                "<built-in method _record_function_enter_new of pybind11_builtins.pybind11_detail_function_record object at 0x7f>",
                "<built-in method _record_function_enter_new>",
            ),
            ("aten::mm", "aten::mm"),
            (
                "<built-in method run_backward of torch._C._EngineBase object at 0x7f5fca7b07e0>",
                "<built-in method run_backward of torch._C._EngineBase>",
            ),
            (
                "<built-in method _record_function_exit of pybind11_builtins.pybind11_detail_function_record_v1 object at 0x7f5f>",
                "<built-in method _record_function_exit>",
            ),
            (
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
            ),
            (
                "vectorized_elementwise_kernel_with_a_long_name",
                "vectorized_elementwise_kernel_with_a_long_name",
            ),
        ] {
            assert_eq!(span_name(name), text);
        }
    }
}
