//! Tables of Ascend's profilers: `kernel_details.csv` of the Ascend PyTorch Profiler,
//! `op_summary_*.csv` of msprof, and `op_statistic.csv` of both.
//!
//! Source: hiascend.com, Ascend PyTorch Profiler, timeline and summary data (CANN 8.5). Shapes are
//! written as `"4096,7168;7168,2048"`, types as `DT_BF16;DT_BF16` in the same order.

use super::{Profile, Shape, elements};

/// Kernels that are counted, at most.
const MAX_ROWS: usize = 20_000_000;

/// The columns of a table that are read, by their places in a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Columns {
    kind: usize,
    micros: usize,
    calls: Option<usize>,
    step: Option<usize>,
    inputs: Option<usize>,
    outputs: Option<usize>,
    input_types: Option<usize>,
    output_types: Option<usize>,
    core: Option<usize>,
}

/// The fields of a line of CSV; a field doesn't go over a line.
fn fields(line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok);
    record.map_or_else(Vec::new, |record| record.iter().take(500).map(str::to_owned).collect())
}

impl Columns {
    /// The columns that a header names; `None` if it isn't a table of kernels.
    pub(crate) fn of(header: &str) -> Option<Self> {
        let names = fields(header);
        let place = |any: &[&str]| names.iter().position(|name| any.contains(&name.as_str()));
        let micros = ["Duration(us)", "Task Duration(us)", "Total Time(us)"];
        Some(Self {
            kind: place(&["Type", "OP Type"])?,
            micros: place(&micros)?,
            calls: place(&["Count"]),
            step: place(&["Step Id", "Step ID"]),
            inputs: place(&["Input Shapes"]),
            outputs: place(&["Output Shapes"]),
            input_types: place(&["Input Data Types"]),
            output_types: place(&["Output Data Types"]),
            core: place(&["Accelerator Core", "Task Type", "Core Type"]),
        })
    }
}

/// A table on its way.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    columns: Columns,
    pub(crate) profile: Profile,
    rows: usize,
    /// Lines that hold no time, with the number of the first.
    pub(crate) unread: (usize, usize),
}

impl Reader {
    pub(crate) fn new(columns: Columns) -> Self {
        Self { columns, profile: Profile::default(), rows: 0, unread: (0, 0) }
    }

    /// Reads one more row; no further one is read where this says no.
    pub(crate) fn take(&mut self, line: &str) -> bool {
        self.rows += 1;
        if line.trim().is_empty() {
            return true;
        }
        let cells = fields(line);
        let at =
            |place: Option<usize>| place.and_then(|it| cells.get(it)).map_or("", String::as_str);
        let columns = &self.columns;
        let kind = at(Some(columns.kind)).to_owned();
        let micros: Option<f64> = at(Some(columns.micros)).parse().ok();
        let Some(micros) = micros.filter(|_| !kind.is_empty()) else {
            let (count, first) = self.unread;
            // The header is line 1.
            self.unread = (count + 1, if count == 0 { self.rows + 1 } else { first });
            return self.rows < MAX_ROWS;
        };
        let calls: f64 = at(columns.calls).parse().unwrap_or(1.0);
        if at(columns.core) != "AI_CPU" {
            self.profile.add(&kind, calls, micros);
        }
        if let Ok(step) = at(columns.step).parse() {
            self.profile.add_step(step);
        }
        let work = Work {
            kind: &kind,
            inputs: shapes(at(columns.inputs)),
            outputs: shapes(at(columns.outputs)),
            bytes: [at(columns.input_types), at(columns.output_types)].map(widths),
        };
        if let Some(shape) = work.shape() {
            self.profile.add_shape(shape, micros);
        }
        self.rows < MAX_ROWS
    }
}

/// The shapes of a cell, at most sixteen of eight sides.
fn shapes(cell: &str) -> Vec<Vec<u64>> {
    let one =
        |shape: &str| shape.split(',').filter_map(|it| it.trim().parse().ok()).take(8).collect();
    cell.trim_matches('"').split(';').take(16).map(one).collect()
}

/// Bytes of an element of each type of a cell; none for one that isn't known.
fn widths(cell: &str) -> Vec<Option<u64>> {
    let one = |name: &str| match name.trim().trim_start_matches("DT_") {
        "BF16" | "FLOAT16" | "INT16" => Some(2),
        "FLOAT" | "FLOAT32" | "INT32" | "UINT32" => Some(4),
        "INT64" | "UINT64" | "DOUBLE" => Some(8),
        "INT8" | "UINT8" | "BOOL" => Some(1),
        _ => None,
    };
    cell.trim_matches('"').split(';').take(16).map(one).collect()
}

/// A kernel's row.
struct Work<'a> {
    kind: &'a str,
    inputs: Vec<Vec<u64>>,
    outputs: Vec<Vec<u64>>,
    bytes: [Vec<Option<u64>>; 2],
}

impl Work<'_> {
    fn shape(&self) -> Option<Shape> {
        let kind = self.kind.to_lowercase();
        if kind.starts_with("matmul") || kind.starts_with("batchmatmul") {
            return self.product();
        }
        if kind.starts_with("groupedmatmul") {
            return self.grouped();
        }
        if kind.starts_with("flashattentionscore") {
            return self.attention(kind.contains("grad"));
        }
        self.moved()
    }

    /// The depth is what the operands share: the first has rows x depth, whichever way it lies.
    fn product(&self) -> Option<Shape> {
        let [.., m, n] = *self.outputs.first()?.as_slice() else { return None };
        let count = elements(self.outputs.first()?)? / m.checked_mul(n).filter(|it| *it > 0)?;
        let first = elements(self.inputs.first()?)?;
        let k = first.checked_div(m.checked_mul(count)?)?;
        let second = elements(self.inputs.get(1)?)?;
        let fits = k > 0 && k.checked_mul(n)?.checked_mul(count)? == second;
        (fits && first == m * count * k).then_some(Shape::Product { m, k, n, count })
    }

    /// x [rows, k], w [experts, k, n].
    fn grouped(&self) -> Option<Shape> {
        let [rows, k] = *self.inputs.first()?.as_slice() else { return None };
        let [experts, depth, n] = *self.inputs.get(1)?.as_slice() else { return None };
        (k == depth && rows > 0 && experts > 0 && n > 0).then_some(Shape::Grouped {
            rows,
            k,
            n,
            experts,
        })
    }

    /// Queries are `[S, B, H]` or `[B, S, H]`; layouts with heads of their own are `[B, N, S, D]`.
    fn attention(&self, is_backward: bool) -> Option<Shape> {
        let queries = self.inputs.first()?.as_slice();
        elements(queries)?;
        match *queries {
            [first, second, width] => Some(Shape::Flat { first, second, width, is_backward }),
            [sequences, heads, tokens, width] => {
                Some(Shape::Attention { sequences, tokens, heads, width, is_backward })
            }
            _ => None,
        }
    }

    /// Bytes that an element-wise kernel reads and writes; `None` unless all its types are known.
    fn moved(&self) -> Option<Shape> {
        if self.outputs.iter().all(Vec::is_empty) {
            return None;
        }
        let mut bytes = 0_u64;
        for (shapes, widths) in [(&self.inputs, &self.bytes[0]), (&self.outputs, &self.bytes[1])] {
            for (place, shape) in shapes.iter().enumerate().filter(|(_, shape)| !shape.is_empty()) {
                let width = widths.get(place).copied().flatten()?;
                bytes = bytes.checked_add(elements(shape)?.checked_mul(width)?)?;
            }
        }
        Some(Shape::Moved { bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait \
                          Time(us),Block Dim,Input Shapes,Input Data Types,Input Formats,Output \
                          Shapes,Output Data Types,Output Formats";

    fn read(rows: &[&str]) -> Profile {
        let mut reader = Reader::new(Columns::of(HEADER).unwrap());
        for row in rows {
            reader.take(row);
        }
        reader.profile
    }

    #[test]
    fn shapes_are_read_whichever_way_operands_lie() {
        let profile = read(&[
            "1,a,MatMulV2,AI_CORE,0,900.5,0,20,\"4096,7168;2048,7168\",DT_BF16;DT_BF16,ND;ND,\
             \"4096,2048\",DT_BF16,ND",
            "1,b,MatMulV3,AI_CORE,0,900,0,20,\"7168,4096;7168,2048\",DT_BF16;DT_BF16,ND;ND,\
             \"4096,2048\",DT_BF16,ND",
            "2,c,GroupedMatmul,AI_CORE,0,700,0,20,\"8192,7168;8,7168,4096;8\",\
             DT_BF16;DT_BF16;INT64,ND,\"8192,4096\",DT_BF16,ND",
            "2,d,FlashAttentionScore,MIX_AIC,0,500,0,20,\"4096,1,5120;4096,1,1024\",x,ND,\"1\",x,\
             ND",
            "2,e,Add,AI_VECTOR_CORE,0,40,0,20,\"4096,7168;4096,7168\",DT_BF16;FLOAT,ND,\
             \"4096,7168\",DT_BF16,ND",
        ]);
        let shapes: Vec<Shape> = profile.shapes.keys().copied().collect();
        assert_eq!(
            shapes,
            [
                Shape::Product { m: 4_096, k: 7_168, n: 2_048, count: 1 },
                Shape::Grouped { rows: 8_192, k: 7_168, n: 4_096, experts: 8 },
                Shape::Flat { first: 4_096, second: 1, width: 5_120, is_backward: false },
                Shape::Moved { bytes: 4_096 * 7_168 * 8 },
            ]
        );
        assert_eq!(profile.steps.len(), 2);
    }

    #[test]
    fn rows_without_a_time_are_counted_and_passed_over() {
        let mut reader = Reader::new(Columns::of("OP Type,Count,Total Time(us)").unwrap());
        for row in ["MatMulV2,100,90000.5", "N/A", "", "Cast,x,y"] {
            assert!(reader.take(row));
        }
        assert_eq!(reader.unread, (2, 3));
        assert!(Columns::of("id,hardware,model").is_none());
    }
}
