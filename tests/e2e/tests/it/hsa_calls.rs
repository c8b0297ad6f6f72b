//! Tests of calls of HSA, which are recorded where RTL_HSA_API_FILTER selects them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt;

use e2e::{Outcome, Process, Trace};
use hsa_sys::bindings::ApiTableVersion;
use hsa_sys::table::{AmdTable, FUNCTIONS, Function, Kind};
use rtl_schema::table::ApiCall;
use support::stacks;

/// Numbers of calls by thread and function.
type Calls = BTreeMap<(i64, String), i64>;

/// The program's own counts.
fn counted(process: &Process) -> Calls {
    let text = fs::read_to_string(process.folder().join("calls")).unwrap();
    let count = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        ((columns[0].parse().unwrap(), columns[1].to_owned()), columns[2].parse().unwrap())
    };
    text.lines().map(count).collect()
}

/// Counts of the calls in the trace, without the runtime's own calls: those within a call that calls no function of the program.
fn recorded(trace: &Trace) -> Calls {
    let database = trace.database();
    let mut statement = database
        .prepare(
            "SELECT call.tid, name.string, count(*) FROM rocpd_api call JOIN rocpd_string name ON name.id = call.apiName_id
             JOIN rocpd_string domain ON domain.id = call.domain_id
             LEFT JOIN rocpd_api around ON around.correlationId = call.parentId
             LEFT JOIN rocpd_string caller ON caller.id = around.apiName_id
             WHERE domain.string = 'HSA' AND (caller.string IS NULL OR caller.string LIKE '%iterate%') GROUP BY 1, 2",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

const ALL: &str = "SELECT count(*) FROM rocpd_api";

/// The first number in the answer of a query.
fn query(trace: &Trace, question: &str) -> i64 {
    trace.database().query_row(question, [], |row| row.get(0)).unwrap()
}

fn table_of(name: &str) -> Kind {
    FUNCTIONS.iter().find(|function| function.name == name).unwrap().table
}

fn program() -> Vec<Process> {
    let with_path = |process: Process| {
        let path = process.folder().join("calls");
        process.arguments(&[path.to_str().unwrap()])
    };
    Process::on_every_stack("hsa_calls").into_iter().map(with_path).collect()
}

/// Runs the process and checks that the trace has each call that the program counted, where `is_taken` is true, and no other.
fn assert_calls(process: &Process, is_taken: impl Fn(&str) -> bool) -> (Outcome, Trace) {
    let outcome = process.well();
    let trace = outcome.trace();
    let mut counted = counted(process);
    counted.retain(|(_, name), _| is_taken(name));
    assert_eq!(recorded(&trace), counted, "{:?}", process.stack().name);
    let total = query(&trace, "SELECT count(*) FROM rocpd_api");
    assert_eq!(["hsa_seen", "hsa_recorded"].map(|tag| trace.count(tag)), [total; 2]);
    (outcome, trace)
}

#[test]
fn every_call_that_a_program_makes_is_recorded_and_no_other() {
    for process in program() {
        let process = process.setting("RTL_HSA_API_FILTER", "all");
        let (_outcome, trace) = assert_calls(&process, |_| true);
        let unlikely = "SELECT count(*) FROM rocpd_api WHERE end < start OR parentId = correlationId";
        assert_eq!(query(&trace, unlikely), 0);
        let numbers = "SELECT count(*) - count(DISTINCT correlationId) FROM rocpd_api";
        assert_eq!(query(&trace, numbers), 0, "each has a number of its own");
    }
}

#[test]
fn a_call_has_its_table_its_status_and_the_call_that_it_was_made_from() {
    let Some(process) = program().into_iter().next() else { return };
    let (_outcome, trace) = assert_calls(&process.setting("RTL_HSA_API_FILTER", "all"), |_| true);
    let with_name = "FROM rocpd_api JOIN rocpd_string name ON name.id = rocpd_api.apiName_id";
    let wrong = format!(
        "SELECT count(*) {with_name} JOIN rocpd_string category ON category.id = category_id
         WHERE category.string != CASE WHEN name.string LIKE 'hsa_amd_%' THEN 'ext' ELSE 'core' END"
    );
    assert_eq!(query(&trace, &wrong), 0);
    let refused = format!(
        "SELECT count(*) {with_name} WHERE name.string = 'hsa_agent_get_info' AND result = {}",
        0x1001
    );
    assert_eq!(query(&trace, &refused), 1, "one call was refused");
    let nested = format!(
        "SELECT count(*) {with_name} JOIN rocpd_api around ON around.correlationId = rocpd_api.parentId
         JOIN rocpd_string caller ON caller.id = around.apiName_id
         WHERE around.start <= rocpd_api.start AND rocpd_api.end <= around.end
         AND name.string = 'hsa_agent_get_info' AND caller.string = 'hsa_iterate_agents'"
    );
    assert_eq!(query(&trace, &nested), 2, "of two agents the type is asked for while they are listed");
}

#[test]
fn an_exception_of_a_callback_reaches_the_program_and_its_call_has_an_end() {
    for process in Process::on_every_stack("throws") {
        let process = process.setting("RTL_HSA_API_FILTER", "all");
        let outcome = process.well();
        assert!(outcome.stdout.contains("throwing: caught 7\n"), "{outcome:?}");
        let trace = outcome.trace();
        let with_result = |result: i64| {
            let rows = "SELECT count(*) FROM rocpd_api JOIN rocpd_string name ON name.id = rocpd_api.apiName_id
                        WHERE name.string = 'hsa_iterate_agents' AND parentId IS NULL AND end >= start AND coalesce(result, 0)";
            query(&trace, &format!("{rows} = {result}"))
        };
        assert_eq!((with_result(0), with_result(0x1000)), (2, 3));
        assert_eq!(["hsa_seen", "hsa_recorded"].map(|tag| trace.count(tag)), [query(&trace, ALL); 2]);
    }
}

#[test]
fn ops_are_linked_to_the_calls_that_enqueued_them() {
    for process in program() {
        let (_outcome, trace) = assert_calls(&process.setting("RTL_HSA_API_FILTER", "all"), |_| true);
        let linked = |kind: &str, function: &str| {
            let question = format!(
                "SELECT count(*) FROM rocpd_op JOIN rocpd_api ON rocpd_api.correlationId = rocpd_op.correlationId
                 JOIN rocpd_string name ON name.id = apiName_id JOIN rocpd_string kind ON kind.id = opType_id
                 WHERE name.string = '{function}' AND kind.string LIKE '{kind}%' AND rocpd_api.start <= rocpd_op.start"
            );
            query(&trace, &question)
        };
        assert_eq!(linked("KernelExecution", "hsa_signal_store_screlease"), 21);
        assert_eq!(linked("Copy", "hsa_amd_memory_async_copy"), 5);
    }
}

#[test]
fn a_filter_says_which_calls_are_recorded() {
    for process in program() {
        let filtered = |process: Process, wanted: &str, unwanted: &str| {
            process.setting("RTL_HSA_API_FILTER", wanted).setting("RTL_HSA_API_FILTER_OUT", unwanted)
        };
        let process = filtered(process, "ext,queue_", "memory");
        let is_taken = |name: &str| {
            (table_of(name) == Kind::AmdExtension || name.contains("queue_")) && !name.contains("memory")
        };
        let (outcome, _) = assert_calls(&process, is_taken);
        assert_eq!(outcome.messages, Vec::<String>::new());
        let process = filtered(process, "", "signal");
        assert_calls(&process, |name| !name.contains("signal"));
    }
}

#[test]
fn starts_and_ends_of_the_runtime_are_recorded_but_the_first_and_the_last() {
    for (filter, calls) in [("hsa_init,hsa_shut_down", 8), ("hsa_shut_down", 4), ("hsa_init", 4)] {
        for process in program() {
            let process = process.setting("RTL_HSA_API_FILTER", filter);
            let (_outcome, trace) = assert_calls(&process, |name| filter.contains(name));
            assert_eq!(query(&trace, "SELECT count(*) FROM rocpd_api"), calls);
        }
    }
}

#[test]
fn arguments_are_recorded_where_they_are_asked_for() {
    let Some(process) = program().into_iter().next() else { return };
    let process = process.setting("RTL_HSA_API_FILTER", "queue_create,symbol_by_name");
    let arguments = |trace: &Trace| {
        let database = trace.database();
        let mut statement = database
            .prepare(
                "SELECT args.string FROM rocpd_api JOIN rocpd_string args ON args.id = args_id
                 WHERE args.string != '' ORDER BY start",
            )
            .unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<String>>()
    };
    assert_eq!(arguments(&process.well().trace()), Vec::<String>::new());
    let recorded = arguments(&process.setting("RTL_HSA_ARGS", "1").well().trace());
    let [symbol, queue] = recorded.as_slice() else { panic!("{recorded:?}") };
    assert!(symbol.contains("symbol_name=\"alpha.kd\", agent=0x"), "{symbol}");
    assert!(queue.starts_with("agent=0x") && queue.contains(", size=1024, kind=0, "), "{queue}");
}

#[test]
fn a_word_that_means_no_function_is_one_line() {
    let Some(process) = program().into_iter().next() else { return };
    let outcome = process.setting("RTL_HSA_API_FILTER", "colour,queue_create,shape").traced();
    assert_eq!(outcome.messages, ["rtl: RTL_HSA_API_FILTER: no function of HSA is called colour or shape"]);
    assert_eq!(outcome.trace().count("hsa_recorded"), 1);
}

/// Names of the functions that the tracer replaced, and of all that there are.
fn replaced(process: Process) -> (BTreeSet<&'static str>, BTreeSet<&'static str>) {
    let path = process.folder().join("replaced");
    let process = process.tool("replaced").setting("REPLACED", &path);
    let _outcome = process.well();
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let number = |text: &str| text.parse::<u32>().unwrap();
    let (major_id, minor_id) = (number(lines[0][1]), number(lines[0][2]));
    let table =
        AmdTable::for_version(&ApiTableVersion { major_id, minor_id, step_id: 0, reserved: 0 }).unwrap();
    let is_there = |function: &&Function| function.offset(table).is_some();
    let name = |line: &Vec<&str>| {
        let kind = if line[0] == "core" { Kind::Core } else { Kind::AmdExtension };
        let offset = number(line[1]) as usize;
        let is_it = |one: &&Function| one.table == kind && one.offset(table) == Some(offset);
        FUNCTIONS.iter().find(is_it).unwrap().name
    };
    let there = FUNCTIONS.iter().filter(is_there).map(|function| function.name);
    (lines[1..].iter().map(name).collect(), there.collect())
}

/// Functions that the tracer needs for dispatches and copies, where a runtime has them.
const NEEDED: [&str; 18] = [
    // Both are needed to know which one is the last.
    "hsa_init",
    "hsa_shut_down",
    "hsa_queue_create",
    "hsa_queue_destroy",
    "hsa_executable_freeze",
    "hsa_executable_destroy",
    "hsa_signal_destroy",
    // Attributes that would lead packets past the interceptor are refused.
    "hsa_amd_queue_get_info",
    "hsa_amd_profiling_set_profiler_enabled",
    "hsa_amd_profiling_async_copy_enable",
    "hsa_amd_profiling_get_async_copy_time",
    "hsa_amd_memory_async_copy",
    "hsa_amd_memory_async_copy_on_engine",
    "hsa_amd_memory_async_copy_rect",
    // These are needed on runtimes whose queues overflow.
    "hsa_signal_store_relaxed",
    "hsa_signal_store_screlease",
    "hsa_queue_load_read_index_relaxed",
    "hsa_queue_load_read_index_scacquire",
];

#[test]
fn without_being_asked_for_no_function_is_replaced_but_what_the_tracer_needs() {
    for process in program() {
        let overflows = process.stack().rocr == "7.2.4";
        let (replaced, there) = replaced(process);
        let mut needed = BTreeSet::from(NEEDED);
        let is_of_overflows = |name: &str| {
            name.starts_with("hsa_signal_store") || name.starts_with("hsa_queue_load_read_index")
        };
        needed.retain(|name| there.contains(name) && (overflows || !is_of_overflows(name)));
        assert_eq!(replaced, needed);
    }
}

#[test]
fn what_is_asked_for_is_replaced_and_nothing_else() {
    for process in program() {
        let (replaced, there) = replaced(process.setting("RTL_HSA_API_FILTER", "all"));
        assert_eq!(replaced, there);
    }
    for process in program() {
        let overflows = process.stack().rocr == "7.2.4";
        let (replaced, there) = replaced(process.setting("RTL_HSA_API_FILTER", "vmem,queue_load"));
        let is_asked_for = |name: &&str| name.contains("vmem") || name.contains("queue_load");
        let is_needed =
            |name: &&str| NEEDED.contains(name) && (overflows || !name.starts_with("hsa_signal_store"));
        let expected = there.into_iter().filter(|name| is_asked_for(name) || is_needed(name)).collect();
        assert_eq!(replaced, expected);
    }
}

#[test]
fn a_process_that_ends_while_a_thread_is_in_calls_that_do_not_return() {
    for process in Process::on_every_stack("hsa_unfinished") {
        let process = process.setting("RTL_HSA_API_FILTER", "all");
        let outcome = process.traced();
        assert_eq!(outcome.status.code(), Some(3), "{outcome:?}");
        let trace = outcome.trace();
        let unfinished = "SELECT group_concat(name.string || ' in ' || ifnull(caller.string, 'none') || ' of ' || call.tid, ', ')
             FROM rocpd_api call JOIN rocpd_string name ON name.id = call.apiName_id
             LEFT JOIN rocpd_api around ON around.correlationId = call.parentId
             LEFT JOIN rocpd_string caller ON caller.id = around.apiName_id
             WHERE call.end IS NULL AND call.tid = {tid} AND call.start >= ifnull(around.start, 1)";
        let tid = outcome.stdout.trim();
        let found: String =
            trace.database().query_row(&unfinished.replace("{tid}", tid), [], |row| row.get(0)).unwrap();
        let expected = format!(
            "hsa_iterate_agents in none of {tid}, hsa_agent_iterate_isas in hsa_iterate_agents of {tid}"
        );
        assert_eq!(found, expected, "{:?}", process.stack().name);
        let rows = query(&trace, "SELECT count(*) FROM rocpd_api WHERE end IS NULL");
        assert_eq!([trace.count("hsa_unfinished"), trace.count("hsa_lost:unfinished")], [rows, 0]);
        assert_eq!(trace.count("hsa_seen"), trace.count("hsa_recorded"));
    }
}

#[test]
fn a_process_that_hangs_and_is_killed_leaves_the_calls_that_it_hung_in() {
    let Some(process) = Process::new("hsa_unfinished") else { return };
    let outcome = process.arguments(&["2500"]).setting("RTL_HSA_API_FILTER", "iterate").traced();
    assert_eq!(outcome.status.signal(), Some(libc::SIGKILL), "{outcome:?}");
    let trace = outcome.trace();
    assert_eq!(trace.metadata["complete"], "0");
    let tables =
        rtl_schema::Trace::open(&trace.path).unwrap().read(&rtl_schema::Select::everything()).unwrap();
    let calls = &tables.api_calls;
    let tid: i64 = outcome.stdout.trim().parse().unwrap();
    let hung: Vec<_> = calls.iter().filter(|call| call.tid == Some(tid)).collect();
    let name = |call: &ApiCall| tables.strings.get(call.name);
    assert_eq!(hung.iter().map(name).collect::<Vec<_>>(), ["hsa_iterate_agents", "hsa_agent_iterate_isas"]);
    assert!(hung.iter().all(|call| call.duration.is_none() && tables.strings.get(call.domain) == "HSA"));
    assert_eq!(hung[1].parent, hung[0].correlation);
    assert!(calls.len() > 2, "those that had returned are rows");
    let end = tables.processes[0].end.unwrap();
    assert!(end - hung[0].start > 1_000_000_000, "the file was brought up to date while nothing happened");
}

#[test]
fn calls_that_are_made_while_the_process_ends_are_not_missed() {
    for process in Process::on_every_stack("calls_on") {
        let process = process.setting("RTL_HSA_API_FILTER", "get_info");
        let trace = process.well_when_traced().trace();
        assert!(trace.count("hsa_recorded") > 0, "{:?}", process.stack().name);
    }
}

#[test]
fn calls_beyond_the_largest_file_are_counted() {
    let Some(process) = Process::new("hsa_call_cost") else { return };
    let process = process.arguments(&["5000"]).setting("RTL_HSA_API_FILTER", "all");
    let outcome = process.setting("RTL_MAX_SIZE", "320K").traced();
    assert!(outcome.status.success(), "{}", outcome.stderr);
    let trace = Trace::read(&outcome.traces[0]);
    let counts = ["hsa_seen", "hsa_recorded", "hsa_lost:full"].map(|tag| trace.count(tag));
    assert!(counts[0] > 4 * 5500 && counts[1] > 0 && counts[2] > 0, "{counts:?}");
    assert_eq!(counts[0], counts[1] + counts[2]);
    assert_eq!(counts[1], query(&trace, "SELECT count(*) FROM rocpd_api"));
    assert!(fs::metadata(&trace.path).unwrap().len() <= 320 << 10);
}

#[test]
fn within_calls_of_hip_an_op_stays_tied_to_what_the_program_called() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_streams", &["2", "10"]) else { return };
        let alone = linked(&process.calls().well().trace());
        let Some(process) = Process::for_hip(&stack, "hip_streams", &["2", "10"]) else { return };
        let outcome = process.calls().setting("RTL_HSA_API_FILTER", "all").well();
        let trace = outcome.trace();
        assert!(!alone.is_empty());
        assert_eq!(linked(&trace), alone, "{:?}", stack.name);
        let within = "FROM rocpd_api call JOIN rocpd_api around ON around.correlationId = call.parentId
                      JOIN rocpd_string caller ON caller.id = around.domain_id
                      JOIN rocpd_string domain ON domain.id = call.domain_id
                      WHERE domain.string = 'HSA' AND caller.string = 'HIP' AND call.tid = around.tid";
        let doorbells = format!(
            "SELECT count(*) {within} AND call.apiName_id IN
             (SELECT id FROM rocpd_string WHERE string LIKE 'hsa_signal_store_%')"
        );
        assert!(query(&trace, &doorbells) >= 20, "each of its kernels was launched by HIP: {:?}", stack.name);
        let outside =
            format!("SELECT count(*) {within} AND (call.start < around.start OR call.end > around.end)");
        assert_eq!(query(&trace, &outside), 0);
    }
}

/// Numbers of ops that are linked to calls, by kind of op and function of HIP.
fn linked(trace: &Trace) -> BTreeMap<(String, String), i64> {
    let database = trace.database();
    let mut statement = database
        .prepare(
            "SELECT kind.string, coalesce(name.string, 'none'), count(*) FROM rocpd_op op
             JOIN rocpd_string kind ON kind.id = opType_id
             LEFT JOIN rocpd_api call ON call.correlationId = op.correlationId
             LEFT JOIN rocpd_string name ON name.id = call.apiName_id GROUP BY 1, 2",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}
