//! An allocator that counts. A test file that includes it makes it the global one.

#![allow(unsafe_code)] // a global allocator is unsafe by its trait; this one only counts and passes on

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Allocations of this thread: the test runner's own threads do not count.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often this thread allocates while something runs.
pub fn allocations(run: impl FnOnce()) -> usize {
    let before = COUNT.with(Cell::get);
    run();
    COUNT.with(Cell::get) - before
}

/// The counter counts.
#[test]
fn an_allocation_is_seen() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1.0f64; 100]))), 1);
}
