//! No knob is there for show: each changes a number of some design.

use model::ground::knob::{Kind, LayerText};

use super::*;

/// Values to try a knob at.
fn trials(design: &Design, id: KnobId) -> Vec<Value> {
    let real = |factor: f64| match design.get(id) {
        Value::Real(value) if value > 0.0 => Value::Real(value * factor),
        Value::None
        | Value::Flag(_)
        | Value::Integer(_)
        | Value::Real(_)
        | Value::Text(_)
        | Value::List(_) => Value::Real(factor),
    };
    match id.knob().kind {
        Kind::Real(..) | Kind::OptionalReal(..) => [0.5, 0.25, 2.0, 30.0, 700.0].map(real).to_vec(),
        Kind::Subset(names) => {
            names.iter().map(|name| Value::List(vec![Value::Text(name.to_string())])).collect()
        }
        Kind::LayerFreq => vec![Value::Integer(2)],
        Kind::PerStage(_) => vec![Value::Integer(2)],
        Kind::PositionList(_) => vec![Value::List(vec![Value::Integer(0), Value::Integer(1)])],
        Kind::LayerPattern(LayerText::Ratios) => {
            vec![Value::Text("([0]*3+[128,4]*20+[0])".into())]
        }
        Kind::LayerPattern(LayerText::Overrides) => {
            vec![Value::Text("0-3:ffn_hidden_size=4096".into())]
        }
        Kind::LayerPattern(text @ LayerText::Lengths) => vec![Value::Text(text.example().into())],
        Kind::LayerPattern(LayerText::SubLayers) => {
            vec![Value::Text("MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*".into())]
        }
        Kind::Layout => vec![Value::Text("Ett|(tt|)*28tt|tL|m".into())],
        Kind::Integer(..)
        | Kind::OptionalInteger(..)
        | Kind::Flag
        | Kind::Choice(_)
        | Kind::Hash
        | Kind::Name
        | Kind::Arguments => legal_values(design, id),
    }
}

/// Designs in which every offered knob has something to do.
fn grounds() -> Vec<Design> {
    let paper = Design::from_preset(Preset::DEFAULT_ID).unwrap();
    let of = |base: &Design, settings: &[(&str, &str)]| {
        settings.iter().fold(base.clone(), |design, (knob, value)| with(&design, knob, value))
    };
    let mut grounds: Vec<Design> = presets().into_iter().map(Preset::design).collect();
    let llama = Design::from_preset("llama-3-70b").unwrap();
    let qwen = Design::from_preset("qwen3-30b-a3b").unwrap();
    let full = [("recompute_granularity", "full"), ("recompute_modules", "none")];
    grounds.push(of(&llama, &[("pp", "1"), ("vpp", "1"), ("method", "1f1b")]));
    grounds.push(of(&llama, &[("cp", "4"), ("num_devices", "256"), ("gbs", "512")]));
    grounds.push(of(&llama, &full));
    grounds.push(of(&llama, &[("sequence_parallel", "false")]));
    grounds.push(of(&llama, &[("optimizer", "muon")]));
    let plain = [("flash_attention", "false"), ("recompute_granularity", "none")];
    grounds.push(of(&llama, &plain));
    grounds.push(of(
        &qwen,
        &[
            ("recompute_granularity", "selective"),
            ("recompute_modules", "moe_act"),
            ("moe_expert_capacity_factor", "1.5"),
        ],
    ));
    grounds.push(of(
        &qwen,
        &[
            ("moe_token_dispatcher_type", "flex"),
            ("moe_router_num_groups", "8"),
            ("moe_router_group_topk", "4"),
            ("ep", "16"),
        ],
    ));
    grounds.push(of(
        &qwen,
        &[
            ("recompute_num_layers", "4"),
            ("recompute_method", "block"),
            ("kernel.dispatch_microseconds", "900"),
        ],
    ));
    grounds.push(of(
        &paper,
        &[
            ("swap_modules", "optimizer"),
            ("overlap_param_gather", "false"),
            ("host_gb_per_sec", "0.5"),
        ],
    ));
    grounds.push(of(
        &paper,
        &[("pp", "16"), ("vpp", "1"), ("noop_layers", "none"), ("mtp_num_layers", "3")],
    ));
    grounds.push(of(
        &paper,
        &[
            ("delay_wgrad_compute", "false"),
            ("method", "interleaved"),
            ("overlap_p2p_comm", "false"),
            ("inter_node_gb_per_sec", "2"),
        ],
    ));
    grounds.push(of(
        &paper,
        &[
            ("overlap_moe_expert_parallel_comm", "true"),
            ("method", "interleaved"),
            ("inter_node_gb_per_sec", "1"),
        ],
    ));
    grounds.push(of(&paper, &[("inter_node_gb_per_sec", "2")]));
    grounds.push(of(&paper, &[("host_gb_per_sec", "0.5")]));
    let nothing = [("recompute_granularity", "none"), ("recompute_modules", "none")];
    grounds.push(of(&paper, &nothing));
    grounds.push(of(&llama, &[("lora_rank", "16")]));
    for lengths in ["log_normal", "histogram"] {
        let histogram = ("length_histogram", "512:0.5,2048:0.5");
        grounds.push(of(&llama, &[("length_distribution", lengths), histogram]));
        grounds.push(of(&qwen, &[("length_distribution", lengths), histogram, ("ep", "8")]));
    }
    grounds.push(of(&paper, &[("mla_fa_without_pad", "true")]));
    grounds.push(of(&qwen, &[("window_size", "512")]));
    grounds.push(of(&Design::from_preset("qwen3-next-80b-a3b").unwrap(), &[]));
    grounds.push(of(&Design::from_preset("deepseek-v3.2").unwrap(), &[]));
    grounds.push(of(
        &Design::from_preset("deepseek-v3.2").unwrap(),
        &[("dsa_indexer_topk_freq", "4")],
    ));
    grounds.push(of(&Design::from_preset("deepseek-v4-flash").unwrap(), &[]));
    grounds.push(of(&Design::from_preset("longcat-flash").unwrap(), &[]));
    grounds.push(of(&qwen, &[("layer_overrides", "0-3:moe_ffn_hidden_size=256")]));
    grounds.push(of(&Design::from_preset("nemotron-3-nano-30b-a3b").unwrap(), &[]));
    grounds.push(of(&Design::from_preset("nemotron-3-super-120b-a12b").unwrap(), &[]));
    let layout = ("pipeline_model_parallel_layout", "Ett|(tt|)*28t|ttL|m");
    grounds.push(of(&paper, &[("noop_layers", "none"), layout]));
    grounds.push(of(
        &qwen,
        &[
            ("moe_token_dispatcher_type", "flex"),
            ("moe_router_num_groups", "8"),
            ("ep", "128"),
            ("num_devices", "128"),
        ],
    ));
    grounds.push(of(&Design::from_preset("deepseek-v3").unwrap(), &[("moe_router_topk", "8")]));
    for trigger in ["on_increase", "threshold"] {
        let routing = [
            ("balance", "skewed"),
            ("skew", "0.21"),
            ("planner", "sliding_window"),
            ("planner_trigger", trigger),
            ("planner_interval", "9"),
        ];
        grounds.push(of(&paper, &routing));
    }
    grounds.retain(|design| Plan::new(design).is_ok());
    grounds
}

/// Knobs that only forbid, whose say is in the rules and not in the numbers; and what is for
/// those who read it: a name, and arguments that are handed on.
const WITHOUT_NUMBERS: &[&str] = &["trace", "profile", "extra_arguments"];

#[test]
fn no_offered_knob_is_decoration() {
    let grounds = grounds();
    let mut idle = Vec::new();
    for id in KnobId::of_training() {
        if WITHOUT_NUMBERS.contains(&id.knob().name) {
            continue;
        }
        let moves = grounds.iter().any(|design| {
            let before = estimate(&plan(design));
            trials(design, id).iter().any(|value| {
                let mut changed = design.clone();
                changed.set(id, value).is_ok()
                    && Plan::new(&changed)
                        .is_ok_and(|plan| numbers(&estimate(&plan)) != numbers(&before))
            })
        });
        if !moves {
            idle.push(id.id());
        }
    }
    assert!(idle.is_empty(), "these knobs change nothing: {idle:?}");
}
