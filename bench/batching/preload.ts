// Loaded before the program by `--import`. Replaces modules of the write path: `off` in the query of this file's URL names
// the batching layers that pass through, `counts` the file that the counts are written to.
import { renameSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";
import { counts } from "./counts.ts";

const query = new URL(import.meta.url).searchParams;
const off = (query.get("off") ?? "").split(",");
const modules: readonly (readonly [layer: string, path: string, replacement: string])[] = [
  ["writer", "/src/queue/batch-writer.ts", "single-writes.ts"],
  ["group", "/src/database/group-commit.ts", "single-commits.ts"],
  ["none", "/src/database/group-commit.ts", "counted-commits.ts"],
];
const folder = new URL(".", import.meta.url).href;
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    // The replacements import the modules that they replace.
    if (context.parentURL?.startsWith(folder) === true) return resolved;
    const found = modules.find(
      ([layer, path]) => resolved.url.endsWith(path) && (off.includes(layer) || layer === "none"),
    );
    return found === undefined ? resolved : { ...resolved, url: new URL(found[2], folder).href };
  },
});

const everyMs = 100;
// Threads and child processes of the program load this file, too.
if (isMainThread && process.argv.includes("start")) {
  const file = query.get("counts") ?? "";
  setInterval(() => {
    writeFileSync(`${file}.new`, JSON.stringify(counts));
    renameSync(`${file}.new`, file);
  }, everyMs).unref();
}
