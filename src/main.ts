import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// What has been compiled once is kept: later starts are faster, and need no memory for stripping types. Where the
// folder cannot be written, each start compiles.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/parley", import.meta.url)));

const { run } = await import("./cli/run.ts");
process.exitCode = await run(process.argv.slice(2));
