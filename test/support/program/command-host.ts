import { enableCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/**
 * Runs one command line after the other in this process, each with an environment of its own: to start a process for
 * each takes ten times as long as what most of them do. A command has ended when nothing that it opened is left open,
 * which is when its own process would end.
 */
export interface Order {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/parley", import.meta.url)));
const { run } = await import("#cli/run.ts");

process.on("message", (order) => void obey(order as Order));
// Streams are opened by their first use.
process.stdout.write("");
process.stderr.write("");
const open = process.getActiveResourcesInfo().length;
process.send?.("ready");

async function obey({ args, env }: Order): Promise<void> {
  process.env = { ...env };
  const status = await run(args);
  while (process.getActiveResourcesInfo().length > open) await sleep(5);
  // What stands behind the last word of a stream is the next command's.
  process.stderr.write("\0");
  process.stdout.write(`\0${status}\0`);
}
