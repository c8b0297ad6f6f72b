//! Tests of kernels' names while code is loaded and unloaded.

use e2e::Process;
use e2e::compare::assert_complete;

#[test]
fn a_kernel_at_the_address_of_a_gone_one_has_its_own_name() {
    for process in Process::on_every_stack("address_reuse") {
        let process = process.code_object("FIRST", &["first"]).code_object("SECOND", &["other"]);
        assert_complete(&process.arguments(&["20"]).well());
    }
}

#[test]
fn names_are_whole_and_distinct() {
    let names = [
        "_Z4kernILN2ns1FE0EfEvPT0_",
        "_Z4kernILN2ns1FE1EfEvPT0_",
        "_ZN5aiter4normIDF16bEEvPT_",
        "plain",
        "_Zbroken",
    ];
    for process in Process::on_every_stack("every_kernel") {
        let trace = process.arguments(&names).kernels(&names).well().trace();
        let recorded: Vec<&str> = trace.rows.iter().map(|row| row.name.as_str()).collect();
        let demangled = [
            "void kern<(ns::F)0, float>(float*)",
            "void kern<(ns::F)1, float>(float*)",
            "void aiter::norm<std::bfloat16_t>(std::bfloat16_t*)",
            "plain",
            "_Zbroken",
        ];
        assert_eq!(recorded, demangled);
    }
}
