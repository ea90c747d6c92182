//! An allocator that counts the bytes that a program has in use.

#![allow(unsafe_code, reason = "an allocator's contract; each call is handed on as it came")]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use mimalloc::MiMalloc;

/// Counting wrapper of the worker's allocator.
#[derive(Debug, Default)]
pub struct CountingAllocator {
    in_use: AtomicUsize,
    most: AtomicUsize,
}

impl CountingAllocator {
    /// Creates an allocator with nothing in use.
    #[must_use]
    pub const fn new() -> Self {
        Self { in_use: AtomicUsize::new(0), most: AtomicUsize::new(0) }
    }

    /// Bytes in use now.
    pub fn in_use(&self) -> usize {
        self.in_use.load(Relaxed)
    }

    /// Peak of the bytes in use since the last call of [`Self::forget`].
    pub fn most(&self) -> usize {
        self.most.load(Relaxed)
    }

    /// Resets [`Self::most`] to the bytes in use now and returns them.
    pub fn forget(&self) -> usize {
        let now = self.in_use();
        self.most.store(now, Relaxed);
        now
    }

    fn add(&self, bytes: usize) {
        let now = self.in_use.fetch_add(bytes, Relaxed) + bytes;
        if now > self.most.load(Relaxed) {
            self.most.fetch_max(now, Relaxed);
        }
    }
}

// SAFETY: every call goes to mimalloc unchanged, and its result is returned unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        self.in_use.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { MiMalloc.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new block may both exist for a moment.
        self.add(size);
        // SAFETY: the caller upholds the contract of `realloc`.
        let moved = unsafe { MiMalloc.realloc(at, layout, size) };
        self.in_use.fetch_sub(layout.size(), Relaxed);
        moved
    }
}
