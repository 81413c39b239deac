//! From rows in any order to the counts of a trace.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::errors::{Errors, TextError};
use crate::routing::trace::Trace;

/// A row of a file: one expert's tokens in a step and layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The step, as the file counts them.
    pub step: u32,
    /// The layer, as the file counts them.
    pub layer: u32,
    /// The expert, from 0 on.
    pub expert: u32,
    /// Its tokens.
    pub tokens: u32,
}

/// The trace of a table's rows, which may come in any order: `pass` gives its argument every row
/// until that says by `false` that it needs no more, and is called twice.
///
/// A table that can't be a trace isn't read to its end.
///
/// # Errors
/// The outer error is that of `pass`. The inner ones name rows, counted from 1, that are there
/// twice, and what is missing, up to [`MAX_ERRORS`](super::MAX_ERRORS); or say that the trace is
/// too large.
pub fn from_rows<E>(
    mut pass: impl FnMut(&mut dyn FnMut(Row) -> bool) -> Result<(), E>,
) -> Result<Result<Trace, Vec<TextError>>, E> {
    let (mut sizes, mut fault) = (Sizes::default(), None);
    pass(&mut |row| {
        sizes.see(&row);
        fault = sizes.fault();
        fault.is_none()
    })?;
    if let Some(fault) = fault {
        return Ok(Err(vec![fault]));
    }
    let mut counts = match sizes.counts() {
        Ok(counts) => counts,
        Err(error) => return Ok(Err(vec![error])),
    };
    let (mut errors, mut number) = (Errors::default(), 0_u64);
    pass(&mut |row| {
        number += 1;
        if let Err(words) = counts.fill(&row) {
            errors.push(TextError::whole(format!("row {number}: {words}")));
        }
        !errors.stop_reading()
    })?;
    Ok(match counts.trace(&mut errors) {
        Some(trace) => Ok(trace),
        None => Err(errors.into_list()),
    })
}

/// Rows after which a table is first looked at as a whole.
const FIRST_LOOK: u64 = 1 << 16;

/// The different values of a column, in order.
#[derive(Default)]
struct Values {
    list: Vec<u32>,
    sorted: usize,
}

impl Values {
    fn add(&mut self, value: u32) {
        if self.list.last() == Some(&value) {
            return;
        }
        self.list.push(value);
        // Sorted now and then, so that the list stays near the number of different values.
        if self.list.len() > 2 * self.sorted + 4_096 {
            self.sort();
        }
    }

    fn sort(&mut self) {
        self.list.sort_unstable();
        self.list.dedup();
        self.sorted = self.list.len();
    }

    fn position(&self, value: u32) -> Option<usize> {
        self.list.binary_search(&value).ok()
    }
}

/// The size of a trace, from a first pass over its rows.
#[derive(Default)]
pub(super) struct Sizes {
    steps: Values,
    layers: Values,
    experts: u64,
    rows: u64,
}

impl Sizes {
    pub(super) fn see(&mut self, row: &Row) {
        self.steps.add(row.step);
        self.layers.add(row.layer);
        self.experts = self.experts.max(u64::from(row.expert) + 1);
        self.rows += 1;
    }

    /// Error of the rows so far, whatever follows; looked for whenever there are twice as many, as
    /// it takes sorting.
    fn fault(&mut self) -> Option<TextError> {
        if self.rows < FIRST_LOOK || !self.rows.is_power_of_two() {
            return None;
        }
        self.steps.sort();
        self.layers.sort();
        let size = [self.steps.list.len() as u64, self.layers.list.len() as u64, self.experts];
        match Trace::counts(size) {
            Ok(counts) if self.rows <= counts as u64 => None,
            Ok(_) => {
                let rows = self.rows;
                let message = format!(
                    "the first {rows} rows are of fewer steps, layers and experts: some are there \
                     twice"
                );
                Some(TextError::whole(message))
            }
            Err(fault) => Some(fault.into()),
        }
    }

    /// Room for as many counts as the rows seen ask for.
    pub(super) fn counts(mut self) -> Result<Counts, TextError> {
        self.steps.sort();
        self.layers.sort();
        let (steps, layers) = (self.steps.list.len(), self.layers.list.len());
        let counts = Trace::counts([steps as u64, layers as u64, self.experts])?;
        let filled = vec![0; counts.div_ceil(64)];
        Ok(Counts { experts: self.experts as usize, sizes: self, tokens: vec![0; counts], filled })
    }
}

/// The counts of a trace while they are filled in, in a second pass.
pub(super) struct Counts {
    sizes: Sizes,
    experts: usize,
    tokens: Vec<u32>,
    /// A bit for each count.
    filled: Vec<u64>,
}

impl Counts {
    /// Fills in a row; says so when its count was there already.
    pub(super) fn fill(&mut self, row: &Row) -> Result<(), &'static str> {
        let at = self.sizes.steps.position(row.step).zip(self.sizes.layers.position(row.layer));
        let Some((step, layer)) = at else { return Ok(()) };
        let at = (step * self.sizes.layers.list.len() + layer) * self.experts;
        let at = at + row.expert as usize;
        let (Some(count), Some(word)) = (self.tokens.get_mut(at), self.filled.get_mut(at / 64))
        else {
            return Ok(());
        };
        let bit = 1_u64 << (at % 64);
        if *word & bit != 0 {
            return Err("this step, layer and expert has a line already");
        }
        *word |= bit;
        *count = row.tokens;
        Ok(())
    }

    /// The trace, when nothing is missing.
    pub(super) fn trace(self, errors: &mut Errors) -> Option<Trace> {
        let layers = self.sizes.layers.list.len();
        let missing =
            (0..self.tokens.len()).filter(|at| self.filled[at / 64] >> (at % 64) & 1 == 0);
        for at in missing {
            if errors.is_full() {
                errors.count_unlisted();
                continue;
            }
            let (row, expert) = (at / self.experts, at % self.experts);
            let step = self.sizes.steps.list.get(row / layers).copied().unwrap_or(0);
            let layer = self.sizes.layers.list.get(row % layers).copied().unwrap_or(0);
            errors.push(TextError::whole(format!(
                "expert {expert} of step {step}, layer {layer} is missing"
            )));
        }
        if !errors.are_none() {
            return None;
        }
        let size = [self.sizes.steps.list.len(), layers, self.experts];
        match Trace::new(size, self.tokens) {
            Ok(trace) => Some(trace),
            Err(fault) => {
                errors.push(fault.into());
                None
            }
        }
    }

    /// The position of a layer of the file in the trace.
    pub(super) fn layer(&self, layer: u32) -> Option<u32> {
        self.sizes.layers.position(layer).map(|position| position as u32)
    }
}
