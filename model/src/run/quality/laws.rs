//! The laws, as they are published: nats per token, tokens, and C = 6 x active non-embedding
//! parameters x tokens.

use crate::ground::source::{
    ABNAR_2025, CHINCHILLA_REPLICATION, CLARK_2022, JOINT_SCALING, KRAJEWSKI_2024, LING_LEVERAGE,
    Source, ZHAO_2025,
};

/// The compute beyond which the leverage of experts is not let grow.
///
/// A choice of this tool, not of the law: fits go to 6e20; clipped at 3e21, 1e22, 3e22 and 1e23 it
/// gives 6.00, 6.75, 7.52 and 8.47 for Pangu Ultra MoE.
pub const MAX_COMPUTE: f64 = 1e22;

/// The finest granularity at which the leverage was measured.
pub const MAX_GRANULARITY: f64 = 16.0;

/// The source of each law, in the order in which this module has them.
pub const SOURCES: &[(&str, Source)] = &[
    ("dense", CHINCHILLA_REPLICATION),
    ("leverage", LING_LEVERAGE),
    ("joint", JOINT_SCALING),
    ("zhao", ZHAO_2025),
    ("abnar", ABNAR_2025),
    ("clark", CLARK_2022),
    ("krajewski", KRAJEWSKI_2024),
];

fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

/// Loss of a dense model of this many parameters after this many tokens, in nats:
/// 1.8172 + 482.01 / N^0.3478 + 2085.43 / D^0.3658.
///
/// # Source
/// Epoch AI's replication of Chinchilla, arXiv 2404.10102, with unrounded coefficients.
#[must_use]
pub fn dense(params: f64, tokens: f64) -> f64 {
    1.8172 + 482.01 / pow(params, 0.3478) + 2085.43 / pow(tokens, 0.3658)
}

/// Tokens after which a dense model reaches a loss; none below the law's floor for its size:
/// (2085.43 / (L - 1.8172 - 482.01 / N^0.3478))^(1 / 0.3658).
///
/// # Source
/// [`dense`], solved for D.
#[must_use]
pub fn dense_tokens(params: f64, loss: f64) -> Option<f64> {
    let left = loss - 1.8172 - 482.01 / pow(params, 0.3478);
    (left > 0.0).then(|| pow(2085.43 / left, 1.0 / 0.3658))
}

/// Efficiency leverage: how many times its own active compute a dense model needs for the same
/// loss: A'^(1.23 - 0.0761 log10 C + 0.0167 (log2 G)^2 - 0.117 log2 G), A' = A + 0.0163.
///
/// The published law bounds A' from above by 5.28e16, which changes no double. Its logarithms'
/// bases are not printed; only 10 for C and 2 for G give its own examples.
///
/// # Source
/// Ling, arXiv 2507.17702, eq. 13 and table 2.
#[must_use]
pub fn leverage(activation: f64, granularity: f64, compute: f64) -> f64 {
    let fineness = libm::log2(granularity);
    let exponent =
        1.23 - 0.0761 * libm::log10(compute) + 0.0167 * fineness * fineness - 0.117 * fineness;
    pow(activation + 0.0163, exponent)
}

/// 1 / (E - 1 + (1/s - 1/m)^-1) + 1/m, inverted: experts as they saturate between two ends.
fn saturated(experts: f64, start: f64, most: f64) -> f64 {
    let base = 1.0 / (1.0 / start - 1.0 / most);
    1.0 / (1.0 / (experts - 1.0 + base) + 1.0 / most)
}

/// Loss of a model with this many active parameters, tokens, and experts over active experts, in
/// nats: 35.91 E'^-0.2285 N^(-0.1889 + 0.0098 ln E') + 35.98 E'^0.5529 D^(-0.1775 - 0.0259 ln E') +
/// 1.3637, where E' saturates between 2.0732 and 290.4521.
///
/// # Source
/// Ludziejewski et al. 2025, arXiv 2502.05172, eq. 6 and table 3.
#[must_use]
pub fn joint(active: f64, tokens: f64, expansion: f64) -> f64 {
    let experts = saturated(expansion, 2.0732, 290.4521);
    let ln = libm::log(experts);
    35.91 * pow(experts, -0.2285) * pow(active, -0.1889 + 0.0098 * ln)
        + 35.98 * pow(experts, 0.5529) * pow(tokens, -0.1775 - 0.0259 * ln)
        + 1.3637
}

/// Leverage by the joint law: the dense parameters of equal loss over the active ones.
///
/// # Source
/// [`joint`] at an expansion of one, solved for N.
#[must_use]
pub fn joint_leverage(active: f64, tokens: f64, expansion: f64) -> f64 {
    let loss = joint(active, tokens, expansion);
    let ln = libm::log(saturated(1.0, 2.0732, 290.4521));
    let dense = saturated(1.0, 2.0732, 290.4521);
    let data = 35.98 * pow(dense, 0.5529) * pow(tokens, -0.1775 - 0.0259 * ln);
    let left = (loss - 1.3637 - data) / (35.91 * pow(dense, -0.2285));
    if left <= 0.0 {
        // More than any dense model reaches with these tokens.
        return f64::MAX;
    }
    pow(left, 1.0 / (-0.1889 + 0.0098 * ln)) / active
}

/// Loss of a model with this many parameters, tokens, active parameters and active experts, of
/// which a share is shared, in nats: (0.1577 k + 7.2446 / k + 5.1395 S^2 - 3.2363 S) (N^-a + 0.0013
/// Na^-a + 0.0450 Na / N) + 38.051 N^-a + 27129.05 D^-0.4694 + 31.096 Na^-a + 1.8182, a = 0.2383.
///
/// # Source
/// Zhao et al. 2025, arXiv 2509.23678.
#[must_use]
pub fn zhao(total: f64, tokens: f64, active: f64, experts: f64, shared: f64) -> f64 {
    const ALPHA: f64 = 0.2383;
    let kind = 0.1577 * experts + 7.2446 / experts + 5.1395 * shared * shared - 3.2363 * shared;
    let [of_total, of_active] = [pow(total, -ALPHA), pow(active, -ALPHA)];
    kind * (of_total + 0.0013 * of_active + 0.0450 * active / total)
        + 38.051 * of_total
        + 27_129.05 * pow(tokens, -0.4694)
        + 31.096 * of_active
        + 1.8182
}

/// Loss by parameters, tokens and sparsity S = 1 - k/E, in nats. Not among the members: its term
/// in the sparsity never shrinks with scale, and of models left out it explains 68 %.
///
/// # Source
/// Abnar et al. 2025, arXiv 2501.12370, eq. 6 and table 3.
#[must_use]
pub fn abnar(total: f64, tokens: f64, sparsity: f64) -> f64 {
    let dense = 1.0 - sparsity;
    16_612.50 / pow(total, 0.5962)
        + 5_455.67 / pow(tokens, 0.3954)
        + 0.4598 / pow(dense, -0.1666)
        + 17.26 / (pow(dense, 0.1603) * pow(total, 0.1595))
        + 0.94
}

/// Loss of a dense model of this many parameters in which every second layer has E experts, after
/// 130 billion tokens, in nats; routed by S-Base. Not among the members: tokens are fixed.
///
/// # Source
/// Clark et al. 2022, arXiv 2202.01169, table 3.
#[must_use]
pub fn clark(params: f64, experts: f64) -> f64 {
    let experts = libm::log10(saturated(experts, 1.847, 314.478));
    let params = libm::log10(params);
    pow(10.0, -0.082 * params - 0.108 * experts + 0.009 * params * experts + 1.104)
}

/// Loss of 64 experts by parameters, tokens and granularity, in nats. Not among the members: the
/// number of experts is fixed.
///
/// # Source
/// Krajewski et al. 2024, arXiv 2402.07871, eq. 9 and table 1.
#[must_use]
pub fn krajewski(params: f64, tokens: f64, granularity: f64) -> f64 {
    0.47 + (2.1 / pow(granularity, 0.58) + 18.1) / pow(params, 0.115) + 30.8 / pow(tokens, 0.147)
}
