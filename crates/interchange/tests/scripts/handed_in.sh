# A job that is written and handed in by one script, as sweeps of many repositories do.
cat > hostfile <<EOF
worker-0 slots=8
worker-1 slots=8
EOF
cat > job.slurm <<'EOF'
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
srun timeout 3h numactl --interleave=all \
  python -m torch.distributed.run --nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_PER_NODE \
  pretrain_gpt.py --num-layers 40 --hidden-size 5120 --ffn-hidden-size 13824 \
  --num-attention-heads 40 --swiglu --vocab-size 32000 --seq-length 4096 \
  --micro-batch-size 1 --global-batch-size $1 --tensor-model-parallel-size $TP --bf16
EOF
TP=2 sbatch -N 16 job.slurm 1024
