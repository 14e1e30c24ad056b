//! Whole queries in the instructions of the processor at hand.
//!
//! The program is built for any x86-64, with vector registers of two numbers. Most processors have
//! those of four (AVX2) and write the result of an instruction where it is wanted; a hot loop gains
//! by both. [`dispatch`] compiles what it is given twice and asks, once in the life of the program,
//! which of the two to run.
//!
//! Answers are the same to the last bit. Additions, products, quotients and square roots are those
//! of IEEE 754 one by one in either, in the order that the source states; the compiler does not
//! fuse a product and a sum into one rounding unless the source says `mul_add`, also where the
//! processor could; and comparisons have no freedom.
//!
//! To belong to the second compilation a function must be inlined into the closure:
//! `#[inline(always)]` on it and on all between. Others may be called, in the first compilation:
//! rare stages, and what is long beside the call. On other processors than x86-64 there is one
//! compilation only.

#[cfg(target_arch = "x86_64")]
use fearless_simd::{Avx2, Level, Simd as _};

/// Runs the query, which is an `#[inline(always)]` closure.
#[inline(always)]
pub fn dispatch<R>(query: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2() {
        return avx2.vectorize(query);
    }
    query()
}

/// A proof that there is AVX2, found out once.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn avx2() -> Option<Avx2> {
    #[cfg(test)]
    if plain::is_plain() {
        return None;
    }
    Level::new().as_avx2()
}

/// Lets tests ask for the first compilation.
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) mod plain {
    use std::cell::Cell;

    thread_local! {
        static IS_PLAIN: Cell<bool> = const { Cell::new(false) };
    }

    /// Whether this thread asks for the first compilation.
    pub(super) fn is_plain() -> bool {
        IS_PLAIN.get()
    }

    /// Runs it in the first compilation.
    pub(crate) fn plainly<R>(query: impl FnOnce() -> R) -> R {
        IS_PLAIN.set(true);
        let answer = query();
        IS_PLAIN.set(false);
        answer
    }
}
