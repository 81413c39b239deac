//! Hardware as published, as an accelerator's id with the cluster that the row describes.

mod network;

use model::catalogue::accelerator::AcceleratorId;
use model::design::KnobId;
use model::ground::choice::Choice;

use crate::phrase::{Phrases, phrases};
use crate::refusal::Refusal;
use crate::runs::{Run, is_ascend};

/// A machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Machine {
    /// The accelerator's id.
    pub(crate) accelerator: &'static str,
    /// Cluster settings that the row prints beyond that.
    pub(crate) overrides: Vec<(KnobId, f64)>,
    /// Assumptions made.
    pub(crate) assumed: Vec<String>,
}

/// Parts that no profile describes.
static OTHERS: Phrases = phrases!(
    "tpu | mi250 | mi300 | mi325 | mi355 | gaudi | trainium | trn1 | trn2 | v100 | gh200 | \
     h100 pcie | h100-pcie | h100 nvl | h100-nvl | 910a | ironwood | trillium"
);

/// Whether this is one of NVIDIA's or Huawei's parts.
pub(crate) fn is_nvidia_or_ascend(hardware: &str) -> bool {
    let text = hardware.to_lowercase();
    is_ascend(hardware) || text.contains("v100") || AcceleratorId::named_in(hardware).is_some()
}

/// Whether a run counts towards the targets: tier A or B, a training step, NVIDIA or Ascend.
pub(crate) fn is_candidate(run: &Run) -> bool {
    matches!(run.tier.as_str(), "A" | "B")
        && matches!(run.kind.as_str(), "train_step" | "pipeline")
        && run.duplicate_of.is_none()
        && is_nvidia_or_ascend(&run.hardware)
}

/// The machine of a run.
pub(crate) fn for_run(run: &Run) -> Result<Machine, Refusal> {
    let text = run.hardware.to_lowercase();
    if let Some(other) = OTHERS.iter().find(|other| text.contains(**other)) {
        let detail = format!("no accelerator profile for {}", other.to_uppercase());
        return Err(Refusal::new("no accelerator profile for its hardware", &detail));
    }
    if is_ascend(&run.hardware) {
        return ascend(&run.hardware);
    }
    let several = ["gb200/gb300", "h100/h200", "a100/h100"];
    if several.iter().any(|several| text.contains(several)) {
        return Err(Refusal::new("its hardware is one of several parts", &run.hardware));
    }
    let Some(accelerator) = AcceleratorId::named_in(&run.hardware) else {
        let detail = format!("no accelerator profile for `{}`", run.hardware);
        return Err(Refusal::new("no accelerator profile for its hardware", &detail));
    };
    Ok(machine(accelerator, &run.hardware))
}

fn ascend(hardware: &str) -> Result<Machine, Refusal> {
    let text = hardware.to_lowercase();
    let is_ascend = |id: &AcceleratorId| id.name().starts_with("ascend");
    if let Some(accelerator) = AcceleratorId::named_in(hardware).filter(is_ascend) {
        return Ok(machine(accelerator, hardware));
    }
    let (accelerator, assumed) = if text.contains("910b") || text.contains("atlas a2") {
        (AcceleratorId::Ascend910b2, "Ascend 910B taken as the 24-core part of Atlas 900 A2")
    } else if text.contains("npu") || text.contains("64gb") || text.contains("64 gb") {
        (AcceleratorId::Ascend910b3, "Ascend NPU taken as the one of Atlas 800T A2")
    } else {
        return Err(Refusal::new("its hardware names no part", &text));
    };
    let mut machine = machine(accelerator, hardware);
    machine.assumed.push(assumed.to_owned());
    Ok(machine)
}

/// Devices of a node, where the text says so.
fn devices_per_node(text: &str) -> Option<f64> {
    let phrases = " gpus/node| gpus per node| devices per node| npus per node| per node full-mesh\
        | per server| gpus each|-gpu node| gpus in a node| gpus a node|-gpu nvswitch| npus/node|\
        -npu node|x gpus per node| dies per node";
    phrases.split('|').find_map(|phrase| number_before(text, phrase))
}

/// Machine of a text, with its network and scale-up domain.
fn machine(accelerator: AcceleratorId, hardware: &str) -> Machine {
    let text = hardware.to_lowercase();
    let mut machine =
        Machine { accelerator: accelerator.name(), overrides: vec![], assumed: vec![] };
    let overrides = &mut machine.overrides;
    if text.contains("nvl36") {
        overrides.push((KnobId::scale_up_domain_size, 36.0));
    }
    let devices = devices_per_node(&text);
    overrides.extend(devices.map(|devices| (KnobId::devices_per_node, devices)));
    let usual = accelerator.row().devices_per_node as f64;
    if let Some(found) = network::read(&network::lower_case(hardware), devices.unwrap_or(usual)) {
        overrides.extend(found.ports_per_node.map(|ports| (KnobId::nics_per_node, ports)));
        overrides.push((KnobId::inter_node_gb_per_sec, found.gb_per_sec));
        if found.is_assumed {
            machine.assumed.push("the network's rate is one device's".to_owned());
        }
    }
    if let Some(both) = text.split_once("nvlink ").and_then(|(_, rest)| number_at(rest, " gb/s")) {
        // NVLink is quoted in both directions together.
        overrides.push((KnobId::intra_node_gb_per_sec, both / 2.0));
    }
    machine
}

/// The number that a text begins with, right before a unit.
fn number_at(text: &str, unit: &str) -> Option<f64> {
    let (number, _) = text.split_once(unit)?;
    number.parse().ok().filter(|value| (1.0..1e5).contains(value))
}

/// The number right before this phrase.
fn number_before(text: &str, phrase: &str) -> Option<f64> {
    let before = &text[..text.find(phrase)?];
    let start = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |index| {
        // The character may be more than one byte long.
        index + before[index..].chars().next().map_or(1, char::len_utf8)
    });
    before[start..].parse().ok().filter(|value| (1.0..1e5).contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(hardware: &str) -> Result<Machine, Refusal> {
        for_run(&Run { hardware: hardware.to_owned(), ..Run::default() })
    }

    #[track_caller]
    fn is(hardware: &str, accelerator: &str) {
        assert_eq!(machine(hardware).unwrap().accelerator, accelerator, "{hardware}");
    }

    #[test]
    fn nvidia_hardware_is_known_by_its_part() {
        is("DGX-GB300", "gb300");
        is("GB200 NVL72", "gb200");
        is("8x B200 SXM (one node)", "b200");
        is("DGX H100 (Eos)", "h100-sxm-80gb");
        is("h100_80gb", "h100-sxm-80gb");
        is("H100-96G HBM2e 2.4TB/s, 500 W cap, 400 Gb/s RDMA per GPU", "h100-96gb");
        is("a100_40gb (1600 Gb/s RoCE per node)", "a100-sxm-40gb");
        is("8x A100 PCIe", "a100-pcie-80gb");
        is("H200-141G", "h200-sxm-141gb");
    }

    #[test]
    fn ascend_hardware_is_known_by_its_system() {
        is("Atlas 900 A2 PODc (Ascend 910B, 8 per server)", "ascend-910b2");
        is("Atlas 800T A2", "ascend-910b3");
        is("Atlas 900 A3 SuperPoD", "ascend-910c");
        is("8192 Ascend NPUs (64 GB, 8 per node full-mesh, 200 Gb/s RoCE)", "ascend-910b3");
        assert!(machine("Atlas").is_err());
    }

    #[test]
    fn other_parts_are_refused() {
        for hardware in
            ["MI300X", "TPU v5p", "Gaudi2", "V100", "H100 PCIe", "GB200/GB300 (see doc)", ""]
        {
            assert!(machine(hardware).is_err(), "{hardware}");
        }
        assert!(is_nvidia_or_ascend("V100"));
        assert!(!is_nvidia_or_ascend("TPU v5p"));
    }

    #[test]
    fn the_network_that_a_row_states_counts() {
        let machine = machine("A100-80G, Jean-Zay, 4x HDR/OPA per node").unwrap();
        assert!(machine.overrides.contains(&(KnobId::nics_per_node, 4.0)));
        let found = number_before("a100_40gb (1600 gb/s roce per node)", " gb/s roce per node");
        assert_eq!(found, Some(1_600.0));
        assert_eq!(number_before("é gb/s roce per node", " gb/s roce per node"), None);
    }
}
