//! Links the program at a fixed address. A program that can be moved has 210,000 addresses to relocate at each start, half
//! of the CPU time of starting (docs/performance-history.md#start-up). Stack, heap and libraries still have random
//! addresses.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
