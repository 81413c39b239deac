//! What a hardware's text says of its network: ports times rate for a node, or a rate for a device.
//!
//! A rate is in bits where it says `Gb/s`, `Gbps`, `GbE` or `400G`, in bytes where it says `GB/s`;
//! bytes count only beside a word for the network, because memory and NVLink are stated so too.

use crate::phrase::{Phrases, phrases};

/// The network of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Network {
    /// Ports of a node, where the text counts them.
    pub(super) ports_per_node: Option<f64>,
    /// GB/s of a port where ports are counted, of a device otherwise.
    pub(super) gb_per_sec: f64,
    /// The text doesn't say whose rate it is.
    pub(super) is_assumed: bool,
}

/// Whose a rate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Node,
    Device,
    Open,
}

/// Named links and their rate in Gb/s.
const LINKS: [(&str, f64); 6] =
    [("xdr", 800.0), ("ndr", 400.0), ("hdr", 200.0), ("edr", 100.0), ("opa", 100.0), ("fdr", 56.0)];

/// Machines of clouds, and Gb/s of a node. Sources: the makers' pages of these machines.
const CLOUDS: [(&str, f64); 9] = [
    ("p4de", 400.0),
    ("p4d", 400.0),
    ("p5en", 3_200.0),
    ("p5e", 3_200.0),
    ("p5.48", 3_200.0),
    ("a2-ultra", 200.0),
    ("a2-high", 100.0),
    ("a3-mega", 1_600.0),
    ("a3-high", 800.0),
];

/// Words beside which a rate is the network's.
static NETWORK: Phrases = phrases!(
    "nic | nics | roce | rdma | ib | infiniband | ethernet | efa | cx5 | cx6 | cx7 | cx8 | cx-7 | \
     cx-8 | connectx | connectx-7 | hca | hcas | port | ports | inter-node | internode | network | \
     interconnect | rail | rails | omni-path | spectrum-x | fabric | xdr | ndr | hdr | edr | opa | \
     fdr | slingshot"
);

/// Words beside which a rate is another's.
const OTHERS: &[&str] = &["nvlink", "nvswitch", "nvl", "hbm", "pcie", "hccs", "xgmi", "full-mesh"];

/// A rate above this, in Gb/s, is no port's: the node's ports together.
const FASTEST_PORT: f64 = 800.0;

/// The network in a text; `None` if it gives none. `devices` are those of a node.
pub(super) fn read(text: &str, devices: f64) -> Option<Network> {
    let text = text.to_lowercase().replace(['\u{d7}', '*'], "x");
    let clauses: Vec<&str> = text.split([',', ';', '(', ')', '+']).collect();
    let stated = clauses.iter().find_map(|clause| clause_network(clause, devices));
    let named = || clauses.iter().find_map(|clause| named_link(clause));
    let cloud = || {
        let (_, gigabits) = CLOUDS.iter().find(|(name, _)| text.contains(name))?;
        let gb_per_sec = gigabits / 8.0 / devices;
        Some(Network { ports_per_node: None, gb_per_sec, is_assumed: false })
    };
    stated.or_else(named).or_else(cloud)
}

/// The words of a clause, with digits apart from `x`, and units apart from digits.
fn words(clause: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    for word in clause.split(|c: char| c.is_whitespace() || matches!(c, '~' | ':' | '=')) {
        let mut start = 0;
        let kind = |c: char| (c.is_ascii_digit() || c == '.', c == '/');
        let chars: Vec<(usize, char)> = word.char_indices().collect();
        for pair in chars.windows(2) {
            let ((_, before), (at, after)) = (pair[0], pair[1]);
            // `8x400`, `400g` and `/gpu` come apart; `nvlink4` and `cx7` don't.
            let number_ends =
                kind(before).0 && !kind(after).0 && word[start..at].parse::<f64>().is_ok();
            let factor_ends = before == 'x' && kind(after).0 && (start + 1 == at);
            let per = after == '/' && !word[start..at].ends_with(['b', 't']);
            if number_ends || factor_ends || per {
                words.push(word[start..at].to_owned());
                start = at;
            }
        }
        words.push(word[start..].to_owned());
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A count in digits or as a word.
fn count(word: &str) -> Option<f64> {
    let written = ["one", "two", "four", "eight", "sixteen"];
    let value = match written.iter().position(|name| *name == word) {
        Some(power) => f64::from(1_u32 << power),
        None => word.parse().ok()?,
    };
    (1.0..=1_024.0).contains(&value).then_some(value)
}

/// GB/s of a rate, and whether its unit is one of bytes.
fn rate(number: &str, unit: &str) -> Option<(f64, bool)> {
    let value: f64 = number.parse().ok().filter(|value| (1.0..1e5).contains(value))?;
    let bits = ["gb/s", "gbps", "gbit/s", "gbit", "gbits", "gb", "g", "gbe", "ge", "gb/sec", "gbs"];
    if bits.contains(&unit) {
        return Some((value / 8.0, false));
    }
    if ["tb/s", "tbps", "tbit/s"].contains(&unit) {
        return Some((1_000.0 * value / 8.0, false));
    }
    (unit == BYTES).then_some((value, true))
}

/// Spelling of `GB/s` that [`lower_case`] writes.
const BYTES: &str = "gbytes";

fn owner(clause: &str) -> Owner {
    let says = |words: &[&str]| {
        words.iter().any(|word| {
            ["per ", "per-", "/", "each ", "a "]
                .iter()
                .any(|per| clause.contains(&format!("{per}{word}")))
        })
    };
    if says(&["node", "server", "host", "machine"]) {
        Owner::Node
    } else if says(&["gpu", "device", "npu", "die", "rank", "accelerator"]) {
        Owner::Device
    } else {
        Owner::Open
    }
}

fn clause_network(clause: &str, devices: f64) -> Option<Network> {
    let words = words(clause);
    let is_other = |word: &String| OTHERS.iter().any(|other| word.starts_with(other));
    if words.iter().any(is_other) {
        return None;
    }
    let is_network = words.iter().any(|word| NETWORK.contains(&word.as_str()));
    for (index, number) in words.iter().enumerate() {
        let word = |at: usize| words.get(at).map(String::as_str).unwrap_or_default();
        let Some((gb_per_sec, is_bytes)) = rate(number, word(index + 1)) else {
            continue;
        };
        let owner = owner(clause);
        // `80 GB` and `80G` are memory; so is a rate in bytes that no word calls the network's.
        let bare_unit = matches!(word(index + 1), "gb" | "g");
        let ports = ports(&words, index);
        let is_rate =
            is_network || (!is_bytes && (!bare_unit || ports.is_some() || owner != Owner::Open));
        let is_memory = bare_unit && !is_network && gb_per_sec * 8.0 < 100.0;
        if is_rate && !is_memory {
            return Some(network(gb_per_sec, ports, owner, devices));
        }
    }
    None
}

/// The ports given before a rate, `8x400`, or around it, `8 NICs of 25 GB/s`.
fn ports(words: &[String], rate: usize) -> Option<f64> {
    let word = |at: usize| words.get(at).map(String::as_str).unwrap_or_default();
    let before = |back: usize| rate.checked_sub(back).map(word).unwrap_or_default();
    if before(1) == "x" {
        return count(before(2));
    }
    let ports = ["nic", "nics", "port", "ports", "hca", "hcas", "rails", "links"];
    let is_port = |word: &str| ports.contains(&word);
    // `8 NICs of 25 GB/s`, `8 NICs at 400 Gb/s`, `8 NICs 400 Gb/s`.
    for back in 1..=2 {
        if is_port(before(back)) {
            return count(before(back + 1));
        }
    }
    // `one 200 Gb NIC`, `two 100 GbE ports`.
    let named = (rate + 2..rate + 5).any(|at| is_port(word(at)));
    count(before(1)).filter(|_| named)
}

fn network(gb_per_sec: f64, ports: Option<f64>, owner: Owner, devices: f64) -> Network {
    let per_node = |ports| Network { ports_per_node: Some(ports), gb_per_sec, is_assumed: false };
    let per_device =
        |gb_per_sec, is_assumed| Network { ports_per_node: None, gb_per_sec, is_assumed };
    match (ports, owner) {
        (Some(ports), Owner::Device) => per_device(ports * gb_per_sec, false),
        (Some(ports), Owner::Node | Owner::Open) => per_node(ports),
        (None, Owner::Device) => per_device(gb_per_sec, false),
        (None, Owner::Node) => per_device(gb_per_sec / devices, false),
        (None, Owner::Open) if gb_per_sec * 8.0 > FASTEST_PORT => {
            per_device(gb_per_sec / devices, true)
        }
        // One port for each device, as the machines of all makers have.
        (None, Owner::Open) => per_device(gb_per_sec, true),
    }
}

/// `4x HDR/OPA per node`: a kind of link without its rate; of two kinds the slower.
fn named_link(clause: &str) -> Option<Network> {
    let words: Vec<&str> = clause
        .split(|c: char| c.is_whitespace() || c == '/')
        .filter(|word| !word.is_empty())
        .collect();
    let is_link = |word: &str, name: &str| {
        word.trim_end_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == 'x')
            == name
    };
    let found = LINKS.iter().filter(|(name, _)| words.iter().any(|word| is_link(word, name)));
    let gigabits = found.map(|(_, gigabits)| *gigabits).reduce(f64::min)?;
    // `8xhdr200`, `4x hdr`, `4 x hdr`, `8 hdr ports`.
    let at = words.iter().position(|word| LINKS.iter().any(|(name, _)| is_link(word, name)))?;
    let before = |back: usize| at.checked_sub(back).and_then(|at| words.get(at)).copied();
    let times = |word: &str| word.strip_suffix('x').and_then(count);
    let glued = words[at].split_once('x').and_then(|(ports, _)| count(ports));
    let ports = glued.or_else(|| match before(1)? {
        "x" => count(before(2)?),
        word => times(word).or_else(|| count(word)),
    });
    ports.map(|ports| network(gigabits / 8.0, Some(ports), owner(clause), 1.0))
}

/// Marks what is in bytes, before case is lost: `25 GB/s`.
pub(super) fn lower_case(text: &str) -> String {
    // `3.2 Tb/s` is a network's, `2.4 TB/s` a memory's.
    let text = text.replace("TB/s", " tbytes");
    let text = ["GB/s", "GB/sec", "GBps", "GBytes/s", "GByte/s", "GiB/s"]
        .iter()
        .fold(text, |text, unit| text.replace(unit, BYTES));
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GB/s of a node of eight.
    fn node(text: &str) -> Option<f64> {
        let network = read(&lower_case(text), 8.0)?;
        Some(network.ports_per_node.unwrap_or(8.0) * network.gb_per_sec)
    }

    #[test]
    fn ports_times_rate_are_a_node_s() {
        for (text, gigabytes) in [
            ("A100-80G, 4x100 Gb/s RoCE per node", 50.0),
            ("8x A100, 4x200G", 100.0),
            ("A100 80GB, 4x200 Gb/s HDR", 100.0),
            ("H100 SXM, 8x 400 Gb/s", 400.0),
            ("DGX H100, 8x400 Gb IB", 400.0),
            ("2048x H800 (NVLink 400 GB/s, 8x400G IB CX7), MPFT network", 400.0),
            ("H800, 8 NICs of 25 GB/s", 200.0),
            ("H100, 8 NICs at 400 Gb/s", 400.0),
            ("8\u{d7}200 Gbps RoCE", 200.0),
            ("4 x 100 GbE per node", 50.0),
            ("two 100 GbE ports per node", 25.0),
            ("DGX A100-80G (Selene, 8xHDR200)", 200.0),
            ("A100-80G, Jean-Zay, 4x HDR/OPA per node", 50.0),
            ("A100, 4 x HDR InfiniBand", 100.0),
        ] {
            assert_eq!(node(text), Some(gigabytes), "{text}");
        }
    }

    #[test]
    fn a_rate_is_a_node_s_or_a_device_s_as_the_text_says() {
        for (text, gigabytes) in [
            ("a100_40gb (1600 Gb/s RoCE per node)", 200.0),
            ("H100 with 800 Gb/s per node", 100.0),
            ("A800, 100 Gb/s per server", 12.5),
            ("H100-96G HBM2e 2.4TB/s, 500 W cap, 400 Gb/s RDMA per GPU", 400.0),
            ("A100, one 200 Gb NIC per GPU", 200.0),
            ("H100, one 400G NIC/GPU", 400.0),
            ("GB200, 2x400 Gb/s per GPU", 800.0),
            ("H800, 50 GB/s RDMA per GPU", 400.0),
            ("8192 Ascend NPUs (64 GB, 8 per node full-mesh, 200 Gb/s RoCE)", 200.0),
            ("H100, CX7 400G", 400.0),
            ("H100-80G (RoCE 400G, 24K cluster)", 400.0),
            ("H100, 3200 Gbps EFA", 400.0),
            ("H100 SXM 80GB, NVLink 900 GB/s, 3.2 Tb/s InfiniBand", 400.0),
            ("A100-40GB (AWS p4d)", 50.0),
        ] {
            assert_eq!(node(text), Some(gigabytes), "{text}");
        }
        let assumed =
            |text: &str| read(&lower_case(text), 8.0).is_some_and(|found| found.is_assumed);
        assert!(assumed("H100, CX7 400G") && !assumed("H100, 400 Gb/s per GPU"));
    }

    #[test]
    fn memory_and_nvlink_are_no_network() {
        for text in [
            "H100-80G",
            "A100 80GB",
            "8x A100 PCIe 40 GB",
            "H800 (NVLink ~160 GB/s max)",
            "H200-141G",
            "A100-80G SXM, RoCE, 8 GPUs/node",
            "DGX-H100",
            "H100-96G HBM2e 2.4TB/s, 500 W cap",
            "H100, 3.35 TB/s, NVLink-4 900 GB/s",
            "GB200 NVL72",
            "B200 180GB",
            "",
            "\u{e9}x400",
        ] {
            assert_eq!(node(text), None, "{text}");
        }
    }
}
