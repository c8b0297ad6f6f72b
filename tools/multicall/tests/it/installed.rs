//! The files that `scripts/install` puts under a prefix.

use std::path::Path;
use std::process::Command;

use support::{Need, skip};

fn programs() -> Vec<String> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").read_dir().expect("the folder of the tools");
    let names = tools.map(|tool| tool.expect("a tool").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("rtl-")).chain(["rtl".to_owned()]).collect()
}

#[test]
fn every_program_has_its_completions_and_its_page_and_finds_the_others_and_the_tracer_is_there_to_link() {
    let built = Path::new(env!("CARGO_BIN_EXE_rtl")).parent().unwrap();
    let is_there = |name: &str| built.join(name).exists();
    let libraries = ["librtl.so", "librtl_hip.so"];
    if !libraries.iter().all(|name| is_there(name) || is_there(&format!("deps/{name}"))) {
        return skip(Need::Build, "not everything is built (cargo build --workspace)");
    }
    let prefix = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/install");
    let mut install = Command::new(script);
    let output = install.arg("--from").arg(built).arg(prefix.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    for name in programs() {
        for file in [
            format!("share/man/man1/{name}.1"),
            format!("share/bash-completion/completions/{name}"),
            format!("share/zsh/site-functions/_{name}"),
            format!("share/fish/vendor_completions.d/{name}.fish"),
        ] {
            let text = std::fs::read_to_string(prefix.path().join(&file)).unwrap();
            assert!(text.contains(&name), "{file}: {text}");
        }
    }
    let version =
        |name: &str| Command::new(prefix.path().join("bin").join(name)).arg("--version").output().unwrap();
    for name in programs() {
        let output = version(&name);
        assert!(output.status.success() && output.stdout.starts_with(name.as_bytes()), "{output:?}");
    }
    let documents = prefix.path().join("share/doc/rtl");
    let notices = std::fs::read_to_string(documents.join("THIRD-PARTY-NOTICES")).unwrap();
    for part in ["\nserde ", "\nSQLite 3.", "Permission is hereby granted", "Apache License"] {
        assert!(notices.contains(part), "{part}");
    }
    let components = std::fs::read_to_string(documents.join("rtl.cdx.json")).unwrap();
    for part in ["\"bomFormat\": \"CycloneDX\"", "pkg:cargo/rusqlite@", "pkg:generic/sqlite@3."] {
        assert!(components.contains(part), "{part}");
    }
    let header = std::fs::read_to_string(prefix.path().join("include/rtl.h")).unwrap();
    assert!(header.contains("rtl_set_callbacks"));
    if Command::new("objcopy").arg("--version").output().is_ok() {
        assert!(prefix.path().join("lib/librtl.a").exists());
    }
    assert!(libraries.iter().all(|name| prefix.path().join("lib").join(name).exists()));
    let mut traced = Command::new(prefix.path().join("bin/rtl"));
    traced.args(["trace", "--quiet", "true"]).current_dir(prefix.path()).env_remove("RTL_LIB");
    let output = traced.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// `cargo install --path tools/<program>` needs a package of that name with a program of that name; `rtl` is that of `multicall`.
#[test]
fn every_program_is_a_package_that_can_be_installed_alone() {
    for name in programs().into_iter().filter(|name| name != "rtl") {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&name);
        let manifest = std::fs::read_to_string(package.join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("[package]\nname = \"{name}\"\n")), "{manifest}");
        assert!(package.join("src/main.rs").exists() && package.join("../../Cargo.lock").exists(), "{name}");
    }
}

#[test]
fn a_prefix_is_asked_for() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/install");
    for arguments in [&[][..], &["--from"], &["a", "b"]] {
        let output = Command::new(&script).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
}
