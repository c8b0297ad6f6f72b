//! Tests of the library's symbols.

use std::path::Path;
use std::process::Command;

use e2e::library::tracer;
use support::{Need, skipped};

/// Functions that the runtime calls, that replace those of the C library (opening libraries, ending without notice, becoming
/// another program, giving up rights), that tracer/include/rtl.h declares, that librtl_hip.so looks for, and those of roctx: the
/// eight functions of libroctx64.so.4, the seven more of librocprofiler-sdk-roctx.so.1, and the three names without an A that are
/// macros in roctx.h.
pub(crate) const EXPORTS: [&str; 47] = [
    "OnLoad",
    "OnUnload",
    "_Exit",
    "_exit",
    "chroot",
    "dlopen",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "fexecve",
    "roctxGetThreadId",
    "roctxMark",
    "roctxMarkA",
    "roctxNameHipDevice",
    "roctxNameHipStream",
    "roctxNameHsaAgent",
    "roctxNameOsThread",
    "roctxProfilerPause",
    "roctxProfilerResume",
    "roctxRangePop",
    "roctxRangePush",
    "roctxRangePushA",
    "roctxRangeStart",
    "roctxRangeStartA",
    "roctxRangeStop",
    "roctxRegisterTracerCallback",
    "roctx_version_major",
    "roctx_version_minor",
    "rtl_calls_1",
    "rtl_flush",
    "rtl_get_counters",
    "rtl_set_callbacks",
    "rtl_status_text",
    "rtl_stop",
    "setegid",
    "seteuid",
    "setgid",
    "setgroups",
    "setregid",
    "setresgid",
    "setresuid",
    "setreuid",
    "setuid",
];

fn lines(program: &str, arguments: &[&str], library: &Path) -> Option<Vec<String>> {
    let output = match Command::new(program).args(arguments).arg(library).output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return skipped(Need::Machine, format_args!("no {program} (apt-get install binutils)"));
        }
        Err(error) => panic!("{program}: {error}"),
    };
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

/// The symbols that a library shows to a linker, in order. `None` after one printed line without binutils.
pub(crate) fn shown(library: &Path) -> Option<Vec<String>> {
    let lines = lines("nm", &["--dynamic", "--defined-only", "--format=posix"], library)?;
    let mut names: Vec<String> =
        lines.iter().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    names.sort_unstable();
    Some(names)
}

#[test]
fn it_needs_libc_and_its_companions_only() {
    let Some(lines) = lines("readelf", &["--wide", "--dynamic"], &tracer()) else { return };
    let needed = lines.iter().filter(|line| line.contains("(NEEDED)"));
    let needed: Vec<&str> = needed.filter_map(|line| line.split(['[', ']']).nth(1)).collect();
    let companions =
        ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"];
    let strangers: Vec<&&str> = needed.iter().filter(|name| !companions.contains(name)).collect();
    assert!(needed.contains(&"libc.so.6") && strangers.is_empty(), "{needed:?}");
}

#[test]
fn it_exports_what_was_agreed_and_nothing_else() {
    let Some(shown) = shown(&tracer()) else { return };
    assert_eq!(shown, EXPORTS);
}
