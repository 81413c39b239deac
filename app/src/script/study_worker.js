// The worker that makes studies beside the page. The build puts the names of the module's files in.
import init, * as module from "/pkg/studies.js";

// The error that keeps the module from being used, if any.
const failure = init({ module_or_path: "/pkg/studies_bg.wasm" }).then(
  () => module.choose_memory_unit(self.name),
  (error) => error,
);

// A message is the name of one of the module's functions and its arguments.
onmessage = async ({ data: [name, ...values] }) => {
  try {
    const error = await failure;
    if (error !== undefined) throw error;
    postMessage([module[name](...values)]);
  } catch (error) {
    postMessage([undefined, String(error)]);
  }
};
