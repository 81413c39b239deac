//! A search for the constants that fit best, without randomness: the same data give the same ones.

/// Positive constants that make `loss` small: the search of Hooke and Jeeves over their logarithms.
///
/// Each constant in turn moves up or down by a step; where a round helped, the next one starts as
/// far again in the same direction, which follows valleys in which several constants trade places;
/// where none helps, the step halves.
pub(crate) fn descend(start: &[f64], loss: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut best = start.to_vec();
    let mut least = loss(&best);
    let mut step: f64 = 0.2;
    while step > 1e-3 {
        let (mut found, mut reached) = explored(&best, least, step, &loss);
        if reached >= least * (1.0 - 1e-7) {
            step /= 2.0;
            continue;
        }
        loop {
            let ahead: Vec<f64> =
                found.iter().zip(&best).map(|(new, old)| new * new / old).collect();
            (best, least) = (found, reached);
            let from = loss(&ahead);
            (found, reached) = explored(&ahead, from, step, &loss);
            if reached >= least * (1.0 - 1e-7) {
                break;
            }
        }
    }
    best
}

/// One round of moves by a step, each kept where it helps.
fn explored(
    from: &[f64],
    mut least: f64,
    step: f64,
    loss: &impl Fn(&[f64]) -> f64,
) -> (Vec<f64>, f64) {
    let mut best = from.to_vec();
    for index in 0..best.len() {
        for factor in [step.exp(), (-step).exp()] {
            let kept = best[index];
            best[index] *= factor;
            let tried = loss(&best);
            if tried < least {
                least = tried;
                break;
            }
            best[index] = kept;
        }
    }
    (best, least)
}

/// Loss of one prediction: the square of a small error, a large error itself.
pub(crate) fn off(predicted: f64, measured: f64) -> f64 {
    let off = (predicted / measured).ln() / 0.1;
    (1.0 + off * off).sqrt() - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_constants_that_trade_places() {
        let points = [1.0, 2.0, 4.0, 8.0, 64.0, 512.0];
        let truth = |x: f64| 5.0 + 0.3 * x;
        let loss = |c: &[f64]| points.iter().map(|x| off(c[0] + c[1] * x, truth(*x))).sum::<f64>();
        let found = descend(&[50.0, 3.0], loss);
        assert!((found[0] - 5.0).abs() < 0.05 && (found[1] - 0.3).abs() < 0.003, "{found:?}");
    }
}
