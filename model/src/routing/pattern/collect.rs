//! Scores of tasks from the logits of their tokens.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The scores of tasks while their tokens pass, one logit after the other: TCESS, the mean over
/// tokens of the logit where the expert is among the token's best k.
///
/// A place is a layer of a task.
#[derive(Clone, Debug)]
pub struct Collector {
    experts: usize,
    best: usize,
    sums: Vec<f64>,
    /// Tokens of each place, and the last of them.
    tokens: Vec<(u64, Option<u64>)>,
    /// The token whose logits come, where it is, and those that came.
    open: Option<(usize, u64)>,
    logits: Vec<(u32, f64)>,
    /// Last token, counted over all places, that had a logit of each expert.
    seen: Vec<u64>,
    opened: u64,
}

impl Collector {
    /// Collector for this number of places and experts, where the best k of a token count.
    #[must_use]
    pub fn new(places: usize, experts: usize, k: usize) -> Self {
        Self {
            experts,
            best: k.clamp(1, experts.max(1)),
            sums: vec![0.0; places * experts],
            tokens: vec![(0, None); places],
            open: None,
            logits: Vec::new(),
            seen: vec![0; experts],
            opened: 0,
        }
    }

    /// Adds the logit of a token for an expert. All of a token's in one place come together, and
    /// the tokens of a place with rising numbers.
    ///
    /// # Errors
    /// What of that doesn't hold.
    pub fn add(&mut self, place: usize, token: u64, expert: u32, logit: f64) -> Result<(), String> {
        let (places, experts) = (self.tokens.len(), self.experts);
        if place >= places || expert as usize >= experts || !logit.is_finite() {
            return Err(format!("{logit} of expert {expert} is none of {experts} experts' logits"));
        }
        if self.open != Some((place, token)) {
            self.close();
            let (count, last) = &mut self.tokens[place];
            if last.is_some_and(|last| token <= last) {
                return Err(format!(
                    "token {token} comes behind token {}: those of a task and layer come with \
                     rising numbers, all logits of one together",
                    last.unwrap_or_default()
                ));
            }
            (*count, *last) = (*count + 1, Some(token));
            self.open = Some((place, token));
            self.opened += 1;
        }
        if core::mem::replace(&mut self.seen[expert as usize], self.opened) == self.opened {
            return Err(format!("a second logit of token {token}, expert {expert}"));
        }
        self.logits.push((expert, logit));
        Ok(())
    }

    /// Counts the best experts of the open token, of equals those of lower numbers.
    fn close(&mut self) {
        let Some((place, _)) = self.open.take() else { return };
        self.logits.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        for (expert, logit) in self.logits.drain(..).take(self.best) {
            self.sums[place * self.experts + expert as usize] += logit;
        }
    }

    /// The scores, place after place: sums over the tokens of the place; NaN where it has none.
    #[must_use]
    pub fn scores(mut self) -> Vec<f32> {
        self.close();
        let of_place = |((tokens, _), sums): (&(u64, Option<u64>), &[f64])| {
            let tokens = *tokens as f64;
            sums.iter().map(|sum| (sum / tokens) as f32).collect::<Vec<_>>()
        };
        let places = self.tokens.iter().zip(self.sums.chunks(self.experts.max(1)));
        places.flat_map(of_place).collect()
    }
}
