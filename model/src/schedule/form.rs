//! What each method's schedule is made of: the one place that tells methods apart by their sizes
//! and by where their chunks lie.

use crate::ground::choice::Method;

/// Placement of a model's chunks on the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Chunk c on stage c mod p.
    Cyclic,
    /// Down the stages and up again.
    V,
    /// Two whole pipelines in opposite directions, each with half of the micro-batches: a stage's
    /// chunk 0 is of the one that runs down, its chunk 1 of the one that runs up.
    Bidirectional,
}

/// Form of a method's schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Where the chunks are.
    pub(crate) placement: Placement,
    /// Chunks of one copy of the model on each stage (VPP); none if it takes any number, in groups
    /// of micro-batches.
    pub(crate) chunks: Option<u64>,
    /// Do forwards and backwards run as overlapping pairs?
    pub(crate) runs_pairs: bool,
    /// Micro-batches for each stage that it needs where there are several stages: two streams of
    /// them must meet.
    pub(crate) micro_batches_per_stage: u64,
}

impl Form {
    /// The form of a method.
    ///
    /// Sources: those of the orders, in the modules beside this one.
    pub(crate) const fn of(method: Method) -> Self {
        let one = Self {
            placement: Placement::Cyclic,
            chunks: Some(1),
            runs_pairs: false,
            micro_batches_per_stage: 0,
        };
        let any = Self { chunks: None, ..one };
        let v = Self { placement: Placement::V, chunks: Some(2), ..one };
        match method {
            Method::Gpipe | Method::OneForwardOneBackward | Method::ZbH1 | Method::Zb2p => one,
            Method::Interleaved => any,
            Method::OneForwardOneBackwardOverlap => Self { runs_pairs: true, ..any },
            Method::ZbV | Method::VHalf | Method::VMin => v,
            Method::DualPipe => Self {
                placement: Placement::Bidirectional,
                runs_pairs: true,
                micro_batches_per_stage: 2,
                ..one
            },
            Method::DualPipeV => Self { runs_pairs: true, micro_batches_per_stage: 2, ..v },
        }
    }
}

impl Placement {
    /// Copies of the model that the stages hold.
    pub(crate) const fn directions(self) -> usize {
        match self {
            Self::Bidirectional => 2,
            Self::Cyclic | Self::V => 1,
        }
    }

    /// The place along the model of chunk `chunk` of a stage, 0 for the first layers.
    pub(crate) const fn position(self, p: usize, stage: usize, chunk: usize) -> usize {
        match self {
            Self::Bidirectional if chunk == 1 => p - 1 - stage,
            Self::V if chunk % 2 == 1 => chunk * p + (p - 1 - stage),
            Self::Bidirectional => stage,
            Self::Cyclic | Self::V => chunk * p + stage,
        }
    }

    /// The stage of a place along the model, in the direction of chunk `chunk`.
    pub(crate) const fn stage_at(self, p: usize, position: usize, chunk: usize) -> usize {
        let (round, place) = (position / p, position % p);
        match self {
            Self::Bidirectional if chunk == 1 => p - 1 - place,
            Self::V if round % 2 == 1 => p - 1 - place,
            Self::Cyclic | Self::V | Self::Bidirectional => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::choice::Choice;

    #[test]
    fn every_chunk_is_on_the_stage_of_its_place() {
        for method in Method::ALL {
            let Form { placement, chunks, .. } = Form::of(*method);
            let count = chunks.unwrap_or(3) as usize * placement.directions();
            for p in [2, 4, 6] {
                for (stage, chunk) in (0..p).flat_map(|stage| (0..count).map(move |c| (stage, c))) {
                    let position = placement.position(p, stage, chunk);
                    assert_eq!(placement.stage_at(p, position, chunk), stage, "{method:?} {chunk}");
                }
            }
        }
    }
}
