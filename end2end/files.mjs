// A web server that knows nothing of Moescape: it hands out the files of a folder below a path, as
// any host does. `node files.mjs FOLDER PATH`; it prints where it listens.

import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const [folder, below] = process.argv.slice(2);

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** Status, headers and body of the answer to an address. */
async function answer({ pathname, search }) {
  if (!pathname.startsWith(below)) return [404, {}, "nothing here"];
  const path = normalize(join(folder, decodeURIComponent(pathname.slice(below.length))));
  const isFolder = await stat(path).then((found) => found.isDirectory(), () => false);
  if (isFolder && !pathname.endsWith("/")) return [301, { location: `${pathname}/${search}` }, ""];
  const file = isFolder ? join(path, "index.html") : path;
  try {
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    return [200, { "content-type": type }, await readFile(file)];
  } catch {
    return [404, {}, "no such file"];
  }
}

const server = createServer(async (request, response) => {
  const [status, headers, body] = await answer(new URL(request.url ?? "/", "http://localhost"));
  response.writeHead(status, headers).end(body);
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  console.log(`listening on http://127.0.0.1:${port}${below}`);
});
