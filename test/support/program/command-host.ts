import { enableCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/**
 * Runs command lines in this process, one after the other, each with an environment of its own. A process for each
 * would take ten times as long. A command has ended when it has left no handle open, which is when its own process
 * would exit.
 */
export interface CommandLine {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/parley", import.meta.url)));
const { run } = await import("#cli/run.ts");

process.on("message", (line) => void execute(line as CommandLine));
// Opens the streams: their first use creates handles.
process.stdout.write("");
process.stderr.write("");
const open = process.getActiveResourcesInfo().length;
process.send?.("ready");

async function execute({ args, env }: CommandLine): Promise<void> {
  process.env = { ...env };
  const status = await run(args);
  while (process.getActiveResourcesInfo().length > open) await sleep(5);
  // Marks the end of this command's output.
  process.stderr.write("\0");
  process.stdout.write(`\0${status}\0`);
}
