import { run } from "./cli/run.ts";

/** What was printed has to leave; nothing else may keep a command alive that has ended. */
const lingerMs = 2_000;

process.exitCode = await run(process.argv.slice(2));
setTimeout(() => process.exit(), lingerMs).unref();
