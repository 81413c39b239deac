//! Texts that are no training of a decoder-only language model.

use interchange::{Format, Import, import};

fn read(text: &str) -> Import {
    import(Format::detect(text), text, None)
}

#[test]
fn a_model_that_is_no_decoder_is_refused_and_a_tower_before_one_is_said() {
    let t5 = "encoder-num-layers: 24\ndecoder-num-layers: 24\nhidden-size: 1024\n";
    let import = read(t5);
    assert!(import.design.is_none());
    assert!(import.errors[0].to_string().contains("an encoder beside the decoder"));
    let tower = "python pretrain_vlm.py --num-layers 4 --hidden-size 1024 --num-attention-heads 8 \
                 --vision-model-type siglip --freeze-ViT";
    let import = interchange::import(Format::Megatron, tower, None);
    assert!(import.design.is_some());
    let said = |it: &interchange::Assumed| it.detail.contains("only the language model is read");
    assert_eq!(import.assumed.iter().filter(|it| said(it)).count(), 1);
}

/// After EleutherAI/gpt-neox, `configs/mamba`.
#[test]
fn layers_that_a_dialect_has_no_knob_for_are_refused_wherever_they_are_nested() {
    let text = "{\"num_layers\": 24, \"hidden_size\": 768, \"num_attention_heads\": 12, \
                \"attention_config\": [[[\"mamba\"], 24]], \"pipe_parallel_size\": 0, \
                \"train_micro_batch_size_per_gpu\": 4, \"seq_length\": 2048}";
    let import = import(Format::Megatron, text, None);
    assert!(import.errors.iter().any(|it| it.key == "--attention-config"), "{:?}", import.errors);
}

#[test]
fn commands_that_use_a_model_start_no_training() {
    for text in [
        "megatron export --mcore_model x --tensor_model_parallel_size 2",
        "torchrun --nproc_per_node 8 inference.py --num-layers 32 --hidden-size 4096",
        "python tools/checkpoint/convert.py --num-layers 32 --hidden-size 4096",
    ] {
        let import = import(Format::Megatron, text, None);
        assert!(import.errors.iter().any(|it| it.detail.contains("no step")), "{text}");
    }
}
