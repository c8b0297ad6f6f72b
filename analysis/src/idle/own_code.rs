//! Python functions of the program itself, apart from those of frameworks.

/// Folders of Python files that belong to a framework or to Python itself.
const FOREIGN: [&str; 11] = [
    "torch/",
    "torch_",
    "lib/python",
    "<frozen",
    "<string>",
    "<__",
    "triton/",
    "jax/",
    "multiprocessing/",
    "concurrent/",
    "importlib/",
];

/// Folders and files of what starts programs and the cells of notebooks.
const LAUNCHERS: [&str; 9] = [
    "ipykernel/",
    "ipykernel_launcher",
    "colab_kernel_launcher",
    "IPython/",
    "tornado/",
    "traitlets/",
    "asyncio/",
    "debugpy/",
    "torchrun",
];

/// Folders of packages that are no part of the program either, but say where in a model it is.
const PACKAGES: [&str; 4] = ["site-packages/", "dist-packages/", "transformers/", "accelerate/"];

/// Functions around any other: they say nothing about a place.
const WRAPPERS: [&str; 13] = [
    "<module>",
    "_bootstrap",
    "_bootstrap_inner",
    "__torch_function__",
    "__torch_dispatch__",
    "_call_impl",
    "_wrapped_call_impl",
    "__enter__",
    "__exit__",
    "wrapper",
    "inner",
    "_fn",
    "decorate_context",
];

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
    is_of_model(name) && name.split_once(".py(").is_some_and(|(file, _)| !is_in(file, &PACKAGES))
}

/// Returns whether a Python function belongs to the program or to a package that it uses, but torch.
pub(crate) fn is_of_model(name: &str) -> bool {
    let Some((file, _)) = name.split_once(".py(") else { return false };
    let is_standard = !file.contains('/') && STANDARD.contains(&file);
    // A package lies in a folder of Python.
    let file =
        PACKAGES[..2].iter().find_map(|folder| file.rsplit_once(folder)).map_or(file, |(_, file)| file);
    says_where(name) && !is_standard && !is_in(file, &FOREIGN)
}

/// Returns whether a path has one of these folders or files.
fn is_in(file: &str, folders: &[&str]) -> bool {
    let starts = |at: usize| at == 0 || file.as_bytes()[at - 1] == b'/';
    folders.iter().any(|folder| file.match_indices(folder).any(|(at, _)| starts(at)))
}

/// False of a Python function around any other, such as `<module>`.
pub(crate) fn says_where(name: &str) -> bool {
    let Some((file, rest)) = name.split_once(".py(") else { return true };
    let function = rest.split_once(": ").map_or("", |(_, function)| function);
    !WRAPPERS.contains(&function) && !is_in(file, &LAUNCHERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_frameworks_is_not_that_of_the_program() {
        for name in [
            "train.py(12): step",
            "/home/a/model/attention.py(7): forward",
            "/tmp/ipykernel_25/162.py(18): <cell line: 0>",
        ] {
            assert!(is_own_code(name), "{name}");
        }
        for name in
            ["transformers/models/vit/modeling_vit.py(407): forward", "/env/site-packages/numpy/a.py(1): f"]
        {
            assert!(is_of_model(name) && !is_own_code(name), "{name}");
        }
        for name in [
            "torch/optim/optimizer.py(385): wrapper",
            "/usr/lib/python3.11/json/decoder.py(12): decode",
            "/env/lib/python3.12/site-packages/torch/a.py(1): f",
            "src/loop.py(3): <module>",
            "colab_kernel_launcher.py(37): <module>",
            "/env/site-packages/IPython/core/interactiveshell.py(3512): run_code",
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
