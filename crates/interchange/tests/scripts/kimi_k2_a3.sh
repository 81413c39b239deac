#!/bin/bash
# Kimi-K2 on 32 nodes of 16 Ascend dies: TP 2, PP 8, EP 64 spelled as 32 x TP.
# The arguments are those of Ascend/MindSpeed-LLM
# examples/mcore/kimi2/pretrain_kimi2_18b_4k_8p_ptd.sh, with the layout of all 61 layers.

export HCCL_CONNECT_TIMEOUT=3600
NPUS_PER_NODE=16
NNODES=32
NODE_RANK=${NODE_RANK:-0}
WORLD_SIZE=$(($NPUS_PER_NODE * $NNODES))
DATA_PATH="your data path"
TP=2
PP=8
EP=32
SEQ_LEN=4096

DISTRIBUTED_ARGS="
    --nproc_per_node $NPUS_PER_NODE \
    --nnodes $NNODES \
    --node_rank $NODE_RANK \
    --master_addr localhost \
    --master_port 6000
"
MLA_ARGS="
    --multi-head-latent-attention \
    --qk-rope-head-dim 64 --qk-nope-head-dim 128 --v-head-dim 128 \
    --q-lora-rank 1536 --kv-lora-rank 512 --qk-layernorm --mla-fa-without-pad --mla-mm-split \
"
MOE_ARGS="
    --num-experts 384 --moe-router-topk 8 --moe-ffn-hidden-size 2048 \
    --n-shared-experts 1 --first-k-dense-replace 1 --moe-layer-freq 1 \
    --n-group 1 --routed-scaling-factor 2.827 --norm-topk-prob \
    --moe-router-load-balancing-type noaux_tc --moe-aux-loss-coeff 0.0001 --seq-aux \
    --moe-router-score-function sigmoid --moe-router-enable-expert-bias --router-gating-in-fp32 \
    --moe-grouped-gemm --moe-permutation-async-comm --moe-token-dispatcher-type alltoall \
    --moe-tp-extend-ep
"
MEM_ARGS="
    --use-distributed-optimizer \
    --recompute-granularity full --recompute-method block --recompute-num-layers 8 \
"
GPT_ARGS="
    --spec mindspeed_llm.tasks.models.spec.deepseek_spec layer_spec \
    --use-mcore-models --use-flash-attn --use-fused-rmsnorm --use-fused-swiglu \
    --use-fused-rotary-pos-emb --gemm-gradient-accumulation-fusion --no-shared-storage \
    --reset-position-ids --manual-gc --manual-gc-interval 50 \
    --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size ${PP} \
    --expert-model-parallel-size ${EP} --sequence-parallel \
    --context-parallel-size 1 --context-parallel-algo ulysses_cp_algo \
    --num-layers 64 --noop-layers 61,62,63 --hidden-size 7168 --ffn-hidden-size 18432 \
    --num-attention-heads 64 --seq-length ${SEQ_LEN} --max-position-embeddings 163840 \
    --micro-batch-size 1 --global-batch-size 4096 --make-vocab-size-divisible-by 1 \
    --vocab-size 163840 --padded-vocab-size 163840 --untie-embeddings-and-output-weights \
    --position-embedding-type rope --use-rotary-position-embeddings --normalization RMSNorm \
    --swiglu --disable-bias-linear --norm-epsilon 1e-6 --rotary-base 50000 \
    --rope-scaling-type yarn --rope-scaling-factor 40 --rope-scaling-beta-fast 32 \
    --tokenizer-type PretrainedFromHF --tokenizer-name-or-path ${TOKENIZER_PATH} \
    --attention-dropout 0.0 --hidden-dropout 0.0 --init-method-std 0.02 --lr 1.0e-5 \
    --min-lr 1.0e-7 --train-iters 2000 --lr-decay-style cosine --weight-decay 1e-2 \
    --clip-grad 1.0 --adam-beta1 0.9 --adam-beta2 0.999 --initial-loss-scale 65536 \
    --no-masked-softmax-fusion --attention-softmax-in-fp32 --no-load-optim --no-load-rng \
    --bf16 --distributed-timeout-minutes 120
"
python -m torch.distributed.launch $DISTRIBUTED_ARGS pretrain_gpt.py \
    $GPT_ARGS $MLA_ARGS $MOE_ARGS $MEM_ARGS \
    --moe-alltoall-overlap-comm --use-fused-moe-token-permute-and-unpermute --reuse-fp32-param \
    --data-path $DATA_PATH --split 100,0,0 --log-interval 1 --eval-iters 0 \
    --distributed-backend nccl \
    | tee logs/pretrain.log
