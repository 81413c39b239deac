"""Asks Megatron-Core itself whether it starts the designs that `moescape find` names.

Each script that `moescape export` writes of them is run by bash, with a `torchrun` that only notes
what it is given. Megatron's own parser, `validate_args`, configurations and groups of ranks then
take these arguments, unmodified; `torch` is a stub, since no tensor is made.

What is asked stands in `asks.json`. Usage: check.py BINARY [RECORD]
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import traceback
import typing
import warnings
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import stub
import typing_extensions

# What Megatron-Core asks of Python 3.12.
if not hasattr(typing, "override"):
    setattr(typing, "override", typing_extensions.override)

#: What an export asks of its reader.
YOURS = {
    "CHECKOUT_PATH": ".",
    "DATA_PATH": "data",
    "TOKENIZER_PATH": "tokenizer",
    "SAVE_PATH": "checkpoints",
    "LR": "1e-4",
    "TRAIN_ITERS": "1000",
    "MASTER_ADDR": "127.0.0.1",
    "NODE_RANK": "0",
}

#: Arguments that MindSpeed and MindSpeed-LLM register beside those of Megatron-LM, so that
#: Megatron-Core can't judge them; of July 2026.
MINDSPEED = frozenset(
    "--context-parallel-algo --dualpipev-dw-detach --enable-expert-placement"
    " --expert-placement-freq --fine-grained-expert-placement-thre --first-k-dense-replace"
    " --gemm-gradient-accumulation-fusion --lora-r --lora-target-modules --mla-fa-without-pad"
    " --moe-alltoall-overlap-comm --moe-fb-overlap --moe-permutation-async-comm"
    " --moe-tp-extend-ep --moe-zero-memory --n-shared-experts --noop-layers --num-zero-experts"
    " --o2-gradient --padded-base-length --post-norm --recompute-activation-function"
    " --recompute-mla-up-proj --recompute-norm --reuse-fp32-param --schedules-method --seq-aux"
    " --sliding-window --swap-attention --swap-optimizer --use-ascend-mc2 --use-flash-attn"
    " --mla-mm-split --mla-swap-core-attn-out --mla-up-proj-tp-overlap --tokenizer-name-or-path"
    " --ulysses-degree-in-cp --use-ascend-coc --use-global-aux-loss"
    " --use-fused-rmsnorm".split()
)

#: Values that MindSpeed-LLM has beside those of Megatron-LM, with what they stand for.
MINDSPEED_VALUES = {"PretrainedFromHF": "HuggingFaceTokenizer"}

#: How Megatron refuses; anything else is a fault of this check.
REFUSALS = (AssertionError, ImportError, NotImplementedError, RuntimeError, ValueError)

#: A run of eight ranks that starts, and what it doesn't start with.
PLAIN = (
    "--num-layers 4 --hidden-size 1024 --num-attention-heads 8 --swiglu --num-experts 8"
    " --moe-shared-expert-intermediate-size 512 --expert-model-parallel-size 4"
    " --moe-token-dispatcher-type alltoall --disable-bias-linear --vocab-size 1024"
    " --position-embedding-type rope --seq-length 1024 --max-position-embeddings 1024"
    " --micro-batch-size 1 --global-batch-size 32 --bf16"
    " --mock-data --tokenizer-type NullTokenizer --lr 1e-4 --train-iters 1000"
)
BROKEN = {
    "--cpu-offloading-num-layers 2 --recompute-granularity selective": "CPU offloading does not",
    "--overlap-moe-expert-parallel-comm --moe-shared-expert-overlap": "disable moe_shared_expert",
    "--pipeline-model-parallel-size 2 --mtp-num-layers 1 --pipeline-model-parallel-layout Ett|ttLm":
        "The last layer must be loss",
    "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Ett|tL": "must match",
    "--expert-model-parallel-size 16 --num-experts 16": "is not divisible by expert",
    "--overlap-moe-expert-parallel": "unrecognized arguments",
}

TORCHRUN = """#!{python}
import json, os, sys
with open(os.environ["WITNESS"], "w") as file:
    json.dump({{"words": sys.argv[1:], "environment": dict(os.environ)}}, file)
"""


class Refused(Exception):
    """A design that doesn't start, with the reason."""


@dataclass
class Launch:
    """What a script starts."""

    #: Ranks of the run.
    world: int
    #: Arguments of the program.
    words: list[str]
    environment: dict[str, str]


def moescape(binary: str, *words: str) -> str:
    return subprocess.run([binary, *words], check=True, text=True, stdout=subprocess.PIPE).stdout


def found(binary: str, ask: dict[str, Any]) -> list[dict[str, Any]]:
    """The named designs of an ask."""
    words = ["find", "--json", "--preset", ask["preset"], "--accelerator", ask["accelerator"]]
    words += ["--devices", str(ask["devices"])]
    for knob, value in ask["set"].items():
        words += ["--set", f"{knob}={value}"]
    designs = json.loads(moescape(binary, *words))["designs"]
    return [design for design in designs if design["label"]]


def script(binary: str, framework: str, link: str) -> str:
    """The export of the design that a link holds."""
    words = ["export", framework]
    for knob, value in parse_qsl(link.partition("?")[2], keep_blank_values=True):
        if knob == "preset":
            words += ["--preset", value]
        elif knob != "v":
            words += ["--set", f"{knob}={value}"]
    return moescape(binary, *words)


def launched(text: str) -> Launch:
    """Runs a script as the first node does."""
    with tempfile.TemporaryDirectory() as name:
        torchrun, noted = Path(name, "torchrun"), Path(name, "noted")
        torchrun.write_text(TORCHRUN.format(python=sys.executable))
        torchrun.chmod(0o755)
        environment = {"PATH": f"{name}:{os.environ['PATH']}", "WITNESS": str(noted)}
        environment |= YOURS
        bash = subprocess.run(
            ["bash", "-s"], input=text, env=environment, cwd=name, text=True, capture_output=True
        )
        if bash.returncode or not noted.exists():
            raise Refused(f"the script starts no torchrun: {bash.stderr.strip()}")
        told = json.loads(noted.read_text())
    words: list[str] = told["words"]
    program = next((at for at, word in enumerate(words) if word.endswith(".py")), None)
    if program is None:
        raise Refused("torchrun is given no program")
    launcher = " ".join(words[:program]).replace("=", " ").replace("_", "-").split()
    sizes = dict(zip(launcher, launcher[1:], strict=False))
    world = int(sizes.get("--nproc-per-node", 1)) * int(sizes.get("--nnodes", 1))
    return Launch(world, words[program + 1 :], told["environment"])


def judged(words: list[str]) -> list[str]:
    """The arguments without those of MindSpeed, its own values as those of Megatron."""
    from megatron.training.arguments import add_megatron_arguments

    words = [MINDSPEED_VALUES.get(word, word) for word in words]
    parser = add_megatron_arguments(ArgumentParser(allow_abbrev=False))
    _, own = parser.parse_known_args(words)
    flags = [word.partition("=")[0] for word in own if word.startswith("--")]
    unknown = sorted(set(flags) - MINDSPEED)
    if unknown:
        raise Refused(f"neither Megatron nor MindSpeed has {' '.join(unknown)}")
    rest = iter(own)
    word = next(rest, None)
    left = []
    for given in words:
        if given == word:
            word = next(rest, None)
        else:
            left.append(given)
    return left


def start(words: list[str], world: int) -> None:
    """What Megatron does before it makes the first tensor; raises what it raises."""
    from megatron.core import num_microbatches_calculator, parallel_state
    from megatron.core.transformer.transformer_block import get_num_layers_to_build
    from megatron.training import argument_utils, arguments

    sys.argv = ["pretrain_gpt.py", *words]
    args = arguments.parse_args()
    arguments.validate_args(args)
    hybrid = args.hybrid_layer_pattern is not None
    kind = "hybrid" if hybrid else "gpt"
    model = getattr(argument_utils, f"{kind}_config_from_args")(args)
    argument_utils.pretrain_cfg_container_from_args(args, model)
    num_microbatches_calculator.unset_num_microbatches_calculator()
    num_microbatches_calculator.init_num_microbatches_calculator(
        args.rank, None, args.global_batch_size, args.micro_batch_size, args.data_parallel_size
    )
    with stub.ranks(world):
        try:
            parallel_state.initialize_model_parallel(
                args.tensor_model_parallel_size,
                args.pipeline_model_parallel_size,
                args.virtual_pipeline_model_parallel_size,
                context_parallel_size=args.context_parallel_size,
                hierarchical_context_parallel_sizes=args.hierarchical_context_parallel_sizes,
                expert_model_parallel_size=args.expert_model_parallel_size,
                expert_tensor_parallel_size=args.expert_tensor_parallel_size,
                num_distributed_optimizer_instances=args.num_distributed_optimizer_instances,
                order="tp-cp-ep-pp-dp" if args.use_tp_pp_dp_mapping else "tp-cp-ep-dp-pp",
                create_gloo_process_groups=False,
            )
        finally:
            parallel_state.destroy_model_parallel()
    if args.pipeline_model_parallel_layout is None and not hybrid:
        get_num_layers_to_build(model.transformer, 0, 0)


def refusal(words: list[str], world: int, capability: int) -> str | None:
    """Why Megatron refuses these arguments; None if it doesn't."""
    stub.on_device(capability)
    os.environ |= {"RANK": "0", "WORLD_SIZE": str(world)}
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            start(words, world)
    except SystemExit:
        return said.getvalue().strip().rpartition("\n")[2]
    except REFUSALS as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"{str(error) or at.line} ({Path(at.filename).name}, {at.name})"
    return None


def control() -> None:
    """What is known to be refused is, and for this reason."""
    for broken, part in [("", None), *BROKEN.items()]:
        why = refusal(f"{PLAIN} {broken}".split(), 8, 9)
        if (why is None) != (part is None) or (part and part not in str(why)):
            sys.exit(f"the check is broken: {broken or 'a plain run'} gives {why}, not {part}")


def verdict(text: str, framework: str, ask: dict[str, Any]) -> str | None:
    """Why Megatron refuses a script; None if it doesn't."""
    kept = dict(os.environ)
    try:
        launch = launched(text)
        if launch.world != ask["devices"]:
            raise Refused(f"torchrun starts {launch.world} ranks")
        words = launch.words if framework == "megatron" else judged(launch.words)
        os.environ.clear()
        os.environ.update(launch.environment)
        return refusal(words, launch.world, ask["capability"])
    except Refused as reason:
        return str(reason)
    finally:
        os.environ.clear()
        os.environ.update(kept)


def answers(binary: str, asks: list[dict[str, Any]]) -> Iterator[tuple[str, bool | None]]:
    """Lines of the report, and whether each tells of a design that is accepted."""
    yield f"megatron-core {version('megatron-core')}", None
    for ask in asks:
        settings = " ".join(f"{knob}={value}" for knob, value in ask["set"].items())
        yield f"\n{ask['preset']} on {ask['devices']} {ask['accelerator']}, {settings}", None
        framework = "mindspeed" if ask["accelerator"].startswith("ascend") else "megatron"
        for design in found(binary, ask):
            link = design["link"]
            why = verdict(script(binary, framework, link), framework, ask)
            told = "accepted" if why is None else "refused: " + " ".join(why.split())
            yield f"- {design['label']}, {told}\n  {link}", why is None


def main(binary: str, record: str | None = None) -> None:
    """Prints a line for each design, and writes them to a file if one is named."""
    warnings.simplefilter("ignore")
    stub.install()
    control()
    asks = json.loads(Path(__file__).with_name("asks.json").read_text())
    lines, accepted = [], []
    for line, is_accepted in answers(binary, asks):
        print(line, flush=True)
        lines.append(line)
        accepted += [] if is_accepted is None else [is_accepted]
    if record:
        Path(record).write_text("\n".join(lines) + "\n")
    print(f"\n{sum(accepted)} of {len(accepted)} designs are accepted")
    if not all(accepted):
        sys.exit("Megatron-Core refuses the others")


if __name__ == "__main__":
    main(*sys.argv[1:])
