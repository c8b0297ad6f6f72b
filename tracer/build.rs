//! Link options of librtl.so.

fn main() {
    // The runtime closes its tools at hsa_shut_down; code of ours (threads, an exit handler) may still be running.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // By this name it is found again when it stands in for another library (src/capi/roctx/dlopen.rs).
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librtl.so");
    println!("cargo:rerun-if-changed=build.rs");
}
