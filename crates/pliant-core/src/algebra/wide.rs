//! Products of rows of numbers with the machine's vector instructions.
//!
//! Rows have [`padded`] lengths: what is beyond their numbers is zero. Sums have a fixed order.

use super::lanes::{LANES, fma};

/// The length of a row of n numbers in memory.
#[inline]
pub(crate) fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// Compiles a function twice, with and without the instructions of AVX2 and FMA, and takes what the machine has:
///
/// ```text
/// wide! { pub fn name, lanes(x: &X) -> Y }                    calls lanes::<FUSED>(x)
/// wide! { pub fn name, lanes<true>(&mut self: T, x: &X) }     in an impl of T, calls T::lanes::<FUSED, true>(self, x)
/// ```
macro_rules! wide {
    ($(#[$doc:meta])* $visible:vis fn $name:ident, $lanes:ident $(<$more:tt>)?
        (&mut $own:ident : $of:ty $(, $argument:ident : $type:ty)*) $(-> $answer:ty)?) => {
        $(#[$doc])*
        $visible fn $name(&mut $own $(, $argument: $type)*) $(-> $answer)? {
            wide!(@pick [<$of>::$lanes] [$($more)?] ($own, this: &mut $of $(; $argument, $argument: $type)*) $($answer)?)
        }
    };
    ($(#[$doc:meta])* $visible:vis fn $name:ident, $lanes:ident $(<$more:tt>)?
        (&$own:ident : $of:ty $(, $argument:ident : $type:ty)*) $(-> $answer:ty)?) => {
        $(#[$doc])*
        $visible fn $name(&$own $(, $argument: $type)*) $(-> $answer)? {
            wide!(@pick [<$of>::$lanes] [$($more)?] ($own, this: &$of $(; $argument, $argument: $type)*) $($answer)?)
        }
    };
    ($(#[$doc:meta])* $visible:vis fn $name:ident, $lanes:ident $(<$more:tt>)?
        ($($argument:ident : $type:ty),*) $(-> $answer:ty)?) => {
        $(#[$doc])*
        $visible fn $name($($argument: $type),*) $(-> $answer)? {
            wide!(@pick [$lanes] [$($more)?] ($($argument, $argument: $type);*) $($answer)?)
        }
    };
    (@pick [$($lanes:tt)+] [$($more:tt)?] ($($given:ident, $argument:ident : $type:ty);*) $($answer:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            #[target_feature(enable = "avx2,fma")]
            fn fused($($argument: $type),*) $(-> $answer)? {
                $($lanes)+::<true $(, $more)?>($($argument),*)
            }
            #[allow(unsafe_code)]
            // SAFETY: avx2 and fma were found on this machine.
            return unsafe { fused($($given),*) };
        }
        $($lanes)+::<false $(, $more)?>($($given),*)
    }};
}
pub(crate) use wide;

/// a·b of rows of any length, four sums at a time.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let mut sums = [0.0; LANES];
    let (x, x_rest) = a.as_chunks::<LANES>();
    let (y, y_rest) = b.as_chunks::<LANES>();
    for (x, y) in x.iter().zip(y) {
        (0..LANES).for_each(|i| sums[i] += x[i] * y[i]);
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// y += Σ x_k row_k, the rows as long as y and one after the other in memory. `FUSED` only where avx2 and fma were found.
#[inline(always)]
pub(crate) fn add_rows<const FUSED: bool, const N: usize>(x: &[f64; N], rows: &[f64], y: &mut [f64]) {
    debug_assert_eq!(y.len(), padded(y.len()));
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

wide! {
    /// y = Σ x_k row_k, the rows as long as y and one after the other in memory.
    pub(crate) fn combine, combine_lanes(x: &[f64], rows: &[f64], y: &mut [f64])
}

#[inline(always)]
fn combine_lanes<const FUSED: bool>(x: &[f64], rows: &[f64], y: &mut [f64]) {
    y.fill(0.0);
    let stride = y.len().max(1);
    let (sixes, rest) = x.as_chunks::<6>();
    let (first, last) = rows.split_at(6 * sixes.len() * y.len());
    for (x, rows) in sixes.iter().zip(first.chunks_exact(6 * stride)) {
        add_rows::<FUSED, 6>(x, rows, y);
    }
    for (x, row) in rest.iter().zip(last.chunks_exact(stride)) {
        add_rows::<FUSED, 1>(&[*x], row, y);
    }
}

/// The products of m rows, one after the other in memory, with each other: m×m, into `out`. `FUSED` only where avx2 and fma
/// were found.
#[inline(always)]
pub(crate) fn square<const FUSED: bool>(rows: &[f64], out: &mut [f64], m: usize) {
    symmetric_products::<FUSED>(rows, rows, out, m);
}

/// The products of m rows with m others, symmetric: m×m, into `out`. `FUSED` only where avx2 and fma were found.
#[inline(always)]
pub(crate) fn symmetric_products<const FUSED: bool>(rows: &[f64], others: &[f64], out: &mut [f64], m: usize) {
    let stride = rows.len() / m.max(1);
    debug_assert_eq!(stride, padded(stride));
    for a in 0..m {
        let left = &rows[a * stride..(a + 1) * stride];
        // Four at a time, as far as there are four.
        for b in (0..=a).step_by(LANES) {
            let right = &others[b * stride..(b + LANES).min(m) * stride];
            let to = &mut out[a * m + b..a * m + (b + LANES).min(m)];
            products::<FUSED>(left, right, to);
        }
    }
    for a in 0..m {
        (a + 1..m).for_each(|b| out[a * m + b] = out[b * m + a]);
    }
}

/// The products of a row with others, at most four.
#[inline(always)]
fn products<const FUSED: bool>(a: &[f64], rows: &[f64], out: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if FUSED && let Ok(out) = <&mut [f64; LANES]>::try_from(&mut *out) {
        #[allow(unsafe_code)]
        // SAFETY: `wide` sets `FUSED` only after avx2 and fma were found on this machine.
        return unsafe { vectors::products(a, rows, out) };
    }
    for (b, out) in rows.chunks_exact(a.len().max(1)).zip(out) {
        let mut sums = [0.0; LANES];
        for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
            (0..LANES).for_each(|i| sums[i] = fma::<FUSED>(a[i], b[i], sums[i]));
        }
        *out = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}

/// The same in vectors: of plain arrays the compiler takes four blocks at a time, which rows this short do not have, and adds
/// the four sums of a product one by one; sweeps over contacts took an eighth more instructions.
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
    fn store(x: __m256d, to: &mut [f64; LANES]) {
        #[allow(unsafe_code)]
        // SAFETY: as many numbers as are written are there.
        unsafe {
            _mm256_storeu_pd(to.as_mut_ptr(), x);
        }
    }

    /// Rows one after the other, in vectors. No closure: it would not be inlined here.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn split<const N: usize>(rows: &[f64], stride: usize) -> [&[[f64; LANES]]; N] {
        let mut all: [&[[f64; LANES]]; N] = [&[]; N];
        for k in 0..N {
            all[k] = rows[k * stride..(k + 1) * stride].as_chunks().0;
        }
        all
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub fn add_rows<const N: usize>(x: &[f64; N], rows: &[f64], y: &mut [f64]) {
        let stride = y.len();
        let rows = split::<N>(rows, stride);
        for (j, y) in y.as_chunks_mut().0.iter_mut().enumerate() {
            let mut sum = load(y);
            for k in 0..N {
                sum = _mm256_fmadd_pd(_mm256_set1_pd(x[k]), load(&rows[k][j]), sum);
            }
            store(sum, y);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub fn products(a: &[f64], rows: &[f64], out: &mut [f64; LANES]) {
        let stride = a.len();
        let rows = split::<LANES>(rows, stride);
        let mut sums = [_mm256_setzero_pd(); LANES];
        for (j, a) in a.as_chunks().0.iter().enumerate() {
            let a = load(a);
            for k in 0..LANES {
                sums[k] = _mm256_fmadd_pd(a, load(&rows[k][j]), sums[k]);
            }
        }
        // Of each, (0 + 1) + (2 + 3).
        let (x, y) = (_mm256_hadd_pd(sums[0], sums[1]), _mm256_hadd_pd(sums[2], sums[3]));
        let (low, high) = (_mm256_permute2f128_pd::<0x20>(x, y), _mm256_permute2f128_pd::<0x31>(x, y));
        store(_mm256_add_pd(low, high), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    wide! {
        fn squared, squared_lanes(rows: &[f64], out: &mut [f64], m: usize)
    }

    fn squared_lanes<const FUSED: bool>(rows: &[f64], out: &mut [f64], m: usize) {
        square::<FUSED>(rows, out, m);
    }

    /// What the machine's instructions make is what plain sums make, to rounding: of sums of at most 20 products of numbers
    /// below one.
    #[test]
    fn as_plain_sums() {
        let mut numbers = Numbers(3);
        for n in 0..20 {
            let stride = padded(n);
            let mut rows = vec![0.0; n * stride];
            for row in rows.chunks_exact_mut(stride.max(1)) {
                row[..n].iter_mut().for_each(|x| *x = numbers.between(-1.0, 1.0));
            }
            let x: Vec<f64> = (0..n).map(|_| numbers.between(-1.0, 1.0)).collect();
            let near = |one: &[f64], two: &[f64]| {
                assert!(one.iter().zip(two).all(|(a, b)| (a - b).abs() < 1e-14), "{n}: {one:?} {two:?}");
            };
            let sums: Vec<f64> =
                (0..stride).map(|i| (0..n).map(|k| x[k] * rows[k * stride + i]).sum()).collect();
            let (mut here, mut plain) = (vec![1.0; stride], vec![1.0; stride]);
            combine(&x, &rows, &mut here);
            combine_lanes::<false>(&x, &rows, &mut plain);
            near(&here, &sums);
            near(&plain, &sums);
            let row = |a: usize| &rows[a * stride..a * stride + n];
            let plain_dot =
                |a: usize, b: usize| -> f64 { row(a).iter().zip(row(b)).map(|(x, y)| x * y).sum() };
            let products: Vec<f64> = (0..n * n).map(|i| plain_dot(i / n, i % n)).collect();
            let (mut here, mut plain) = (vec![0.0; n * n], vec![0.0; n * n]);
            squared(&rows, &mut here, n);
            square::<false>(&rows, &mut plain, n);
            near(&here, &products);
            near(&plain, &products);
            let dots: Vec<f64> = (0..n * n).map(|i| dot(row(i / n), row(i % n))).collect();
            near(&dots, &products);
        }
    }
}
