//! Routers that know of groups of experts.

/// Groups that the experts of a token lie in, when its k experts are any of E in G equal groups:
/// G (1 - C(E - E/G, k) / C(E, k)), the expectation of drawing without putting back.
///
/// With groups on nodes it is the number of nodes that a token is sent to.
#[must_use]
pub fn expected_groups(experts: u64, groups: u64, topk: u64) -> f64 {
    if groups == 0 || experts == 0 {
        return 0.0;
    }
    let size = experts / groups;
    // Chance that none of the k draws hits a group: each draw leaves one expert fewer.
    let missed = |chance: f64, drawn: u64| {
        let left = (experts - drawn) as f64;
        chance * ((left - size as f64).max(0.0) / left)
    };
    groups as f64 * (1.0 - (0..topk.min(experts)).fold(1.0, missed))
}

/// Groups that the experts of a token lie in where it keeps only the best `group_topk` groups: at
/// most that many.
///
/// # Source
/// DeepSeek-V3, arXiv 2412.19437, section 2.1.2 (node-limited routing). The expectation is derived:
/// the groups kept are drawn first, then experts among theirs.
#[must_use]
pub fn limited_groups(experts: u64, groups: u64, group_topk: u64, topk: u64) -> f64 {
    let kept = group_topk.clamp(1, groups.max(1));
    let among = experts / groups.max(1) * kept;
    expected_groups(among, kept, topk)
}

/// Whether the load of every device is the same by construction. MoGE's router takes as many
/// experts from each group, so that it is the same where every device holds as many whole groups.
///
/// Inside a device experts may still differ.
///
/// # Source
/// Pangu Pro MoE, arXiv 2505.21411, section 2.
#[must_use]
pub const fn groups_fill_devices(groups: u64, devices: u64) -> bool {
    devices > 0 && groups.is_multiple_of(devices)
}
