//! The part of a model that all its layers share: the residual stream and its two ends.

use crate::design::Design;
use crate::ground::choice::PositionEmbedding;

/// The residual stream, and the conventions of every layer on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Backbone {
    /// h, width of the residual stream.
    pub(crate) hidden: u64,
    /// n, streams of hyper-connections; one without.
    pub(crate) streams: u64,
    /// Layers of a block of attention residuals, where there are such.
    pub(crate) residual_block: Option<u64>,
    /// V, padded vocabulary.
    pub(crate) vocab: u64,
    /// Learned positions; zero where positions have no parameters.
    pub(crate) learned_positions: u64,
    /// Whether queries and keys are rotated.
    pub(crate) is_rotary: bool,
    /// Whether the output head has a table of its own.
    pub(crate) is_untied: bool,
    /// Matrices of an MLP: three with a gate, two without.
    pub(crate) mlp_matrices: u64,
    /// Whether linear layers have biases and norms a shift (LayerNorm).
    pub(crate) has_biases: bool,
    /// Whether norms follow attention and MLP as well.
    pub(crate) has_sandwich_norms: bool,
    /// Whether dropout masks attention's scores.
    pub(crate) drops_scores: bool,
    /// Whether dropout masks what attention and MLP add to the stream.
    pub(crate) drops_residuals: bool,
}

impl Backbone {
    pub(crate) fn new(design: &Design) -> Self {
        let (transformer, training) = (&design.transformer, &design.training);
        let positions = transformer.position_embedding_type;
        let is_learned = positions == PositionEmbedding::LearnedAbsolute;
        Self {
            hidden: transformer.hidden_size,
            streams: if transformer.enable_mhc_connections {
                transformer.mhc_num_residual_streams
            } else {
                1
            },
            residual_block: transformer.attention_residual_block_size,
            vocab: transformer.vocab_size,
            learned_positions: if is_learned { training.seq_length } else { 0 },
            is_rotary: positions == PositionEmbedding::Rope,
            is_untied: transformer.untie_embeddings_and_output_weights,
            mlp_matrices: if transformer.gated_linear_unit { 3 } else { 2 },
            has_biases: transformer.add_bias_linear,
            has_sandwich_norms: transformer.sandwich_norm,
            drops_scores: training.attention_dropout > 0.0,
            drops_residuals: training.hidden_dropout > 0.0,
        }
    }

    /// First matrices of an MLP: gate and up-projection, or the latter alone.
    pub(crate) fn mlp_inputs(&self) -> f64 {
        (self.mlp_matrices - 1) as f64
    }

    /// Parameters of an MLP's matrices of this inner width: 3 h f with a gate, 2 h f without.
    pub(crate) fn mlp_matrix_params(&self, width: u64) -> u128 {
        u128::from(self.mlp_matrices) * u128::from(self.hidden) * u128::from(width)
    }

    /// Parameters of one norm: a scale, and a shift too where linear layers have biases.
    pub(crate) fn norm_params(&self) -> u128 {
        u128::from(self.hidden) * (1 + u128::from(self.has_biases))
    }

    /// Norms of one layer: two, or four with sandwich norms.
    pub(crate) const fn norms_per_layer(&self) -> u64 {
        if self.has_sandwich_norms { 4 } else { 2 }
    }

    /// Columns that the streams of a token are mapped to: n in front of a part, n behind it, and
    /// n^2 between the streams; none without hyper-connections.
    pub(crate) const fn stream_columns(&self) -> u64 {
        if self.streams > 1 { self.streams * (self.streams + 2) } else { 0 }
    }

    /// Parameters of the mapping of one part, attention or an MLP: of hyper-connections (n h + 1)
    /// (n^2 + 2 n) and three scales, of attention residuals a norm and a query, h each.
    ///
    /// # Source
    /// Megatron-Core `hyper_connection.py`, `DeepSeek-V4`; Megatron-Bridge `kimi_k3_layers.py`.
    pub(crate) const fn stream_params(&self) -> u128 {
        let columns = self.stream_columns() as u128;
        let scales = if columns > 0 { 3 } else { 0 };
        (self.streams as u128 * self.hidden as u128 + 1) * columns
            + scales
            + self.residual_query_params()
    }

    /// Parameters of the mapping in front of the head, which makes one state: of hyper-connections
    /// (n h + 1) n and a scale, of attention residuals a norm and a query.
    pub(crate) const fn joint_params(&self) -> u128 {
        let streams = self.streams as u128;
        let joint = if streams > 1 { (streams * self.hidden as u128 + 1) * streams + 1 } else { 0 };
        joint + self.residual_query_params()
    }

    /// A norm and a query of attention residuals.
    const fn residual_query_params(&self) -> u128 {
        if self.residual_block.is_some() { 2 * self.hidden as u128 } else { 0 }
    }

    /// Parameters of one embedding table: V h.
    pub(crate) fn table_params(&self) -> u128 {
        u128::from(self.vocab) * u128::from(self.hidden)
    }

    /// Parameters of the input embedding: its table, and learned positions where there are some.
    pub(crate) fn embedding_params(&self) -> u128 {
        self.table_params() + u128::from(self.learned_positions) * u128::from(self.hidden)
    }

    /// Parameters of the output head: V h when it isn't the input embedding.
    pub(crate) fn head_params(&self) -> u128 {
        if self.is_untied { self.table_params() } else { 0 }
    }
}
