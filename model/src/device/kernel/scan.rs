//! Chunked scans: a state of each head is carried from chunk to chunk of a sequence, and inside of
//! a chunk tokens meet in small products.

use super::{Cost, Device, joined};
use crate::ground::tally::Tally;

/// The heads of a device and their tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scan {
    /// Chunks of all heads and sequences.
    pub(crate) chunks: f64,
    /// Heads and sequences, whose chunks follow each other.
    pub(crate) chains: f64,
    /// C, tokens of a chunk.
    pub(crate) chunk: f64,
    /// Widths of a head's keys and values: the state is one by the other.
    pub(crate) widths: [f64; 2],
}

/// Work of one pass of a scan for each chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScanPass {
    /// Products as [C, `d_k`] [`d_k`, C], or as large.
    pub(crate) keys: f64,
    /// Products as [C, C] [C, `d_v`], or as large.
    pub(crate) values: f64,
    /// Products as [C, `d_k`] [`d_k`, `d_v`], or as large, that wait for no other chunk.
    pub(crate) states: f64,
    /// Products of that size that wait for the previous chunk.
    pub(crate) carried: f64,
    /// Bytes that a token of a head reads and writes.
    pub(crate) bytes: f64,
    pub(crate) kernels: f64,
}

impl Device {
    /// The kernels of one pass, in 16 bits: their products on the cube unit beside what they move.
    ///
    /// Products that wait for the chunk in front run as many at a time as there are heads and
    /// sequences; the others all at once. The form is that of matrix products, shape by shape, and
    /// its rate is measured, forward; the backward's is taken to be the same.
    ///
    /// # Source
    /// Yang et al. 2024, sections 3.2 and 3.3, and the kernels of flash-linear-attention.
    pub(crate) fn scan<T: Tally>(&self, scan: &Scan, pass: &ScanPass) -> Cost<T> {
        let Scan { chunks, chains, chunk, widths: [key, value] } = *scan;
        let products = [
            ([chunk, key, chunk], pass.keys, chunks),
            ([chunk, chunk, value], pass.values, chunks),
            ([chunk, key, value], pass.states, chunks),
            ([chunk, key, value], pass.carried, chains),
        ];
        let (mut flops, mut compute, mut tally) = (0.0, 0.0, T::NOTHING);
        for ([m, k, n], times, at_once) in products {
            let count = times * chunks;
            if count <= 0.0 {
                continue;
            }
            let work = 2.0 * m * k * n * count;
            let loading = self.aligned(k) * self.aligned(n);
            let share = self.shape_efficiency(m, k, n, at_once.max(1.0)) * loading;
            flops += work;
            compute += work / (self.wide_gemm * share);
            tally = tally + T::product([m, k, n], count);
        }
        let bytes = pass.bytes * chunks * chunk;
        let work = joined(compute, bytes / self.vector_bytes) / self.scan;
        let tensor = work + pass.kernels * self.launch;
        Cost { tensor, vector: 0.0, flops, launches: pass.kernels, tally: tally.moving(bytes) }
    }

    /// Products of `count` heads that share what they are multiplied by, in 16 bits, of which only
    /// what an indexer keeps is written, in FP32: so many scores for each pair of rows.
    pub(crate) fn scores<T: Tally>(&self, [m, k, n]: [f64; 3], count: f64, kept: f64) -> Cost<T> {
        let flops = 2.0 * m * k * n * count;
        let loading = self.aligned(k);
        let share = self.shape_efficiency(m, k, n, count) * loading;
        let bytes = (count * m * k + k * n) * 2.0 + 4.0 * m * n * kept;
        let tensor = joined(flops / (self.wide_gemm * share), bytes / self.stream) + self.launch;
        let tally = T::product([m, k, n], count).moving(bytes);
        Cost { tensor, vector: 0.0, flops, launches: 1.0, tally }
    }
}
