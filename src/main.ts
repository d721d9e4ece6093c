import { run } from "./cli/run.ts";

/** Time for printed text to be flushed. Nothing else may keep a finished command running. */
const lingerMs = 2_000;

process.exitCode = await run(process.argv.slice(2));
setTimeout(() => process.exit(), lingerMs).unref();
