//! As the tracer's own, and what makes it fail.

fn main() {
    println!("cargo:rustc-cfg=faulty");
    println!("cargo:rustc-check-cfg=cfg(faulty)");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librtl.so");
    println!("cargo:rerun-if-changed=build.rs");
}
