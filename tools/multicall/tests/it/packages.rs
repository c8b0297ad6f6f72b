//! The packages that `scripts/package` makes of an installed tree, and the files that `packaging/install.sh` installs of a
//! release.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use support::{Need, skip};
use tempfile::TempDir;

fn script(path: &str) -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path))
}

fn has(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        skip(Need::Build, format_args!("no {program}"));
    }
    is_there
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// The tree has what `scripts/install` makes: one program, a link to it, and a page.
fn tree(folder: &Path, version: &str) -> PathBuf {
    let prefix = folder.join("prefix");
    fs::create_dir_all(prefix.join("bin")).unwrap();
    fs::create_dir_all(prefix.join("share/man/man1")).unwrap();
    write_program(&prefix.join("bin/rtl"), &format!("#!/bin/sh\necho rtl {version}\n"));
    symlink("rtl", prefix.join("bin/rtl-summary")).unwrap();
    fs::write(prefix.join("share/man/man1/rtl.1"), "page").unwrap();
    prefix
}

fn package(kind: &str, prefix: &Path, platform: &str, dist: &Path) -> PathBuf {
    let output = script("scripts/package").arg(kind).arg(prefix).arg(platform).arg(dist).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut made: Vec<PathBuf> = dist.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(made.len(), 1, "{made:?}");
    made.remove(0)
}

fn listing(package: &Path) -> String {
    let end = package.extension().and_then(|end| end.to_str());
    let (program, flags): (&str, &[&str]) = match end {
        Some("deb") => ("dpkg-deb", &["-c"]),
        Some("rpm") => ("rpm", &["-qlp"]),
        _ => ("tar", &["-tzf"]),
    };
    String::from_utf8(Command::new(program).args(flags).arg(package).output().unwrap().stdout).unwrap()
}

#[test]
fn two_packages_of_one_tree_are_the_same_bytes_and_have_all_of_it() {
    for (kind, platform, tool) in
        [("tarball", "x86_64-linux-gnu", "tar"), ("deb", "amd64", "dpkg-deb"), ("rpm", "x86_64", "rpmbuild")]
    {
        if !has(tool) {
            continue;
        }
        let made = ["1", "2"].map(|_| {
            let folder = tempfile::tempdir().unwrap();
            let package = package(kind, &tree(folder.path(), "1"), platform, &folder.path().join("dist"));
            for path in ["bin/rtl", "bin/rtl-summary", "share/man/man1/rtl.1"] {
                assert!(listing(&package).contains(path), "{path} in {}", listing(&package));
            }
            fs::read(package).unwrap()
        });
        assert!(made[0] == made[1], "{kind}");
    }
}

/// A release of one version for every platform, with checksums and filled recipes.
struct Release {
    folder: TempDir,
    dist: PathBuf,
}

const PLATFORMS: [&str; 3] = ["x86_64-linux-gnu", "x86_64-linux-musl", "aarch64-linux-musl"];

impl Release {
    /// The program of each tarball prints the platform.
    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dist = folder.path().join("dist");
        for platform in PLATFORMS {
            let work = folder.path().join(platform);
            fs::create_dir(&work).unwrap();
            let package = package("tarball", &tree(&work, platform), platform, &work.join("dist"));
            fs::create_dir_all(&dist).unwrap();
            fs::rename(&package, dist.join(package.file_name().unwrap())).unwrap();
        }
        let release = Self { folder, dist };
        release.sum();
        let recipes = script("scripts/recipes")
            .arg(format!("file://{}", release.dist.display()))
            .arg(env!("CARGO_PKG_VERSION"))
            .arg(&release.dist)
            .output();
        assert!(recipes.as_ref().is_ok_and(|recipes| recipes.status.success()), "{recipes:?}");
        release
    }

    fn tarball(&self, platform: &str) -> PathBuf {
        self.dist.join(format!("rtl-{}-{platform}.tar.gz", env!("CARGO_PKG_VERSION")))
    }

    fn sum(&self) {
        let sum = "cd \"$0\" && sha256sum -- *.tar.gz >SHA256SUMS";
        assert!(Command::new("sh").args(["-c", sum]).arg(&self.dist).status().unwrap().success());
    }

    /// Installs the release on a machine whose `uname` and C library are these.
    fn install(&self, uname: &str, libc: &str) -> (PathBuf, Output) {
        let machine = self.folder.path().join("machine");
        fs::create_dir_all(&machine).unwrap();
        let (system, kind) = uname.split_once(' ').unwrap();
        let says = format!("#!/bin/sh\ncase $1 in -m) echo {kind} ;; *) echo {system} ;; esac\n");
        write_program(&machine.join("uname"), &says);
        write_program(&machine.join("getconf"), &format!("#!/bin/sh\n{libc}\n"));
        let prefix = self.folder.path().join("home/.local");
        let path = format!("{}:{}", machine.display(), env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.arg(self.dist.join("install.sh")).env("PATH", path).env("RTL_PREFIX", &prefix);
        (prefix, command.output().unwrap())
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_installer_takes_the_programs_of_the_machine_and_replaces_older_ones() {
    if !has("curl") {
        return;
    }
    let release = Release::make();
    for (uname, libc, platform) in [
        ("Linux x86_64", "echo glibc 2.36", "x86_64-linux-gnu"),
        ("Linux x86_64", "echo glibc 2.27", "x86_64-linux-musl"),
        ("Linux x86_64", "exit 1", "x86_64-linux-musl"),
        ("Linux aarch64", "echo glibc 2.36", "aarch64-linux-musl"),
    ] {
        let (prefix, output) = release.install(uname, libc);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stdout).contains(&format!(": rtl {platform}\n")), "{output:?}");
        let link = Command::new(prefix.join("bin/rtl-summary")).output().unwrap();
        assert_eq!(text(&link.stdout), format!("rtl {platform}\n"));
        assert!(prefix.join("share/man/man1/rtl.1").exists());
        let left: Vec<_> = prefix.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }
}

#[test]
fn the_installer_refuses_what_it_cannot_trust_or_run_and_says_why() {
    if !has("curl") {
        return;
    }
    let release = Release::make();
    let assert_refused = |uname: &str, reason: &str| {
        let (prefix, output) = release.install(uname, "exit 1");
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(reason) && said.contains("\nhint: "), "{output:?}");
        assert!(!prefix.join("bin/rtl").exists(), "{reason}");
    };
    assert_refused("Darwin arm64", "there are no programs for Darwin on arm64");
    fs::write(release.tarball("x86_64-linux-musl"), "another file").unwrap();
    assert_refused("Linux x86_64", "is not the file that SHA256SUMS names");
    fs::remove_file(release.tarball("x86_64-linux-musl")).unwrap();
    assert_refused("Linux x86_64", "cannot be downloaded");
    release.sum();
    assert_refused("Linux x86_64", "the release has no programs for x86_64-linux-musl");
}

#[test]
fn recipes_name_the_version_and_the_checksum_of_each_file() {
    let release = Release::make();
    let sums = fs::read_to_string(release.dist.join("SHA256SUMS")).unwrap();
    for recipe in ["rtl.rb", "recipe.yaml"] {
        let recipe = fs::read_to_string(release.dist.join(recipe)).unwrap();
        for platform in ["x86_64-linux-gnu", "aarch64-linux-musl"] {
            let line = sums.lines().find(|line| line.contains(platform)).unwrap();
            assert!(recipe.contains(&line[..64]) && recipe.contains(platform), "{recipe}");
        }
        assert!(recipe.contains(env!("CARGO_PKG_VERSION")));
    }
}
