#!/bin/bash
# After the scripts of Megatron-Bridge's examples for Slurm: a command in steps, in a container.
#SBATCH --job-name=pretrain
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:h200:8   # of a node
set -euo pipefail

nodes=( $(scontrol show hostnames "$SLURM_JOB_NODELIST") )
HEAD=$(srun --nodes=1 --ntasks=1 -w "${nodes[0]}" hostname --ip-address)
LAYOUTS=("2,4,1")
for layout in "${LAYOUTS[@]}"; do
  IFS=',' read -r TP PP CP <<< "$layout"
  OPTIONS=(
    --num-layers 40 --hidden-size 5120 --ffn-hidden-size 13824
    --num-attention-heads 40 --swiglu --vocab-size 32000
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP
  )
  CMD="torchrun --nnodes ${#nodes[@]} --nproc_per_node $SLURM_GPUS_ON_NODE"
  CMD+=" --node_rank \$SLURM_NODEID --rdzv_endpoint $HEAD:29500"
  CMD="$CMD pretrain_gpt.py ${OPTIONS[@]}"
  SRUN="srun --mpi=pmix --container-image=$IMAGE --no-container-mount-home"
  $SRUN bash -lc "
    cd /workspace
    $CMD \
      --seq-length 4096 --micro-batch-size 1 --global-batch-size 256 \
      --context-parallel-size $CP --bf16
  "
done
