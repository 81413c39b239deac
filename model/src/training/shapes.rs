//! Shapes that plans of one model share: its architecture, and its layers spread over chunks.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::design::{Design, PerStage, Positions};
use crate::ground::choice::Method;
use crate::layer::architecture::Architecture;
use crate::layer::layout::{self, Span, Stage};
use crate::layer::lengths::Drawn;

/// Layouts that are kept: about 10 KiB each.
const MAX_LAYOUTS: usize = 256;

/// Architecture and layouts of one model, kept from plan to plan.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    architecture: Option<Arc<Architecture>>,
    layouts: Vec<(LayoutKey, Layout)>,
    /// Lengths drawn for the last design that had any, of whatever model.
    pub(crate) drawn: Drawn,
}

/// Layers and heads of each chunk and of each stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Content of each chunk, from the first layers to the last.
    pub(crate) chunks: Arc<[Stage]>,
    pub(crate) stages: Arc<[Stage]>,
    pub(crate) spans: Arc<[Span]>,
}

/// Knobs that layouts of one model depend on.
#[derive(Clone, Debug, PartialEq)]
struct LayoutKey {
    /// Stages, and chunks of each.
    sizes: [u64; 2],
    method: Method,
    noops: Positions,
    /// Layers of each stage that are computed again.
    again: Option<PerStage>,
}

impl LayoutKey {
    fn new(design: &Design) -> Self {
        Self {
            sizes: Self::sizes(design),
            method: design.schedule.method,
            noops: design.parallel.noop_layers.clone(),
            again: design.memory.recompute_num_layers.clone(),
        }
    }

    const fn sizes(design: &Design) -> [u64; 2] {
        let parallel = &design.parallel;
        [parallel.pipeline_model_parallel_size, parallel.virtual_pipeline_model_parallel_size]
    }

    fn is_of(&self, design: &Design) -> bool {
        self.sizes == Self::sizes(design)
            && self.method == design.schedule.method
            && self.noops == design.parallel.noop_layers
            && self.again == design.memory.recompute_num_layers
    }
}

impl Shapes {
    /// Forgets the model.
    pub(crate) fn clear(&mut self) {
        self.architecture = None;
        self.layouts.clear();
    }

    /// The architecture of a design.
    pub(crate) fn architecture(&mut self, design: &Design) -> Arc<Architecture> {
        self.architecture.get_or_insert_with(|| Arc::new(Architecture::new(design))).clone()
    }

    /// The layout of a design of this architecture.
    pub(crate) fn layout(&mut self, design: &Design, architecture: &Architecture) -> Layout {
        if let Some((_, known)) = self.layouts.iter().find(|(key, _)| key.is_of(design)) {
            return known.clone();
        }
        let chunks: Arc<[Stage]> = layout::chunks_of(design, &architecture.pattern).into();
        let stages: Arc<[Stage]> = layout::stages(design, &chunks).into();
        let spans = layout::spans(&stages, design).into();
        let layout = Layout { chunks, stages, spans };
        if self.layouts.len() >= MAX_LAYOUTS {
            self.layouts.clear();
        }
        self.layouts.push((LayoutKey::new(design), layout.clone()));
        layout
    }
}
