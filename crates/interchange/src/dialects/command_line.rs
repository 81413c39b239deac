//! Commands whose words aren't `--name value`: MaxText's `key=value`, and short names.

/// Short names of Megatron-Bridge's performance scripts.
///
/// Source: NVIDIA-NeMo/Megatron-Bridge, `scripts/performance/argument_parser.py`.
const SHORT: [(&str, &str); 25] = [
    ("-m", "--model_family_name"),
    ("-mr", "--model_recipe_name"),
    ("-ng", "--num_gpus"),
    ("-gn", "--gpus_per_node"),
    ("-g", "--gpu"),
    ("-c", "--compute_dtype"),
    ("-tp", "--tensor_model_parallel_size"),
    ("-pp", "--pipeline_model_parallel_size"),
    ("-cp", "--context_parallel_size"),
    ("-vp", "--virtual_pipeline_model_parallel_size"),
    ("-ep", "--expert_model_parallel_size"),
    ("-et", "--expert_tensor_parallel_size"),
    ("-mb", "--micro_batch_size"),
    ("-gb", "--global_batch_size"),
    ("-sl", "--seq_length"),
    ("-a", "--account"),
    ("-p", "--partition"),
    ("-i", "--container_image"),
    ("-rl", "--recompute_num_layers"),
    ("-ol", "--activation_offload_layers"),
    ("-cv", "--config_variant"),
    ("-ms", "--max_steps"),
    ("-hf", "--hf_token"),
    ("-t", "--time_limit"),
    ("-l", "--log_dir"),
];

/// Whether a word is one of MaxText's trainers: `MaxText/train.py`,
/// `-m maxtext.trainers.post_train.sft.train_sft`.
fn is_maxtext(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_of_it = lower.starts_with("maxtext") || lower.contains("/maxtext/");
    let name = lower.trim_end_matches(".py").rsplit(['.', '/']).next().unwrap_or_default();
    is_of_it && (name.starts_with("train") || lower.contains(".trainers."))
}

/// Whether a word is one of Megatron-Bridge's performance scripts.
fn is_performance(word: &str) -> bool {
    word.ends_with("setup_experiment.py") || word.ends_with("performance/run_script.py")
}

/// Writes a command's words out as `--name value`, where its program has others.
pub(crate) fn spell_out(words: &mut [(String, u64)]) {
    if let Some(place) = words.iter().position(|(word, _)| is_maxtext(word)) {
        for (word, _) in words.iter_mut().skip(place + 1) {
            let name = word.split_once('=').map_or("", |(name, _)| name);
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !name.is_empty() && name.chars().all(is_name) {
                word.insert_str(0, "--");
            }
        }
    } else if let Some(place) = words.iter().position(|(word, _)| is_performance(word)) {
        for (word, _) in words.iter_mut().skip(place + 1) {
            if let Some((_, long)) = SHORT.iter().find(|(short, _)| short == word) {
                *word = (*long).to_owned();
            }
        }
    }
}
