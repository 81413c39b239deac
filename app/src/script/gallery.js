// The gallery of presets, filtered while one types. Without this script its form asks the server.

const input = document.querySelector("[data-gallery]");
const count = document.getElementById("gallery-count");
const cards = [...document.querySelectorAll("[data-words]")];

// A folder of files has the page without its query.
input.value ||= new URLSearchParams(location.search).get("q") ?? "";

function filter() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const card of cards) {
    const fits = words.every((word) => card.dataset.words.includes(word));
    card.hidden = !fits;
    if (fits) found += 1;
  }
  for (const group of document.querySelectorAll(".gallery-group")) {
    group.hidden = [...group.querySelectorAll("[data-words]")].every((card) => card.hidden);
    group.open ||= words.length > 0;
  }
  document.getElementById("gallery-none").hidden = found > 0;
  count.textContent = found === 1 ? "1 preset" : `${found} presets`;
  const query = input.value ? `?q=${encodeURIComponent(input.value)}` : "";
  history.replaceState(history.state, "", location.pathname + query);
}

input.addEventListener("input", filter);
input.form.addEventListener("submit", (event) => {
  event.preventDefault();
  filter();
});
// All cards are on the page; those that the server left out at `?q=` were only hidden.
if (input.value) filter();
