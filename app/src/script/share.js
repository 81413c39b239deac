// Shows the sheets to share and to export a design as a dialog over the explorer, and copies
// texts.
//
// A sheet is a page of the server (`/share?…`, `/export?…`) that works without this script. It is
// fetched when it is asked for, and its forms answer with the sheet anew; so the explorer's module
// knows nothing of it.

const dialog = () => document.getElementById("share-dialog");

/** The dialog; made on its first use: the page is taken over as the server wrote it. */
function makeDialog() {
  if (dialog()) return dialog();
  const element = document.createElement("dialog");
  element.id = "share-dialog";
  element.className = "share-dialog";
  element.setAttribute("aria-labelledby", "sheet-title");
  element.addEventListener("submit", submit);
  // Keys in the dialog aren't the explorer's.
  element.addEventListener("keydown", (event) => event.stopPropagation());
  // A click beside the dialog closes it.
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
  });
  document.body.append(element);
  return element;
}

function fill(nodes) {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button icon-button share-close";
  close.setAttribute("aria-label", "Close");
  close.textContent = "×";
  close.addEventListener("click", () => dialog().close());
  const sheet = document.createElement("div");
  sheet.className = "share";
  sheet.append(...nodes);
  dialog().replaceChildren(sheet, close);
  ready(sheet);
  sheet.querySelector("#sheet-title")?.focus();
}

function showMessage(text) {
  const title = document.createElement("h1");
  title.id = "sheet-title";
  title.tabIndex = -1;
  title.textContent = dialog().dataset.title;
  const words = document.createElement("p");
  words.textContent = text;
  fill([title, words]);
}

/** Fetches a sheet and shows it. */
async function load(address, options) {
  try {
    const response = await fetch(address, options);
    const text = await response.text();
    const main = new DOMParser().parseFromString(text, "text/html").querySelector("main.share");
    if (main) return fill([...main.childNodes]);
    showMessage("The server has no sheet for this design. The link in the address bar works.");
  } catch {
    showMessage("The server can't be reached. The link in the address bar works.");
  }
}

function submit(event) {
  event.preventDefault();
  /** @type {any} No file is in it. */
  const fields = new FormData(event.target, event.submitter);
  const body = new URLSearchParams(fields);
  // Not `form.action`: that is the button of this name.
  load(event.target.getAttribute("action"), { method: "POST", body });
}

/** Makes the code of a panel follow the panel that is chosen. */
function ready(root) {
  for (const select of root.querySelectorAll("[data-panel]")) {
    select.addEventListener("change", () => {
      const snippet = document.getElementById(select.dataset.panel);
      snippet.value = snippet.value.replace(/panel=[a-z]+/, `panel=${select.value}`);
    });
  }
}

function confirmCopy(button) {
  button.firstChild.data = "Copied";
  setTimeout(() => (button.firstChild.data = "Copy"), 2000);
}

async function copy(button) {
  const input = document.getElementById(button.dataset.copy);
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
    confirmCopy(button);
  } catch {
    // Pages that aren't served securely have no clipboard: the text is selected.
    button.firstChild.data = "Press Ctrl C";
  }
}

/** Puts a file of the server on the clipboard. */
async function copyFile(button) {
  try {
    const response = await fetch(button.dataset.copyFile);
    if (!response.ok) throw new Error(response.statusText);
    await navigator.clipboard.writeText(await response.text());
    confirmCopy(button);
  } catch {
    button.firstChild.data = "Can't copy: download it";
  }
}

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const button = event.target.closest("[data-copy]");
  if (button) return void copy(button);
  const file = event.target.closest("[data-copy-file]");
  if (file) return void copyFile(file);
  const link = event.target.closest("a[data-sheet]");
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || elsewhere || event.button !== 0) return;
  event.preventDefault();
  makeDialog().dataset.title = link.dataset.sheet;
  showMessage("One moment…");
  if (!dialog().open) dialog().showModal();
  load(link.href);
});

ready(document);
