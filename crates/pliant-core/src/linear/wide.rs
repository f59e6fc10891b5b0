//! Products of rows of numbers with the machine's vector instructions.
//!
//! Rows have [`padded`] lengths: what is beyond their numbers is zero. Sums have a fixed order.

use std::array::from_fn;

use super::lanes::{LANES, add_scaled, fma, one_block_at_a_time};

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

/// N rows of some length one after the other in memory, in lanes.
#[inline(always)]
fn split<const N: usize>(rows: &[f64], stride: usize) -> [&[[f64; LANES]]; N] {
    from_fn(|k| rows[k * stride..(k + 1) * stride].as_chunks().0)
}

/// y += Σ x_k row_k, the rows as long as y and one after the other in memory.
#[inline(always)]
pub(crate) fn add_rows<const FUSED: bool, const N: usize>(x: &[f64; N], rows: &[f64], y: &mut [f64]) {
    debug_assert_eq!(y.len(), padded(y.len()));
    let rows = split::<N>(rows, y.len());
    for (j, y) in y.as_chunks_mut().0.iter_mut().enumerate() {
        one_block_at_a_time();
        let mut sum = *y;
        for k in 0..N {
            sum = add_scaled::<FUSED>(x[k], rows[k][j], sum);
        }
        *y = sum;
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

/// The products of m rows, one after the other in memory, with each other: m×m, into `out`.
#[inline(always)]
pub(crate) fn square<const FUSED: bool>(rows: &[f64], out: &mut [f64], m: usize) {
    let stride = rows.len() / m.max(1);
    debug_assert_eq!(stride, padded(stride));
    for a in 0..m {
        let left = rows[a * stride..(a + 1) * stride].as_chunks().0;
        // Four at a time, as far as there are four.
        for b in (0..=a).step_by(LANES) {
            let to = &mut out[a * m + b..a * m + (b + LANES).min(m)];
            match <&mut [f64; LANES]>::try_from(&mut *to) {
                Ok(to) => *to = products::<FUSED, LANES>(left, &rows[b * stride..]),
                Err(_) => {
                    for (k, to) in to.iter_mut().enumerate() {
                        [*to] = products::<FUSED, 1>(left, &rows[(b + k) * stride..]);
                    }
                }
            }
        }
    }
    for a in 0..m {
        (a + 1..m).for_each(|b| out[a * m + b] = out[b * m + a]);
    }
}

/// The products of a row with N others.
#[inline(always)]
fn products<const FUSED: bool, const N: usize>(a: &[[f64; LANES]], rows: &[f64]) -> [f64; N] {
    let rows = split::<N>(rows, LANES * a.len());
    let mut sums = [[0.0; LANES]; N];
    for (j, a) in a.iter().enumerate() {
        one_block_at_a_time();
        for k in 0..N {
            sums[k] = from_fn(|i| fma::<FUSED>(a[i], rows[k][j][i], sums[k][i]));
        }
    }
    sums.map(|s| (s[0] + s[1]) + (s[2] + s[3]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::Numbers;

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
