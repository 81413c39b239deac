// Draws the timeline when it comes near the screen: the module that does stands with the studies',
// which a worker has loaded by then. The build puts the names of the module's files in.

/** How far from view the figure already counts as seen. */
const MARGIN = "400px";

const figure = document.getElementById("timeline");

async function draw() {
  try {
    const module = await import("/pkg/studies.js");
    await module.default({
      module_or_path: new URL("/pkg/studies_bg.wasm", import.meta.url),
    });
    module.choose_memory_unit(document.documentElement.dataset.units ?? "");
    module.draw_timeline();
  } catch {
    const nothing = figure.querySelector(".timeline-nothing");
    nothing.textContent = "The timeline couldn't be loaded. Reload the page to try again.";
    nothing.hidden = false;
  }
}

const sight = new IntersectionObserver(
  (entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    sight.disconnect();
    void draw();
  },
  // The results scroll by themselves where the knobs stand beside them.
  /** @type {IntersectionObserverInit} */ ({ rootMargin: MARGIN, scrollMargin: MARGIN }),
);
sight.observe(figure);
