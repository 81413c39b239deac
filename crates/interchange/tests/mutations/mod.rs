//! Texts that are almost right, for every reader: valid ones with pieces cut, doubled, swapped,
//! nested and flipped, by a seed that names each of them.
#![expect(clippy::unwrap_used, reason = "a fixture that is wrong fails with place and error")]

mod fixtures;
mod readers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

pub(crate) use readers::{READERS, Reader};

/// Bytes of an input, at most; one in a thousand may be ten times as long.
const MAX_INPUT: usize = 48 << 10;

/// Outcome of many inputs of one reader.
pub(crate) struct Outcome {
    /// Number of inputs.
    pub(crate) count: u64,
    /// All of them together, as long as they computed.
    pub(crate) total: Duration,
    /// The slowest, and its number.
    pub(crate) worst: (Duration, u64),
    /// Numbers of those that made the reader panic, the first few.
    pub(crate) panics: Vec<u64>,
}

/// Gives a reader inputs `from..from + count` of a seed.
pub(crate) fn run(reader: &Reader, seed: u64, from: u64, count: u64) -> Outcome {
    let fixtures = (reader.fixtures)();
    assert!(!fixtures.is_empty(), "{} has no fixture", reader.name);
    let mut outcome =
        Outcome { count, total: Duration::ZERO, worst: (Duration::ZERO, 0), panics: vec![] };
    for index in from..from + count {
        let bytes = input(&fixtures, reader.name, seed, index);
        let (started, busy) = (Instant::now(), computed());
        let read = catch_unwind(AssertUnwindSafe(|| (reader.read)(&bytes)));
        let waited = started.elapsed();
        // What others compute meanwhile isn't its own time.
        let spent = computed().zip(busy).map_or(waited, |(now, before)| now - before);
        outcome.total += spent;
        if spent > outcome.worst.0 {
            outcome.worst = (spent, index);
        }
        if read.is_err() && outcome.panics.len() < 8 {
            outcome.panics.push(index);
        }
    }
    outcome
}

/// CPU time of this thread; `None` if the system doesn't report it.
fn computed() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// The input of a number.
pub(crate) fn input(fixtures: &[Vec<u8>], name: &str, seed: u64, index: u64) -> Vec<u8> {
    let name = name.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31) ^ u64::from(byte));
    let mut random = Random(name.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut bytes = random.one_of(fixtures).clone();
    let most = if random.below(1_000) == 0 { 10 * MAX_INPUT } else { MAX_INPUT };
    for _ in 0..=random.below(6) {
        mutate(&mut bytes, fixtures, &mut random);
        bytes.truncate(most);
    }
    bytes
}

/// `SplitMix64`, whose every seed is a good one.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A piece of bytes: mostly a word or a line, now and then any.
    fn piece(&mut self, bytes: &[u8]) -> core::ops::Range<usize> {
        if bytes.is_empty() {
            return 0..0;
        }
        let at = self.below(bytes.len());
        let ends: &[u8] = match self.below(3) {
            0 => b" \n\t,",
            1 => b"\n",
            _ => return at..(at + 1 + self.below(64)).min(bytes.len()),
        };
        let is_end = |byte: &u8| ends.contains(byte);
        let start = bytes[..at].iter().rposition(is_end).map_or(0, |place| place + 1);
        let end = bytes[at..].iter().position(is_end).map_or(bytes.len(), |place| at + place + 1);
        start..end
    }
}

/// Words that readers treat apart.
const WORDS: [&str; 58] = [
    "--",
    "=",
    "\"",
    "'",
    "\\\n",
    "\n",
    "$A",
    "${A:-",
    "}",
    "$((",
    "))",
    "(",
    ")",
    "A=",
    "ARGS+=(",
    "[@]",
    "`",
    "<<EOF\n",
    "EOF\n",
    "#",
    "# moescape: ",
    "# moescape: format=design\n",
    "{",
    "[",
    "]",
    ":",
    ", ",
    "- ",
    "&x ",
    "*x",
    "<<: *x",
    "if ",
    "then\n",
    "fi\n",
    "for i in {1..1000000}; do\n",
    "done\n",
    "case $x in\n",
    "esac\n",
    "|",
    ">",
    "$(",
    "-1",
    "0",
    "1e309",
    "NaN",
    "null",
    "true",
    "99999999999999999999",
    "18446744073709551615",
    "4294967296",
    "\u{0}",
    "é",
    "\u{feff}",
    "---\n",
    "--num-layers ",
    "([0]*999999999)",
    "def f():\n",
    "\"schema\": 1,",
];

/// Texts that open something, for nesting.
const OPENINGS: [&str; 12] =
    ["[", "{\"a\":", "(", "$((", "${A:-", "$(", "`", "- ", "{a: ", "if true; then\n", "((", "\"'"];

fn mutate(bytes: &mut Vec<u8>, fixtures: &[Vec<u8>], random: &mut Random) {
    let piece = random.piece(bytes);
    let at = random.below(bytes.len() + 1);
    match random.below(12) {
        0 | 1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => drop(bytes.drain(piece)),
        3 | 4 => {
            let word = random.one_of(&WORDS).as_bytes().to_vec();
            drop(bytes.splice(at..at, word));
        }
        5 => {
            let other = random.one_of(fixtures);
            let word = other[random.piece(other)].to_vec();
            drop(bytes.splice(piece, word));
        }
        6 => {
            let most = if random.below(8) == 0 { 4_000 } else { 12 };
            let times = 1 + random.below(most);
            // What is cut off anyway isn't made: a long line 4,000 times is more memory than any
            // reader takes.
            let enough = 1 + 10 * MAX_INPUT / piece.len().max(1);
            let again = bytes[piece].repeat(times.min(enough));
            drop(bytes.splice(at..at, again));
        }
        7 => {
            let most = if random.below(4) == 0 { 20_000 } else { 40 };
            let depth = 1 + random.below(most);
            let opening = random.one_of(&OPENINGS).repeat(depth);
            drop(bytes.splice(at..at, opening.into_bytes()));
        }
        8 => {
            let number = bytes.iter().skip(at).position(u8::is_ascii_digit);
            if let Some(start) = number.map(|place| at + place) {
                let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let word = random.one_of(&WORDS[41..49]).as_bytes().to_vec();
                drop(bytes.splice(start..start + digits, word));
            }
        }
        9 => {
            let moved: Vec<u8> = bytes.drain(piece).collect();
            let at = random.below(bytes.len() + 1);
            drop(bytes.splice(at..at, moved));
        }
        10 => bytes.truncate(at),
        _ => bytes.insert(at, (random.next() & 0xff) as u8),
    }
}
