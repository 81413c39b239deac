//! Errors of the predictions of some runs.

use model::ground::sorting::quantile;
use validation::report::{Row, Score};

/// The score of those of some runs that count towards the targets or, if none does, of those that
/// are compared; `None` if none is.
#[must_use]
pub fn score(rows: &[&Row]) -> Option<Score> {
    let any_scored = rows.iter().any(|row| row.scored);
    let mut sizes = Vec::new();
    let mut times = Vec::new();
    for row in rows.iter().filter(|row| row.scored || !any_scored) {
        sizes.extend(row.error.map(f64::abs));
        times.extend(row.time_error);
    }
    if sizes.is_empty() {
        return None;
    }
    sizes.sort_unstable_by(f64::total_cmp);
    times.sort_unstable_by(f64::total_cmp);
    let within = sizes.iter().filter(|size| **size <= 0.1).count();
    Some(Score {
        rows: sizes.len(),
        median: quantile(&sizes, 0.5),
        p90: quantile(&sizes, 0.9),
        bias: quantile(&times, 0.5),
        within_tenth: within as f64 / sizes.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_has_the_size_of_errors_and_the_sign_of_the_bias() {
        let rows: Vec<Row> = [-0.2, 0.05, 0.1, -0.4, 0.3]
            .map(|error| Row { error: Some(error), time_error: Some(-error), ..Row::default() })
            .into();
        let rows: Vec<&Row> = rows.iter().collect();
        let score = score(&rows).expect("five runs");
        assert_eq!(score.rows, 5);
        assert!((score.median - 0.2).abs() < 1e-12, "{score:?}");
        assert!((score.p90 - 0.36).abs() < 1e-12, "{score:?}");
        assert!((score.bias + 0.05).abs() < 1e-12, "{score:?}");
        assert!((score.within_tenth - 0.4).abs() < 1e-12, "{score:?}");
    }

    #[test]
    fn runs_that_count_are_scored_before_those_that_do_not() {
        let row = |error, scored| Row { error: Some(error), scored, ..Row::default() };
        let (good, weak) = (row(0.1, true), row(0.9, false));
        assert_eq!(score(&[&good, &weak]).map(|score| score.rows), Some(1));
        assert_eq!(score(&[&weak]).map(|score| score.rows), Some(1));
    }

    #[test]
    fn runs_without_a_comparison_have_no_score() {
        assert_eq!(score(&[&Row::default()]), None);
    }
}
