//! Link options of librtl_hip.so.

fn main() {
    // Functions of it may be running when the process ends.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librtl_hip.so");
    println!("cargo:rerun-if-changed=build.rs");
}
