//! Python functions of the program itself, apart from those of frameworks.

/// Folders of Python files that belong to a framework or to Python itself.
const FOREIGN: [&str; 15] = [
    "torch/",
    "torch_",
    "site-packages/",
    "dist-packages/",
    "lib/python",
    "<frozen",
    "<string>",
    "<__",
    "transformers/",
    "triton/",
    "jax/",
    "accelerate/",
    "multiprocessing/",
    "concurrent/",
    "importlib/",
];

/// Functions that torch calls around any operator or module: they say nothing about a place.
const DISPATCH: [&str; 4] = ["__torch_function__", "__torch_dispatch__", "_call_impl", "_wrapped_call_impl"];

/// Modules of Python that call the program or are called by it; torch.profiler gives their files without a folder.
const STANDARD: [&str; 22] = [
    "queue",
    "threading",
    "selectors",
    "socket",
    "subprocess",
    "contextlib",
    "functools",
    "runpy",
    "copy",
    "inspect",
    "random",
    "typing",
    "abc",
    "tempfile",
    "pickle",
    "weakref",
    "logging",
    "gc",
    "time",
    "os",
    "collections",
    "re",
];

/// Returns whether a Python function such as `train.py(12): step` belongs to the program.
pub(super) fn is_own_code(name: &str) -> bool {
    let Some((file, function)) = name.split_once(".py(") else { return false };
    let function = function.split_once(": ").map_or("", |(_, function)| function);
    let is_standard = !file.contains('/') && STANDARD.contains(&file);
    let is_in =
        |folder: &&str| file.match_indices(*folder).any(|(at, _)| at == 0 || file.as_bytes()[at - 1] == b'/');
    !is_standard && !DISPATCH.contains(&function) && !FOREIGN.iter().any(is_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_frameworks_is_not_that_of_the_program() {
        for name in
            ["train.py(12): step", "/home/a/model/attention.py(7): forward", "src/loop.py(3): <module>"]
        {
            assert!(is_own_code(name), "{name}");
        }
        for name in [
            "torch/optim/optimizer.py(385): wrapper",
            "/usr/lib/python3.11/json/decoder.py(12): decode",
            "/env/lib/python3.12/site-packages/numpy/a.py(1): f",
            "queue.py(154): get",
            "multiprocessing/process.py(108): run",
            "parameter.py(122): __torch_function__",
            "<built-in method step>",
            "nn.Module: Linear_0",
            "<frozen importlib._bootstrap>(1): _call",
        ] {
            assert!(!is_own_code(name), "{name}");
        }
    }
}
