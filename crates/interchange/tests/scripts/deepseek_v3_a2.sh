#!/bin/bash
# DeepSeek-V3 on 64 nodes of eight Ascend NPUs: TP 4, PP 8, EP 32 spelled as 8 x TP, DualPipeV.
# The arguments are those of Ascend/MindSpeed-LLM
# examples/mcore/deepseek3/pretrain_deepseek3_671b_4k_ptd.sh.

export HCCL_CONNECT_TIMEOUT=3600
NPUS_PER_NODE=8
NNODES=64
NODE_RANK=${NODE_RANK:-0}
WORLD_SIZE=$(($NPUS_PER_NODE * $NNODES))
DATA_PATH="your data path"
TP=4
PP=8
EP=8
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
    --q-lora-rank 1536 --kv-lora-rank 512 --qk-layernorm --mla-fa-without-pad \
"
MOE_ARGS="
    --num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 \
    --n-shared-experts 1 --first-k-dense-replace 3 --moe-layer-freq 1 \
    --n-group 8 --topk-group 4 --routed-scaling-factor 2.5 --norm-topk-prob \
    --moe-router-load-balancing-type noaux_tc --moe-aux-loss-coeff 0.0001 --seq-aux \
    --moe-router-score-function sigmoid --moe-router-enable-expert-bias --router-gating-in-fp32 \
    --moe-grouped-gemm --moe-permutation-async-comm --moe-token-dispatcher-type alltoall_seq \
    --moe-tp-extend-ep
"
MEM_ARGS="
    --swap-optimizer --swap-optimizer-times 4 --use-distributed-optimizer \
    --recompute-granularity full --recompute-method uniform --recompute-num-layers 1 \
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
    --num-attention-heads 128 --seq-length ${SEQ_LEN} --max-position-embeddings 163840 \
    --micro-batch-size 1 --global-batch-size 3840 --make-vocab-size-divisible-by 1 \
    --vocab-size 129280 --padded-vocab-size 129280 --untie-embeddings-and-output-weights \
    --position-embedding-type rope --use-rotary-position-embeddings --normalization RMSNorm \
    --swiglu --disable-bias-linear --norm-epsilon 1e-6 --rotary-base 10000 \
    --rope-scaling-type yarn --rope-scaling-factor 40 --rope-scaling-beta-fast 32 \
    --tokenizer-type PretrainedFromHF --tokenizer-name-or-path ${TOKENIZER_PATH} \
    --attention-dropout 0.0 --hidden-dropout 0.0 --init-method-std 0.02 --lr 1.0e-5 \
    --min-lr 1.0e-7 --train-iters 2000 --lr-decay-style cosine --weight-decay 1e-2 \
    --clip-grad 1.0 --adam-beta1 0.9 --adam-beta2 0.999 --initial-loss-scale 65536 \
    --no-masked-softmax-fusion --attention-softmax-in-fp32 --no-load-optim --no-load-rng \
    --bf16 --use-ascend-coc --coc-fused-kernel --distributed-timeout-minutes 120
"
python -m torch.distributed.launch $DISTRIBUTED_ARGS pretrain_gpt.py \
    $GPT_ARGS $MLA_ARGS $MOE_ARGS $MEM_ARGS \
    --mtp-num-layers 1 --mtp-loss-scaling-factor 0.3 --mtp-mem-efficient-logits \
    --moe-fb-overlap --schedules-method dualpipev \
    --data-path $DATA_PATH --split 100,0,0 --log-interval 1 --eval-iters 0 \
    --distributed-backend nccl \
    | tee logs/pretrain.log
