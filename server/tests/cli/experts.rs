//! `moescape experts`.

use std::fs;

use testing::text::{assert_text, expect};

use crate::{has_line, run};

const PANGU: [&str; 8] = [
    "experts",
    "--preset=pangu-ultra-moe-718b",
    "--set=accelerator=ascend-910b3",
    "--set=num_devices=8",
    "--set=tp=8",
    "--set=ep=8",
    "--set=experts_kept=64",
    "--set=experts_kept_topk=4",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    PANGU.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn weights_of_kept_experts_and_what_is_published_of_them_are_printed() {
    let ran = run(&PANGU);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert_text(
        &ran.stdout,
        expect![[r#"
            Pangu Ultra MoE 718B
              Kept of each layer                64 of 256
              Visited by a token                        4
              Layers with experts                      58
              Weights of the model               387.1 GB
              with MTP layers                    393.6 GB
              One expert                         90.0 MiB
              Touched by a step, of each layer       56.9
              Imbalance among the kept              1.000
              On the host, of each layer                0
              Visits to the devices               100.0 %
              Bytes on the host                   0.0 GiB

            Accuracy, as published; of no other share is it known
                               visited of kept  benchmark    right
              Pangu Ultra MoE         8 of 128  MATH500    97.15 %  PreMoe, arXiv 2505.17639
              Pangu Ultra MoE         8 of 128  AIME24     81.30 %  PreMoe, arXiv 2505.17639
              Pangu Ultra MoE          4 of 64  MATH500    96.95 %  PreMoe, arXiv 2505.17639

            What fits where
              machine                         weights  most kept  asked    of a device     
                limit  requests
              8 x 64 GiB (Atlas 800 A2)       bf16            64  64 fits     46.7 GiB   54.3
                GiB        34
              8 x 64 GiB (Atlas 800 A2)       int8           144  64 fits     23.7 GiB   54.3
                GiB       264
              16 x 64 GiB (2 x Atlas 800 A2)  bf16           144  64 fits     24.3 GiB   54.3
                GiB       258
              16 x 64 GiB (2 x Atlas 800 A2)  int8           256  64 fits     12.3 GiB   54.3
                GiB       377
              8 x 910C (16 dies)              bf16           144  64 fits     24.3 GiB   54.3
                GiB       258
              8 x 910C (16 dies)              int8           256  64 fits     12.3 GiB   54.3
                GiB       377
              8 x H20                         bf16           112  64 fits     46.7 GiB   85.4
                GiB       344
              8 x H20                         fp8            240  64 fits     23.7 GiB   85.4
                GiB       573
              8 x H100 80 GB                  bf16            88  64 fits     46.7 GiB   71.2
                GiB       202
              8 x H100 80 GB                  fp8            192  64 fits     23.7 GiB   71.2
                GiB       432
              8 x H200                        bf16           176  64 fits     46.7 GiB  125.8
                GiB       746
              8 x H200                        fp8            256  64 fits     23.7 GiB  125.8
                GiB       975
        "#]],
    );
}

#[test]
fn a_trace_of_tasks_is_told_and_a_wrong_one_names_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tasks.csv");
    let path = file.to_str().unwrap();
    let mut text = "task,layer,expert,tcess\n".to_owned();
    for (task, first) in [("math", 0), ("code", 40)] {
        for expert in 0..256_u32 {
            let rank = (expert + 256 - first) % 256 + 1;
            text.push_str(&format!("{task},3,{expert},{}\n", 1.0 / f64::from(rank)));
        }
    }
    fs::write(&file, &text).unwrap();
    let ran = run(&with(&["--trace", path, "--json"]));
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let trace = &json["trace"];
    assert_eq!(trace["tasks"][0]["task"], "math");
    // Experts 40 to 63 are among the 64 best of both.
    assert_eq!(trace["overlap"][0][1], 24.0 / 64.0);
    assert_eq!(trace["tasks"][1]["kept_experts"][0][0], 40);
    assert_eq!(trace["tasks"][1]["kept_experts"][0].as_array().unwrap().len(), 64);
    assert_eq!(trace["together"][0]["tasks"], 2);
    assert_eq!(trace["pattern_bytes"], 1_024);
    assert_eq!(trace["generated_by_seed"], serde_json::Value::Null);
    // A change loads the other 40 of one layer: 90 MiB each over eight links.
    let bytes = 40.0 * 2.0 * 3.0 * 7_680.0 * 2_048.0;
    assert_eq!(trace["switch_bytes"], bytes);
    fs::write(&file, text.replace("math,3,7,", "math,3,x,")).unwrap();
    let ran = run(&with(&["--trace", path]));
    assert_eq!(ran.status, 2);
    assert_text(
        &ran.stderr.replace(path, "FILE"),
        expect![[r#"
            error: FILE: line 9: expert `x` is no whole number of 32 bits
        "#]],
    );
}

#[test]
fn generated_scores_are_said_to_be_generated() {
    let ran = run(&with(&["--generate", "3", "--seed", "5", "--share", "least"]));
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let generated = "Router mass that 64 of 256 experts cover, generated by seed 5: of no run";
    for line in [generated, "Changes pay "] {
        assert!(has_line(&ran.stdout, line), "{line}: {}", ran.stdout);
    }
}

#[test]
fn runs_with_experts_on_the_host_stand_beside_what_is_predicted() {
    let ran = run(&with(&["--host-runs"]));
    let with_runs = ran.stdout.strip_prefix(&run(&PANGU).stdout);
    assert_text(
        with_runs.unwrap_or(&ran.stdout),
        expect![[r#"

            Experts on the host, tokens/s of one request
              model               cards          host                      tokens of  top-k  on
                cards  context  measured  predicted    off
              DeepSeek-V3         1 x RTX 4090D  2 x Xeon Gold 6454S       answer         8    
                0.0 %      500      12.2       12.5   +3 %  fitted on
              DeepSeek-V3         1 x RTX 4090D  2 x Xeon Gold 6454S       answer         6    
                0.0 %      500      13.7       14.2   +4 %  fitted on
              DeepSeek-V3         1 x RTX 4090D  Xeon Gold 6454S           answer         8    
                0.0 %      500       8.7        8.5   −3 %  fitted on
              DeepSeek-V3         1 x RTX 4090D  Xeon Gold 6454S           answer         6    
                0.0 %      500      10.3       10.1   −2 %  fitted on
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S       answer         8    
                0.0 %      969      13.5       12.8   −5 %  fitted on
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S       answer         8    
                0.0 %    1,930      13.4       12.8   −5 %  fitted on
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S       answer         8    
                0.0 %    3,846      13.2       12.7   −4 %  fitted on
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S       answer         8    
                0.0 %    7,678      12.4       12.6   +2 %  fitted on
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S       answer         6    
                0.0 %      969      15.9       14.5   −9 %  fitted on
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S       answer         6    
                0.0 %    3,846      14.9       14.4   −3 %  fitted on
              MiniMax-M2.1        1 x RTX 4090   2 x Xeon Platinum 8488C   answer         8    
                0.0 %    2,048      21.8       25.5  +17 %
              MiniMax-M2.1        1 x RTX 4090   2 x Xeon Platinum 8488C   answer         8    
                0.0 %    8,192      20.9       24.3  +16 %
              MiniMax-M2.1        1 x RTX 4090   2 x Xeon Platinum 8488C   answer         8    
                0.0 %   32,768      18.5       20.5  +11 %
              MiniMax-M2.1        2 x RTX 4090   2 x Xeon Platinum 8488C   answer         8    
                0.0 %    2,048      23.6       26.6  +13 %
              MiniMax-M2.1        2 x RTX 4090   2 x Xeon Platinum 8488C   answer         8    
                0.0 %    8,192      23.3       26.0  +11 %
              MiniMax-M2.1        2 x RTX 4090   2 x Xeon Platinum 8488C   answer         8    
                0.0 %   32,768      21.6       23.6   +9 %
              MiniMax-M2.1        1 x RTX 5090   2 x EPYC 9355             answer         8    
                0.0 %    2,048      32.1       36.6  +14 %
              MiniMax-M2.1        1 x RTX 5090   2 x EPYC 9355             answer         8    
                0.0 %    8,192      31.4       35.2  +12 %
              MiniMax-M2.1        1 x RTX 5090   2 x EPYC 9355             answer         8    
                0.0 %   32,768      27.6       30.5  +11 %
              MiniMax-M2.1        2 x RTX 5090   2 x EPYC 9355             answer         8    
                0.0 %    2,048      35.9       37.2   +4 %
              MiniMax-M2.1        2 x RTX 5090   2 x EPYC 9355             answer         8    
                0.0 %    8,192      35.5       36.5   +3 %
              MiniMax-M2.1        2 x RTX 5090   2 x EPYC 9355             answer         8    
                0.0 %   32,768      33.1       33.8   +2 %
              Qwen3-Next-80B-A3B  4 x RTX 4090   Xeon Gold 6454S           answer        10    
                0.0 %      217      53.0       50.9   −4 %  fitted on
              Qwen3-Next-80B-A3B  4 x RTX 4090   Xeon Gold 6454S           answer        10   
                10.0 %      217      56.6       53.4   −6 %
              Qwen3-Next-80B-A3B  4 x RTX 4090   Xeon Gold 6454S           answer        10   
                20.0 %      217      59.5       56.2   −6 %
              Qwen3-Next-80B-A3B  4 x RTX 4090   Xeon Gold 6454S           answer        10   
                30.0 %      217      62.5       59.3   −5 %
              Qwen3-Next-80B-A3B  4 x RTX 4090   Xeon Gold 6454S           answer        10   
                40.0 %      217      66.8       62.8   −6 %
              Qwen3-Next-80B-A3B  4 x RTX 4090   Xeon Gold 6454S           answer        10   
                50.0 %      217      67.8       66.6   −2 %
              Qwen3-Next-80B-A3B  4 x RTX 4090   Xeon Gold 6454S           answer        10   
                60.0 %      217      72.1       71.0   −1 %
              Qwen3-Next-80B-A3B  4 x RTX 4090   Xeon Gold 6454S           answer        10   
                70.0 %      217      75.3       76.0   +1 %
              Qwen3-Next-80B-A3B  4 x RTX 4090   Xeon Gold 6454S           answer        10   
                80.0 %      217      79.5       81.9   +3 %
              Qwen3-Next-80B-A3B  4 x RTX 4090   Xeon Gold 6454S           answer        10   
                90.0 %      217      84.9       88.6   +4 %  fitted on
              DeepSeek-V3         1 x RTX 4090D  Xeon Gold 6454S           prompt         8    
                0.0 %      500      54.2       53.5   −1 %  fitted on
              DeepSeek-V3         1 x RTX 4090D  Xeon Gold 6454S           prompt         6    
                0.0 %      500      65.1       71.0   +9 %
              DeepSeek-V3         1 x RTX 4090D  2 x Xeon Gold 6454S       prompt         8    
                0.0 %      500      82.9       81.1   −2 %  fitted on
              DeepSeek-V3         1 x RTX 4090D  2 x Xeon Gold 6454S       prompt         6    
                0.0 %      500      97.3      107.3  +10 %
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S       prompt         8    
                0.0 %      969      88.2       81.3   −8 %
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S       prompt         8    
                0.0 %    1,930      88.5       81.3   −8 %
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S       prompt         8    
                0.0 %    3,846      81.9       81.1   −1 %
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S       prompt         8    
                0.0 %    7,678      80.0       80.7   +1 %
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S, AMX  prompt         8    
                0.0 %      969     186.0      237.7  +28 %
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S, AMX  prompt         8    
                0.0 %    1,930     255.3      237.5   −7 %
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S, AMX  prompt         8    
                0.0 %    3,846     252.6      236.0   −7 %  fitted on
              DeepSeek-V3         1 x RTX 4090   2 x Xeon Gold 6454S, AMX  prompt         8    
                0.0 %    7,678     195.6      232.0  +19 %
              MiniMax-M2.1        1 x RTX 4090   2 x Xeon Platinum 8488C   prompt         8    
                0.0 %    2,048     129.0      128.0   −1 %  fitted on
              MiniMax-M2.1        1 x RTX 4090   2 x Xeon Platinum 8488C   prompt         8    
                0.0 %    8,192     669.0      670.1    0 %  fitted on
              MiniMax-M2.1        1 x RTX 4090   2 x Xeon Platinum 8488C   prompt         8    
                0.0 %   32,768   1,385.0    1,640.5  +18 %
              MiniMax-M2.1        2 x RTX 4090   2 x Xeon Platinum 8488C   prompt         8    
                0.0 %    2,048     139.0      127.7   −8 %
              MiniMax-M2.1        2 x RTX 4090   2 x Xeon Platinum 8488C   prompt         8    
                0.0 %    8,192   1,013.0    1,250.2  +23 %
              MiniMax-M2.1        2 x RTX 4090   2 x Xeon Platinum 8488C   prompt         8    
                0.0 %   32,768   2,269.0    2,808.5  +24 %
              MiniMax-M2.1        1 x RTX 5090   2 x EPYC 9355             prompt         8    
                0.0 %    2,048     408.0      401.3   −2 %  fitted on
              MiniMax-M2.1        1 x RTX 5090   2 x EPYC 9355             prompt         8    
                0.0 %    8,192   1,196.0    1,278.6   +7 %
              MiniMax-M2.1        1 x RTX 5090   2 x EPYC 9355             prompt         8    
                0.0 %   32,768   2,540.0    2,637.6   +4 %
              MiniMax-M2.1        2 x RTX 5090   2 x EPYC 9355             prompt         8    
                0.0 %    2,048     414.0      400.8   −3 %
              MiniMax-M2.1        2 x RTX 5090   2 x EPYC 9355             prompt         8    
                0.0 %    8,192   1,847.0    2,377.4  +29 %
              MiniMax-M2.1        2 x RTX 5090   2 x EPYC 9355             prompt         8    
                0.0 %   32,768   4,007.0    4,606.4  +15 %
              median off 3.1 % where fitted, 8.1 % elsewhere
        "#]],
    );
}

#[test]
fn a_dense_model_and_a_broken_rule_are_errors_with_reasons() {
    let dense = run(&["experts", "--preset=llama-3-70b", "--set=num_devices=8", "--set=tp=8"]);
    assert_eq!((dense.status, dense.stderr.trim()), (2, "error: the model has no experts"));
    let broken = run(&with(&["--set=experts_kept=300"]));
    assert_eq!(broken.status, 2);
    assert_text(
        &broken.stderr,
        expect![[r#"
            error: 300 experts are more than the 256 of a layer (kept_experts_are_of_the_model);
                nearest: --set serving.experts_kept=256
            error: weights, activations and one request need 173.4 GiB of a device, the engine
                takes 54.3 (serving_has_room); nearest: --set serving.tensor_parallel_size=7,
                --set serving.tensor_parallel_size=9, --set serving.weight_dtype=int4, --set
                serving.weight_dtype=mxfp4, --set serving.moe_expert_parallel_size=7, --set
                serving.moe_expert_parallel_size=9, --set serving.pipeline_parallel_size=4,
                --set serving.experts_kept=69, --set serving.experts_on_host=187
        "#]],
    );
}
