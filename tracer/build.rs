//! Link options of librtl.so.

fn main() {
    // The runtime closes its tools at hsa_shut_down; code of ours (threads, an exit handler) may still be running.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
