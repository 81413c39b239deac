//! What kernels reach, by family of accelerators, and the clocks that parts sustain.

use maud::{Markup, html};
use model::catalogue::accelerator::Accelerator;
use model::catalogue::calibration::{AMPERE, ASCEND, BLACKWELL, HOPPER, Kernels};
use validation::report::Row;

use super::origin::{self, Origin};
use crate::format;
use crate::page::trust::sheet::{Cell, table};
use crate::page::trust::words::NOTHING;

/// Families of accelerators.
const FAMILIES: [&Kernels; 4] = [&ASCEND, &AMPERE, &HOPPER, &BLACKWELL];

/// A constant of each family. The ranges are those of the fit, `validation::calibrate`.
struct Constant {
    name: &'static str,
    meaning: &'static str,
    value: fn(&Kernels) -> f64,
    /// Whether a part has what the constant is about.
    applies: fn(&Accelerator) -> bool,
    /// Whether a run of the family depends on it; `None` for a constant that isn't fitted.
    depends: Option<fn(&Row) -> bool>,
    range: fn(&Kernels) -> [f64; 2],
}

const ANY: Constant = Constant {
    name: "",
    meaning: "",
    value: |kernels| kernels.gemm,
    applies: |_| true,
    depends: Some(|_| true),
    range: |_| [0.1, 0.85],
};

const CONSTANTS: [Constant; 10] = [
    Constant {
        name: "Matrix products, 16 bit",
        meaning: "a large, aligned matmul, of the 16-bit peak",
        value: |kernels| kernels.gemm,
        depends: Some(|row| matches!(row.precision.as_str(), "bf16" | "fp16")),
        range: |kernels| [0.3, best(kernels, |part| part.best_gemm_fraction)],
        ..ANY
    },
    Constant {
        name: "Matrix products, 8 bit",
        meaning: "one scale for each tensor, of the 8-bit peak",
        value: |kernels| kernels.fp8_gemm,
        applies: |part| part.fp8_tflops.is_some(),
        depends: Some(|row| matches!(row.precision.as_str(), "fp8_delayed" | "fp8_tensorwise")),
        range: |kernels| [0.3, best(kernels, |part| part.best_fp8_gemm_fraction)],
    },
    Constant {
        name: "Matrix products, 8 bit in blocks",
        meaning: "one scale for each block of elements, of the 8-bit peak",
        value: |kernels| kernels.block_fp8_gemm,
        applies: |part| part.fp8_tflops.is_some(),
        depends: Some(|row| matches!(row.precision.as_str(), "fp8_blockwise" | "mxfp8")),
        range: |kernels| [0.3, best(kernels, |part| part.best_fp8_gemm_fraction)],
    },
    Constant {
        name: "Matrix products, 4 bit",
        meaning: "of the 4-bit peak",
        value: |kernels| kernels.fp4_gemm,
        applies: |part| part.fp4_tflops.is_some(),
        depends: Some(|row| row.precision == "nvfp4"),
        range: |_| [0.2, 0.75],
    },
    Constant {
        name: "Grouped matrix products",
        meaning: "one kernel for all local experts, of the rate of one matmul",
        value: |kernels| kernels.grouped_gemm,
        depends: None,
        ..ANY
    },
    Constant {
        name: "Attention, forward",
        meaning: "flash attention, of the 16-bit peak",
        value: |kernels| kernels.attention_forward,
        depends: None,
        ..ANY
    },
    Constant {
        name: "Attention, backward",
        meaning: "the same, backward",
        value: |kernels| kernels.attention_backward,
        depends: None,
        ..ANY
    },
    Constant {
        name: "FlashAttention-2",
        meaning: "as published FSDP runs had it, of these two rates",
        value: |kernels| kernels.flash_attention_2,
        depends: Some(|row| row.framework.as_deref() == Some("fsdp")),
        range: |_| [0.2, 1.0],
        ..ANY
    },
    Constant {
        name: "Element-wise kernels",
        meaning: "of the memory bandwidth",
        value: |kernels| kernels.vector_bandwidth,
        range: |_| [0.3, 0.85],
        ..ANY
    },
    Constant {
        name: "Copies of rows by an index",
        meaning: "permutation of tokens and embedding, of the memory bandwidth",
        value: |kernels| kernels.gather_bandwidth,
        ..ANY
    },
];

/// The best measured matmul of a family's parts, as a share of the peak.
fn best(kernels: &Kernels, of: fn(&Accelerator) -> f64) -> f64 {
    origin::parts(kernels.family).map(of).fold(0.0, f64::max)
}

/// Both tables, with what they were fitted on. `rows` are the runs that count.
pub(super) fn html(rows: &[&Row]) -> Markup {
    let mut columns = vec!["Share that kernels reach"];
    // Without the vendor the columns are narrow enough for a phone.
    columns.extend(FAMILIES.map(|kernels| kernels.family.trim_start_matches("NVIDIA ")));
    let lines = CONSTANTS.iter().map(|constant| line(constant, rows));
    let sets = FAMILIES.map(|kernels| (kernels.family, kernels.fitted_on));
    html! {
        (table("Share of the peak that kernels reach", &columns, lines))
        (origin::fitted_on("What the families' constants are fitted on", &sets))
    }
}

fn line(constant: &Constant, rows: &[&Row]) -> Vec<Cell> {
    let cell = |kernels: &Kernels| {
        if !origin::parts(kernels.family).any(constant.applies) {
            return Cell::text(NOTHING);
        }
        let value = (constant.value)(kernels);
        // Ascend's are those of a dated state of the software.
        let depends = constant.depends.filter(|_| kernels.family != ASCEND.family);
        let origin = depends.map_or(Origin::Source, |depends| {
            let has_runs =
                rows.iter().any(|row| origin::family(row) == kernels.family && depends(row));
            Origin::of(value, (constant.range)(kernels), has_runs)
        });
        share(value, origin)
    };
    let first = origin::name(constant.name, constant.meaning);
    std::iter::once(first).chain(FAMILIES.map(cell)).collect()
}

fn share(share: f64, origin: Origin) -> Cell {
    let text = format::percent(share, 1).to_string();
    Cell { note: origin.mark().to_owned(), ..Cell::text(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(name: &str, rows: &[&Row]) -> Vec<(String, String)> {
        let constant = CONSTANTS.iter().find(|constant| constant.name == name).expect("a constant");
        line(constant, rows).into_iter().skip(1).map(|cell| (cell.note, cell.text)).collect()
    }

    #[test]
    fn a_family_without_a_format_has_no_share_of_it() {
        let texts = |name| cells(name, &[]).into_iter().map(|(_, text)| text == NOTHING);
        assert!(texts("Matrix products, 8 bit").eq([true, true, false, false]));
        assert!(texts("Matrix products, 8 bit in blocks").eq([true, true, false, false]));
        assert!(texts("Matrix products, 4 bit").eq([true, true, true, false]));
        assert!(texts("Matrix products, 16 bit").eq([false; 4]));
    }

    #[test]
    fn a_constant_that_no_run_depends_on_is_marked() {
        let row = Row {
            accelerator: Some("h100-sxm-80gb".to_owned()),
            precision: "mxfp8".to_owned(),
            ..Row::default()
        };
        let marks = |name| cells(name, &[&row]).into_iter().map(|(mark, _)| mark);
        assert_eq!(marks("Matrix products, 8 bit").nth(2).as_deref(), Some("set"));
        assert_ne!(marks("Matrix products, 8 bit in blocks").nth(2).as_deref(), Some("set"));
        assert!(marks("Attention, forward").all(|mark| mark == "source"));
    }
}
