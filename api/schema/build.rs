//! The migrations are embedded in the binary, so a new one has to build it anew.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
