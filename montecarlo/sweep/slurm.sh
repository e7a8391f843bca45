#!/bin/bash
# A shard of a sweep for each task of an array. To submit 100 shards, and afterwards those that are missing:
#
#     sbatch --array=1-100 --time=60 shard.sh 100 plan.json --out results
#     sbatch --array="$(belsim sweep plan.json --out results --print missing)" --time=60 shard.sh 100 plan.json --out results
#     belsim merge results -o map.csv
#
# --mem, --cpus-per-task and --partition are yours to add; for a GPU, --gres=gpu:1, and --backend cuda at the end. Many
# clusters have no array of more than 1000 tasks: MaxArraySize in 'scontrol show config'.
#SBATCH --job-name=belsim
#SBATCH --signal=B:USR1@60
#SBATCH --requeue
#SBATCH --open-mode=append

shards=$1
shift
"${BELSIM:-belsim}" sweep "$@" --shard "$SLURM_ARRAY_TASK_ID/$shards" &
belsim=$!
# Passed on to belsim, which makes what it finished safe and exits with 143. wait ends
# with the signal, before belsim does. SIGTERM Slurm sends to belsim itself.
trap 'signalled=1; kill -USR1 $belsim' USR1
while
	signalled=
	wait $belsim
	status=$?
	[ -n "$signalled" ]
do :; done
if [ $status = 143 ]; then
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
	sleep 30 # until Slurm ends this script
fi
exit $status
