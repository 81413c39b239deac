// The worker that makes studies beside the page. The build puts the names of the module's files in.
import init, { study } from "/pkg/studies.js";

// Why the module can't be used, or nothing.
const failure = init({ module_or_path: "/pkg/studies_bg.wasm" }).then(
  () => undefined,
  (error) => error,
);

onmessage = async ({ data: [name, query, width] }) => {
  try {
    const error = await failure;
    if (error !== undefined) throw error;
    postMessage([study(name, query, width)]);
  } catch (error) {
    postMessage([undefined, String(error)]);
  }
};
