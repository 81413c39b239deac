//! Least squares of a few unknowns, each with a value that it has unless the rows say otherwise.

use super::constant::COUNT;

/// A symmetric matrix and a vector, of which the first so many rows count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Normal {
    matrix: [[f64; COUNT]; COUNT],
    vector: [f64; COUNT],
    size: usize,
}

/// The unknowns, and the covariance of what is left of them to know.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Solution {
    pub(crate) values: [f64; COUNT],
    pub(crate) covariance: [[f64; COUNT]; COUNT],
}

impl Normal {
    /// Unknowns that have these values to within these standard deviations.
    pub(crate) fn new(priors: &[[f64; 2]]) -> Self {
        let mut normal = Self { size: priors.len().min(COUNT), ..Self::default() };
        for (index, [mean, deviation]) in priors.iter().take(COUNT).enumerate() {
            let weight = 1.0 / (deviation * deviation);
            normal.matrix[index][index] = weight;
            normal.vector[index] = weight * mean;
        }
        normal
    }

    /// A row: `slopes . unknowns = target` to within 1 / root of `weight`.
    pub(crate) fn add(&mut self, slopes: &[f64], target: f64, weight: f64) {
        for row in 0..self.size {
            self.vector[row] += weight * slopes[row] * target;
            for column in 0..self.size {
                self.matrix[row][column] += weight * slopes[row] * slopes[column];
            }
        }
    }

    /// Solves it by Cholesky's decomposition. The priors keep it positive definite.
    pub(crate) fn solve(&self) -> Solution {
        let size = self.size;
        let mut lower = [[0.0; COUNT]; COUNT];
        for row in 0..size {
            for column in 0..=row {
                let known: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
                let left = self.matrix[row][column] - known;
                lower[row][column] = if row == column {
                    left.max(f64::MIN_POSITIVE).sqrt()
                } else {
                    left / lower[column][column]
                };
            }
        }
        let mut solution =
            Solution { values: substituted(&lower, self.vector, size), ..<_>::default() };
        for index in 0..size {
            let mut unit = [0.0; COUNT];
            unit[index] = 1.0;
            solution.covariance[index] = substituted(&lower, unit, size);
        }
        solution
    }
}

/// The solution of L L^T x = b.
fn substituted(lower: &[[f64; COUNT]; COUNT], mut b: [f64; COUNT], size: usize) -> [f64; COUNT] {
    for row in 0..size {
        let known: f64 = (0..row).map(|k| lower[row][k] * b[k]).sum();
        b[row] = (b[row] - known) / lower[row][row];
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|k| lower[k][row] * b[k]).sum();
        b[row] = (b[row] - known) / lower[row][row];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_rows_are_met_and_what_no_row_tells_keeps_its_prior() {
        let mut normal = Normal::new(&[[0.0, 1.0], [0.0, 1.0], [0.25, 0.5]]);
        normal.add(&[1.0, 1.0, 0.0], 3.0, 1e12);
        normal.add(&[1.0, -1.0, 0.0], 1.0, 1e12);
        let Solution { values, covariance } = normal.solve();
        assert!((values[0] - 2.0).abs() < 1e-6 && (values[1] - 1.0).abs() < 1e-6, "{values:?}");
        assert!((values[2] - 0.25).abs() < 1e-12 && (covariance[2][2] - 0.25).abs() < 1e-12);
        assert!(covariance[0][0] < 1e-9);
    }

    #[test]
    fn one_row_moves_a_value_by_its_share_of_what_is_known() {
        let mut normal = Normal::new(&[[0.0, 0.1]]);
        normal.add(&[1.0], 0.2, 1.0 / (0.1 * 0.1));
        let solution = normal.solve();
        assert!((solution.values[0] - 0.1).abs() < 1e-12, "{solution:?}");
        assert!((solution.covariance[0][0] - 0.005).abs() < 1e-12, "{solution:?}");
    }
}
