//! What a mark is, in place of a colour: the page's style sheet decides how it looks.
//!
//! plotters hands a backend nothing but RGB. The red and green channels of every ink are zero and
//! the blue one is the ink's index; [`super::backend`] turns that index back into a class. So
//! `style/charts.css` alone knows colours, and dark mode needs no redrawing.

use plotters::style::Color;
use plotters_backend::BackendColor;

macro_rules! inks {
    ($($(#[$doc:meta])* $Name:ident = $class:literal;)+) => {
        /// Meaning of a mark, which sets its colour.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Ink { $($(#[$doc])* $Name,)+ }

        /// The class of each ink, by index.
        const CLASSES: &[&str] = &[$($class,)+];
    };
}

inks! {
    /// Text that is read first.
    Text = "chart-text";
    /// Axis labels and titles.
    Quiet = "chart-quiet";
    /// A letter on top of a bar.
    OnMark = "chart-on-mark";
    /// A line that helps the eye.
    Grid = "chart-grid";
    /// The line at the foot of bars.
    Axis = "chart-axis";
    /// The limit that bars should stay under.
    Limit = "chart-limit";
    /// Amount over the limit.
    Over = "chart-over";
    /// Memory of weights.
    Weights = "chart-weights";
    /// Memory of gradients.
    Gradients = "chart-gradients";
    /// Memory of optimizer states.
    Optimizer = "chart-optimizer";
    /// Memory of activations.
    Activations = "chart-activations";
    /// Memory of buffers.
    Buffers = "chart-buffers";
    /// Memory that the runtime takes.
    Reserve = "chart-reserve";
    /// Time that a perfect machine needs too.
    Ideal = "chart-ideal";
    /// Peak of an accelerator.
    Peak = "chart-peak";
    /// Time of kernels beyond the ideal: compute.
    Compute = "chart-compute";
    /// Time of kernels that wait for device memory.
    Bandwidth = "chart-bandwidth";
    /// Time in which nothing runs.
    Waiting = "chart-waiting";
    /// The sum of a breakdown.
    Total = "chart-total";
    /// Traffic inside a node.
    IntraNode = "chart-intra-node";
    /// Traffic between nodes.
    InterNode = "chart-inter-node";
    /// Traffic to host memory.
    Host = "chart-host";
    /// The published formula.
    ClosedForm = "chart-closed-form";
    /// The result with actual stage times.
    Simulated = "chart-simulated";
    /// The design that the page shows.
    Current = "chart-current";
    /// Band of errors in which predictions are close enough.
    Band = "chart-band";
    /// A run on Ascend 910.
    Ascend = "chart-ascend";
    /// A run on A100 or A800.
    Ampere = "chart-ampere";
    /// A run on H100 or its relatives.
    Hopper = "chart-hopper";
    /// A run on B200 or B300.
    Blackwell = "chart-blackwell";
    /// A run on GB200 or GB300.
    GraceBlackwell = "chart-grace-blackwell";
    /// A run on something else.
    OtherFamily = "chart-other-family";
    /// Amount that a change leaves as it was.
    Kept = "chart-kept";
    /// Amount that a change adds.
    Gain = "chart-gain";
    /// Amount that a change takes away.
    Loss = "chart-loss";
    /// Value that a paper reports.
    Published = "chart-published";
    /// Range in which a published value may lie.
    Range = "chart-range";
    /// A stage's embedding.
    EmbeddingPart = "chart-embedding-part";
    /// A stage's dense layers.
    DensePart = "chart-dense-part";
    /// A stage's MoE layers.
    MoePart = "chart-moe-part";
    /// A stage's language-model head.
    HeadPart = "chart-head-part";
    /// A stage's MTP layers.
    MtpPart = "chart-mtp-part";
    /// A stage's heads of MTP layers.
    MtpHeadPart = "chart-mtp-head-part";
    /// The first of the designs that are compared.
    DesignA = "chart-design-a";
    /// The second one.
    DesignB = "chart-design-b";
    /// The third one.
    DesignC = "chart-design-c";
    /// The fourth one.
    DesignD = "chart-design-d";
}

impl Ink {
    /// The class of this ink.
    pub(crate) const fn name(self) -> &'static str {
        CLASSES[self as usize]
    }

    /// The class of a colour that came through plotters; plain text for one that is no ink.
    pub(crate) fn class(color: BackendColor) -> &'static str {
        let (_, _, index) = color.rgb;
        CLASSES.get(usize::from(index)).copied().unwrap_or(CLASSES[0])
    }
}

impl Color for Ink {
    fn to_backend_color(&self) -> BackendColor {
        BackendColor { alpha: 1.0, rgb: (0, 0, *self as u8) }
    }
}
