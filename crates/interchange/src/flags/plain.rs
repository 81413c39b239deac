//! Arguments that change nothing that is modelled, by the reason.

use super::Arity::{self, Many, One, Switch};

const LEARNING: &str = "how the model learns, not how long a step takes";
const DATA: &str = "data and tokenizer: the step's time takes reading them as free";
const FILES: &str = "checkpoints: not part of a step";
const LOGS: &str = "logs, profiling and evaluation: not part of a step";
/// Why an argument of what starts the processes changes nothing.
pub(super) const LAUNCHER: &str = "how processes start and find each other";
const START: &str = "how processes start, by the framework's own arguments";
const ROUTER: &str = "how the router scores: expert loads have knobs of their own";
const ROPE: &str = "rotary angles: the same work at any value";
const FUSED: &str = "a fused or cheaper kernel that isn't told apart from the usual one";
const HOST: &str = "host and runtime behaviour: part of the framework's overhead";
const SMALL: &str = "a memory or overlap detail that isn't modelled apart";
const IMPLIED: &str = "taken as it is: the model has no other form";
const LENGTHS: &str = "needs the lengths of documents, which no argument says: set \
                       length_distribution, then dynamic_context_parallel";
const PARTNER: &str = "the detail of another argument that is read";

/// Arity, reason and names, a blank between two.
#[rustfmt::skip]
pub(super) static FLAGS: &[(Arity, &str, &str)] = &[
    (One, LEARNING,
        "lr min-lr lr-decay-style lr-decay-iters lr-decay-samples lr-warmup-iters \
         lr-warmup-fraction lr-warmup-samples lr-warmup-init lr-wsd-decay-style \
         lr-wsd-decay-iters lr-wsd-decay-samples weight-decay start-weight-decay \
         end-weight-decay weight-decay-incr-style clip-grad adam-beta1 adam-beta2 adam-eps \
         sgd-momentum muon-momentum muon-scale-mode muon-num-ns-steps decoupled-lr \
         decoupled-min-lr init-method-std init-method seed \
         train-iters train-samples initial-loss-scale loss-scale min-loss-scale \
         loss-scale-window hysteresis mtp-loss-scaling-factor norm-epsilon layernorm-epsilon \
         exit-interval exit-duration-in-mins embedding-multiplier-scale output-multiplier-scale \
         output-logit-softcapping attn-logit-softcapping query-pre-attn-scalar scale-emb \
         scale-depth dim-model-base label-smoothing stage prompt-type prompt-type-path \
         embedding-init-method-std lora-alpha lora-dropout lora-bias lora-dtype \
         indexer-loss-coeff swiglu-limit dpo-loss-type refer-model-iter dpo-beta \
         dpo-label-smoothing pref-ftx ema-decay muon-fp32-matmul-prec \
         muon-coefficient-type muon-extra-scale-factor muon-scalar-optimizer \
         optimizer-selection hc-sinkhorn-iters hc-eps n-hash-layers"),
    (Many, LEARNING, "rampup-batch-size"),
    (Switch, LEARNING,
        "use-checkpoint-opt-param-scheduler override-opt-param-scheduler \
         check-for-nan-in-loss-and-grad no-check-for-nan-in-loss-and-grad apply-layernorm-1p \
         add-rmsnorm-offset input-embeds-norm use-cpu-initialization perform-initialization \
         calculate-per-token-loss input-jitter use-rslora \
         muon-nesterov muon-no-split-qkv apply-wd-to-qk-layernorm \
         moe-revert-type-after-topk"),
    (Many, DATA,
        "data-path train-data-path valid-data-path test-data-path data-cache-path \
         tokenizer-kwargs dataset-category"),
    (One, DATA,
        "split tokenizer-type tokenizer-model tokenizer-name-or-path vocab-file merge-file \
         vocab-extra-ids num-workers dataloader-type data-impl tiktoken-pattern \
         tiktoken-num-special-tokens tiktoken-special-tokens tokenizer-padding-side \
         num-dataset-builder-threads max-position-embeddings pad-to-multiple-of short-seq-prob \
         mask-prob data-args-path per-split-data-args-path tokenizer-hf-use-fast \
         handler-name workers mix-strategy dataset-dir max-samples cache-dir \
         enable-thinking reasoning-effort interleave-probs n-subs output-prefix \
         fix-sub-seq-length"),
    (Switch, DATA,
        "no-shared-storage reset-position-ids reset-attention-mask eod-mask-loss mock-data \
         no-create-attention-mask-in-dataloader no-mmap-bin-files no-shuffle \
         is-instruction-dataset is-pairwise-dataset padded-samples tokenizer-not-use-fast \
         neat-pack return-document-ids variable-seq-lengths full-shuffle-instruction-dataset \
         no-cut-token cut-max-seqlen legacy-tokenizer trust-remote-code add-position-embedding \
         pack neat-packing streaming no-pad-to-seq-lengths append-eod \
         enable-share-memory overwrite-cache split-sentences keep-newlines \
         drop-thinking"),
    (Switch, LENGTHS, "hybrid-context-parallel dynamic-context-parallel"),
    (One, PARTNER, "max-seqlen-per-dp-cp-rank min-dynamic-context-parallel-size"),
    (One, FILES,
        "save load save-interval ckpt-format ckpt-step pretrained-checkpoint \
         ckpt-fully-parallel-save dist-ckpt-format dist-ckpt-strictness \
         non-persistent-save-interval non-persistent-ckpt-type non-persistent-global-ckpt-dir \
         save-retain-interval auto-detect-ckpt-format \
         model-type-hf mg-save-dir hf-save-dir hf-cfg-dir lora-load"),
    (Switch, FILES,
        "no-load-optim no-load-rng no-save-optim no-save-rng finetune use-dist-ckpt async-save \
         ckpt-fully-parallel-load no-ckpt-fully-parallel-save ckpt-assume-constant-structure \
         use-checkpoint-args exit-on-missing-checkpoint use-mp-args-from-checkpoint-args \
         load-checkpoint-loosely use-persistent-ckpt-worker \
         no-use-tokenizer-model-from-checkpoint-args dist-ckpt-save-pre-mcore-014 \
         enable-hf2mg-convert enable-mg2hf-convert only-convert-last-checkpoint \
         save-layer-by-layer save-lora-to-hf lora-ckpt-filter enable-high-availability \
         enable-hbmfault-repair enable-worker-reboot distributed-optimizer-no-replica \
         enable-elastic-training ttp-enabled"),
    (One, LOGS,
        "log-interval eval-interval eval-iters tensorboard-dir tensorboard-log-interval \
         tensorboard-queue-size wandb-project wandb-exp-name wandb-save-dir wandb-entity \
         profile-step-start profile-step-end profile-export-type profile-level profile-save-path \
         timing-log-level timing-log-option logging-level log-throughput-window \
         memory-snapshot-path log-dir straggler-minmax-count log-memory-interval \
         one-logger-project one-logger-run-name"),
    (Many, LOGS, "profile-ranks"),
    (Switch, LOGS,
        "log-throughput log-params-norm log-num-zeros-in-grad log-timers-to-tensorboard \
         log-memory-to-tensorboard log-validation-ppl-to-tensorboard log-progress profile \
         profile-data-simplification profile-with-stack profile-with-memory \
         profile-record-shapes profile-with-cpu use-pytorch-profiler record-memory-history \
         log-batch-size-to-tensorboard log-world-size-to-tensorboard log-straggler \
         log-learning-rate-to-tensorboard no-log-learnig-rate-to-tensorboard \
         log-loss-scale-to-tensorboard no-log-loss-scale-to-tensorboard test-mode \
         moe-per-layer-logging print-expert-load op-cal-tflops enable-one-logger \
         disable-straggler-on-startup log-energy use-nsys-profiler nvtx-ranges"),
    (One, LAUNCHER,
        "node-rank master-addr master-port local-rank log-level rdzv-id rdzv-backend \
         rdzv-endpoint rdzv-conf max-restarts monitor-interval start-method redirects role tee \
         local-addr join nodes ntasks-per-node gres partition container-image container-mounts \
         hostfile yaml-cfg config \
         cluster-time-out bind-core"),
    (Switch, LAUNCHER, "standalone no-python run-path module no-kill"),
    (One, START, "distributed-backend distributed-timeout-minutes ai-framework"),
    (Switch, START,
        "use-mcore-models use-legacy-models lazy-mpu-init use-gloo-process-groups \
         disable-gloo-process-groups"),
    (One, IMPLIED,
        "normalization transformer-impl export-te-mcore-model attention-mask-type \
         cp-attention-mask-type hetereogenous-dist-checkpoint moe-train-capacity-factor"),
    (Switch, IMPLIED,
        "no-masked-softmax-fusion no-bias-gelu-fusion no-bias-swiglu-fusion \
         no-bias-dropout-fusion bias-swiglu-fusion bias-dropout-fusion no-rope-fusion \
         no-persist-layer-norm no-gradient-accumulation-fusion masked-softmax-fusion \
         gradient-accumulation-fusion attention-softmax-in-fp32 apply-query-key-layer-scaling \
         fp32-residual-connection fp16-lm-cross-entropy no-query-key-layer-scaling \
         input-layernorm-in-fp32 skip-bias-add \
         rmsnorm-weight-in-fp32 init-norm-weight-in-fp32 topk-softmax-in-fp32 \
         no-enable-linear-qkv enable-mla-scale-q-lora enable-mla-scale-kv-lora"),
    (One, ROUTER,
        "moe-router-score-function moe-router-topk-scaling-factor routed-scaling-factor \
         moe-router-bias-update-rate moe-router-dtype moe-z-loss-coeff moe-token-drop-policy \
         moe-input-jitter-eps moe-device-level-aux-loss-coeff moe-comm-aux-loss-coeff \
         noisy-gate-policy moe-router-topk-limited-devices moe-router-force-load-balancing-mode"),
    (Switch, ROUTER,
        "norm-topk-prob moe-router-enable-expert-bias router-gating-in-fp32 \
         moe-router-pre-softmax moe-router-force-load-balancing fix-router \
         moe-router-padding-for-fp8 moe-router-padding-for-quantization moe-router-fusion \
         moe-token-dropping moe-no-drop device-aux comm-aux \
         moe-apply-probs-on-input"),
    (One, ROPE,
        "rotary-base rotary-percent rotary-seq-len-interpolation-factor rotary-scaling-factor \
         rope-scaling-beta-fast rope-scaling-beta-slow rope-scaling-factor rope-scaling-mscale \
         rope-scaling-mscale-all-dim rope-scaling-type rope-type \
         rope-scaling-original-max-position-embeddings beta-fast beta-slow mscale mscale-all-dim \
         original-max-position-embeddings rope-scaling-low-freq-factor \
         rope-scaling-high-freq-factor low-freq-factor high-freq-factor longrope-freqs-type \
         no-rope-freq \
         original-seq-len rope-factor compress-rope-theta rope-theta \
         partial-rotary-factor long-factor short-factor long-mscale short-mscale \
         dynamic-factor"),
    (Switch, ROPE, "use-rope-scaling rotary-interleaved use-glm-rope no-rotary-interleaved"),
    (Switch, FUSED,
        "use-fused-rotary-pos-emb use-fused-swiglu use-fused-mlp mla-mm-split mla-fa-divide-qk \
         coc-fused-kernel use-fusion-attn-v2 use-fused-ring-attention-update \
         enable-token-rearrange-opt te-rng-tracker moe-permutation-async-comm apply-rope-fusion \
         mla-down-proj-fusion bias-gelu-fusion use-triton-gmm moe-use-legacy-grouped-gemm \
         use-fused-lightning-indexer use-fused-lightning-indexer-loss use-sparse-flash-attn \
         use-triton-gdn \
         use-fused-mhc use-triton-mhc lora-fusion use-triton-swiglu-limit \
         use-fused-sparse-flash-attention use-fused-lightning-indexer-kl-loss \
         use-dsa-absorb enable-mla-absorb kv-compress megatron-cp-in-bnsd \
         apply-rope-no-in-complex no-use-sparse-c8-indexer moe-alltoall-mc2"),
    (One, FUSED, "sparse-mode pre-tockens next-tockens"),
    (Switch, HOST,
        "manual-gc no-manual-gc-eval jit-compile use-deter-comp deterministic-mode \
         disable-jit-fuser defer-embedding-wgrad-compute no-align-grad-reduce align-grad-reduce \
         high-priority-stream-groups npu-deterministic use-cpu-affinity \
         no-async-tensor-model-parallel-allreduce use-ring-exchange-p2p \
         overlap-param-gather-with-optimizer-step no-delay-grad-reduce \
         disable-gloo-group async-log-allreduce optimize-send-recv-comm \
         reset-bucket-group-order aiqos"),
    (One, HOST,
        "manual-gc-interval empty-unused-memory-level nccl-communicator-config-path \
         hccl-group-buffer cuda-graph-scope cuda-graph-warmup-steps sharp-enabled-group \
         wgrad-deferral-limit ddp-bucket-size ddp-num-buckets \
         hccl-slice-size hccl-ep-group-buffer-adaptive-factor hccl-op-mode \
         param-and-grad-buffer-pad optimization-level"),
    (Switch, HOST,
        "hccl-group-buffer-adaptive use-sharp ddp-average-in-collective use-nccl-ub \
         ddp-pad-buckets-for-high-nccl-busbw overlap-p2p-communication-warmup-flush \
         use-precision-aware-optimizer fsdp-double-buffer use-megatron-fsdp use-custom-fsdp \
         keep-fp8-transpose-cache init-model-with-meta-device enable-gloo"),
    (Switch, SMALL,
        "mtp-mem-efficient-logits moe-unperm2-mem-optim moe-unperm2-mem-optim-swap \
         recompute-in-advance recompute-in-bubble recompute-mtp-norm recompute-mtp-layer \
         moe-zerc moe-allgather-overlap-comm mla-up-proj-tp-overlap balanced-moe-experts \
         use-cp-send-recv-overlap kv-head-repeat-before-uly-alltoall attention-mask-on-cpu \
         adaptive-cp-without-coarse adaptive-cp-dynamic-attn-mask adaptive-cp-only-reschedule \
         adaptive-cp-manually-set-mask-list moe-layer-recompute fp8-param-gather fp8-wgrad \
         no-fp8-wgrad first-last-layers-bf16 moe-deepep-async share-kvstates \
         enable-recompute-layers-per-pp-rank reduce-recompute-for-last-chunk \
         distribute-saved-activations overlap-cpu-optimizer-d2h-h2d virtual-optimizer smart-swap \
         adaptive-memory-optimization tp-comm-bulk-dgrad tp-comm-bulk-wgrad tp-comm-overlap-ag \
         tp-comm-overlap-rs disable-tp-comm-bulk-dgrad disable-tp-comm-bulk-wgrad \
         disable-tp-comm-overlap-ag disable-tp-comm-overlap-rs tp-comm-split-ag tp-comm-split-rs \
         disable-tp-comm-split-ag disable-tp-comm-split-rs no-post-layer-norm \
         use-ulysses-allgather-kv fp8-reuse-quantized-weight no-use-gmm-fp8"),
    (One, SMALL,
        "moe-zero-memory-num-layers recompute-activation-function-num-layers \
         recompute-norm-num-layers moe-deepep-num-sms moe-hybridep-num-sms \
         num-layers-at-start-in-bf16 num-layers-at-end-in-bf16 fp8-amax-history-len \
         fp8-amax-compute-algo fp8-margin fp8-interval coc-parallel-num coc-mode cp-window-size \
         balanced-moe-hot-expert-num trans-hot-expert-group-num tp-comm-overlap-cfg \
         tp-comm-bootstrap-backend output-layer-slice-num moe-upcycling-granularity \
         max-batch-size scale-fmt shared-expert-gate-output-dimension mamba-chunk-size"),
    (One, PARTNER, "swap-optimizer-times swap-modules specify-layers ulysses-degree-in-cp"),
    (Many, PARTNER, "hierarchical-context-parallel-sizes"),
    (Many, HOST, "cuda-graph-modules"),
];
