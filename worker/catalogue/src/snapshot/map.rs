//! A file as memory, or memory as a file.
//!
//! This is the crate's one module with `unsafe`: that a mapped file does not change is a promise that the type system
//! cannot check. It is kept by how snapshots are written: under another name, and renamed when they are whole; nobody writes to
//! one afterwards. They lie in a folder of the service's own user, which others cannot write to. A removed file lives on for
//! those who have it mapped. Whoever breaks the promise all the same gives wrong answers or a panic, or, if the file is cut
//! short, ends the process (SIGBUS): every place that is read out of the file is checked before it is used.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;

use memmap2::Mmap;

/// The bytes of a snapshot. They begin at a multiple of eight.
#[derive(Debug)]
pub enum Bytes {
    Mapped(Mmap),
    Owned { words: Vec<u64>, len: usize },
}

impl Bytes {
    /// Maps a whole file; all processes that do share it.
    pub fn map(file: &File) -> io::Result<Self> {
        // Linux maps no empty file.
        if file.metadata()?.len() == 0 {
            return Ok(Self::owned(&[]));
        }
        // SAFETY: nobody changes the file, see the module's header.
        unsafe { Mmap::map(file) }.map(Self::Mapped)
    }

    /// A copy in memory.
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
