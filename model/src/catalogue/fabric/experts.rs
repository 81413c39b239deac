//! The kernels that send tokens to experts: DeepEP's and HybridEP's.

use crate::ground::fitted::{Evidence, Fitted};
use crate::ground::units::{BytesPerSecond, Seconds};

/// The rows that a rank sends to experts, or whose sums it gets back.
///
/// A token goes once to each rank that has some of its experts, and crosses once to each domain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TokenRows {
    /// Tokens of the rank.
    pub tokens: f64,
    /// Bytes of a row.
    pub row_bytes: f64,
    /// Ranks that a token goes to, its own counted.
    pub copies: f64,
    /// Copies of a token that go to other ranks of the domain.
    pub leaving: f64,
    /// Further domains that a token goes to.
    pub forwarded: f64,
}

/// Parts of a group that hold some of a token's experts, out of `parts` equal ones, for even
/// routing: n (1 - (1 - 1 / n)^k).
#[must_use]
pub fn parts_visited(parts: f64, topk: f64) -> f64 {
    parts * (1.0 - libm::pow(1.0 - 1.0 / parts, topk))
}

impl TokenRows {
    /// Rows of a token with `topk` experts on ranks that lie in this many domains, of which it
    /// visits `visited` on average.
    #[must_use]
    pub fn spread(topk: f64, ranks: f64, domains: f64, visited: f64) -> Self {
        let reached = (ranks * (visited / domains).min(1.0)).max(1.0);
        let copies = parts_visited(reached, topk).min(topk);
        let close = ranks / domains;
        Self {
            copies,
            leaving: copies * (close - 1.0) / close,
            forwarded: visited * (domains - 1.0) / domains,
            ..Self::default()
        }
    }

    /// Bytes that a rank sends to others of its domain.
    #[must_use]
    pub fn bytes_inside(&self) -> f64 {
        self.tokens * self.leaving * self.row_bytes
    }

    /// Bytes that a rank sends to other domains.
    #[must_use]
    pub fn bytes_between(&self) -> f64 {
        self.tokens * self.forwarded * self.row_bytes
    }
}

/// One of DeepEP's high-throughput kernels.
///
/// Multiprocessors copy rows, links carry them; the slower counts, with a soft edge:
/// t = start + (cores^4 + link^4)^(1/4),
/// cores = T / multiprocessors (copy c + K (kilobyte + copied c + forwarded f)),
/// link = bytes to other ranks of the domain / (fraction of the link),
/// for T tokens of K kilobytes that go to c ranks and f further domains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenKernel {
    /// Launch and synchronisation, in microseconds.
    pub start_micros: f64,
    /// Time of a multiprocessor for each rank that a token goes to, in microseconds.
    pub copy_micros: f64,
    /// Time of a multiprocessor for each kilobyte of a token, in microseconds.
    pub kilobyte_micros: f64,
    /// Time for each kilobyte and rank that it goes to, in microseconds.
    pub copied_kilobyte_micros: f64,
    /// Time for each kilobyte and further domain that it goes to, in microseconds.
    pub forwarded_kilobyte_micros: f64,
    /// Share of the link's bandwidth that it reaches.
    pub fraction: f64,
}

impl TokenKernel {
    /// Time of the kernel on this many multiprocessors over links of this bandwidth.
    #[must_use]
    pub fn seconds(&self, link: BytesPerSecond, rows: &TokenRows, multiprocessors: f64) -> Seconds {
        let kilobytes = rows.row_bytes / 1e3;
        let per_kilobyte = self.kilobyte_micros
            + self.copied_kilobyte_micros * rows.copies
            + self.forwarded_kilobyte_micros * rows.forwarded;
        let per_token = self.copy_micros * rows.copies + kilobytes * per_kilobyte;
        let cores = rows.tokens / multiprocessors * per_token * 1e-6;
        let link = rows.bytes_inside() / (link.get() * self.fraction);
        let fourth = |x: f64| x * x * x * x;
        let busy = libm::sqrt(libm::sqrt(fourth(cores) + fourth(link)));
        Seconds::micros(self.start_micros) + Seconds::new(busy)
    }
}

/// DeepEP's kernels on one kind of link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenKernels {
    /// Rows to experts.
    pub dispatch: TokenKernel,
    /// Sums back.
    pub combine: TokenKernel,
}

/// Multiprocessors that DeepEP's kernels occupy.
///
/// Source: Megatron-Core, `moe_deepep_num_sms`; DeepSeek-V3, section 3.2.
pub(crate) const DEEP_EP_MULTIPROCESSORS: u32 = 20;

/// HybridEP's kernels: copies by the tensor memory accelerator, few multiprocessors.
///
/// t = start + bytes to other ranks of the domain / (fraction of the link).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HybridEp {
    /// Launch and synchronisation, in microseconds.
    pub start_micros: f64,
    /// Share of the link's bandwidth that it reaches.
    pub fraction: f64,
    /// Multiprocessors that it occupies. Source: Megatron-Core, `moe_hybridep_num_sms`.
    pub multiprocessors: u32,
}

impl HybridEp {
    /// Time of a dispatch or a combine over links of this bandwidth.
    #[must_use]
    pub fn seconds(&self, link: BytesPerSecond, rows: &TokenRows) -> Seconds {
        let sent = Seconds::new(rows.bytes_inside() / (link.get() * self.fraction));
        Seconds::micros(self.start_micros) + sent
    }
}

/// HybridEP on NVLink 4 and 5. Its permutation of rows counts as a kernel of its own, as DeepEP's
/// does.
///
/// Source: DeepEP, `docs/README_Hybrid-EP.md`, kernel times of 4,096 tokens of 7,168 over 8 to 36
/// ranks of GB200 and over 8 B200; fitted by `cargo xtask calibrate --collectives`.
pub const HYBRID_EP: Fitted<HybridEp> = Fitted::provisional(
    HybridEp { start_micros: 49.2, fraction: 0.738, multiprocessors: 16 },
    Evidence::Kernels("DeepEP, docs/README_Hybrid-EP.md", &[("hybridep", 14)]),
    "one table of its authors, of one shape of tokens",
);
