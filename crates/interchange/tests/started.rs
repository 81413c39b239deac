//! Commands in strings, files and here-documents, and how many devices a job has by what starts
//! it.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use interchange::{Answers, Bundle, Format, Import, import};
use model::design::{Design, KnobId};

const CONTAINER: &str = include_str!("scripts/slurm_container.sh");
const PBS: &str = include_str!("scripts/pbs_mpiexec.sh");
const HANDED_IN: &str = include_str!("scripts/handed_in.sh");
const MANIFEST: &str = include_str!("scripts/pytorch_job.yaml");

/// A small dense model on few devices, without quotes and variables.
const ARGUMENTS: &str = "--num-layers 40 --hidden-size 5120 --ffn-hidden-size 13824 \
    --num-attention-heads 40 --swiglu --vocab-size 32000 --seq-length 4096 --micro-batch-size 1 \
    --global-batch-size 768 --tensor-model-parallel-size 2 --bf16";

fn read(text: &str) -> Import {
    import(Format::detect(text), text, None)
}

#[track_caller]
fn design(text: &str) -> (Design, Import) {
    let import = read(text);
    assert_eq!(import.errors, [], "{text}");
    assert_eq!(import.unknown, [], "{text}");
    (import.design.clone().unwrap(), import)
}

/// Devices, and how many a node has where that isn't the accelerator's usual number.
#[track_caller]
fn machine(text: &str) -> (u64, String) {
    let (design, import) = design(text);
    let asked: Vec<&str> = import.questions.iter().map(|asked| asked.name.as_str()).collect();
    assert!(asked.iter().all(|name| !name.contains("num_devices")), "{asked:?}: {text}");
    (design.cluster.num_devices, design.get(KnobId::devices_per_node).to_string())
}

#[test]
fn a_command_that_another_one_starts_makes_the_design_that_it_makes_alone() {
    let command = format!("torchrun --nnodes 4 --nproc_per_node 8 pretrain_gpt.py {ARGUMENTS}");
    let (alone, _) = design(&command);
    assert_eq!((alone.transformer.num_layers, alone.cluster.num_devices), (40, 32));
    for around in [
        "bash -c \"~\"",
        "bash -lc '~'",
        "bash -l -c \"set -e; cd /x && ~\"",
        "/bin/sh -ec '~' > log 2>&1",
        "zsh -o pipefail -c \"~ | tee log\"",
        "eval \"~\"",
        "CMD=\"~\"\neval $CMD",
        "CMD=\"~\"\nbash -c \"$CMD\"",
        "ssh -p 22 -o StrictHostKeyChecking=no node1 \"cd /x; ~\" &",
        "for host in $(cat hosts); do ssh $host \"~\" & done",
        "docker run --gpus all --ipc=host --rm -it -v /a:/b -e A=1 --shm-size 8g image:1 ~",
        "docker run --gpus all image bash -c \"pip install -e . && ~\"",
        "docker run --rm --entrypoint bash image -c \"~\"",
        "docker exec -it name bash -c \"~\"",
        "singularity exec --nv -B /a:/b --pwd /x image.sif ~",
        "apptainer exec --rocm --env A=1 image.sif bash -c '~'",
        "enroot start --rw --mount /a:/b name ~",
        "srun -N 4 --gres=gpu:8 --container-image=x --no-container-mount-home bash -c \"~\"",
        "srun --mpi pmix -l --kill-on-bad-exit=1 --cpu-bind=none --exclusive ~",
        "mpirun --allow-run-as-root -np 4 -N 1 --bind-to none -mca btl ^openib -x PATH ~",
        "kubectl exec -it pod-0 -c main -- ~",
        "kubectl exec pod-0 -- bash -c \"~\"",
        "pdsh -R ssh -w node[01-04] \"cd /x && ~\"",
        "nohup ~ > log 2>&1 &",
        "timeout -k 5m 3h ~",
        "numactl --cpunodebind=0 --membind 0 ~",
        "env A=1 B=2 ~",
        "sudo -E -u root ~",
        "xargs -I{} -P 4 ssh {} \"~\" < hosts",
        "nsys profile -s none -t nvtx,cuda -o report --force-overwrite true ~",
        "uv run --no-sync ~",
        "conda run --no-capture-output -n name ~",
        "tmux send-keys -t name \"~\" C-m",
        "tmux new-session -d -s name \"~\"",
        "ray job submit --address http://a:8265 --runtime-env-json '{\"a\": \"b\"}' -- ~",
        "sbatch -N 4 --gpus-per-node=8 --wrap \"srun ~\"",
        "sbatch -N 4 --wrap=\"~\"",
        "sudo env A=1 nohup srun -N 4 timeout 9 bash -c 'exec numactl -l ~'",
        "bash -c \"bash -c '~'\"",
        "bash <<EOF\nset -e\n~\nEOF",
        "ssh node1 bash -s <<'EOF'\n~\nEOF",
        "cat <<EOF | sbatch\n#!/bin/bash\nsrun ~\nEOF",
        "cat > run.sh <<'EOF'\n~ \"$@\"\nEOF\nchmod +x run.sh\nsrun ./run.sh",
        "echo \"~\" > job.slurm\nsbatch -N 4 job.slurm",
        "run() {\n  \"$@\"\n}\nrun ~",
        "read -r -d '' CMD <<'EOF'\n~\nEOF\nbash -c \"$CMD\"",
        "CMD=$(cat <<EOF\n~\nEOF\n)\n$CMD",
        "WORDS=(~)\nprintf -v CMD '%s ' \"${WORDS[@]}\"\n$CMD",
        "WORDS=(~)\nCMD=$(printf '%s ' \"${WORDS[@]}\")\nsrun bash -c \"$CMD\"",
    ] {
        let (started, _) = design(&around.replace('~', &command));
        assert_eq!(started, alone, "{around}");
    }
}

#[test]
fn an_array_is_one_word_where_there_is_room_for_one_alone() {
    for (text, layers) in [
        ("A=(--num-layers 40)\nC=\"python x.py ${A[@]} $R\"\n$C", 40),
        ("A=(--num-layers 41)\nC=\"python x.py ${A[*]} $R\"\n$C", 41),
        ("A=(--num-layers 42)\npython x.py \"${A[@]}\" $R", 42),
        ("A=(--num-layers)\nA+=(43)\nbash -c \"python x.py ${A[*]} $R\"", 43),
        ("A=(--num-layers 44)\nB=${A[@]}\npython x.py $B $R", 44),
        ("A=(--num-layers 45)\ncat > r.sh <<EOF\npython x.py ${A[@]} $R\nEOF\nbash r.sh", 45),
    ] {
        let rest = ARGUMENTS.replace("--num-layers 40 ", "");
        let text = format!("R='{rest}'\n{text}");
        assert_eq!(read(&text).design.unwrap().transformer.num_layers, layers, "{text}");
    }
}

#[test]
fn words_that_are_read_into_variables_are_known() {
    for text in [
        "read -r T P <<< \"2 4\"",
        "IFS=',' read -r T P N <<< \"2,4,8\"",
        "IFS=: read -ra A <<< 2:4\nT=${A[0]}\nP=${A[1]}",
        "mapfile -t A <<< $'2'\nT=2\nP=4",
        "S=$(printf '%s\\n' 2 4)\nmapfile -t A <<< \"$S\"\nT=${A[0]}\nP=${A[1]}",
        "read -r T P < <(echo 2 4)",
        "set_up() { T=$1; P=$2; }\nset_up 2 4",
        "set_up() { T=${11}; P=${12}; }\nset_up 1 2 3 4 5 6 7 8 9 10 2 4",
    ] {
        let text = format!(
            "{text}\nbash -c \"python x.py {} --pipeline-model-parallel-size $P\"",
            ARGUMENTS.replace("parallel-size 2", "parallel-size $T")
        );
        let import = read(&text);
        let parallel = import.design.unwrap().parallel;
        let sizes = (parallel.tensor_model_parallel_size, parallel.pipeline_model_parallel_size);
        assert_eq!(sizes, (2, 4), "{text}");
        let open = import.questions.iter().any(|asked| asked.name.starts_with("env"));
        assert!(!open, "{:?}: {text}", import.questions);
    }
}

#[test]
fn variables_in_strings_that_nothing_sets_are_asked_for() {
    let command = ARGUMENTS.replace("parallel-size 2", "parallel-size $T");
    for text in [
        format!("srun bash -lc 'python x.py {command}'"),
        format!("CMD=\"python x.py {command}\"\nssh node1 \"$CMD\""),
    ] {
        let asked = read(&text).questions;
        assert!(asked.iter().any(|asked| asked.name == "env T"), "{asked:?}: {text}");
    }
}

#[test]
fn a_job_in_a_container_is_read_with_its_lines() {
    let (design, import) = design(CONTAINER);
    assert_eq!(design.cluster.num_devices, 32);
    assert_eq!(design.get(KnobId::accelerator).to_string(), "h200-sxm-141gb");
    let parallel = &design.parallel;
    assert_eq!(
        (parallel.tensor_model_parallel_size, parallel.pipeline_model_parallel_size),
        (2, 4)
    );
    for (knob, word) in [
        (KnobId::num_layers, "--num-layers"),
        (KnobId::global_batch_size, "--global-batch-size"),
        (KnobId::context_parallel_size, "--context-parallel-size"),
    ] {
        let line = import.set.iter().find(|set| set.knob == knob).unwrap().line;
        let content = CONTAINER.lines().nth(line as usize - 1).unwrap();
        assert!(content.contains(word), "line {line} is `{content}`");
    }
}

#[test]
fn schedulers_and_launchers_say_how_many_devices_a_job_has() {
    let plain = format!("python pretrain_gpt.py {ARGUMENTS}");
    let launcher = format!("torchrun @ pretrain_gpt.py {ARGUMENTS}");
    let with = |options: &str| launcher.replace('@', options);
    for (head, command, devices, each) in [
        // Slurm, by what is asked for and by the variables that follow.
        ("#SBATCH --nodes=24\n#SBATCH --gres=gpu:8", format!("srun {plain}"), 192, "none"),
        ("#SBATCH -N 4 --gpus-per-node=h100:4", format!("srun {plain}"), 16, "4"),
        ("#SBATCH -N4\n#SBATCH -n32", format!("srun {plain}"), 32, "none"),
        ("#SBATCH --ntasks=16 --ntasks-per-node=4", format!("srun {plain}"), 16, "4"),
        ("#SBATCH -N 2 -G 16", format!("srun {plain}"), 16, "none"),
        ("#SBATCH -N 2 --ntasks-per-node=8 --gpus-per-task=1", format!("srun {plain}"), 16, "none"),
        (
            "#SBATCH --nodes=3 --gres=gpu:a100:4(S:0-1),nvme:1",
            format!("srun {}", with("--nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_ON_NODE")),
            12,
            "4",
        ),
        (
            "#SBATCH --nodes=6\n#SBATCH --gres=gpu:4",
            with(
                "--nnodes $(scontrol show hostnames $SLURM_JOB_NODELIST | wc -l) \
                  --nproc_per_node $(nvidia-smi -L | wc -l)",
            ),
            24,
            "4",
        ),
        ("#SBATCH --nodes=2", format!("srun -N 4 --ntasks-per-node=8 {plain}"), 32, "none"),
        ("#SBATCH --nodes=8 --gres=gpu:8", with("--nnodes 2 --nproc_per_node 8"), 16, "none"),
        (
            "#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n\
             srun --nodes=1 --ntasks=1 -w node1 start --head &",
            format!("srun {}", with("--nnodes $SLURM_NNODES --nproc_per_node 8")),
            32,
            "none",
        ),
        (
            "",
            "srun -N 3 --gpus-per-node=4 bash -c '~'"
                .replace('~', &with("--nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_ON_NODE")),
            12,
            "4",
        ),
        ("", format!("salloc -N 2 --gpus-per-node 8 srun {plain}"), 16, "none"),
        // MPI.
        ("", format!("mpirun -np 192 --map-by ppr:8:node {plain}"), 192, "none"),
        ("", format!("mpirun -n 16 -npernode 4 {plain}"), 16, "4"),
        ("", format!("mpiexec --np 12 --host a:4,b:4,c:4 {plain}"), 12, "4"),
        ("", format!("mpirun -np 2 -H a,b {}", with("--nproc_per_node 8")), 16, "none"),
        (
            "printf 'h%d slots=4\\n' 0 1 2 > hosts",
            format!("mpirun -hostfile hosts {plain}"),
            12,
            "4",
        ),
        // PBS, LSF, Grid Engine.
        ("#PBS -l select=24:ncpus=64:ngpus=8:mpiprocs=8", format!("mpirun {plain}"), 192, "none"),
        ("#PBS -l nodes=4:ppn=8:gpus=8,walltime=1:00:00", plain.clone(), 32, "none"),
        ("#BSUB -nnodes 16\n#BSUB -gpu \"num=4\"", plain.clone(), 64, "4"),
        ("", format!("jsrun -n 12 -a 6 -g 6 -r 1 -c 42 {plain}"), 72, "6"),
        ("#$ -l rt_F=8", with("--nnodes 8 --nproc_per_node 4"), 32, "4"),
        // Hosts.
        ("", format!("pdsh -w a[01-03,10],b \"{}\"", with("--nproc_per_node 8")), 40, "none"),
        ("", format!("flux run -N 2 -n 8 -g 1 {plain}"), 8, "4"),
        // torchrun.
        ("", with("--nnodes=2:4 --nproc-per-node=8"), 32, "none"),
        ("", with("--nnodes=2 --nproc-per-node=gpu"), 16, "none"),
        ("", with("--standalone --nproc-per-node=8"), 8, "none"),
        // DeepSpeed, Accelerate.
        ("", format!("deepspeed --num_nodes 4 --num_gpus=8 x.py {ARGUMENTS}"), 32, "none"),
        (
            "cat > hostfile <<EOF\n# all\na slots=4\nb slots=4\nEOF",
            format!("deepspeed --hostfile=hostfile x.py {ARGUMENTS}"),
            8,
            "4",
        ),
        ("", format!("deepspeed --include=a:0,1,2,3@b:0,1,2,3 x.py {ARGUMENTS}"), 8, "4"),
        (
            "",
            format!("accelerate launch --num_machines 2 --num_processes 8 x.py {ARGUMENTS}"),
            8,
            "4",
        ),
    ] {
        let text = format!("#!/bin/bash\n{head}\n{command}\n");
        assert_eq!(machine(&text), (devices, each.to_owned()), "{text}");
    }
}

#[test]
fn hosts_are_counted_in_files_that_lie_beside_the_script() {
    let run = format!(
        "NODES=$(grep -c . hosts.txt)\nmpirun -np $((NODES * 8)) --hostfile hosts.txt \
         python pretrain_gpt.py {ARGUMENTS}"
    );
    let files = [("run.sh", run.as_str()), ("hosts.txt", "a slots=8\nb slots=8\nc slots=8\n")];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let bundle = Bundle::new(files.to_vec()).unwrap();
    let import = bundle.import(None, Some("run.sh"), None, &Answers::default());
    assert_eq!(import.design.unwrap().cluster.num_devices, 24);
}

#[test]
fn a_site_s_nodes_have_as_many_processes_as_the_script_says() {
    assert_eq!(machine(PBS), (32, "4".to_owned()));
}

#[test]
fn a_script_that_hands_in_another_one_wins_over_its_directives() {
    let (design, _) = design(HANDED_IN);
    assert_eq!(design.cluster.num_devices, 128);
    assert_eq!(design.parallel.tensor_model_parallel_size, 2);
    assert_eq!(design.training.global_batch_size, 1024);
}

#[test]
fn a_job_of_kubernetes_has_its_replicas_devices() {
    let (design, import) = design(MANIFEST);
    assert_eq!(design.cluster.num_devices, 128);
    assert_eq!(design.get(KnobId::accelerator).to_string(), "h200-sxm-141gb");
    assert_eq!(design.training.global_batch_size, 512);
    let line = import.set.iter().find(|set| set.knob == KnobId::num_layers).unwrap().line;
    assert!(MANIFEST.lines().nth(line as usize - 1).unwrap().contains("--num-layers"), "{line}");
}

#[test]
fn jobs_of_mpi_volcano_and_trainer_are_counted_alike() {
    let words: Vec<String> = ARGUMENTS.split_whitespace().map(|it| format!("\"{it}\"")).collect();
    let args = words.join(", ");
    let pod = |command: &str, gpus: &str| {
        let limits = if gpus.is_empty() {
            String::new()
        } else {
            format!(", resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}")
        };
        format!("{{spec: {{containers: [{{image: x, command: [{command}]{limits}}}]}}}}")
    };
    let launcher = pod(&format!("mpirun, \"-np\", \"16\", python, x.py, {args}"), "");
    let trained = pod(&format!("torchrun, \"--nproc-per-node\", \"4\", x.py, {args}"), "4");
    for (text, devices) in [
        (
            format!(
                "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec:\n  mpiReplicaSpecs:\n    \
                 Launcher: {{replicas: 1, template: {launcher}}}\n    \
                 Worker: {{replicas: 2, template: {}}}\n",
                pod("sleep", "8")
            ),
            16,
        ),
        (
            format!(
                "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nspec:\n  tasks:\n    \
                 - {{replicas: 6, name: worker, template: {trained}}}\n"
            ),
            24,
        ),
        (
            format!(
                "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec:\n  trainer:\n    \
                 numNodes: 3\n    numProcPerNode: 8\n    image: x\n    \
                 command: [torchrun, x.py]\n    args: [{args}]\n    \
                 resourcesPerNode: {{limits: {{nvidia.com/gpu: 8}}}}\n"
            ),
            24,
        ),
    ] {
        assert_eq!(machine(&text).0, devices, "{text}");
    }
}

#[test]
fn a_scheduler_that_contradicts_the_launcher_is_told() {
    let text = format!(
        "#!/bin/bash\n#SBATCH --nodes=2\nsrun torchrun --nnodes 4 --nproc_per_node 8 x.py \
         {ARGUMENTS}"
    );
    let (design, import) = design(&text);
    assert_eq!(design.cluster.num_devices, 32);
    let told = import.ignored.iter().find(|it| it.key == "#SBATCH --nodes").unwrap();
    assert_eq!((told.line, told.reason.as_str()), (2, "it says 2, and the launcher starts 4"));
}

#[test]
fn nodes_that_nothing_says_are_asked_for() {
    for text in [
        format!("srun -N $NODES --ntasks-per-node=8 python x.py {ARGUMENTS}"),
        format!("srun torchrun --nnodes $NODES --nproc_per_node 8 x.py {ARGUMENTS}"),
    ] {
        let asked = read(&text).questions;
        assert!(asked.iter().any(|asked| asked.name == "env NODES"), "{asked:?}");
    }
    // One process of each node may start the others, on devices that nothing counts.
    let text =
        format!("#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=1\nsrun python x.py {ARGUMENTS}");
    let asked = read(&text).questions;
    let asked = asked.iter().find(|asked| asked.name == "cluster.num_devices").unwrap();
    assert_eq!((asked.line, asked.guess.as_deref()), (1, Some("32")));
    // What is answered wins over a directive.
    let text = format!(
        "#SBATCH --nodes=2\nsrun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 x.py \
         {ARGUMENTS}"
    );
    let variables = [("SLURM_NNODES".to_owned(), "16".to_owned())].into();
    let answers = Answers { variables, ..Answers::default() };
    let import = interchange::import_with(Format::Megatron, &text, None, &answers);
    assert_eq!(import.design.unwrap().cluster.num_devices, 128);
}

#[test]
fn an_engine_in_a_container_is_the_image_s_own() {
    for text in [
        "docker run --gpus all --ipc=host -p 8000:8000 vllm/vllm-openai:v0.11.0 \
         --model Qwen/Qwen3-30B-A3B --tensor-parallel-size 4",
        "docker run --gpus all vllm/vllm-openai Qwen/Qwen3-30B-A3B -tp 4",
        "docker run --gpus all --entrypoint bash vllm/vllm-openai -c \
         \"vllm serve Qwen/Qwen3-30B-A3B --tensor-parallel-size 4\"",
        "srun -N 1 apptainer exec --nv x.sif vllm serve Qwen/Qwen3-30B-A3B -tp 4",
    ] {
        let (design, import) = design(text);
        assert_eq!(import.format, Format::Serving);
        assert_eq!(design.serving.tensor_parallel_size, 4, "{text}");
        assert_eq!(design.cluster.num_devices, 4, "{text}");
    }
}

#[test]
fn a_quote_in_a_string_for_someone_else_refuses_nothing() {
    let text = format!("ssh node1 \"echo it's\"\npython x.py {ARGUMENTS}");
    assert_eq!(design(&text).0.transformer.num_layers, 40);
}

#[test]
fn strings_that_run_themselves_come_to_an_end() {
    for text in [
        "A='eval \"$A\"'\neval \"$A\"\n".to_owned(),
        "A='bash -c \"$A$A$A\"; '\nbash -c \"$A\"\n".to_owned(),
        "f() { bash -c f; bash -c f; }\nf\n".to_owned(),
        "cat > a.sh <<'E'\nbash a.sh\nbash a.sh\nE\nbash a.sh\n".to_owned(),
        "srun ".repeat(20_000),
        format!("SLURM_NTASKS={}\n{}", "9".repeat(200_000), "srun a\n".repeat(50_000)),
        format!("f() {{ {}\n}}\n{}", "x ".repeat(100_000), "srun f\n".repeat(50_000)),
        format!("set -- x\n{}", "f() { srun f $@ $@; }\nf a b c\n".repeat(500)),
        "echo $(( $(( ".repeat(20_000),
        "bash -c '".repeat(20_000),
        "#SBATCH --nodes=99999999999999999999\n#SBATCH --gres=gpu:,,:::(\n".repeat(2_000),
    ] {
        let started = std::time::Instant::now();
        let _ = read(&format!("{text}\npython x.py {ARGUMENTS}"));
        assert!(started.elapsed().as_secs() < 8, "{:.60}: {:?}", text, started.elapsed());
    }
}

/// After yanring/Megatron-MoE-ModelZoo, `best_practice`: experiments with variables of their own.
#[test]
fn of_several_runs_of_one_program_the_first_is_read_with_its_own_variables() {
    let text = "export MODEL=Qwen3-30B-A3B MBS=1 SEQ_LEN=4096\n\
                PP=1 TP=2 EP=8 NNODES=4 GPUS_PER_NODE=8 bash ./bench.sh\n\
                PP=8 TP=4 EP=4 MBS=4 NNODES=16 PR=mxfp8 bash ./bench.sh --recompute-granularity \
                full --recompute-method uniform --recompute-num-layers 1\n";
    let import = interchange::import(Format::detect(text), text, None);
    let design = import.design.unwrap();
    assert_eq!(design.parallel.tensor_model_parallel_size, 2);
    assert_eq!(design.training.micro_batch_size, 1);
    assert_eq!(design.get(KnobId::recompute_granularity).to_string(), "none");
    assert!(import.assumed.iter().any(|it| it.detail.contains("several runs")));
    let text = text.replace("PP=1 TP=2", "A=1 PP=1 PR=mxfp8 TP=2");
    let import = interchange::import(Format::detect(&text), &text, None);
    assert_eq!(import.design.unwrap().get(KnobId::precision).to_string(), "mxfp8");
}

/// After NVIDIA-NeMo/Megatron-Bridge, `examples/models/nemotron`: layouts in an array.
#[test]
fn variables_of_a_loop_s_last_round_are_not_those_of_its_first_run() {
    let text = "for C in \"4,1\" \"2,2\"; do\n  IFS=',' read -r TP PP <<< \"$C\"\n  \
                CMD=\"python scripts/training/run_recipe.py --recipe qwen3_8b_pretrain_config\"\n  \
                CMD=\"$CMD model.tensor_model_parallel_size=$TP\"\n  \
                CMD=\"$CMD model.pipeline_model_parallel_size=$PP\"\n  \
                srun --nodes 2 --gpus-per-node 8 bash -c \"$CMD\"\ndone\n";
    let design = interchange::import(Format::detect(text), text, None).design.unwrap();
    assert_eq!(design.parallel.tensor_model_parallel_size, 4);
    assert_eq!(design.parallel.pipeline_model_parallel_size, 1);
}
