//! What kernels move and compute beside their time: for rooflines. Estimates keep none of it, and
//! pay nothing for it.

use core::fmt::Debug;
use core::ops::{Add, Mul};

/// Record that a cost keeps of its kernels.
pub(crate) trait Tally:
    Copy + Debug + Default + PartialEq + Add<Output = Self> + Mul<f64, Output = Self>
{
    /// No kernel.
    const NOTHING: Self;

    /// `count` products of [m, k] and [k, n].
    fn product(shape: [f64; 3], count: f64) -> Self;

    /// A kernel of the vector unit that moves this many bytes.
    fn passing(bytes: f64) -> Self;

    /// The tally with this number of bytes of the cube's operands and results added.
    fn moving(self, bytes: f64) -> Self;

    /// The tally with this number of operations of the vector unit added.
    fn doing(self, operations: f64) -> Self;
}

/// Nothing: for estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Untallied;

impl Add for Untallied {
    type Output = Self;
    fn add(self, _: Self) -> Self {
        Self
    }
}

impl Mul<f64> for Untallied {
    type Output = Self;
    fn mul(self, _: f64) -> Self {
        Self
    }
}

impl Tally for Untallied {
    const NOTHING: Self = Self;
    fn product(_: [f64; 3], _: f64) -> Self {
        Self
    }
    fn passing(_: f64) -> Self {
        Self
    }
    fn moving(self, _: f64) -> Self {
        Self
    }
    fn doing(self, _: f64) -> Self {
        Self
    }
}

/// Equal matrix products: `count` times [m, k] and [k, n].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Product {
    /// Rows of the first matrix and of the result.
    pub m: f64,
    /// Depth: what is summed over.
    pub k: f64,
    /// Columns of the second matrix and of the result.
    pub n: f64,
    /// Number of products; a part of one where a kernel does a part of it more.
    pub count: f64,
}

impl Product {
    /// FLOPs: 2 m k n, `count` times.
    #[must_use]
    pub fn flops(&self) -> f64 {
        2.0 * self.m * self.k * self.n * self.count
    }
}

/// Different products that are told apart, at most.
const MAX_PRODUCTS: usize = 6;

/// All of it: for rooflines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moved {
    /// Bytes of operands and results of the cube's kernels.
    pub(crate) tensor_bytes: f64,
    /// Bytes that the vector unit's kernels move.
    pub(crate) vector_bytes: f64,
    /// Operations of the vector unit.
    pub(crate) vector_flops: f64,
    products: [Product; MAX_PRODUCTS],
}

impl Moved {
    /// The products, as they were multiplied.
    pub(crate) fn products(&self) -> impl Iterator<Item = Product> + '_ {
        self.products.iter().copied().filter(|product| product.count > 0.0)
    }
}

impl Add for Moved {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let mut sum = Self {
            tensor_bytes: self.tensor_bytes + other.tensor_bytes,
            vector_bytes: self.vector_bytes + other.vector_bytes,
            vector_flops: self.vector_flops + other.vector_flops,
            ..self
        };
        for product in other.products() {
            let alike = |own: &&mut Product| {
                let edges = [(own.m, product.m), (own.k, product.k), (own.n, product.n)];
                own.count <= 0.0 || edges.iter().all(|(own, other)| own.total_cmp(other).is_eq())
            };
            if let Some(place) = sum.products.iter_mut().find(alike) {
                *place = Product { count: place.count + product.count, ..product };
            }
        }
        sum
    }
}

impl Mul<f64> for Moved {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        let times = |product: Product| Product { count: product.count * factor, ..product };
        Self {
            tensor_bytes: self.tensor_bytes * factor,
            vector_bytes: self.vector_bytes * factor,
            vector_flops: self.vector_flops * factor,
            products: self.products.map(times),
        }
    }
}

impl Tally for Moved {
    const NOTHING: Self = Self {
        tensor_bytes: 0.0,
        vector_bytes: 0.0,
        vector_flops: 0.0,
        products: [Product { m: 0.0, k: 0.0, n: 0.0, count: 0.0 }; MAX_PRODUCTS],
    };

    fn product([m, k, n]: [f64; 3], count: f64) -> Self {
        let mut moved = Self::NOTHING;
        moved.products[0] = Product { m, k, n, count };
        moved
    }

    fn passing(bytes: f64) -> Self {
        Self { vector_bytes: bytes, ..Self::NOTHING }
    }

    fn moving(self, bytes: f64) -> Self {
        Self { tensor_bytes: self.tensor_bytes + bytes, ..self }
    }

    fn doing(self, operations: f64) -> Self {
        Self { vector_flops: self.vector_flops + operations, ..self }
    }
}
