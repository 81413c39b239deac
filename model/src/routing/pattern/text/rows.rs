//! From rows in any order to patterns.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::ground::text::begins_as_name;
use crate::routing::pattern::collect::Collector;
use crate::routing::pattern::scores::Patterns;
use crate::routing::text::{Errors, TextError};

/// Bytes of a task's name, at most.
pub(super) const MAX_NAME: usize = 200;

/// One score: of a task, or of one of its tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// The task.
    pub task: &'a str,
    /// The token, where scores are the logits of tokens.
    pub token: Option<u64>,
    /// The layer, as the file counts it.
    pub layer: u32,
    /// The expert, from 0 on.
    pub expert: u32,
    /// Its score.
    pub score: f64,
    /// The line, where a file has lines; else the row, counted from 1.
    pub line: usize,
}

impl Row<'_> {
    /// Error of the row by itself.
    fn fault(&self) -> Option<String> {
        if self.task.is_empty() || self.task.len() > MAX_NAME {
            let found = self.task.len();
            return Some(format!("a task's name has 1 to {MAX_NAME} bytes, this one {found}"));
        }
        if self.task.contains(['"', '\n', '\r']) || self.task.chars().any(char::is_control) {
            return Some("a task's name has no quotes and no line breaks".into());
        }
        // Scores are written as cells again.
        if !begins_as_name(self.task) {
            return Some("a task's name begins with a letter or a digit".into());
        }
        let most = Patterns::MAX_EXPERTS - 1;
        if self.expert as usize > most {
            return Some(format!("expert {} is above {most}", self.expert));
        }
        (!self.score.is_finite() || self.score.abs() > 1e30)
            .then(|| format!("a score is a number up to 1e30, not {}", self.score))
    }
}

/// Tasks, layers and experts that rows name.
#[derive(Default)]
struct Sizes {
    tasks: BTreeMap<String, usize>,
    layers: BTreeSet<u32>,
    experts: usize,
    /// Whether scores are of tokens.
    of_tokens: Option<bool>,
}

impl Sizes {
    /// Takes in a row; says whether there are more tasks or layers than are read.
    fn see(&mut self, row: &Row<'_>) -> Result<(), TextError> {
        if !self.tasks.contains_key(row.task) {
            self.tasks.insert(row.task.to_string(), self.tasks.len());
        }
        if *self.of_tokens.get_or_insert(row.token.is_some()) != row.token.is_some() {
            let message = "some scores are of tokens and some are not";
            return Err(TextError::at(row.line, 0, message));
        }
        self.layers.insert(row.layer);
        self.experts = self.experts.max(row.expert as usize + 1);
        let most = Patterns::MAX_TASKS;
        if self.tasks.len() > most {
            return Err(TextError::at(row.line, 0, format!("there are more than {most} tasks")));
        }
        let scores = self.tasks.len() * self.experts;
        let most = Patterns::MAX_SCORES;
        if scores.saturating_mul(self.layers.len()) > most {
            let message =
                format!("tasks x layers x experts are above {most}, which is all that is read");
            return Err(TextError::at(row.line, 0, message));
        }
        Ok(())
    }
}

/// The patterns of rows: `pass` gives its argument every row until that says by `false` that it
/// needs no more, and is called twice.
///
/// Scores of tasks come in any order. Logits of tokens come token by token, those of a task and
/// layer with rising numbers; of each the best `visited` count.
///
/// # Errors
/// The outer error is that of `pass`; the inner ones name lines.
pub fn from_rows<E>(
    visited: usize,
    mut pass: impl FnMut(&mut dyn FnMut(Row<'_>) -> bool) -> Result<(), E>,
) -> Result<Result<Patterns, Vec<TextError>>, E> {
    let (mut sizes, mut errors) = (Sizes::default(), Errors::default());
    pass(&mut |row| {
        if let Some(fault) = row.fault() {
            errors.push(TextError::at(row.line, 0, fault));
        } else if let Err(error) = sizes.see(&row) {
            errors.push(error);
            return false;
        }
        !errors.stop_reading()
    })?;
    if !errors.are_none() {
        return Ok(Err(errors.into_list()));
    }
    if sizes.tasks.is_empty() {
        return Ok(Err(vec![TextError::whole("the file has no scores")]));
    }
    let layers: Vec<u32> = sizes.layers.iter().copied().collect();
    let experts = sizes.experts;
    let place = |row: &Row<'_>| {
        let task = sizes.tasks.get(row.task).copied().unwrap_or(0);
        task * layers.len() + layers.binary_search(&row.layer).unwrap_or(0)
    };
    if sizes.of_tokens == Some(true) {
        let mut collector = Collector::new(sizes.tasks.len() * layers.len(), experts, visited);
        pass(&mut |row| {
            let token = row.token.unwrap_or(0);
            if let Err(message) = collector.add(place(&row), token, row.expert, row.score) {
                errors.push(TextError::at(row.line, 0, message));
            }
            !errors.stop_reading()
        })?;
        return Ok(filled(&sizes, layers, collector.scores(), errors));
    }
    let mut scores = vec![f32::NAN; sizes.tasks.len() * layers.len() * experts];
    pass(&mut |row| {
        match scores.get_mut(place(&row) * experts + row.expert as usize) {
            Some(score) if score.is_nan() => *score = row.score as f32,
            Some(_) | None => errors.push(TextError::at(
                row.line,
                0,
                format!(
                    "a second score of {}, layer {}, expert {}",
                    row.task, row.layer, row.expert
                ),
            )),
        }
        !errors.stop_reading()
    })?;
    Ok(filled(&sizes, layers, scores, errors))
}

/// Patterns of scores, those that aren't there at 0; every task must have every layer.
fn filled(
    sizes: &Sizes,
    layers: Vec<u32>,
    mut scores: Vec<f32>,
    mut errors: Errors,
) -> Result<Patterns, Vec<TextError>> {
    let mut names = vec![String::new(); sizes.tasks.len()];
    for (name, place) in &sizes.tasks {
        names[*place].clone_from(name);
    }
    for (at, row) in scores.chunks(sizes.experts).enumerate() {
        if row.iter().all(|score| score.is_nan()) {
            let (task, layer) = (&names[at / layers.len()], layers[at % layers.len()]);
            errors.push(TextError::whole(format!("task {task} has no score of layer {layer}")));
        }
    }
    if !errors.are_none() {
        return Err(errors.into_list());
    }
    scores.iter_mut().filter(|score| score.is_nan()).for_each(|score| *score = 0.0);
    Patterns::new(names, layers, sizes.experts, scores)
        .ok_or_else(|| vec![TextError::whole("the scores are no numbers of 32 bits")])
}
