//! The migrations are embedded in the binary, so a new one has to trigger a rebuild.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
