"""The package as it is installed: its answers are those of the program, to the last bit.

`MOESCAPE_BINARY` is the program. `cargo xtask wheel` runs this.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import moescape
import pyarrow
import pytest
from moescape import Design

BINARY = os.environ["MOESCAPE_BINARY"]
STRATEGY = {
    "schema": 1,
    "design": {"preset": "pangu-ultra-moe-6k@2", "schedule": {"timing": "closed_form"}},
    "space": {
        "tp": {"powers_of_two": [1, 16]},
        "pp": [4, 8, 16, 32],
        "vpp": [1, 2],
        "ep": {"powers_of_two": [4, 64]},
        "micro_batch_size": [1, 2],
        "recompute_granularity": ["none", "selective", "full"],
        "sequence_parallel": [True, False],
        "noop_layers": {"fill": "chunks"},
    },
    "objectives": ["mfu max", "memory_peak_bytes min"],
    "constraints": ["fits"],
}


def program(*arguments: str) -> str:
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def bits(value: Any) -> Any:
    """A number by its bits, and everything else as it is."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return struct.pack("<d", value)
    if isinstance(value, dict):
        return {key: bits(each) for key, each in value.items()}
    return [bits(each) for each in value] if isinstance(value, list) else value


def designs(count: int) -> list[Design]:
    swept = moescape.sweep(STRATEGY, rows="legal")
    indices = pyarrow.table(swept)["index"].to_pylist()
    return [swept.design(index) for index in indices[:: max(1, len(indices) // count)][:count]]


def test_predictions_have_the_bits_of_the_program_over_200_designs(tmp_path: Path) -> None:
    some = designs(200)
    assert len(some) == 200

    def printed(place: int) -> Any:
        file = tmp_path / f"{place}.json"
        file.write_text(some[place].to_json())
        return json.loads(program("predict", "--json", str(file)))

    with ThreadPoolExecutor(2) as pool:
        for place, expected in enumerate(pool.map(printed, range(len(some)))):
            answer = moescape.predict(some[place])
            assert bits(answer.to_dict()) == bits(expected), some[place].link()


def test_a_sweep_has_the_rows_and_the_overview_of_the_program(tmp_path: Path) -> None:
    spec, rows = tmp_path / "spec.json", tmp_path / "rows.jsonl"
    spec.write_text(json.dumps(STRATEGY))
    program("sweep", str(spec), "--out", str(rows))
    swept = moescape.sweep(STRATEGY)
    table = pyarrow.table(swept).to_pylist()
    lines = [json.loads(line) for line in rows.read_text().splitlines()]
    assert len(lines) == len(table) == len(swept) > 100
    for line, row in zip(lines, table):
        assert line["index"] == row["index"]
        assert bits(line["metrics"]) == bits({name: row[name] for name in line["metrics"]})
        knobs = {name: "none" if row[name] is None else row[name] for name in line["knobs"]}
        assert {name: str(each) for name, each in knobs.items()} == {
            name: ",".join(map(str, each)) if isinstance(each, list) else str(each)
            for name, each in line["knobs"].items()
        }
    overview = json.loads(program("sweep", str(spec)))
    assert bits(swept.to_dict()) == bits(
        {name: each for name, each in overview.items() if name not in ("digest", "part")}
    )


def test_a_sweep_is_the_same_on_any_number_of_threads_and_when_it_refines() -> None:
    refine = {**STRATEGY, "sampling": {"method": "refine", "count": 900, "seed": 3}}
    for spec in (STRATEGY, refine):
        one, many = (moescape.sweep(spec, rows="legal", threads=threads) for threads in (1, 3))
        assert pyarrow.table(one).equals(pyarrow.table(many))
        assert one.to_dict() == many.to_dict()


def test_rows_of_every_legal_design_say_which_constraint_they_break() -> None:
    swept = moescape.sweep(STRATEGY, rows="legal")
    table = pyarrow.table(swept)
    said = swept.to_dict()
    assert table.num_rows == said["legal"]
    assert table["breaks"].null_count == said["feasible"] == len(moescape.sweep(STRATEGY))
    assert table.schema.field("memory_peak_bytes").metadata[b"unit"] == b"bytes"


def test_other_answers_have_the_bits_of_the_program() -> None:
    preset = "qwen3-30b-a3b"
    design = Design.from_preset(preset)
    for command, answer in (("infer", moescape.infer), ("budget", moescape.budget)):
        expected = json.loads(program(command, "--json", "--preset", preset))
        assert bits(answer(design).to_dict()) == bits(expected)
    found = moescape.find(design, goal="safest", keep=["tp"])
    terms = ("--goal", "safest", "--keep", "tp")
    expected = json.loads(program("find", "--json", "--preset", preset, *terms))
    del expected["seconds"]
    assert found.complete
    assert bits(found.to_dict()) == bits({**expected, "complete": True})
    assert found["safest"].design["tp"] == design["tp"]
    tree = moescape.explain(design, "mfu")
    assert tree.value == moescape.predict(design, verdict=False)["mfu"]
    assert moescape.explain(design, "tpot_seconds").unit == "s"
    assert moescape.explain(design, "checkpoint_bytes").unit == "bytes"


def test_an_operation_is_called_by_its_name() -> None:
    preset = "qwen3-30b-a3b"
    terms = ("--knob", "mbs", "--target", "fits")
    expected = json.loads(program("solve", "--json", "--preset", preset, *terms))
    solved = moescape.call("solve", Design.from_preset(preset), knob="mbs", target="fits")
    assert bits(solved) == bits(expected)
    with pytest.raises(moescape.InvalidInput) as refused:
        moescape.call("solve", Design.from_preset(preset), nob="mbs", target="fits")
    assert [error.nearest for error in refused.value.errors] == [("knob",)]
    with pytest.raises(moescape.InvalidInput, match="there is no such operation"):
        moescape.call("slove")


def test_a_search_ends_at_the_evaluations_that_were_asked_for() -> None:
    design = Design.from_preset("pangu-ultra-moe-6k@2")
    found = moescape.find(design, evaluations=500)
    assert not found.complete and found.evaluated < moescape.find(design).evaluated


def test_a_design_goes_through_every_form_and_back() -> None:
    preset = Design.from_preset("deepseek-v3")
    design = preset.set({"noop_layers": [62, 63]}, hbm_usable_gib=None, tp=8)
    assert (design["tp"], design["hbm_usable_gib"]) == (8, None)
    assert design["noop_layers"] == [62, 63]
    assert Design.from_json(design.to_json()) == design
    assert Design.from_dict(design.to_dict(full=True)) == design
    assert Design.from_link(design.link("https://host")) == design
    assert pickle.loads(pickle.dumps(design)) == design and len({design, design}) == 1
    toml = 'schema = 1\npreset = "deepseek-v3"\n[parallel]\ntensor_model_parallel_size = 8\n'
    assert Design.from_toml(toml).changed() == {"parallel.tensor_model_parallel_size": 8}
    assert design.set(tp=4)["tp"] == 4 and design["tp"] == 8


def test_an_illegal_design_names_every_rule_its_limit_and_what_is_nearest() -> None:
    design = Design.from_preset("deepseek-v3").set(tp=7, ep=5)
    assert len(design.violations()) > 1
    for ask in (moescape.predict, moescape.budget, lambda it: moescape.explain(it, "mfu")):
        with pytest.raises(moescape.IllegalDesign) as caught:
            ask(design)
        assert caught.value.violations == design.violations()
    nearest = [each for broken in design.violations() for each in broken.nearest]
    assert ("parallel.tensor_model_parallel_size", 8) in nearest, str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).violations == design.violations()


def test_wrong_input_is_refused_at_once_with_what_is_nearest() -> None:
    design = Design.from_preset("deepseek-v3")
    with pytest.raises(moescape.InvalidInput) as caught:
        wrong_values: Any = {"tpx": 1, "pp": "many", "micro_batch_size": -1, "cp": {}}
        design.set(wrong_values)
    assert [each.rule for each in caught.value.errors] == [
        "unknown_knob",
        "wrong_type",
        "out_of_range",
        "wrong_type",
    ]
    endless: list[Any] = []
    endless.append(endless)
    wrong: list[Any] = [
        lambda: Design.from_preset("deepseek"),
        lambda: Design.from_json("{"),
        lambda: Design.from_toml("schema = "),
        lambda: Design.from_link("/?v=1&preset=x"),
        lambda: moescape.find(design, goal="fast", targets=["mfa>=1"]),
        lambda: moescape.sweep({"schema": 1, "space": {"tpx": [1]}}),
        lambda: moescape.sweep(STRATEGY, max_rows=10),
        lambda: moescape.sweep(STRATEGY, rows="all"),
        lambda: moescape.explain(design, "memory_peak_bytes@stage=999"),
        lambda: moescape.predict(design)["mfa"],
        lambda: moescape.metric("mfa"),
        lambda: moescape.import_text("{", "hf"),
        lambda: moescape.import_text("", "nobody"),
        lambda: design.set(tp=2**70),
        lambda: design.set(noop_layers=endless),
        lambda: design.violations("both"),
    ]
    for call in wrong:
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        design.set(tp=object())  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        moescape.sweep(STRATEGY).design(10**12)


def test_an_import_says_what_it_assumed_and_asks() -> None:
    script = "torchrun pretrain.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 "
    script += "--seq-length 2048 --micro-batch-size 1 --global-batch-size 64 --wrong-flag 1\n"
    imported = moescape.import_text(script, "megatron", set={"tp": 2})
    assert imported.design["num_layers"] == 8 and imported.design["tp"] == 2
    assert imported.assumed and imported.unknown == ("--wrong-flag",)


def test_a_verdict_says_what_fills_the_memory_and_what_helps() -> None:
    design = Design.from_preset("pangu-ultra-moe-6k@2").set(micro_batch_size=4)
    prediction = moescape.predict(design)
    verdict = prediction.verdict
    assert verdict is not None and verdict.fits == prediction.fits is False
    assert verdict.over_bytes > 0 and verdict.contents and verdict.changes
    low, high = prediction.ranges["mfu"].most
    mfu = prediction["mfu"]
    assert isinstance(mfu, float) and low < mfu < high


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_a_sweep_and_the_lock_is_free_meanwhile() -> None:
    code = """
import moescape, signal, threading, time
# Whoever starts the tests may ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
ticks = []
threading.Thread(target=lambda: [ticks.append(time.sleep(0.01)) for _ in range(400)],
                 daemon=True).start()
space = {"tp": [1, 2, 4, 8], "seq_length": list(range(4096, 4096 + 9000)),
         "micro_batch_size": list(range(1, 60)), "pp": [1, 2, 4, 8, 16]}
print("ready", flush=True)
try:
    moescape.sweep({"schema": 1, "space": space, "design": {"preset": "pangu-ultra-moe-6k@2"}})
except KeyboardInterrupt:
    print("stopped", len(ticks) > 20, flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    start = time.monotonic()
    output, _ = child.communicate(timeout=60)
    assert output == "stopped True\n"
    assert time.monotonic() - start < 10
