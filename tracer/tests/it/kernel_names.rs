//! Compares the names of kernels that the tracer finds with those that the stock ROCm runtimes give for every symbol, on
//! simulated GPUs. A runtime that this machine does not have is skipped in one line.
//!
//! Each test starts itself again in a process on a runtime, and does its work there.

#![expect(unsafe_code, reason = "loads code objects through the runtime's C functions")]

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use hsa_sys::bindings::*;
use rtl::base::kernels::{Kernel, Loader, descriptor::Resources, names};
use support::code_object::{self, Symbols, Target, code_object, many};

/// Set only in the process that is on the runtime.
const INSIDE: &str = "KERNEL_NAMES_INSIDE";

/// Runs `inside` on every runtime, in a process of its own that runs this test alone.
fn on_every_runtime(gpus: u32, inside: fn(&Runtime)) {
    if std::env::var_os(INSIDE).is_some() {
        return inside(&Runtime::start());
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap();
    for stack in support::stacks() {
        let mut command = stack.command(&std::env::current_exe().unwrap());
        command.args([test, "--exact", "--nocapture"]).env(INSIDE, "1").env("KFD_SIM_GPUS", gpus.to_string());
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let has_run = String::from_utf8_lossy(&output.stdout).contains("1 passed");
        assert!(output.status.success() && has_run, "{test} on {stack:?}: {}\n{stderr}", output.status);
    }
}

/// The runtime, opened as by a program that is not linked with it.
struct Runtime {
    core: CoreApiTable,
    gpus: Vec<hsa_agent_t>,
}

/// Calls a function of the table, which must succeed.
macro_rules! call {
    ($runtime:expr, $function:ident($($argument:expr),*)) => {{
        let function = $runtime.core.$function.unwrap();
        // SAFETY: the arguments are those of the function in hsa.h and outlive the call.
        assert_eq!(unsafe { function($($argument),*) }, HSA_STATUS_SUCCESS, stringify!($function));
    }};
}

impl Runtime {
    fn start() -> Self {
        // SAFETY: a library of the system is opened, and stays open.
        let library = unsafe { libc::dlopen(c"libhsa-runtime64.so.1".as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null());
        // SAFETY: all functions of the table are optional, so bytes of 0 are a valid value.
        let mut core: CoreApiTable = unsafe { MaybeUninit::zeroed().assume_init() };
        macro_rules! find {
            ($($field:ident: $name:literal),* $(,)?) => {$({
                let name = CString::new($name).unwrap();
                // SAFETY: the library is open and the name ends with a zero.
                let function = unsafe { libc::dlsym(library, name.as_ptr()) };
                assert!(!function.is_null(), $name);
                // SAFETY: the symbol is the function of that name, and the field is of its type.
                core.$field = unsafe { std::mem::transmute_copy::<*mut c_void, _>(&function) };
            })*};
        }
        find! {
            hsa_init_fn: "hsa_init",
            hsa_iterate_agents_fn: "hsa_iterate_agents",
            hsa_agent_get_info_fn: "hsa_agent_get_info",
            hsa_executable_create_alt_fn: "hsa_executable_create_alt",
            hsa_executable_freeze_fn: "hsa_executable_freeze",
            hsa_executable_destroy_fn: "hsa_executable_destroy",
            hsa_executable_load_agent_code_object_fn: "hsa_executable_load_agent_code_object",
            hsa_executable_iterate_symbols_fn: "hsa_executable_iterate_symbols",
            hsa_executable_symbol_get_info_fn: "hsa_executable_symbol_get_info",
            hsa_code_object_reader_create_from_memory_fn: "hsa_code_object_reader_create_from_memory",
            hsa_code_object_reader_destroy_fn: "hsa_code_object_reader_destroy",
            hsa_system_get_major_extension_table_fn: "hsa_system_get_major_extension_table",
        }
        let mut runtime = Self { core, gpus: Vec::new() };
        call!(runtime, hsa_init_fn());
        let mut agents: Vec<hsa_agent_t> = Vec::new();
        call!(runtime, hsa_iterate_agents_fn(Some(add_agent), (&raw mut agents).cast()));
        runtime.gpus = agents.into_iter().filter(|&agent| runtime.is_gpu(agent)).collect();
        runtime
    }

    fn is_gpu(&self, agent: hsa_agent_t) -> bool {
        let mut kind: hsa_device_type_t = 0;
        call!(self, hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_DEVICE, (&raw mut kind).cast()));
        kind == HSA_DEVICE_TYPE_GPU
    }

    fn loader(&self) -> Loader {
        Loader::new(&self.core).unwrap()
    }

    /// Loads code objects, each for a GPU, and then overwrites their bytes, as a program may do.
    fn load(&self, code_objects: Vec<(hsa_agent_t, Vec<u8>)>) -> hsa_executable_t {
        let mut executable = hsa_executable_t { handle: 0 };
        call!(self, hsa_executable_create_alt_fn(0, 1, null(), &raw mut executable));
        let mut kept = Vec::new();
        for (agent, bytes) in code_objects {
            let mut reader = hsa_code_object_reader_t { handle: 0 };
            let (data, size) = (bytes.as_ptr().cast(), bytes.len());
            call!(self, hsa_code_object_reader_create_from_memory_fn(data, size, &raw mut reader));
            call!(
                self,
                hsa_executable_load_agent_code_object_fn(executable, agent, reader, null(), null_mut())
            );
            kept.push((reader, bytes));
        }
        call!(self, hsa_executable_freeze_fn(executable, null()));
        for (reader, mut bytes) in kept {
            call!(self, hsa_code_object_reader_destroy_fn(reader));
            bytes.fill(0xa5);
        }
        executable
    }

    /// The runtime's own list of kernels: kernel object and name.
    fn kernels(&self, executable: hsa_executable_t) -> HashMap<u64, Vec<u8>> {
        let mut symbols: Vec<hsa_executable_symbol_t> = Vec::new();
        call!(
            self,
            hsa_executable_iterate_symbols_fn(executable, Some(add_symbol), (&raw mut symbols).cast())
        );
        let named = symbols.into_iter().map(|symbol| {
            let (mut object, mut length) = (0_u64, 0_u32);
            let into = (&raw mut object).cast();
            call!(
                self,
                hsa_executable_symbol_get_info_fn(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, into)
            );
            let into = (&raw mut length).cast();
            call!(
                self,
                hsa_executable_symbol_get_info_fn(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, into)
            );
            let mut name = vec![0_u8; length as usize];
            let into = name.as_mut_ptr().cast();
            call!(self, hsa_executable_symbol_get_info_fn(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, into));
            (object, name.strip_suffix(b".kd").unwrap().to_vec())
        });
        named.collect()
    }

    fn destroy(&self, loader: &Loader, executable: hsa_executable_t) {
        loader.destroy(executable);
        call!(self, hsa_executable_destroy_fn(executable));
    }
}

unsafe extern "C" fn add_agent(agent: hsa_agent_t, agents: *mut c_void) -> hsa_status_t {
    // SAFETY: this is the vector that `start` passed, which nobody else uses meanwhile.
    let agents = unsafe { &mut *agents.cast::<Vec<hsa_agent_t>>() };
    agents.push(agent);
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn add_symbol(
    _: hsa_executable_t,
    symbol: hsa_executable_symbol_t,
    symbols: *mut c_void,
) -> hsa_status_t {
    // SAFETY: this is the vector that `kernels` passed, which nobody else uses meanwhile.
    let symbols = unsafe { &mut *symbols.cast::<Vec<hsa_executable_symbol_t>>() };
    symbols.push(symbol);
    HSA_STATUS_SUCCESS
}

fn gfx90a(kernels: &[code_object::Kernel], symbols: Symbols) -> Vec<u8> {
    code_object(Target::named("gfx90a").unwrap(), kernels, symbols)
}

fn resolved(loader: &Loader, kernels: &HashMap<u64, Vec<u8>>) -> Vec<Kernel> {
    let kernels = kernels.iter().map(|(&object, name)| {
        let kernel = loader.resolve(object).unwrap();
        assert_eq!((&*kernel.mangled, kernel.kernel_object), (&*names::text_of(name), object));
        kernel
    });
    kernels.collect()
}

#[test]
fn every_kernel_of_a_large_code_object_has_the_name_that_the_runtime_says() {
    on_every_runtime(1, |runtime| {
        for symbols in [Symbols::Both, Symbols::GnuHash, Symbols::SectionOnly] {
            let loader = runtime.loader();
            let executable = runtime.load(vec![(runtime.gpus[0], gfx90a(&many(20_000), symbols))]);
            let kernels = runtime.kernels(executable);
            assert_eq!(kernels.len(), 20_000);
            resolved(&loader, &kernels);
            runtime.destroy(&loader, executable);
        }
    });
}

#[test]
fn a_kernel_comes_with_what_its_descriptor_says() {
    on_every_runtime(1, |runtime| {
        let written = code_object::Kernel {
            lds: 4096,
            scratch: 32,
            kernarg: 24,
            // 4 blocks of 8 registers, of which 2 blocks of 4 are VGPRs; 3 blocks of 16 SGPRs.
            rsrc1: 3 | (4 << 6),
            rsrc3: 1,
            ..code_object::Kernel::named("_Z4copyPfS_")
        };
        let executable = runtime.load(vec![(runtime.gpus[0], gfx90a(&[written], Symbols::Both))]);
        let kernels = runtime.kernels(executable);
        let &object = kernels.keys().next().unwrap();
        assert_eq!(
            runtime.loader().resolve(object),
            Some(Kernel {
                mangled: "_Z4copyPfS_".to_owned(),
                resources: Resources {
                    kernarg: Some(24),
                    lds: Some(4096),
                    scratch: Some(32),
                    sgprs: Some(48),
                    vgprs: Some(8),
                    agprs: Some(24),
                },
                code_object: Some(1),
                kernel_object: object,
            })
        );
    });
}

#[test]
fn the_same_code_on_two_gpus_is_two_code_objects() {
    on_every_runtime(2, |runtime| {
        let code = gfx90a(&many(3), Symbols::Both);
        let executable = runtime.load(runtime.gpus.iter().map(|&gpu| (gpu, code.clone())).collect());
        let kernels = runtime.kernels(executable);
        assert_eq!(kernels.len(), 6);
        let mut numbers: Vec<_> =
            resolved(&runtime.loader(), &kernels).into_iter().map(|kernel| kernel.code_object).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [Some(1), Some(1), Some(1), Some(2), Some(2), Some(2)]);
    });
}

#[test]
fn an_address_means_what_is_loaded_there_now() {
    on_every_runtime(1, |runtime| {
        let loader = runtime.loader();
        let mut reused = 0;
        let mut before = HashMap::new();
        for round in 0..20 {
            let name = format!("round_{round}");
            let kernels = [code_object::Kernel::named(name.as_str()), code_object::Kernel::named("other")];
            let executable = runtime.load(vec![(runtime.gpus[0], gfx90a(&kernels, Symbols::Both))]);
            // The result is the same if an executable was frozen past our hook, once its predecessor at the address is gone.
            if round > 0 {
                loader.freeze(executable);
            }
            let kernels = runtime.kernels(executable);
            resolved(&loader, &kernels);
            reused += kernels.keys().filter(|object| before.contains_key(*object)).count();
            // Every other one is destroyed past our hook.
            if round % 2 == 0 {
                runtime.destroy(&loader, executable);
                assert!(
                    kernels.keys().all(|&object| loader.resolve(object).is_none()),
                    "nothing is loaded there"
                );
            } else {
                call!(runtime, hsa_executable_destroy_fn(executable));
            }
            before.extend(kernels);
        }
        assert!(reused > 0, "the runtime gives an address again, or this shows nothing");
    });
}

#[test]
fn a_number_that_is_no_address_of_code_has_no_name() {
    on_every_runtime(1, |runtime| {
        let loader = runtime.loader();
        let executable = runtime.load(vec![(runtime.gpus[0], gfx90a(&many(1), Symbols::Both))]);
        let &object = runtime.kernels(executable).keys().next().unwrap();
        for number in [0, 64, 0x10_0040, u64::MAX, object + 1, object + 64] {
            assert_eq!(loader.resolve(number), None, "{number:#x}");
        }
        assert!(loader.resolve(object).is_some());
    });
}

#[test]
fn hostile_names_stay_apart() {
    on_every_runtime(1, |runtime| {
        let hostile: [&[u8]; 6] = [b"\xff", b"\xfe", b"\\xff", b"a.kd", b"a", "\u{1f600}\n\t'".as_bytes()];
        let kernels: Vec<_> = hostile.iter().map(|&name| code_object::Kernel::named(name)).collect();
        let executable = runtime.load(vec![(runtime.gpus[0], gfx90a(&kernels, Symbols::Both))]);
        let kernels = resolved(&runtime.loader(), &runtime.kernels(executable));
        let distinct: std::collections::HashSet<_> = kernels.iter().map(|kernel| &kernel.mangled).collect();
        assert_eq!(distinct.len(), hostile.len());
    });
}
