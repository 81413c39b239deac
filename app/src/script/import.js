// Takes files and texts to import: dropped on the page, pasted into it, or chosen in its form.
//
// The form is a page of the server (`/import`, `/calibrate`) that works without this script. On
// that page the answer takes the form's place without loading the page again; from the explorer a
// file that is dropped leads to `/import`. A file on the panel for traces of expert loads stays a
// trace. A form that asks for more than files, as that of `/calibrate`, is sent by its button
// alone, and keeps the files for another try.

/** Bytes that the server reads of files, where the form doesn't say how many. */
const MAX_BYTES = 16 << 20;

/** The same of a script or recipe alone: only JSON and archives have more. */
const MAX_SCRIPT_BYTES = 1 << 20;
const IS_LARGE = /\.(json|zip|tar|gz|tgz)$/i;

const form = () => document.querySelector("form.import-form");

/** Is it sent by its button alone? */
const waits = (here) => here !== null && "waits" in here.dataset;

/** Bytes of all files together that a form takes, or the explorer without one. */
function most(here, files) {
  const isScript = files.length === 1 && !IS_LARGE.test(files[0].name);
  return Number(here?.dataset.bytes ?? (isScript ? MAX_SCRIPT_BYTES : MAX_BYTES));
}

const root = document.documentElement;

const holdsFiles = (event) => event.dataTransfer?.types.includes("Files") === true;
const traceInput = (event) =>
  event.target instanceof Element
    ? event.target.closest(".trace")?.querySelector("input[type=file]")
    : undefined;

function showStatus(text) {
  const status = document.getElementById("import-status");
  if (status) status.textContent = text;
}

const size = (bytes) => (bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KiB`);

const sum = (files) => [...files].reduce((total, file) => total + file.size, 0);

/** What files are called, and how many bytes they have. */
const called = (files) => (files.length > 1 ? `${files.length} files` : files[0].name);

/** Says that files are too large to be sent; false where they aren't. */
function refused(files, most) {
  const total = sum(files);
  if (total <= most) return false;
  const has = files.length > 1 ? "have" : "has";
  showStatus(`${called(files)} ${has} ${size(total)}; at most ${size(most)} are read.`);
  return true;
}

/** Files of a folder, at most, and those that scripts are made of. */
const MAX_FILES = 2000;
const IS_SCRIPT = /\.(sh|bash|slurm|sbatch|ya?ml|toml|json|py|conf|env|txt)$/i;

/** The files of dropped folders with their paths; nothing where no folder is dropped. */
async function unfolded(items) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return undefined;
  const found = [];
  const open = [...entries];
  while (open.length > 0 && found.length < MAX_FILES) {
    const entry = open.shift();
    if (entry.isDirectory) {
      if (entry.name.startsWith(".")) continue;
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((done, failed) => reader.readEntries(done, failed));
        if (some.length === 0) break;
        open.push(...some);
      }
    } else if (IS_SCRIPT.test(entry.name)) {
      const file = await new Promise((done, failed) => entry.file(done, failed));
      found.push([file, entry.fullPath.replace(/^\/+/, "")]);
    }
  }
  return found;
}

/** Sends a folder's files with the form's other fields. */
function sendFolder(files) {
  const here = form();
  const total = sum(files.map(([file]) => file));
  if (files.length === 0) return showStatus("There is no script in this folder.");
  if (total > MAX_BYTES) {
    return showStatus(`The folder has ${size(total)}; at most ${size(MAX_BYTES)} are read.`);
  }
  const body = new FormData(here);
  body.delete("file");
  body.delete("text");
  for (const [file, path] of files) body.append("file", file, path);
  void send(`${files.length} files`, body);
}

/** Lets the server answer the form. */
async function post(action, body) {
  const response = await fetch(action, { method: "POST", body });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const answer = page.querySelector("main");
  if (!answer) throw new Error("no page");
  document.querySelector("main").replaceWith(answer);
  document.title = page.title;
}

/** Answers the form here, as the pages in a folder of files do. */
async function write(body) {
  const module = await import("/pkg/writer.js");
  const file = new URL("/pkg/writer_bg.wasm", import.meta.url);
  await module.default({ module_or_path: file });
  const form = new module.ImportForm();
  for (const [name, value] of body) {
    if (typeof value === "string") form.set(name, value);
    else if (value.size > 0) form.add(value.name, new Uint8Array(await value.arrayBuffer()));
  }
  document.querySelector("main").innerHTML = form.answer();
}

/** The place where a folder of files keeps what was dropped elsewhere for its form. */
const DROPPED = "moescape.dropped";

/** Leads to the form with files, which can't be posted to a folder of files. */
async function bring(files) {
  const kept = async (file) => {
    const bytes = new Uint8Array(await file.arrayBuffer());
    return [file.name, Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")];
  };
  try {
    sessionStorage.setItem(DROPPED, JSON.stringify(await Promise.all([...files].map(kept))));
  } catch {
    // The browser keeps nothing, or not so much: the form takes the files once more.
  }
  location.href = `${root.dataset.base}import/`;
}

/** Takes what was brought. */
function takeBrought() {
  const here = form();
  if (root.dataset.base === undefined || !here || waits(here)) return;
  try {
    const kept = JSON.parse(sessionStorage.getItem(DROPPED) ?? "[]");
    sessionStorage.removeItem(DROPPED);
    const files = new DataTransfer();
    for (const [name, text] of kept) {
      files.items.add(new File([Uint8Array.from(text, (sign) => sign.charCodeAt(0))], name));
    }
    take(files.files);
  } catch {
    // Nothing was brought.
  }
}

/** Sends the form and puts the answer in the page's place. */
async function send(name, body = new FormData(form())) {
  const bytes = [...body.values()].reduce(
    (sum, value) => sum + (typeof value === "string" ? value.length : value.size),
    0,
  );
  const here = form();
  const { files } = here.elements.file;
  const progress = document.getElementById("import-progress");
  progress.hidden = false;
  showStatus(`Reading ${name}, ${size(bytes)} …`);
  try {
    const isFolder = root.dataset.base !== undefined;
    await (isFolder ? write(body) : post(here.action, body));
    // Chosen once, they serve the next try, too.
    if (waits(here)) form().elements.file.files = files;
    ready();
    const heading = document.querySelector("main h1");
    heading.tabIndex = -1;
    heading.focus();
    heading.scrollIntoView();
  } catch {
    progress.hidden = true;
    showStatus("The server can't be reached. The form is as it was.");
  }
}

/** A file for the server; one that it would refuse isn't sent. */
function take(files) {
  if (files.length === 0) return;
  const here = form();
  if (waits(here)) {
    here.elements.file.files = files;
    if (!refused(files, most(here, files))) showStatus(`${called(files)}, ${size(sum(files))}`);
    return;
  }
  if (here) {
    if (refused(files, most(here, files))) return;
    here.elements.file.files = files;
    void send(called(files));
    return;
  }
  if (sum(files) > most(here, files)) {
    location.href = `${root.dataset.base ?? "/"}import?large`;
    return;
  }
  if (root.dataset.base !== undefined) return void bring(files);
  const leaving = document.createElement("form");
  leaving.method = "post";
  leaving.action = "/import";
  leaving.enctype = "multipart/form-data";
  leaving.hidden = true;
  const input = document.createElement("input");
  input.type = "file";
  input.name = "file";
  input.multiple = true;
  input.files = files;
  leaving.append(input);
  document.body.append(leaving);
  leaving.submit();
}

/** Takes the form over. */
function ready() {
  const here = form();
  here?.addEventListener("submit", (event) => {
    event.preventDefault();
    const { files } = here.elements.file;
    if (files.length === 0) void send("the text");
    else if (!refused(files, most(here, files))) void send(called(files));
  });
}

document.addEventListener("dragover", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  root.dataset.dropping = traceInput(event) ? "trace" : "import";
});

document.addEventListener("dragleave", (event) => {
  // Nothing is entered: the pointer has left the page.
  if (!event.relatedTarget) delete root.dataset.dropping;
});

document.addEventListener("drop", (event) => {
  delete root.dataset.dropping;
  if (!holdsFiles(event)) return;
  event.preventDefault();
  const { files } = event.dataTransfer;
  const trace = traceInput(event);
  if (!trace) {
    // Entries have to be asked for before the event is over.
    const here = form();
    const takesFolders = here && !waits(here);
    const folder = takesFolders ? unfolded(event.dataTransfer.items) : Promise.resolve(undefined);
    void folder.then((found) => (found ? sendFolder(found) : take(files)));
    return;
  }
  trace.files = files;
  trace.dispatchEvent(new Event("change", { bubbles: true }));
});

document.addEventListener("paste", (event) => {
  const here = form();
  const writes = event.target instanceof Element && event.target.closest("textarea, input");
  if (!here || writes) return;
  const { files } = event.clipboardData;
  if (files.length > 0) return take(files);
  const text = event.clipboardData.getData("text/plain");
  if (!text || waits(here)) return;
  event.preventDefault();
  here.elements.text.value = text;
  void send("the text");
});

ready();
takeBrought();
