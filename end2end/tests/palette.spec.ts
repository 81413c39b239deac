// The palette by the words of the trade: each finds what it stands for, and nothing by its letters
// alone.

import type { Page } from "@playwright/test";

import { expect, gotoHydrated, test } from "./helper";

/** What is typed, and the kind and the name of what is to be among the first. */
const WORDS: [string, string, RegExp][] = [
  ["roofline", "View", /Operators under|Roofline/i],
  ["arithmetic intensity", "View", /Operators under|Roofline/i],
  ["compute bound", "View", /Operators under|Roofline/i],
  ["waterfall", "View", /step|Why/i],
  ["breakdown", "View", /fullest|breakdown/i],
  ["treemap", "View", /fullest|breakdown/i],
  ["memory breakdown", "View", /fullest|breakdown/i],
  ["sensitivity", "View", /step of each knob|Sensitivity/i],
  ["tornado", "View", /step of each knob|Sensitivity/i],
  ["which knobs matter", "View", /step of each knob|Sensitivity/i],
  ["heat map", "View", /over two knobs|Heat map/i],
  ["heatmap", "View", /over two knobs|Heat map/i],
  ["gantt", "View", /Timeline/i],
  ["timeline", "View", /Timeline/i],
  ["trace", "View", /Timeline/i],
  ["perfetto", "View", /Timeline/i],
  ["chrome trace", "View", /Timeline/i],
  ["profiler", "View", /Timeline/i],
  ["goal seek", "View", /Solve/i],
  ["memory per stage", "View", /Memory per/i],
  ["hot experts", "View", /load/i],
  ["load balancing", "View", /load/i],
  ["other hardware", "View", /other accelerators/i],
  ["bottleneck", "View", /help|Try next/i],
  ["ground truth", "View", /measured/i],
  ["all schedules", "View", /schedule/i],
  ["bubble", "View", /Bubble/i],
  ["collectives", "View", /sends|Communication/i],
  ["pareto", "Page", /Sweeps/i],
  ["pareto front", "Page", /Sweeps/i],
  ["grid search", "Page", /Sweeps/i],
  ["design space", "Page", /Sweeps/i],
  ["autotune", "Page", /Find/i],
  ["solver", "Page", /Find/i],
  ["side by side", "Page", /Compare/i],
  ["validation", "Page", /Trust/i],
  ["accuracy", "Page", /Trust/i],
  ["walkthrough", "Page", /Tour/i],
  ["ablation", "Page", /Ladder/i],
  ["pipeline simulator", "Page", /Schedules/i],
  ["model zoo", "Page", /Presets/i],
  ["docs", "Page", /Guide/i],
  ["zero bubble", "Set", /ZB/i],
  ["zb-h1", "Set", /ZB-H1/i],
  ["zbv", "Set", /ZB-V/i],
  ["1f1b", "Set", /1F1B/i],
  ["interleaved", "Set", /Interleaved/i],
  ["dualpipe", "Set", /DualPipe/i],
  ["dual pipe", "Set", /DualPipe/i],
  ["dualpipev", "Set", /DualPipeV/i],
  ["gpipe", "Set", /GPipe/i],
  ["h100", "Set", /H100 SXM 80 GB/i],
  ["h200", "Set", /H200/i],
  ["h800", "Set", /H800/i],
  ["a100", "Set", /A100/i],
  ["b200", "Set", /B200/i],
  ["gb200", "Set", /GB200/i],
  ["nvl72", "Set", /GB200/i],
  ["blackwell", "Set", /B200/i],
  ["hopper", "Set", /H100/i],
  ["910b", "Set", /910B3/i],
  ["910c", "Set", /910C/i],
  ["zero-1", "Set", /ZeRO-1/i],
  ["zero1", "Set", /ZeRO-1/i],
  ["zero-2", "Set", /ZeRO-2/i],
  ["zero-3", "Set", /ZeRO-3/i],
  ["fsdp", "Set", /ZeRO-3/i],
  ["bf16", "Set", /bf16/i],
  ["mxfp8", "Set", /mxfp8/i],
  ["deepep", "Set", /deepep/i],
  ["muon", "Set", /muon/i],
  ["zero", "Knob", /sharding/i],
  ["distributed optimizer", "Knob", /sharding/i],
  ["activation checkpointing", "Knob", /Recompute/i],
  ["gradient checkpointing", "Knob", /Recompute/i],
  ["recompute", "Knob", /Recompute/i],
  ["selective recompute", "Knob", /Recompute/i],
  ["offload", "Knob", /Swap/i],
  ["activation offload", "Knob", /Swap/i],
  ["all-to-all", "Knob", /all-to-all|dispatcher/i],
  ["a2a", "Knob", /all-to-all|dispatcher/i],
  ["allreduce", "Knob", /gradient reduce/i],
  ["all-reduce", "Knob", /gradient reduce/i],
  ["reduce-scatter", "Knob", /gradient reduce/i],
  ["allgather", "Knob", /parameter gather/i],
  ["nvlink", "Knob", /Intra-node/i],
  ["hccs", "Knob", /Intra-node/i],
  ["nvswitch", "Knob", /Intra-node/i],
  ["roce", "Knob", /Inter-node/i],
  ["infiniband", "Knob", /Inter-node/i],
  ["rdma", "Knob", /Inter-node/i],
  ["pcie", "Knob", /Host link/i],
  ["hbm", "Knob", /Usable memory/i],
  ["gqa", "Knob", /Query groups/i],
  ["mla", "Knob", /Multi-latent/i],
  ["swiglu", "Knob", /Gated/i],
  ["mtp", "Knob", /MTP/i],
  ["topk", "Knob", /Top-k/i],
  ["tensor parallelism", "Knob", /Tensor parallel/i],
  ["pipeline parallelism", "Knob", /Pipeline parallel/i],
  ["expert parallelism", "Knob", /Expert parallel/i],
  ["ring attention", "Knob", /Context parallel/i],
  ["ulysses", "Knob", /Context parallel|CP algorithm/i],
  ["virtual pipeline", "Knob", /Virtual stages/i],
  ["context length", "Knob", /Sequence length/i],
  ["batch size", "Knob", /Global batch/i],
  ["mixed precision", "Knob", /Precision/i],
  ["flash attention", "Knob", /Flash attention/i],
  ["grouped gemm", "Knob", /Grouped matmul/i],
  ["cuda graph", "Knob", /Graph replay/i],
  ["launch overhead", "Knob", /Host dispatch/i],
  ["straggler", "Knob", /Straggler/i],
  ["gemm", "Knob", /Matmul rate/i],
  ["capacity factor", "Knob", /Capacity factor/i],
  ["mfu", "Metric", /MFU/i],
  ["hfu", "Metric", /HFU/i],
  ["model flops utilization", "Metric", /MFU/i],
  ["oom", "Metric", /Fits/i],
  ["out of memory", "Metric", /Fits/i],
  ["iteration time", "Metric", /Step time/i],
  ["tokens per second", "Metric", /Throughput/i],
  ["bubble fraction", "Metric", /Bubble/i],
  ["exposed comm", "Metric", /Exposed/i],
  ["goodput", "Guide", /modelled/i],
  ["rest api", "Guide", /API/i],
  ["confidence", "Guide", /trust/i],
  ["limitations", "Guide", /modelled/i],
  ["openapi", "Guide", /API/i],
  ["deepseek", "Preset", /DeepSeek/i],
  ["dsv3", "Preset", /DeepSeek-V3/i],
  ["mixtral", "Preset", /Mixtral/i],
  ["qwen", "Preset", /Qwen/i],
  ["gpt-3", "Preset", /GPT-3/i],
];

/** How many results may stand in front. */
const FIRST = 4;

async function open(page: Page, address = "/"): Promise<void> {
  await gotoHydrated(page, address);
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog").getByRole("combobox")).toBeFocused();
}

/** The first results of a line: kind and title. */
async function results(page: Page, line: string): Promise<string[]> {
  const box = page.getByRole("dialog").getByRole("combobox");
  await box.fill(line);
  return page.evaluate(async (most) => {
    // Every search ends within its own turns, as the names are there.
    for (let turn = 0; turn < 3; turn += 1) await new Promise((done) => setTimeout(done));
    const rows = [...document.querySelectorAll("#palette-list > li")].slice(0, most);
    const text = (row: Element, part: string) => row.querySelector(part)?.textContent ?? "";
    return rows.map((row) => `${text(row, ".palette-kind")}: ${text(row, ".palette-title")}`);
  }, FIRST);
}

test("the words of the trade find what they stand for", async ({ page }) => {
  test.slow();
  await open(page);
  // The names are fetched with the first search.
  await expect(page.getByRole("dialog").getByRole("option").first()).toBeVisible();
  const missing: string[] = [];
  for (const [line, kind, title] of WORDS) {
    const found = await results(page, line);
    const is = (row: string) => row.startsWith(`${kind}: `) && title.test(row);
    if (!found.some(is)) missing.push(`${line}: ${kind} ${title}, not ${found.join(" | ")}`);
  }
  expect(missing).toEqual([]);
  expect(WORDS.length).toBeGreaterThanOrEqual(120);
});

test("letters of unrelated words find nothing", async ({ page }) => {
  await open(page);
  for (const [line, other] of [["tornado", "Untied"], ["fsdp", "Shared expert"], ["oom", "norm"]]) {
    const found = await results(page, line);
    expect(found.filter((row) => row.includes(other)), line).toEqual([]);
  }
});

test("an accelerator is chosen by the name that people have for it", async ({ page }) => {
  await open(page);
  await page.keyboard.type("h100");
  const chosen = page.locator('[role=option][aria-selected="true"]');
  await expect(chosen).toContainText("Accelerator: H100 SXM 80 GB");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/cluster\.accelerator=h100-sxm-80gb/);
  await page.keyboard.press("Control+z");
  await expect(page).not.toHaveURL(/h100/);
});

test("a view of the explorer is gone to from another page", async ({ page }) => {
  await page.goto("/trust");
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("roofline");
  await expect(page.locator('[role=option][aria-selected="true"]')).toContainText("Roofline");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/#view-roofline$/);
  await expect(page.locator("[data-study=roofline]")).toBeInViewport();
});
