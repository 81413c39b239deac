#!/bin/bash -l
# After the job scripts of ALCF's user guides: nodes by the scheduler's file, four devices in each.
#PBS -l select=8:system=polaris
#PBS -l walltime=01:00:00
cd ${PBS_O_WORKDIR}
NNODES=`wc -l < $PBS_NODEFILE`
RANKS=4
TOTAL=$(( NNODES * RANKS ))
mpiexec -n ${TOTAL} --ppn ${RANKS} --depth=8 --cpu-bind depth env NCCL_DEBUG=WARN \
  python pretrain_gpt.py --num-layers 40 --hidden-size 5120 --ffn-hidden-size 13824 \
  --num-attention-heads 40 --swiglu --vocab-size 32000 --tensor-model-parallel-size 4 \
  --seq-length 4096 --micro-batch-size 1 --global-batch-size 256 --bf16
