//! Exchanges of experts: measured times of DeepEP's and HybridEP's kernels beside the model's, and
//! the fit of the model's constants to one half of them.

use std::fmt::Write as _;
use std::sync::LazyLock;

use model::catalogue::accelerator::{Accelerator, AcceleratorId};
use model::catalogue::fabric::{HYBRID_EP, HybridEp, TokenKernel, TokenRows, parts_visited};
use model::ground::choice::Choice;
use model::ground::units::BytesPerSecond;

use super::collective::{descend, off};
use super::is_held_out;
use super::table::{Row, rows};
use crate::report::kernels::Measured;

/// Kernel of an exchange: its direction, and the library that it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// DeepEP's dispatch, in 8 bits.
    Dispatch,
    /// DeepEP's combine, in 16 bits.
    Combine,
    /// HybridEP's dispatch in 8 bits.
    HybridNarrow,
    /// HybridEP's dispatch in 16 bits.
    HybridWide,
    /// HybridEP's combine, in 16 bits.
    HybridCombine,
}

/// One measured exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// Accelerator that it was measured on.
    pub accelerator: AcceleratorId,
    /// The kernel.
    pub kernel: Kernel,
    /// Ranks that hold the experts.
    pub ranks: u64,
    /// Domains that they lie in.
    pub domains: u64,
    /// Width of a row, in elements.
    pub hidden: u64,
    /// Tokens of a rank.
    pub tokens: u64,
    /// Experts of a token.
    pub topk: u64,
    /// Multiprocessors that it ran on.
    pub multiprocessors: u64,
    /// Experts that tokens choose from; where the table doesn't say, one of each rank at least.
    pub experts: Option<u64>,
    /// Its time, in microseconds.
    pub micros: f64,
    /// Whether it is kept from the fit.
    pub is_held_out: bool,
}

/// Domains that node-limited routing keeps, at most. Source: DeepSeek-V3, section 2.1.2.
const DOMAINS_KEPT: f64 = 4.0;

/// Domains of the rows that contradict themselves; see `kernels/COLLECTIVES.md`.
const CONTRADICTED_DOMAINS: u64 = 8;

/// Tokens and width of HybridEP's table. Source: `kernels/hybridep.csv`.
const HYBRID_SHAPE: [u64; 2] = [4_096, 7_168];

/// Experts of a token in the same table.
const HYBRID_TOPK: u64 = 8;

static EXCHANGES: LazyLock<Vec<Exchange>> = LazyLock::new(|| {
    let deep = rows(include_str!("../../kernels/deepep_normal.csv"), deep_ep).into_iter();
    let hybrid = rows(include_str!("../../kernels/hybridep.csv"), hybrid_ep).into_iter();
    deep.flatten().chain(hybrid.flatten()).collect()
});

/// The measured exchanges, in the order of the tables.
#[must_use]
pub fn exchanges() -> &'static [Exchange] {
    &EXCHANGES
}

impl Exchange {
    /// Whether it counts towards the targets.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.is_deep_ep() || self.domains < CONTRADICTED_DOMAINS
    }

    /// Domains that a token visits: node-limited routing in DeepEP's table, any in HybridEP's.
    fn domains_visited(&self) -> f64 {
        let visited = parts_visited(self.domains as f64, self.topk as f64);
        if self.is_deep_ep() { visited.min(DOMAINS_KEPT) } else { visited }
    }

    fn is_deep_ep(&self) -> bool {
        matches!(self.kernel, Kernel::Dispatch | Kernel::Combine)
    }

    /// Bytes of an element, those of the scales of 8 bits included.
    fn element_bytes(&self) -> f64 {
        match self.kernel {
            Kernel::Dispatch | Kernel::HybridNarrow => 1.0 + 4.0 / 128.0,
            Kernel::Combine | Kernel::HybridWide | Kernel::HybridCombine => 2.0,
        }
    }

    fn rows(&self) -> TokenRows {
        let (topk, domains) = (self.topk as f64, self.domains as f64);
        TokenRows {
            tokens: self.tokens as f64,
            row_bytes: self.hidden as f64 * self.element_bytes(),
            ..TokenRows::spread(topk, self.ranks as f64, domains, self.domains_visited())
        }
    }

    /// Time by the model, in microseconds, on an accelerator with this row and with these kernels
    /// of HybridEP.
    #[must_use]
    pub fn predicted_micros(&self, row: &Accelerator, hybrid: &HybridEp) -> f64 {
        let link = BytesPerSecond::gb(row.intra_node_gb_per_sec);
        let rows = self.rows();
        let kernels = row.fabric.token_kernels;
        let kernel = match self.kernel {
            Kernel::Dispatch => kernels.map(|kernels| kernels.dispatch),
            Kernel::Combine => kernels.map(|kernels| kernels.combine),
            Kernel::HybridNarrow | Kernel::HybridWide | Kernel::HybridCombine => {
                let inside = hybrid.seconds(link, &rows).get() * 1e6;
                return inside.max(self.network_micros(row, &rows, hybrid.start_micros));
            }
        };
        let Some(kernel) = kernel else { return f64::NAN };
        let inside = kernel.seconds(link, &rows, self.multiprocessors as f64).get() * 1e6;
        inside.max(self.network_micros(row, &rows, kernel.start_micros))
    }

    /// Time of the network, in microseconds: bytes that leave the domain, and the latency of a
    /// tree.
    fn network_micros(&self, row: &Accelerator, rows: &TokenRows, start_micros: f64) -> f64 {
        if self.domains == 1 {
            return 0.0;
        }
        let rate = row.inter_node_gb_per_sec * row.inter_node_fraction * 1e3;
        let latency = model::catalogue::fabric::tree_latency(self.domains).get() * 1e6;
        start_micros + latency + rows.bytes_between() / rate
    }

    /// Predicted over measured time, less one, on an accelerator with this row.
    #[must_use]
    pub fn error_on(&self, row: &Accelerator) -> f64 {
        self.predicted_micros(row, &HYBRID_EP.get()) / self.micros - 1.0
    }
}

/// The measured exchanges beside what the model says of them.
pub(crate) fn measured() -> Vec<Measured> {
    let row = |exchange: &Exchange| {
        let narrow = exchange.element_bytes() < 2.0;
        let table = if exchange.is_deep_ep() { "deepep_normal" } else { "hybridep" };
        let experts = exchange.experts.map_or_else(String::new, |all| format!(" of {all}"));
        Measured {
            table: table.to_owned(),
            kind: "deepep".to_owned(),
            part: exchange.accelerator.name().to_owned(),
            precision: if narrow { "fp8" } else { "bf16" }.to_owned(),
            shape: format!(
                "{:?}, {} tokens of {}, top {}{experts}, {} ranks in {} domains, {} \
                 multiprocessors",
                exchange.kernel,
                exchange.tokens,
                exchange.hidden,
                exchange.topk,
                exchange.ranks,
                exchange.domains,
                exchange.multiprocessors
            ),
            measured_us: exchange.micros,
            predicted_us: exchange.predicted_micros(exchange.accelerator.row(), &HYBRID_EP.get()),
            is_held_out: exchange.is_held_out,
        }
    };
    exchanges().iter().filter(|exchange| exchange.counts()).map(row).collect()
}

fn deep_ep(row: &Row<'_>) -> Option<[Exchange; 2]> {
    let whole = |column| row.whole(column);
    let accelerator = row.part()?;
    let [hidden, tokens, topk] = [whole("hidden")?, whole("tokens_per_rank")?, whole("topk")?];
    let [experts, multiprocessors, domains] = [whole("experts")?, whole("sms")?, whole("nodes")?];
    let shape = [hidden, tokens, topk, experts, multiprocessors, domains];
    let exchange = |kernel: Kernel, micros: f64| Exchange {
        accelerator,
        kernel,
        ranks: accelerator.row().devices_per_node * domains,
        domains,
        hidden,
        tokens,
        topk,
        multiprocessors,
        experts: Some(experts),
        micros,
        is_held_out: is_held_out(&format!("{kernel:?} {shape:?}")),
    };
    let [dispatch, combine] = [row.number("dispatch_us")?, row.number("combine_us")?];
    Some([exchange(Kernel::Dispatch, dispatch), exchange(Kernel::Combine, combine)])
}

/// Bandwidths count a row for each rank that a token goes to or, over the network, for each domain.
fn hybrid_ep(row: &Row<'_>) -> Option<Vec<Exchange>> {
    let accelerator = row.part()?;
    let [ranks, multiprocessors] = [row.whole("ranks")?, row.whole("sms")?];
    let [tokens, hidden] = HYBRID_SHAPE;
    let exchange = |(kernel, column): (Kernel, &str)| {
        let mut exchange = Exchange {
            accelerator,
            kernel,
            ranks,
            domains: ranks.div_ceil(accelerator.row().scale_up_domain_size),
            hidden,
            tokens,
            topk: HYBRID_TOPK,
            multiprocessors,
            experts: None,
            micros: 0.0,
            is_held_out: is_held_out(&format!("{kernel:?} {ranks} {multiprocessors}")),
        };
        let rows = exchange.rows();
        let copies = if exchange.domains > 1 { exchange.domains_visited() } else { rows.copies };
        let counted = rows.tokens * copies * rows.row_bytes;
        exchange.micros = counted / (row.number(column)? * 1e3);
        Some(exchange)
    };
    let kernels = [
        (Kernel::HybridNarrow, "dispatch_fp8_gb_per_sec"),
        (Kernel::HybridWide, "dispatch_bf16_gb_per_sec"),
        (Kernel::HybridCombine, "combine_gb_per_sec"),
    ];
    Some(kernels.into_iter().filter_map(exchange).collect())
}

/// Start of the search for DeepEP's constants.
const START: TokenKernel = TokenKernel {
    start_micros: 40.0,
    copy_micros: 0.1,
    kilobyte_micros: 0.1,
    copied_kilobyte_micros: 0.02,
    forwarded_kilobyte_micros: 0.2,
    fraction: 0.6,
};

/// The exchanges that a kernel's constants are fitted to.
fn seen(kernel: Kernel, fabric: &str) -> Vec<&'static Exchange> {
    let is_of = |exchange: &&Exchange| {
        let own = exchange.accelerator.row().fabric.name == fabric;
        own && exchange.kernel == kernel && exchange.counts() && !exchange.is_held_out
    };
    exchanges().iter().filter(is_of).collect()
}

/// DeepEP's constants that fit one half of the exchanges of an accelerator's fabric.
///
/// Where no exchange leaves a domain, what forwarding takes stays that of `first`.
#[must_use]
pub fn fitted(first: AcceleratorId, kernel: Kernel) -> TokenKernel {
    let seen = seen(kernel, first.row().fabric.name);
    let forwards = seen.iter().any(|exchange| exchange.domains > 1);
    let with = |constants: &[f64]| TokenKernel {
        start_micros: constants[0],
        copy_micros: constants[1],
        kilobyte_micros: constants[2],
        copied_kilobyte_micros: constants[3],
        fraction: constants[4],
        forwarded_kilobyte_micros: constants.get(5).copied().unwrap_or_default(),
    };
    let loss = |constants: &[f64]| loss(&seen, first, with(constants));
    let mut start = vec![
        START.start_micros,
        START.copy_micros,
        START.kilobyte_micros,
        START.copied_kilobyte_micros,
        START.fraction,
    ];
    if forwards {
        start.push(START.forwarded_kilobyte_micros);
    }
    with(&descend(&start, loss))
}

/// Loss of a kernel with these constants over these exchanges.
fn loss(seen: &[&Exchange], first: AcceleratorId, kernel: TokenKernel) -> f64 {
    let mut row = *first.row();
    if let Some(kernels) = &mut row.fabric.token_kernels {
        (kernels.dispatch, kernels.combine) = (kernel, kernel);
    }
    let of = |exchange: &&Exchange| {
        off(exchange.predicted_micros(&row, &HYBRID_EP.get()), exchange.micros)
    };
    seen.iter().map(of).sum()
}

/// Loss of a kernel over the exchanges that it is fitted to.
#[must_use]
pub fn loss_of_fit(first: AcceleratorId, name: Kernel, kernel: TokenKernel) -> f64 {
    loss(&seen(name, first.row().fabric.name), first, kernel)
}

/// HybridEP's constants that fit one half of its exchanges.
#[must_use]
pub fn fitted_hybrid() -> HybridEp {
    let seen: Vec<&Exchange> = exchanges()
        .iter()
        .filter(|exchange| !exchange.is_deep_ep() && exchange.domains == 1)
        .filter(|exchange| !exchange.is_held_out)
        .collect();
    let with = |constants: &[f64]| HybridEp {
        start_micros: constants[0],
        fraction: constants[1],
        ..HYBRID_EP.get()
    };
    let loss = |constants: &[f64]| {
        let of = |exchange: &&Exchange| {
            let row = exchange.accelerator.row();
            off(exchange.predicted_micros(row, &with(constants)), exchange.micros)
        };
        seen.iter().map(of).sum()
    };
    with(&descend(&[10.0, 0.7], loss))
}

/// The constants of DeepEP on every fabric and of HybridEP, as text.
#[must_use]
pub fn fit() -> String {
    let mut text = String::new();
    for first in [AcceleratorId::H100Sxm80gb, AcceleratorId::B200] {
        for kernel in [Kernel::Dispatch, Kernel::Combine] {
            let found = fitted(first, kernel);
            let _ = writeln!(text, "{} {kernel:?}: {found:?}", first.row().fabric.name);
        }
    }
    let _ = writeln!(text, "{:?}", fitted_hybrid());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_tables_is_read_and_about_half_is_held_out() {
        let lines = |text: &str| text.lines().count() - 1;
        let deep_ep = lines(include_str!("../../kernels/deepep_normal.csv"));
        let hybrid_ep = lines(include_str!("../../kernels/hybridep.csv"));
        assert_eq!(exchanges().len(), 2 * deep_ep + 3 * hybrid_ep);
        let held_out = exchanges().iter().filter(|exchange| exchange.is_held_out).count();
        let share = held_out as f64 / exchanges().len() as f64;
        assert!((0.4..0.6).contains(&share), "{share}");
    }
}
