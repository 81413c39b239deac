# Qwen3-235B-A22B on 16 nodes of 16 Ascend dies: TP 1, PP 4, chunks of 8 layers, EP 32.
# The arguments are those of Ascend/MindSpeed-LLM
# examples/mcore/qwen3_moe/pretrain_qwen3_235b_a22b_4k_A3_ptd.sh.
NPUS_PER_NODE=16
NNODES=16
TRAIN_ITERS=2000
PARALLEL=(
    --tensor-model-parallel-size=1 --pipeline-model-parallel-size=4
    --num-layers-per-virtual-pipeline-stage 8  # of 96, with the two empty ones
    --expert-model-parallel-size 32
    --context-parallel-size 1 --context-parallel-algo megatron_cp_algo
)
MOE=(
    --num-experts 128 --moe-router-topk 8 --moe-ffn-hidden-size 1536 --norm-topk-prob
    --moe-router-load-balancing-type aux_loss --moe-aux-loss-coeff 0.001
    --moe-grouped-gemm --moe-token-dispatcher-type alltoall --moe-alltoall-overlap-comm
    --moe-permutation-async-comm
)
MODEL=(
    --use-mcore-models --num-layers 96 --noop-layers 94,95 --hidden-size 4096
    --ffn-hidden-size 12288 --num-attention-heads 64 --group-query-attention
    --num-query-groups 4 --kv-channels 128 --qk-layernorm --swiglu --disable-bias-linear
    --position-embedding-type rope --normalization RMSNorm --rotary-base 1000000
    --untie-embeddings-and-output-weights --padded-vocab-size 151936
    --make-vocab-size-divisible-by 1 --max-position-embeddings 4096
    --spec mindspeed_llm.tasks.models.spec.qwen3_spec layer_spec
)
RUN=(
    --seq-length 4096 --micro-batch-size 1 --global-batch-size 1024 --bf16
    --train-iters ${TRAIN_ITERS} --lr 1.25e-6 --lr-warmup-fraction 0.01 --seed 42
    --recompute-granularity full --recompute-method block --recompute-num-layers 8
    --use-flash-attn --use-fused-rmsnorm --use-distributed-optimizer --reuse-fp32-param
    --overlap-grad-reduce --overlap-param-gather --gemm-gradient-accumulation-fusion
)
MODEL+=(--attention-softmax-in-fp32)
torchrun --nproc_per_node $NPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py \
    "${MODEL[@]}" "${MOE[@]}" "${PARALLEL[@]}" "${RUN[@]}" --distributed-backend nccl
