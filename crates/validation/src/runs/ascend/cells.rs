//! Cells where numbers are beside remarks.

/// Throughput of one device, by its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rate {
    /// Tokens per second.
    TokensPerSecond(f64),
    /// TFLOPS.
    Tflops(f64),
    /// Seconds of a step.
    StepTime(f64),
}

/// The number that a cell starts with: 6144 of `6144 (derived)`; none of `?`, `-` and `6K-10K`.
pub(super) fn leading_number(cell: &str) -> Option<u64> {
    let digits: String = cell.chars().take_while(char::is_ascii_digit).collect();
    let next = cell[digits.len()..].chars().next();
    if next.is_some_and(|next| next.is_ascii_alphabetic()) {
        return None;
    }
    digits.parse().ok().filter(|value| *value > 0)
}

/// A share of at most one that a cell starts with: 0.658 of `0.658 (1.0.0 README)`.
pub(super) fn leading_share(cell: &str) -> Option<f64> {
    let number: String = cell.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    number.parse().ok().filter(|value| (0.0..=1.0).contains(value) && *value > 0.0)
}

/// `MC2; NFA; fusions` of `0.52 (0.43 before MC2/NFA/fusions)`: what the run has that an earlier
/// one hadn't.
pub(super) fn features(cell: &str) -> String {
    let list = cell.split_once(" before ").map_or("", |(_, list)| list);
    list.trim_end_matches(')').split('/').map(str::trim).collect::<Vec<_>>().join("; ")
}

/// Devices, and what was assumed of them: dies where a cell counts cards too (`64 cards = 128
/// dies`), the lower end of a range in thousands (`6K-10K`).
pub(super) fn devices(cell: &str) -> (Option<u64>, Option<String>) {
    if let Some((before, _)) = cell.split_once(" die") {
        let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        return (leading_number(digits), None);
    }
    if let Some((low, high)) = cell.split_once('-')
        && let (Some(low), Some(high)) = (thousands(low), thousands(high))
        && low < high
    {
        return (Some(low), Some(format!("{low} devices, the lower end of {cell}")));
    }
    // Nodes and cards hold several devices; how many depends on the part.
    let counts_others = cell.contains("node") || cell.contains("card");
    (leading_number(cell).filter(|_| !counts_others), None)
}

/// 6144 of `6K`: systems are built of powers of two.
fn thousands(text: &str) -> Option<u64> {
    let count: u64 = text.trim().strip_suffix('K')?.parse().ok()?;
    count.checked_mul(1_024).filter(|devices| *devices > 0)
}

/// `4 (x TP = 32 groups)` names the groups that experts are spread over.
pub(super) fn expert_parallel(cell: &str) -> Option<u64> {
    let groups = cell.rsplit_once("= ").filter(|(_, rest)| rest.contains("groups"));
    groups.and_then(|(_, rest)| leading_number(rest)).or_else(|| leading_number(cell))
}

/// A number of chunks (`2 chunks`) or of layers in one (`5`).
pub(super) fn virtual_pipeline(cell: &str) -> String {
    match (leading_number(cell), cell.contains("chunk")) {
        (Some(chunks), true) => chunks.to_string(),
        (Some(layers), false) => format!("{layers} layers per virtual stage"),
        (None, _) => cell.trim_matches(['-', '?']).to_owned(),
    }
}

/// `ZeRO-1` of `dist-opt`, `FSDP (group 32)` of `FSDP32`; empty where the options name nothing.
pub(super) fn sharding(options: &str) -> String {
    if let Some((_, rest)) = options.split_once("FSDP") {
        let group: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return if group.is_empty() { "FSDP".into() } else { format!("FSDP (group {group})") };
    }
    let named = options.contains("dist-opt") || options.contains("ZeRO");
    if named { "ZeRO-1".to_owned() } else { String::new() }
}

/// A throughput of one device (die), by its unit; `None` if the unit leaves open whose it is.
pub(super) fn rate(
    value: f64,
    unit: &str,
    devices: Option<u64>,
    seq_length: Option<u64>,
) -> Option<Rate> {
    let unit = unit.to_lowercase();
    if unit.contains("not stated") || unit.contains("not said") {
        return None;
    }
    if unit.starts_with("s/step") || unit.starts_with("s/it") {
        return Some(Rate::StepTime(value));
    }
    if unit.starts_with("tflop") {
        return Some(Rate::Tflops(value));
    }
    let per_device = if unit.starts_with("tok/s total") {
        value / devices? as f64
    } else if unit.starts_with("samples/s/npu") {
        value * seq_length? as f64
    } else if unit.starts_with("tok/s") {
        // A card of Atlas A3 holds two dies.
        let is_card = unit.contains("2-die card") || unit.contains("/card");
        if is_card { value / 2.0 } else { value }
    } else {
        return None;
    };
    Some(Rate::TokensPerSecond(per_device))
}

/// The greatest of the readings after `max mem` or `max memory`, in GB: 22.7 of `max memory 17.8 /
/// 22.7 GB`.
pub(super) fn memory(text: &str) -> Option<f64> {
    let (_, rest) = text.split_once("max mem")?;
    let rest = rest.strip_prefix("ory").unwrap_or(rest);
    let (numbers, _) = rest.split_once("GB")?;
    let readings = numbers.split('/').map(|number| number.trim().parse::<f64>());
    let readings: Vec<f64> = readings.collect::<Result<_, _>>().ok()?;
    readings.into_iter().filter(|value| (0.1..1e4).contains(value)).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_dies_and_the_lower_end_of_a_range() {
        let count = |cell: &str| devices(cell).0;
        assert_eq!(count("64 cards = 128 dies"), Some(128));
        assert_eq!(count("512 dies (256 cards)"), Some(512));
        assert_eq!(count("1024 (yaml DP128xTP4xPP2; measured size may differ)"), Some(1_024));
        assert_eq!(count("6K-10K"), Some(6_144));
        assert!(devices("6K-10K").1.is_some() && devices("8").1.is_none());
        for open in ["256 nodes", ">1000 cards", "?", "", "10K-6K", "K-K"] {
            assert_eq!(count(open), None, "{open}");
        }
    }

    #[test]
    fn a_unit_says_whose_throughput_it_is() {
        let of = |unit: &str| rate(100.0, unit, Some(10), Some(2));
        assert_eq!(of("tok/s total"), Some(Rate::TokensPerSecond(10.0)));
        assert_eq!(of("tok/s/NPU"), Some(Rate::TokensPerSecond(100.0)));
        assert_eq!(of("tok/s/die (derived unit)"), Some(Rate::TokensPerSecond(100.0)));
        assert_eq!(of("tok/s (per 2-die card: derived)"), Some(Rate::TokensPerSecond(50.0)));
        assert_eq!(of("samples/s/NPU"), Some(Rate::TokensPerSecond(200.0)));
        assert_eq!(of("s/step (median of 15)"), Some(Rate::StepTime(100.0)));
        assert_eq!(of("TFLOP/s/NPU"), Some(Rate::Tflops(100.0)));
        assert_eq!(of("tok/s (per card or per die not stated)"), None);
        assert_eq!(of("MFU only"), None);
    }

    #[test]
    fn memory_is_the_greatest_reading() {
        assert_eq!(memory("jit O1; max mem 53GB"), Some(53.0));
        assert_eq!(memory("max memory 17.8 / 22.7 GB (rank 0 / 4)"), Some(22.7));
        assert_eq!(memory("max memory unknown"), None);
    }

    #[test]
    fn what_came_before_names_what_the_run_has() {
        assert_eq!(features("0.52 (0.43 before MC2/NFA/fusions)"), "MC2; NFA; fusions");
        assert_eq!(features("0.658 (1.0.0 README) / 0.69 (2.0.0)"), "");
    }

    #[test]
    fn sharding_has_its_group() {
        assert_eq!(sharding("FSDP32, full AC"), "FSDP (group 32)");
        assert_eq!(sharding("dist-opt; mc2 on"), "ZeRO-1");
        assert_eq!(sharding("full recompute"), "");
    }
}
