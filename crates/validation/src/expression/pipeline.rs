//! Distribution of layers over the chunks of a pipeline.

/// Layers that a pipeline holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// Transformer layers.
    pub(super) layers: u64,
    /// MTP layers.
    pub(super) mtp: u64,
    /// The first and the last stage have one layer fewer than the others.
    pub(super) short_ends: bool,
}

impl Load {
    /// Layer slots that are spread over the stages: the embedding and the loss take one each where
    /// the stages are only even so.
    pub(super) fn slots(self, stages: u64) -> u64 {
        if self.counts_ends(stages) { self.layers + 2 } else { self.layers }
    }

    /// Whether the embedding and the loss count as a layer each.
    ///
    /// As Megatron's `account_for_embedding_in_pipeline_split` and
    /// `account_for_loss_in_pipeline_split` do.
    fn counts_ends(self, stages: u64) -> bool {
        let even = |slots: u64| slots.is_multiple_of(stages.max(1));
        self.mtp == 0 && (self.short_ends || (!even(self.layers) && even(self.layers + 2)))
    }

    /// Megatron's layout text over this many chunks; `None` if layers spread evenly.
    ///
    /// Elsewhere the layers, the MTP layers and the loss fill the chunks in order, the first
    /// chunks holding one more: for DeepSeek-V3 on 8, 16 and 32 chunks the layout of
    /// Megatron-Bridge's recipe. Megatron-Core computes the head of an MTP layer beside the loss.
    pub(super) fn layout(self, chunks: u64) -> Option<String> {
        if chunks <= 1 || chunks > MAX_CHUNKS || self.layers > MAX_CHUNKS {
            return None;
        }
        if self.mtp == 0 && !self.short_ends && self.layers.is_multiple_of(chunks) {
            return None;
        }
        let ends = self.counts_ends(chunks);
        let mut letters = String::new();
        letters.extend(ends.then_some('E'));
        (0..self.layers).for_each(|_| letters.push('t'));
        (0..self.mtp).for_each(|_| letters.push('m'));
        letters.push('L');
        let items = letters.len() as u64;
        let (base, longer) = (items / chunks, items % chunks);
        let mut text = String::from(if ends { "" } else { "E" });
        let mut rest = letters.as_str();
        for chunk in 0..chunks {
            let length = base + u64::from(chunk < longer);
            let (part, after) = rest.split_at(usize::try_from(length).unwrap_or_default());
            text.push_str(part);
            text.extend((chunk + 1 < chunks).then_some('|'));
            rest = after;
        }
        Some(with_heads_last(&text))
    }
}

/// A layout with the heads of MTP layers beside the loss, wherever the layers are.
fn with_heads_last(text: &str) -> String {
    let Some((before, last)) = text.rsplit_once('|') else { return text.to_owned() };
    let heads = "h".repeat(before.matches('m').count());
    format!("{}|{}", before.replace('m', "n"), last.replace('L', &format!("{heads}L")))
}

/// Chunks and layers above this have no layout: no run has as many.
const MAX_CHUNKS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(layers: u64, mtp: u64, chunks: u64) -> Option<String> {
        Load { layers, mtp, short_ends: false }.layout(chunks)
    }

    #[test]
    fn layers_that_divide_need_no_layout() {
        assert_eq!(layout(32, 0, 8), None);
        assert_eq!(layout(32, 0, 1), None);
    }

    #[test]
    fn the_embedding_and_the_loss_fill_the_ends() {
        assert_eq!(layout(6, 0, 4).unwrap(), "Et|tt|tt|tL");
        let load = Load { layers: 126, mtp: 0, short_ends: false };
        assert_eq!((load.slots(8), load.slots(9)), (128, 126));
    }

    #[test]
    fn zero_bubble_models_have_one_layer_fewer_at_both_ends() {
        let load = Load { layers: 22, mtp: 0, short_ends: true };
        assert_eq!(load.layout(8).unwrap(), "Ett|ttt|ttt|ttt|ttt|ttt|ttt|ttL");
        assert_eq!(load.layout(24).unwrap(), format!("E|{}L", "t|".repeat(22)));
    }

    #[test]
    fn deepseek_v3_is_laid_out_as_its_recipe_does() {
        let eight = format!("E{}tttttmL", "tttttttt|".repeat(7));
        assert_eq!(layout(61, 1, 8).unwrap(), eight);
        let sixteen = format!("E{}tmL", "tttt|".repeat(15));
        assert_eq!(layout(61, 1, 16).unwrap(), sixteen);
        let alone = format!("E{}tn|hL", "tt|".repeat(30));
        assert_eq!(layout(61, 1, 32).unwrap(), alone);
    }

    #[test]
    fn what_divides_in_no_way_is_still_laid_out() {
        let text = layout(95, 0, 4).unwrap();
        assert_eq!(text.matches('t').count(), 95);
        assert_eq!(text.matches('|').count(), 3);
    }
}
