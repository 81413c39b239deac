//! The measurements behind a constant as the model's source has them.

use std::collections::BTreeMap;

/// Width of a line of source.
const COLUMNS: usize = 100;

/// `fitted_on: Evidence::Runs(...),` of these rows' sources, behind this many spaces.
pub fn runs<'a>(sources: impl Iterator<Item = &'a str>, indent: usize) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    sources.for_each(|source| *counts.entry(source).or_default() += 1);
    if counts.is_empty() {
        return "fitted_on: Evidence::Unfitted(\"no run\"),".to_owned();
    }
    field("Runs(&[", &counts.into_iter().collect::<Vec<_>>(), indent)
}

/// Evidence of kernels: who measured them, and the number of each kind.
pub fn kernels(source: &str, kinds: &[(&str, usize)], indent: usize) -> String {
    field(&format!("Kernels({source:?}, &["), kinds, indent)
}

fn field(head: &str, counted: &[(&str, usize)], indent: usize) -> String {
    let items: Vec<String> =
        counted.iter().map(|(name, rows)| format!("({name:?}, {rows})")).collect();
    let whole = format!("fitted_on: Evidence::{head}{}]),", items.join(", "));
    if indent + whole.len() <= COLUMNS {
        return whole;
    }
    let (outer, inner) = (" ".repeat(indent), " ".repeat(indent + 4));
    let mut lines = vec![String::new()];
    for item in items {
        let last = lines.last().map_or(0, String::len);
        if last > 0 && indent + 4 + last + " ".len() + item.len() + ",".len() > COLUMNS {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            let space = if line.is_empty() { "" } else { " " };
            *line += &format!("{space}{item},");
        }
    }
    let body: String = lines.iter().map(|line| format!("{inner}{line}\n")).collect();
    format!("fitted_on: Evidence::{head}\n{body}{outer}]),")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_written_as_the_model_has_it() {
        let calibration = include_str!("../../../model/src/catalogue/calibration.rs");
        let kinds = [("gemm", 197), ("attention", 343), ("mla", 143)];
        assert!(calibration.contains(&kernels("aiconfigurator 095f58a", &kinds, 4)));
        let sources = [("dgxc_bench", 12), ("llm_foundry", 120), ("torchtitan", 22)];
        let rows = sources.iter().flat_map(|(name, rows)| std::iter::repeat_n(*name, *rows));
        assert!(calibration.contains(&runs(rows, 4)));
        let many =
            "bigscience korthikanti llm_foundry megatron21 torchtitan vtrain_single zero_bubble";
        let counts = [48, 9, 68, 11, 7, 11, 48];
        let rows = many.split(' ').zip(counts);
        let rows = rows.flat_map(|(name, rows)| std::iter::repeat_n(name, rows));
        assert!(calibration.contains(&runs(rows, 4)));
        let engines = include_str!("../../../model/src/serving/overheads.rs");
        assert!(engines.contains(&runs(std::iter::empty(), 8)));
        assert!(engines.contains(&runs(["vllm_ci"; 3].into_iter(), 8)));
    }
}
