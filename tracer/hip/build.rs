//! Link options of librtl_hip.so.

fn main() {
    // The process may end while one of its functions runs.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librtl_hip.so");
    println!("cargo:rerun-if-changed=build.rs");
}
