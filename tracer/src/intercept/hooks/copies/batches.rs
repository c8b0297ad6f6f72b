//! Hooks of copies in batches (`hsa_amd_memory_async_batch_copy`), whose operations are recorded as copies.
//!
//! The runtime requires one completion signal for all operations, which each of them decrements, and submits them one after the
//! other. The tracer identifies a copy by its signal, so each operation becomes a batch of its own.

use std::ffi::c_void;
use std::sync::atomic::AtomicBool;

use hsa_sys::bindings::{HSA_STATUS_SUCCESS, hsa_agent_t, hsa_signal_t, hsa_status_t};
use hsa_sys::function::{CopyOperation, MemoryAsyncBatchCopy};
use hsa_sys::table;

use super::{End, between, copied};
use crate::base::api::Tables;
use crate::base::counters::Lost;
use crate::base::log;
use crate::intercept::context::Context;
use crate::intercept::hooks::guard::{guarded, original, release};

/// The only version of operations whose size and fields are known.
const VERSION: u16 = 1;

/// `hsa_amd_memory_copy_op_type_t`.
const BROADCAST: u16 = 1;
const SWAP: u16 = 2;
const INDIRECT_FIRST: u16 = 3;
const INDIRECT_LAST: u16 = 5;

pub(crate) fn install(tables: &Tables) {
    tables.replace(&table::MEMORY_ASYNC_BATCH_COPY, async_batch_copy as MemoryAsyncBatchCopy);
}

unsafe extern "C" fn async_batch_copy(
    operations: *const CopyOperation,
    count: u32,
    dependency_count: u32,
    dependencies: *const hsa_signal_t,
) -> hsa_status_t {
    let original =
        |operations, count| original!(async_batch_copy(operations, count, dependency_count, dependencies));
    let is_recorded = guarded(|tracer| tracer.copies.is_some()) == Some(true);
    if !is_recorded || operations.is_null() {
        return original(operations, count);
    }
    // SAFETY: the caller has `count` operations there.
    let Some(known) = (unsafe { known(operations, count) }) else {
        let status = original(operations, count);
        if status == HSA_STATUS_SUCCESS {
            lose(count.into(), format_args!("copies in batches of an unknown version are not recorded"));
        }
        return status;
    };
    if known.is_empty() {
        return original(operations, count);
    }
    // As in the runtime, operations behind an error are not submitted.
    let run = |operation: &CopyOperation| {
        let run = |completion| {
            let alone = CopyOperation { completion, ..*operation };
            original(&raw const alone, 1)
        };
        if operation.kind > INDIRECT_LAST {
            release(operation.completion);
            let status = run(operation.completion);
            if status == HSA_STATUS_SUCCESS {
                lose(1, format_args!("copies of an unknown kind ({}) are not recorded", operation.kind));
            }
            return status;
        }
        copied(operation.completion, bytes(operation), |tracer| ends(tracer, operation), run)
    };
    known.iter().map(run).find(|&status| status != HSA_STATUS_SUCCESS).unwrap_or(HSA_STATUS_SUCCESS)
}

/// The operations, if all of them are of the version whose size is known.
///
/// # Safety
/// `operations` points to `count` operations, which nobody changes during the call.
unsafe fn known<'a>(operations: *const CopyOperation, count: u32) -> Option<&'a [CopyOperation]> {
    for at in 0..count as usize {
        // SAFETY: the pointer is within the caller's operations, because those before it are of the known size.
        let operation = unsafe { operations.add(at) };
        // SAFETY: the pointer is within the caller's operations, and every version begins with its number.
        if unsafe { (*operation).version } != VERSION {
            return None;
        }
    }
    // SAFETY: the caller promised `count` operations, which are of the known size.
    Some(unsafe { std::slice::from_raw_parts(operations, count as usize) })
}

fn lose(count: u64, line: std::fmt::Arguments<'_>) {
    static SAID: AtomicBool = AtomicBool::new(false);
    guarded(|tracer| {
        tracer.shared.known.copies.see(count);
        tracer.shared.known.copies.lose(Lost::Unknown, count);
        log::warn_once(&SAID, line);
    });
}

/// An entry of a list of the caller, whose length the operation has.
fn entry<T: Copy>(list: *const c_void, at: u16) -> Option<T> {
    if list.is_null() {
        return None;
    }
    // SAFETY: the entry is within the caller's list, which is passed to the runtime.
    let entry = unsafe { list.cast::<T>().add(at.into()) };
    // SAFETY: the entry is within the caller's list, as above.
    Some(unsafe { *entry })
}

/// Bytes that an operation writes, summed over all destinations.
fn bytes(operation: &CopyOperation) -> u64 {
    let CopyOperation { kind, entries, size: [size, other], .. } = *operation;
    let sizes = (0..entries).filter_map(|at| entry::<usize>(size as *const c_void, at));
    let sum = || sizes.fold(0, |sum: u64, size| sum.saturating_add(size as u64));
    match (kind, entries) {
        (SWAP, 0) => (size as u64).saturating_add(other as u64),
        (SWAP, _) => sum().saturating_mul(2),
        (BROADCAST, _) => (size as u64).saturating_mul(entries.into()),
        (_, 0) => size as u64,
        _ => sum(),
    }
}

/// The GPUs that an operation reads from and writes to; the first ones where there are several.
fn ends(tracer: &Context, operation: &CopyOperation) -> [Option<u16>; 2] {
    let CopyOperation { kind, entries, source, source_agent, destination_agent, destination, .. } =
        *operation;
    let (has_sources, has_destinations) =
        (entries > 0 && kind != BROADCAST, entries > 0 || kind == BROADCAST);
    let listed = |is_list: bool, address: *const c_void| {
        if is_list { entry::<*const c_void>(address, 0).unwrap_or(address) } else { address }
    };
    let written = match has_destinations {
        true => entry::<hsa_agent_t>(destination_agent as *const c_void, 0),
        false => None,
    };
    let written = written.unwrap_or(hsa_agent_t { handle: destination_agent });
    if (INDIRECT_FIRST..=INDIRECT_LAST).contains(&kind) {
        // These are addresses of addresses, so they tell no owner.
        return [source_agent, written].map(|agent| tracer.gpu(agent.handle));
    }
    let ends: [End; 2] =
        [(source_agent, listed(has_sources, source)), (written, listed(has_destinations, destination))];
    between(tracer, ends)
}
