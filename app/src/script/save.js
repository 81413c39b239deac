// Saves tables as CSV, and charts as pictures: SVG with its colours inside, PNG drawn of that.
//
// A button says what of: `data-save` the table of its figure, `data-save-picture` and
// `data-save-png` the chart in the element of that id, `data-save-canvas` the canvas in it. Every
// file says where it comes from.

/** Properties of a chart's marks that are written into its file, which has no style sheet. */
const LOOKS = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
];

const SVG = "http://www.w3.org/2000/svg";

/** A PNG has this many pixels for each of the page's, so that letters stay sharp in print. */
const SCALE = 2;

/** A PNG's signature and its first chunk, behind which others may stand. */
const PNG_HEAD = 33;

/** The names and values of a file's origin. */
function provenance() {
  const link = document.querySelector("a[data-design]")?.getAttribute("href");
  const here = location.pathname + location.search;
  const design = link ? `/${link.slice(link.indexOf("?"))}` : here;
  const version = document.querySelector("meta[name=model-version]")?.content ?? "";
  return [
    ["design", design],
    ["model_version", version],
    ["date", new Date().toISOString().slice(0, 10)],
  ];
}

function download(name, parts, type) {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function saveTable(button) {
  const table = button.closest("details, .figure")?.querySelector("table");
  if (!table) return;
  const more = provenance();
  const rows = [...table.rows].map((row, place) => [
    ...[...row.cells].map((one) => one.textContent),
    ...more.map(([name, value]) => (place === 0 ? name : value)),
  ]);
  const csv = rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
  download(`moescape-${button.dataset.save}.csv`, [csv], "text/csv;charset=utf-8");
}

/** A colour that programs beside browsers know, too. */
function plain(value) {
  const mixed = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.e-]+))?\)$/.exec(value);
  if (!mixed) return value;
  const [red, green, blue] = mixed.slice(1, 4).map((part) => Math.round(Number(part) * 255));
  const parts = [red, green, blue, ...(mixed[4] ? [mixed[4]] : [])];
  return `${mixed[4] ? "rgba" : "rgb"}(${parts.join(", ")})`;
}

/** The ground of charts, as an element has it. */
function groundOf(element) {
  const style = getComputedStyle(element);
  const [light, dark] = style.getPropertyValue("--chart-surface").match(/#[0-9a-f]+/g);
  return style.colorScheme === "dark" ? dark : light;
}

/** Acts while the page has its light colours; nothing is painted meanwhile. */
function inLight(act) {
  const root = document.documentElement;
  const theme = root.getAttribute("data-theme");
  root.setAttribute("data-theme", "light");
  try {
    return act();
  } finally {
    if (theme === null) root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
  }
}

const inView = (chart) => getComputedStyle(chart).display !== "none";

/** The chart of a figure as a file that stands for itself: text, width and height. */
function picture(id) {
  const figure = document.getElementById(id);
  const chart = [...(figure?.querySelectorAll("svg.chart") ?? [])].find(inView);
  if (!chart) return undefined;
  const copy = chart.cloneNode(true);
  const ground = inLight(() => {
    const copies = copy.querySelectorAll("*");
    for (const [place, own] of chart.querySelectorAll("*").entries()) {
      const look = getComputedStyle(own);
      const marks = own instanceof SVGGraphicsElement;
      for (const name of marks ? LOOKS : []) {
        copies[place].setAttribute(name, plain(look.getPropertyValue(name)));
      }
    }
    return groundOf(document.documentElement);
  });
  const [, , width, height] = chart.getAttribute("viewBox").split(/[ ,]+/).map(Number);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const surface = document.createElementNS(SVG, "rect");
  surface.setAttribute("width", "100%");
  surface.setAttribute("height", "100%");
  surface.setAttribute("fill", ground || "#ffffff");
  const metadata = document.createElementNS(SVG, "metadata");
  metadata.textContent = provenance().map(([name, value]) => `${name}: ${value}\n`).join("");
  const title = document.createElementNS(SVG, "title");
  title.textContent = figure.querySelector("h2, h3")?.textContent ?? document.title;
  copy.prepend(title, metadata, surface);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function savePicture(id) {
  const made = picture(id);
  if (made) download(`moescape-${id}.svg`, [made.text], "image/svg+xml");
}

/** The checksum of a PNG's chunk (its specification, annex D). */
function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

/** A chunk of text: a name and a value in Latin-1, of which links and days are made. */
function chunk(name, value) {
  const body = [...`tEXt${name}\0${value}`].map((letter) => letter.charCodeAt(0) & 255);
  const bytes = new Uint8Array(body.length + 8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length - 4);
  bytes.set(body, 4);
  view.setUint32(body.length + 4, checksum(body));
  return bytes;
}

async function saveCanvas(id, canvas) {
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) return;
  const png = new Uint8Array(await blob.arrayBuffer());
  const text = provenance().map(([name, value]) => chunk(name, value));
  const parts = [png.slice(0, PNG_HEAD), ...text, png.slice(PNG_HEAD)];
  download(`moescape-${id}.png`, parts, "image/png");
}

async function savePng(id) {
  const made = picture(id);
  if (!made) return;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(made.text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = made.width * SCALE;
  canvas.height = made.height * SCALE;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  await saveCanvas(id, canvas);
}

/** The canvas of an element on the ground that it is looked at. */
async function saveDrawing(id) {
  const element = document.getElementById(id);
  const drawn = element?.matches("canvas") ? element : element?.querySelector("canvas");
  if (!drawn?.width) return;
  const canvas = document.createElement("canvas");
  canvas.width = drawn.width;
  canvas.height = drawn.height;
  const context = canvas.getContext("2d");
  context.fillStyle = groundOf(drawn);
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(drawn, 0, 0);
  await saveCanvas(id, canvas);
}

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const names = ["data-save", "data-save-picture", "data-save-png", "data-save-canvas"];
  const button = event.target.closest(names.map((name) => `button[${name}]`).join(","));
  if (!button) return;
  const { save, savePicture: svg, savePng: png, saveCanvas: drawing } = button.dataset;
  if (save !== undefined) saveTable(button);
  else if (svg !== undefined) savePicture(svg);
  else if (png !== undefined) void savePng(png);
  else void saveDrawing(drawing);
});
