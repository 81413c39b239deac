// The worker that makes studies beside the page. The build puts the names of the module's files in.
import init, { study } from "/pkg/studies.js";

const ready = init({ module_or_path: "/pkg/studies_bg.wasm" });

onmessage = async ({ data: [name, query, width] }) => {
  try {
    await ready;
    postMessage([study(name, query, width)]);
  } catch (error) {
    postMessage([undefined, String(error)]);
  }
};
