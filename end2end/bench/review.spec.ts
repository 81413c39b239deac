// From an edit of one to the number box of another, over the server and its store.

import { expect, gotoHydrated, numberBox, test } from "../tests/helper";

const EDITS = 60;

test("latency of an edit in a review session", async ({ visit }) => {
  const ann = await visit();
  await gotoHydrated(ann, "/r/new");
  await ann.getByLabel("Name of the review").fill("Bench");
  await ann.getByLabel("Your name").fill("Ann");
  await ann.getByRole("button", { name: "Start the review" }).click();
  await ann.getByRole("tab", { name: "Share" }).click();
  await ann.getByRole("button", { name: "Make a link" }).click();
  const bob = await visit();
  await gotoHydrated(bob, await ann.getByLabel(/New link/).inputValue());
  await expect(bob.locator(".reviewing[data-line=open]")).toBeAttached();

  // Both pages run on one machine, so they have one clock.
  const label = "Expert parallel (EP)";
  const times: number[] = [];
  for (let edit = 0; edit < EDITS; edit += 1) {
    const wanted = edit % 2 === 0 ? "16" : "32";
    const seen = numberBox(bob, label).evaluate(
      (box: HTMLInputElement, wanted) =>
        new Promise<number>((resolve) => {
          const look = () =>
            box.value === wanted
              ? resolve(performance.timeOrigin + performance.now())
              : requestAnimationFrame(look);
          look();
        }),
      wanted,
    );
    const sent = await numberBox(ann, label).evaluate((box: HTMLInputElement, wanted) => {
      box.value = wanted;
      const at = performance.timeOrigin + performance.now();
      box.dispatchEvent(new InputEvent("input", { bubbles: true }));
      box.dispatchEvent(new Event("change", { bubbles: true }));
      return at;
    }, wanted);
    times.push((await seen) - sent);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)].toFixed(0);
  console.log(
    `edit to the other's page: median ${at(0.5)} ms, p95 ${at(0.95)} ms, worst ${at(1)} ms`,
  );
});
