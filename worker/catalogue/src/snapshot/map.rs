//! Memory-mapped files, and files in memory.
//!
//! This module has `unsafe` (as has `inchi/library.rs`): the type system cannot check that a mapped file does not change. The
//! way snapshots are written ensures it: under a temporary name, renamed when complete, and never written to
//! afterwards. They are in a folder of the service's own user that others cannot write to. A removed file stays valid
//! for the processes that have it mapped. A violation gives wrong answers or a panic or, if the file is truncated,
//! ends the process (SIGBUS): every position that is read from the file is checked before it is used.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;

use memmap2::Mmap;

/// The bytes of a snapshot, aligned to eight bytes.
#[derive(Debug)]
pub enum Bytes {
    Mapped(Mmap),
    Owned { words: Vec<u64>, len: usize },
}

impl Bytes {
    /// Maps a whole file; processes that map the same file share the memory.
    pub fn map(file: &File) -> io::Result<Self> {
        // Linux cannot map an empty file.
        if file.metadata()?.len() == 0 {
            return Ok(Self::owned(&[]));
        }
        // SAFETY: the file does not change, see the module's header.
        unsafe { Mmap::map(file) }.map(Self::Mapped)
    }

    /// Copies the bytes to memory.
    pub fn owned(bytes: &[u8]) -> Self {
        let mut words = vec![0; bytes.len().div_ceil(size_of::<u64>())];
        let mut rest = bytes;
        rest.read_exact(&mut bytemuck::cast_slice_mut(&mut words)[..bytes.len()])
            .expect("map: there is room for all bytes");
        Self::Owned { words, len: bytes.len() }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned { words, len } => &bytemuck::cast_slice(words)[..*len],
        }
    }
}
