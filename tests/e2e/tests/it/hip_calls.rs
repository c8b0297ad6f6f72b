//! Tests of mode hip: every call of HIP that a program makes is in the trace, however it found the function, and every op belongs
//! to the call that enqueued it.

use e2e::Process;
use e2e::calls::{Calls, assert_as_judged, assert_has_what_was_called};
use e2e::compare::{assert_executed, assert_has_what_was_executed};
use support::rusqlite::Connection;
use support::{Stack, stacks};

/// The programs of HIP, and a few arguments for each.
fn programs(stack: &Stack) -> [(&'static str, &'static [&'static str]); 5] {
    // HIP 5.2.3 executes the kernels of a graph at its first launch only.
    let graph: &[&str] = if stack.hip == "5.2.3" { &["10", "1", "20"] } else { &["10", "10", "2"] };
    [
        ("hip_streams", &["3", "20"]),
        ("hip_graph", graph),
        ("hip_threads", &["4", "110"]),
        ("hip_copies", &["100004"]),
        ("hip_parts", &[]),
    ]
}

/// Runs a program that makes calls in a certain way (`tests/programs/hip_calls.c`), on each runtime.
fn each(how: &str, check: impl Fn(&Stack, Process)) {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_calls", &[how]) else { return };
        check(&stack, process.calls());
    }
}

#[test]
fn programs_that_open_hip() {
    for stack in stacks() {
        for (name, arguments) in programs(&stack) {
            let Some(process) = Process::for_hip(&stack, name, arguments) else { return };
            let outcome = process.calls().gpus(2).well();
            let trace = outcome.trace();
            assert_has_what_was_called(&outcome, &trace);
            assert_has_what_was_executed(&outcome, &trace);
        }
    }
}

#[test]
fn programs_that_are_linked_with_hip_as_a_judge_has_counted_them() {
    for stack in stacks() {
        for (name, arguments) in programs(&stack) {
            let Some(process) = Process::for_hip(&stack, name, arguments) else { return };
            let outcome = process.linked_to_hip(name).calls().judged().gpus(2).well();
            let calls = assert_has_what_was_called(&outcome, &outcome.trace());
            assert_as_judged(&outcome, &calls);
        }
    }
}

#[test]
fn calls_from_host_functions_that_run_in_threads_of_the_runtime() {
    each("callbacks", |_, process| {
        let outcome = process.well();
        assert_has_what_was_called(&outcome, &outcome.trace());
        assert!(outcome.stdout.contains("callbacks\t1"), "{outcome:?}");
    });
}

#[test]
fn memory_that_is_freed_in_a_stream() {
    each("async", |stack, process| {
        // HIP 5.2.3 hangs in it, with and without the tracer.
        if stack.hip != "5.2.3" {
            let outcome = process.well();
            assert_has_what_was_called(&outcome, &outcome.trace());
        }
    });
}

#[test]
fn a_thousand_threads_at_once() {
    each("threads", |_, process| {
        let outcome = process.well();
        let calls = assert_has_what_was_called(&outcome, &outcome.trace());
        assert!(calls.made["hipGetDeviceCount"] >= 20_000);
    });
}

#[test]
fn functions_that_call_others() {
    each("nested", |_, process| {
        let outcome = process.well();
        assert_has_what_was_called(&outcome, &outcome.trace());
    });
}

#[test]
fn calls_that_fail_are_in_the_trace_with_what_they_returned() {
    each("errors", |_, process| {
        let outcome = process.well();
        let calls = assert_has_what_was_called(&outcome, &outcome.trace());
        assert!(outcome.stdout.contains("status\t101"), "{outcome:?}");
        assert_eq!(calls.failed["hipSetDevice"], 20);
        assert!(!calls.failed.contains_key("hipMalloc"));
    });
}

#[test]
fn a_program_finds_what_the_loaded_hip_has_and_nothing_else() {
    each("missing", |_, process| {
        let outcome = process.well();
        assert_has_what_was_called(&outcome, &outcome.trace());
        assert!(outcome.stdout.contains("hipNoSuchFunction\t000\t1\nhipExt"), "{outcome:?}");
        assert!(outcome.stdout.contains("hipMalloc\t111\t0"), "{outcome:?}");
    });
}

#[test]
fn functions_that_were_asked_for_without_naming_a_library() {
    each("default", |_, process| {
        let outcome = process.well();
        let calls = assert_has_what_was_called(&outcome, &outcome.trace());
        assert_eq!(calls.made["hipGetDevice"], 20);
    });
}

#[test]
fn functions_that_hip_itself_hands_out() {
    each("handed", |stack, process| {
        let outcome = process.with_hip_to_be_found("hip_calls").well();
        let calls = assert_has_what_was_called(&outcome, &outcome.trace());
        let can_be_asked = !stack.hip.starts_with('5');
        assert_eq!(outcome.stdout.contains("found\t0\t0\t1\n"), can_be_asked, "{outcome:?}");
        assert_eq!(calls.made.contains_key("hipGetDriverEntryPoint"), stack.hip.starts_with('7'));
    });
}

#[test]
fn calls_that_threads_make_at_their_very_end_are_counted() {
    each("leave", |_, process| {
        let outcome = process.unchanged();
        let trace = outcome.trace();
        let mut calls = Calls::read(&trace);
        let counts = ["seen", "recorded", "lost:interrupted"].map(|tag| trace.count(&format!("hip_{tag}")));
        // 20 threads are cancelled, and 20 end by themselves.
        assert_eq!(outcome.calls["hipGetDevice"], 40);
        assert_eq!((counts[0] - counts[1], counts[2]), (40, 40), "{:?}", trace.metadata);
        calls.made.insert("hipGetDevice".to_owned(), 40);
        assert_eq!(calls.made, outcome.calls);
    });
}

#[test]
fn a_process_that_ends_while_a_thread_waits_in_a_call() {
    each("exit", |_, process| {
        let outcome = process.setting("KFD_SIM_KERNEL_NS", "4000000000").traced();
        assert_eq!(outcome.status.code(), Some(3), "{outcome:?}");
        let trace = outcome.trace();
        let calls = Calls::read(&trace);
        assert_eq!((&calls.made, calls.mislinked), (&outcome.calls, 0), "{outcome:?}");
        let waits = "SELECT group_concat('waits' || char(9) || tid || char(10), '') FROM rocpd_api
                     JOIN rocpd_string name ON name.id = apiName_id
                     WHERE end IS NULL AND start > 0 AND correlationId > 0 AND string = 'hipStreamSynchronize'";
        let database = Connection::open(&trace.path).unwrap();
        let waits: String = database.query_row(waits, [], |row| row.get(0)).unwrap();
        assert!(outcome.stdout.contains(&waits), "{waits} {outcome:?}");
        let counts = ["hip_unfinished", "hip_lost:unfinished"].map(|tag| trace.count(tag));
        assert_eq!((counts, trace.count("hip_seen")), ([1, 0], trace.count("hip_recorded")), "{outcome:?}");
    });
}

#[test]
fn a_child_leaves_the_calls_of_its_parent_alone() {
    each("fork", |_, process| {
        let outcome = process.unchanged();
        assert!(outcome.status.success() && !outcome.stdout.contains("child"), "{outcome:?}");
        // A child that ends by _exit may leave a trace of its own.
        let calls = outcome.traces.iter().map(|path| Calls::read(&e2e::Trace::read(path)));
        assert!(calls.into_iter().any(|calls| calls.made == outcome.calls), "{outcome:?}");
    });
}

#[test]
fn modes_that_are_not_asked_for_calls_record_none() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_streams", &["3", "20"]) else { return };
        let outcome = process.calls().mode("standard").well();
        let trace = outcome.trace();
        assert_has_what_was_executed(&outcome, &trace);
        assert!(!trace.metadata.keys().any(|tag| tag.starts_with("hip_")), "{:?}", trace.metadata);
    }
}

#[test]
fn a_program_of_hsa_is_as_in_mode_standard() {
    for process in Process::on_every_stack("threads") {
        let outcome = process.calls().well();
        let trace = outcome.trace();
        assert_executed(&outcome, &trace);
        assert!(!trace.metadata.keys().any(|tag| tag.starts_with("hip_")), "{:?}", trace.metadata);
    }
}

#[test]
fn only_what_is_asked_for_is_recorded() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_streams", &["3", "20"]) else { return };
        let process = process.calls().setting("RTL_HIP_API_FILTER", "Launch,hipStream");
        let outcome = process.setting("RTL_HIP_API_FILTER_OUT", "WaitEvent").well();
        let calls = Calls::read(&outcome.trace());
        let wanted = outcome.calls.iter().filter(|(name, _)| {
            (name.contains("Launch") || name.contains("hipStream")) && !name.contains("WaitEvent")
        });
        assert_eq!(calls.made, wanted.map(|(name, calls)| (name.clone(), *calls)).collect());
        assert_eq!((calls.unlinked, calls.mislinked), (0, 0));
    }
}

#[test]
fn launches_are_recorded_whatever_is_asked_for_so_that_every_kernel_has_its_call() {
    for stack in stacks() {
        for (name, arguments) in [programs(&stack)[0], programs(&stack)[1]] {
            let Some(process) = Process::for_hip(&stack, name, arguments) else { return };
            let process = process.calls().setting("RTL_HIP_API_FILTER", "StreamDestroy");
            let outcome = process.setting("RTL_HIP_API_FILTER_OUT", "all").well();
            let calls = Calls::read(&outcome.trace());
            let launches = outcome.calls.iter().filter(|(name, _)| name.contains("Launch"));
            assert_eq!(calls.made, launches.map(|(name, calls)| (name.clone(), *calls)).collect());
            assert_eq!((calls.unlinked, calls.mislinked), (0, 0));
        }
    }
}

#[test]
fn parts_of_no_name_are_one_line() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_streams", &["3", "20"]) else { return };
        let process = process.calls().setting("RTL_HIP_API_FILTER", "hipStream,hipSteam,Launch");
        let outcome = process.setting("RTL_HIP_API_FILTER_OUT", "waitevent").traced();
        let complaint = "rtl: RTL_HIP_API_FILTER: no function of HIP is called hipSteam; \
                    RTL_HIP_API_FILTER_OUT: no function of HIP is called waitevent";
        assert_eq!(outcome.messages, [complaint]);
        assert!(Calls::read(&outcome.trace()).made.contains_key("hipStreamWaitEvent"));
    }
}

#[test]
fn python_by_ctypes() {
    for stack in stacks() {
        let Some(process) = Process::for_python(&stack, "calls", &[]) else { return };
        let outcome = process.calls().well();
        let trace = outcome.trace();
        let calls = assert_has_what_was_called(&outcome, &trace);
        assert_has_what_was_executed(&outcome, &trace);
        // HIP 6 has a second function for another layout of the same structure.
        let is_new = stack.hip.starts_with(['6', '7']);
        assert_eq!(calls.made.contains_key("hipGetDevicePropertiesR0600"), is_new, "{outcome:?}");
        assert_eq!(
            outcome.stdout.matches("Simulated MI250X").count(),
            1 + usize::from(is_new),
            "{outcome:?}"
        );
        assert_eq!(calls.made["hipMemset3D"], 1);
    }
}

#[test]
fn what_threads_of_the_runtime_enqueue_is_counted_as_unlinked() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_streams", &["3", "20"]) else { return };
        let outcome = process.calls().setting("AMD_DIRECT_DISPATCH", "0").well();
        let trace = outcome.trace();
        let calls = Calls::read(&trace);
        assert_eq!((calls.made, calls.mislinked), (outcome.calls, 0));
        let counted = trace.metadata.get("unlinked").map_or(0, |count| count.parse().unwrap());
        assert_eq!(counted, calls.unlinked, "{:?}", trace.metadata);
    }
}

#[test]
fn arguments_are_recorded_where_they_are_asked_for() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_streams", &["3", "20"]) else { return };
        let outcome = process.calls().setting("RTL_HIP_ARGS", "1").well();
        let trace = outcome.trace();
        assert_has_what_was_called(&outcome, &trace);
        let database = Connection::open(&trace.path).unwrap();
        let count = |query: &str| -> i64 { database.query_row(query, [], |row| row.get(0)).unwrap() };
        let with_arguments = |name: &str, arguments: &str| {
            count(&format!(
                "SELECT count(*) FROM rocpd_api JOIN rocpd_string name ON name.id = apiName_id
                 JOIN rocpd_string text ON text.id = args_id
                 WHERE name.string = '{name}' AND text.string LIKE '{arguments}'"
            ))
        };
        assert_eq!(with_arguments("hipMalloc", "ptr=0x%, size=32768"), 2);
        assert_eq!(with_arguments("hipSetDevice", "deviceId=0"), outcome.calls["hipSetDevice"]);
        assert_eq!(with_arguments("hipModuleGetFunction", "%kname=\"scale\""), 1);
        let shaped =
            "gridX = 64 AND gridY = 1 AND workgroupX = 64 AND workgroupZ = 1 AND groupSegmentSize = 0";
        let launches = count(&format!("SELECT count(*) FROM rocpd_kernelapi WHERE {shaped}"));
        assert_eq!(launches, outcome.calls["hipModuleLaunchKernel"]);
    }
}

#[test]
fn copies_say_how_much_from_where_and_where_to() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_copies", &["100004"]) else { return };
        let outcome = process.calls().gpus(2).well();
        let database = Connection::open(&outcome.trace().path).unwrap();
        let count = |query: &str| -> i64 { database.query_row(query, [], |row| row.get(0)).unwrap() };
        let copies = outcome.calls.iter().filter(|(name, _)| name.contains("Mem") && name.contains("cpy"));
        let fills = outcome.calls.iter().filter(|(name, _)| name.contains("Memset"));
        // HIP's own calls of its functions are not the program's.
        let count_of = |what: &str| {
            count(&format!(
                "SELECT count(*) FROM rocpd_copyapi JOIN rocpd_api ON rocpd_api.id = api_id
                 WHERE parentId IS NULL AND dst LIKE '0x%' AND size > 0 AND src {what}"
            ))
        };
        assert_eq!(count_of("LIKE '0x%'"), copies.map(|(_, calls)| calls).sum::<i64>());
        assert_eq!(count_of("IS NULL"), fills.map(|(_, calls)| calls).sum::<i64>());
    }
}

#[test]
fn one_line_says_that_calls_are_not_recorded_where_only_their_library_is_preloaded() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_streams", &["1", "5"]) else { return };
        let outcome = process.calls_without_the_tracer().traced();
        let missing =
            |line: &&String| line.contains("HIP calls are not recorded: librtl.so is not preloaded");
        assert_eq!(outcome.messages.iter().filter(missing).count(), 1, "{stack:?} {:?}", outcome.messages);
        assert_eq!(outcome.trace().rows.len(), 5, "{stack:?}");
    }
}
