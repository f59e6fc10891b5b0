//! Products of rows of numbers with the machine's vector instructions.
//!
//! Rows have [`padded`] lengths: what is beyond their numbers is zero. Sums have a fixed order.

/// Numbers in a vector.
const LANES: usize = 4;

/// The length of a row of n numbers in memory.
#[inline]
pub(crate) fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// Compiles a function twice, with and without the instructions of AVX2 and FMA, and takes what the machine has.
macro_rules! wide {
    ($(#[$doc:meta])* fn $name:ident, $lanes:ident ( $($argument:ident : $type:ty),* ) $(-> $answer:ty)?) => {
        $(#[$doc])*
        fn $name($($argument: $type),*) $(-> $answer)? {
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
                #[target_feature(enable = "avx2,fma")]
                fn fused($($argument: $type),*) $(-> $answer)? {
                    $lanes::<true>($($argument),*)
                }
                #[allow(unsafe_code)]
                // SAFETY: avx2 and fma were found on this machine.
                return unsafe { fused($($argument),*) };
            }
            $lanes::<false>($($argument),*)
        }
    };
}
pub(crate) use wide;

/// `a·b + c`, fused where the machine does it in one instruction.
#[inline(always)]
pub(crate) fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// y += Σ x_k row_k, the rows as long as y and one after the other in memory. `FUSED` only where avx2 and fma were found.
#[inline(always)]
pub(crate) fn add_rows<const FUSED: bool>(x: &[f64], rows: &[f64], y: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if FUSED {
        #[allow(unsafe_code)]
        // SAFETY: `wide` sets `FUSED` only after avx2 and fma were found on this machine.
        return unsafe { vectors::add_rows(x, rows, y) };
    }
    let stride = y.len();
    for (k, x) in x.iter().enumerate() {
        let row = &rows[k * stride..(k + 1) * stride];
        y.iter_mut().zip(row).for_each(|(y, row)| *y += x * row);
    }
}

/// The products of m rows, one after the other in memory, with each other: m×m, into `out`. `FUSED` only where avx2 and fma
/// were found.
#[inline(always)]
pub(crate) fn square<const FUSED: bool>(rows: &[f64], out: &mut [f64], m: usize) {
    let stride = rows.len() / m.max(1);
    for a in 0..m {
        let left = &rows[a * stride..(a + 1) * stride];
        for b in 0..=a {
            let w = dot::<FUSED>(left, &rows[b * stride..(b + 1) * stride]);
            (out[a * m + b], out[b * m + a]) = (w, w);
        }
    }
}

#[inline(always)]
fn dot<const FUSED: bool>(a: &[f64], b: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if FUSED {
        #[allow(unsafe_code)]
        // SAFETY: `wide` sets `FUSED` only after avx2 and fma were found on this machine.
        return unsafe { vectors::dot(a, b) };
    }
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The same in vectors, which the compiler does not find by itself.
#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::*;

    use super::LANES;

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn load(x: &[f64; LANES]) -> __m256d {
        #[allow(unsafe_code)]
        // SAFETY: as many numbers as are read are there.
        unsafe {
            _mm256_loadu_pd(x.as_ptr())
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub fn add_rows(x: &[f64], rows: &[f64], y: &mut [f64]) {
        let stride = y.len();
        for (j, y) in y.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let (mut sum, mut at) = (load(y), LANES * j);
            for x in x {
                let Some(row) = rows[at..].first_chunk() else { break };
                sum = _mm256_fmadd_pd(_mm256_set1_pd(*x), load(row), sum);
                at += stride;
            }
            #[allow(unsafe_code)]
            // SAFETY: as many numbers as are written are there.
            unsafe {
                _mm256_storeu_pd(y.as_mut_ptr(), sum);
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub fn dot(a: &[f64], b: &[f64]) -> f64 {
        let mut sum = _mm256_setzero_pd();
        for (a, b) in a.as_chunks().0.iter().zip(b.as_chunks().0) {
            sum = _mm256_fmadd_pd(load(a), load(b), sum);
        }
        let half = _mm_add_pd(_mm256_castpd256_pd128(sum), _mm256_extractf128_pd::<1>(sum));
        _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)))
    }
}
