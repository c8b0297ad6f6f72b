//! Compares the C++ compiler's view of the installed headers with ours. Without libhsa-runtime-dev or a compiler these tests
//! print one line and pass.
//!
//! `HSA_INCLUDE=FOLDER` takes the headers of another ROCm version (its `hsa` folder).

#![expect(clippy::unwrap_used, reason = "a compiler that cannot be run or understood fails the test")]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::Command;

use hsa_sys::bindings::*;
use hsa_sys::table::{AmdTable, FUNCTIONS, Kind, check};
use support::{Need, skipped};

/// Lists types with their fields: the name in C++, and size and offsets in Rust.
macro_rules! types {
    ($($type:ident { $($field:ident $(as $name:ident)?),* $(,)? })+) => {
        vec![$((
            stringify!($type),
            size_of::<$type>(),
            vec![$((types!(@name $field $($name)?), offset_of!($type, $field))),*],
        )),+]
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:ident) => { stringify!($name) };
}

type TypeLayouts = Vec<(&'static str, usize, Vec<(&'static str, usize)>)>;

/// Types that are the same in every ROCm version, except that the root grows at its end.
fn stable_types() -> TypeLayouts {
    types! {
        ApiTableVersion { major_id, minor_id, step_id, reserved }
        CoreApiTable {
            hsa_init_fn, hsa_shut_down_fn, hsa_agent_get_info_fn, hsa_queue_create_fn, hsa_queue_destroy_fn,
            hsa_memory_copy_fn, hsa_signal_create_fn, hsa_signal_destroy_fn, hsa_signal_load_relaxed_fn,
            hsa_signal_store_screlease_fn, hsa_signal_wait_scacquire_fn, hsa_signal_subtract_screlease_fn,
            hsa_executable_create_fn, hsa_executable_destroy_fn, hsa_executable_freeze_fn,
            hsa_executable_symbol_get_info_fn, hsa_executable_iterate_symbols_fn,
            hsa_system_get_major_extension_table_fn, hsa_code_object_reader_create_from_memory_fn,
            hsa_executable_load_agent_code_object_fn, hsa_executable_iterate_agent_symbols_fn,
            hsa_executable_iterate_program_symbols_fn,
        }
        hsa_agent_t { handle }
        hsa_signal_t { handle }
        hsa_executable_t { handle }
        hsa_queue_t { type_ as type, features, base_address, doorbell_signal, size, id }
        hsa_kernel_dispatch_packet_t {
            header, setup, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y,
            grid_size_z, private_segment_size, group_segment_size, kernel_object, kernarg_address,
            completion_signal,
        }
        hsa_agent_dispatch_packet_t { header, type_ as type, completion_signal }
        hsa_barrier_and_packet_t { header, dep_signal, completion_signal }
        hsa_barrier_or_packet_t { header, dep_signal, completion_signal }
        hsa_amd_barrier_value_packet_t { header, signal, value, mask, cond, completion_signal }
        hsa_amd_profiling_dispatch_time_t { start, end }
        hsa_amd_profiling_async_copy_time_t { start, end }
        hsa_pitched_ptr_t { base, pitch, slice }
        hsa_dim3_t { x, y, z }
        amd_queue_t {
            hsa_queue, write_dispatch_id, read_dispatch_id, read_dispatch_id_field_base_byte_offset,
            queue_properties, queue_inactive_signal,
        }
        amd_signal_t {
            kind, __bindgen_anon_1 as value, event_mailbox_ptr, event_id, start_ts, end_ts,
            __bindgen_anon_2 as queue_ptr,
        }
        hsa_ven_amd_loader_segment_descriptor_t {
            agent, executable, code_object_storage_type, code_object_storage_base, code_object_storage_size,
            code_object_storage_offset, segment_base, segment_size,
        }
        hsa_ven_amd_loader_1_01_pfn_t {
            hsa_ven_amd_loader_query_host_address, hsa_ven_amd_loader_query_segment_descriptors,
            hsa_ven_amd_loader_query_executable, hsa_ven_amd_loader_executable_iterate_loaded_code_objects,
            hsa_ven_amd_loader_loaded_code_object_get_info,
        }
    }
}

/// Lists constants with the values that the packets, calls and tables take.
macro_rules! constants {
    ($($name:ident),* $(,)?) => { [$((stringify!($name), i64::from($name))),*] };
}

fn constants() -> impl Iterator<Item = (&'static str, i64)> {
    constants![
        HSA_STATUS_SUCCESS,
        HSA_STATUS_INFO_BREAK,
        HSA_STATUS_ERROR_INVALID_QUEUE_CREATION,
        HSA_PACKET_TYPE_VENDOR_SPECIFIC,
        HSA_PACKET_TYPE_INVALID,
        HSA_PACKET_TYPE_KERNEL_DISPATCH,
        HSA_PACKET_TYPE_BARRIER_AND,
        HSA_PACKET_TYPE_AGENT_DISPATCH,
        HSA_PACKET_TYPE_BARRIER_OR,
        HSA_PACKET_HEADER_TYPE,
        HSA_PACKET_HEADER_WIDTH_TYPE,
        HSA_PACKET_HEADER_BARRIER,
        HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE,
        HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
        HSA_AMD_PACKET_TYPE_BARRIER_VALUE,
        HSA_SIGNAL_CONDITION_LT,
        HSA_AGENT_INFO_NAME,
        HSA_AGENT_INFO_DEVICE,
        HSA_DEVICE_TYPE_GPU,
        HSA_AMD_AGENT_INFO_PRODUCT_NAME,
        HSA_AMD_AGENT_INFO_BDFID,
        HSA_SYSTEM_INFO_TIMESTAMP,
        HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY,
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
        HSA_EXECUTABLE_SYMBOL_INFO_NAME,
        HSA_EXTENSION_AMD_LOADER,
        HSA_QUEUE_TYPE_COOPERATIVE,
        HSA_AMD_QUEUE_PRIORITY_HIGH,
        AMD_SIGNAL_KIND_USER,
        AMD_QUEUE_PROPERTIES_ENABLE_PROFILING,
    ]
    .into_iter()
}

/// A C++ program that prints lines of `NAME NUMBER`; a field that a header lacks is -1.
fn program() -> String {
    let mut text = String::from(
        "#include <hsa.h>\n#include <hsa_ext_amd.h>\n#include <hsa_ven_amd_loader.h>\n#include <hsa_api_trace.h>\n\
         #include <amd_hsa_queue.h>\n#include <amd_hsa_signal.h>\n#include <cstddef>\n#include <cstdio>\n",
    );
    for name in FUNCTIONS.iter().map(|function| function.name) {
        let _ = write!(
            text,
            "template <class T> auto at_{name}(int) -> decltype(&T::{name}_fn, 0L) {{ return offsetof(T, {name}_fn); }}\n\
             template <class T> long at_{name}(...) {{ return -1; }}\n"
        );
    }
    text.push_str("int main() {\n");
    let mut print = |what: &str, value: &str| {
        let _ = writeln!(text, "  std::printf(\"{what} %ld\\n\", (long)({value}));");
    };
    for (name, _, fields) in stable_types() {
        print(name, &format!("sizeof({name})"));
        for (field, _) in fields {
            print(&format!("{name}.{field}"), &format!("offsetof({name}, {field})"));
        }
    }
    for (name, _) in constants() {
        print(name, name);
    }
    for function in FUNCTIONS {
        let table = if function.table == Kind::Core { "CoreApiTable" } else { "AmdExtTable" };
        print(function.name, &format!("at_{}<{table}>(0)", function.name));
    }
    for (table, prefix) in [("HsaApiTable", ""), ("CoreApiTable", "CORE_"), ("AmdExtTable", "AMD_EXT_")] {
        print(&format!("{table} size"), &format!("sizeof({table})"));
        print(&format!("{table} major"), &format!("HSA_{prefix}API_TABLE_MAJOR_VERSION"));
    }
    print("HsaApiTable.core_", "offsetof(HsaApiTable, core_)");
    print("HsaApiTable.amd_ext_", "offsetof(HsaApiTable, amd_ext_)");
    text.push_str("}\n");
    text
}

/// Compiles and runs the program; `None` after one printed line where it cannot be built.
fn layout_in_cpp() -> Option<HashMap<String, i64>> {
    let include =
        std::env::var_os("HSA_INCLUDE").map_or_else(|| PathBuf::from("/usr/include/hsa"), PathBuf::from);
    if !include.join("hsa_api_trace.h").exists() {
        return skipped(Need::Stacks, format_args!("no libhsa-runtime-dev in {}", include.display()));
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("layout.cpp"), folder.path().join("layout"));
    std::fs::write(&source, program()).unwrap();
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let compiled = Command::new(&compiler)
        .args(["-std=c++14", "-DAMD_INTERNAL_BUILD", "-w", "-I"])
        .args([include.as_path(), &source, Path::new("-o"), &binary])
        .output();
    let Ok(compiled) = compiled else {
        return skipped(Need::Machine, format_args!("no C++ compiler ({})", compiler.display()));
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&binary).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    Some(
        text.lines()
            .filter_map(|line| line.rsplit_once(' '))
            .map(|(k, v)| (k.to_owned(), v.parse().unwrap()))
            .collect(),
    )
}

fn version(cpp: &HashMap<String, i64>, table: &str) -> ApiTableVersion {
    let number = |what: &str| u32::try_from(cpp[&format!("{table} {what}")]).unwrap();
    ApiTableVersion { major_id: number("major"), minor_id: number("size"), step_id: 0, reserved: 0 }
}

#[test]
fn types_and_constants_are_those_of_the_installed_header() {
    let Some(cpp) = layout_in_cpp() else { return };
    let mut differences = Vec::new();
    let mut compare = |what: String, ours: i64| {
        if cpp[&what] != ours {
            differences.push(format!("{what}: {} in C++, {ours} here", cpp[&what]));
        }
    };
    for (name, size, fields) in stable_types() {
        compare(name.to_owned(), size as i64);
        for (field, offset) in fields {
            compare(format!("{name}.{field}"), offset as i64);
        }
    }
    constants().for_each(|(name, value)| compare(name.to_owned(), value));
    compare("HsaApiTable.core_".to_owned(), offset_of!(HsaApiTable, core_) as i64);
    compare("HsaApiTable.amd_ext_".to_owned(), offset_of!(HsaApiTable, amd_ext_) as i64);
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn functions_are_where_the_installed_header_has_them() {
    let Some(cpp) = layout_in_cpp() else { return };
    assert!(check(Kind::Root, &version(&cpp, "HsaApiTable")).is_ok());
    assert!(check(Kind::Core, &version(&cpp, "CoreApiTable")).is_ok());
    let table = AmdTable::for_version(&version(&cpp, "AmdExtTable")).unwrap();
    for function in FUNCTIONS {
        let offset = function.offset(table).map_or(-1, |offset| offset as i64);
        assert_eq!(cpp[function.name], offset, "{} in {:?}", function.name, table.generation());
    }
}
