//! Prefetch: asks the processor to bring memory into its cache before it is needed.
//!
//! In a large network every packet meets a port and a connection that have left the cache since the last one; fetching
//! them a few packets ahead is worth a factor of two at k = 32 (benches/README.md). This is the only unsafe code of the
//! crate. Invariant: a prefetch of a reference is always allowed; it changes nothing that a program can observe.

/// Fetches the cache line at the start of `value`.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the address comes from a live reference, and a prefetch neither faults nor writes.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Fetches the first `lines` cache lines of `value`, not beyond its end.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn prefetch_lines<T>(value: &T, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines.min(size_of::<T>().div_ceil(64)) {
        // SAFETY: as above; the address stays inside `value`.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast::<i8>().add(line * 64));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, lines);
}
