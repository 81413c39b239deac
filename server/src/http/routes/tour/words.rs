//! Reasons why each step of the tour helps, in the order of the ladder.

/// Paragraphs on one step.
type Words = &'static [&'static str];

static BASELINE: Words = &[
    "The start is a run of 718 billion parameters, 39 billion of them active, on 4,096 NPUs. It \
     uses full recomputation, one chunk of layers on each of its 16 pipeline stages, and no \
     overlap of communication.",
    "The paper gives the MFU of this run and its tokens per second, but not its layout. The one \
     here is ours: TP, PP and EP of the final run. The page Ladder shows what other layouts would \
     have given.",
];

static CHANGES: [Words; 11] = [
    &[
        "The final run has half as many NPUs again. The batch grows with the cluster, so that each \
         pipeline still gets 128 micro-batches: per NPU hardly anything changes, and the cluster \
         as a whole trains on half as many tokens again.",
        "This step is about scale and not about efficiency: what it does to the MFU is what the \
         design suffers from the larger cluster.",
    ],
    &[
        "To recompute a whole layer is to run its forward a second time in front of its backward: \
         about a third more work, which MFU doesn't count. It is only worth it where memory is \
         short everywhere.",
        "Instead, only what is large and cheap to make again is recomputed: the projections of \
         multi-head latent attention, the permutation of tokens, and the experts' activation. Some \
         further activations go to the host's memory and come back in time. Most of the saving \
         stays, for a small part of the work.",
    ],
    &[
        "The memory that was saved is spent here: each micro-batch has two sequences instead of \
         one. Matrix products get taller and come closer to the peak, and every launch and every \
         exchange is paid once for twice as many tokens.",
        "There is a price. Half as many micro-batches go through the same 16 stages, so that \
         filling and draining the pipeline is a larger share of the step: with equal stages \
         (p − 1) / (m + p − 1) = 15 / 79 = 18.99 %. The numbers below say which of the two weighs \
         more; the next step takes the price down.",
    ],
    &[
        "Each stage now holds two chunks of layers, and every micro-batch goes around twice. The \
         pipeline is full after half the time, since the first chunks are half as long: \
         (p − 1) / (v m + p − 1) = 15 / 143 = 10.49 % with equal stages.",
        "The price is twice as many sends between stages, and some more activations in flight.",
    ],
    &[
        "A token goes to eight experts. Sent straight to each, it would cross between nodes \
         several times. Here it crosses at most once to each node, and is handed on inside the \
         node over links that are several times faster.",
        "What matters is the slowest link: it carries about half as much as before.",
    ],
    &["Gradients are summed and parameters gathered while the last and the first micro-batches \
         still compute, and a stage sends its output while it begins with the next input. None of \
         this sends a byte less; it moves bytes to where nobody waits for them."],
    &[
        "The forward of one micro-batch runs beside the backward of another one: while one \
         computes, the other exchanges tokens between experts. Weight gradients, which nobody \
         waits for, are held back to fill what is left.",
        "How much is hidden is a result here and not an input: operators of both chunks are put on \
         four resources, and what doesn't fit beside the other stays exposed.",
    ],
    &[
        "Routers don't send every expert the same number of tokens, and all ranks of a group wait \
         for the fullest one. A planner watches the loads and moves experts between ranks so that \
         heavy ones don't share a rank.",
        "How uneven the loads are is an input of the model (a generated skew), so that this gain \
         is only as good as that assumption. The moves themselves are counted as traffic.",
    ],
    &[
        "Two small things that run in every micro-batch: gradients of experts are added where they \
         are made instead of by an operator of their own, and the loss is computed in one pass \
         over the logits. Less is written to memory and read again, and fewer kernels are \
         launched.",
        "This is the paper's final run.",
    ],
    &[
        "A month after the paper the same layout ran with faster operators: matrix products a \
         tenth, attention a half forward and a third backward, element-wise kernels twice as fast. \
         The rates are published one by one, and each is an input here; what they are worth \
         together is the model's own result.",
        "Nothing is overlapped or recomputed differently. What was hidden beside compute has less \
         compute to hide beside.",
    ],
    &[
        "Where tokens go is known only when the router has run, so the host has to read back how \
         many rows each expert gets before it can launch what follows. Its queue runs empty, and \
         the device waits: 2.1 ms each time before, 0.6 ms after.",
        "A layer reads back in its forward, in its recomputation and in its backward. In a pair \
         both micro-batches wait, as one thread launches both.",
        "This is the follow-up's run, without its balancing of data and chunks, which is published \
         and not modelled. Turn its knobs in the explorer to see what the next step might be.",
    ],
];

/// The paragraphs on a step; empty if there is no such step.
pub(super) fn why(index: usize) -> Words {
    match index.checked_sub(1) {
        None => BASELINE,
        Some(change) => CHANGES.get(change).copied().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use model::design::ladder::RUNGS;

    use super::*;

    #[test]
    fn every_change_of_the_ladder_is_explained() {
        assert_eq!(CHANGES.len(), RUNGS.len());
        assert!((0..=RUNGS.len()).all(|step| !why(step).is_empty()));
        assert!(why(RUNGS.len() + 1).is_empty());
    }
}
