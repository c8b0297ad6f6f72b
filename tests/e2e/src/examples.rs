//! Builds the programs of `tracer/examples/embed` by the command in their first lines, and other programs as a user of the
//! library would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Need, skipped};

use crate::library;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{command:?}\n{stderr}");
}

/// The compiler for C++ or C, by the name of the source.
fn compiler(source: &Path) -> Command {
    let is_cpp = source.extension().is_some_and(|extension| extension == "cpp");
    let (compiler, standard) = if is_cpp { ("c++", "-std=c++11") } else { ("cc", "-std=c99") };
    let mut command = Command::new(compiler);
    command.args([standard, "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"]);
    command
        .arg(root().join("tracer/include"))
        .arg("-I")
        .arg(root().join("tracer/examples/embed"))
        .arg(source);
    command
}

/// A program of this source, which calls `work` of `tracer/examples/embed`, linked to librtl.so, in `folder`.
#[must_use]
#[track_caller]
pub fn program(source: &str, folder: &Path) -> PathBuf {
    let (work, program) = (folder.join("work.o"), folder.join("example"));
    let mut compile = Command::new("cc");
    run(compile
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-c", "-o"])
        .arg(&work)
        .arg(root().join("tracer/examples/embed/work.c")));
    let libraries = library::tracer().parent().unwrap().display().to_string();
    let mut link = compiler(&root().join(source));
    link.arg(&work).arg("-o").arg(&program).args(["-L", &libraries, &format!("-Wl,-rpath,{libraries}")]);
    run(link.args(["-lrtl", "-lhsa-runtime64"]));
    program
}

/// The static library as it is installed, in `folder`. `None` after one printed line without binutils.
#[must_use]
#[track_caller]
pub fn static_library(folder: &Path) -> Option<PathBuf> {
    if Command::new("objcopy").arg("--version").output().is_err() {
        return skipped(Need::Machine, "no objcopy (apt-get install binutils)");
    }
    let library = folder.join("librtl.a");
    run(Command::new(root().join("scripts/static-library")).arg(library::built("librtl.a")).arg(&library));
    Some(library)
}

/// A shared library of the tool `embedder.c` and the static library, in `folder`, that exports only the functions by which it is
/// found.
#[must_use]
#[track_caller]
pub fn plugin(static_library: &Path, folder: &Path) -> PathBuf {
    let source = root().join("tests/e2e/tools/embedder.c");
    let plugin = folder.join("plugin.so");
    let mut link = Command::new("cc");
    link.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&plugin).arg(source).arg(static_library);
    run(link.args(["-lpthread", "-ldl", "-lm"]));
    plugin
}

/// A program of `tests/programs` that is linked to the static library, in `folder`.
#[must_use]
#[track_caller]
pub fn static_program(name: &str, static_library: &Path, folder: &Path) -> PathBuf {
    let source = root().join(format!("tests/programs/{name}.c"));
    let program = folder.join(name);
    let mut link = Command::new("cc");
    link.args(["-O1", "-rdynamic", "-o"]).arg(&program).arg(source).arg(static_library);
    run(link.args(["-lpthread", "-ldl", "-lm", "-lhsa-runtime64"]));
    program
}

/// The size of each struct of `rtl.h`, and the offsets of its fields, from a compiler of `language` (`c` or `cpp`): lines
/// `STRUCT.FIELD OFFSET`.
#[must_use]
#[track_caller]
pub fn layout(fields: &[(&str, &[&str])], language: &str, folder: &Path) -> String {
    let mut source = String::from("#include <rtl.h>\n#include <stdio.h>\nint main(void) {\n");
    for (name, fields) in fields {
        source += &format!("    printf(\"{name} %zu\\n\", sizeof(struct {name}));\n");
        for field in *fields {
            source += &format!("    printf(\"{name}.{field} %zu\\n\", offsetof(struct {name}, {field}));\n");
        }
    }
    source += "    return 0;\n}\n";
    let (path, program) = (folder.join("layout").with_extension(language), folder.join("layout"));
    fs::write(&path, source).unwrap();
    run(compiler(&path).arg("-o").arg(&program));
    String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap()
}
