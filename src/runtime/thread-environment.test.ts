import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const program = (folder: string | null): string => `
import { enableCompileCache, getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import { threadEnvironment } from ${JSON.stringify(new URL("./thread-environment.ts", import.meta.url))};
const folder = ${JSON.stringify(folder)};
if (folder !== null) enableCompileCache(folder);
const code = \`
import { getCompileCacheDir } from "node:module";
import { parentPort } from "node:worker_threads";
parentPort.postMessage({ folder: getCompileCacheDir() ?? null, names: Object.keys(process.env) });
\`;
new Worker(code, { eval: true, env: threadEnvironment() }).on("message", (seen) => {
  console.log(JSON.stringify({ own: getCompileCacheDir() ?? null, ...seen }));
});`;

it("a thread gets the program's compile cache, and nothing else of the environment", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-compiled-"));
  const run = async (kept: string | null): Promise<unknown> => {
    const args = ["--input-type=module", "-e", program(kept)];
    const env = { PATH: process.env["PATH"], PARLEY_SECRET_KEY: "a secret" };
    return JSON.parse((await promisify(execFile)(process.execPath, args, { env })).stdout);
  };
  try {
    const kept = (await run(folder)) as { readonly own: string };
    expect(kept.own.startsWith(folder)).toBe(true);
    expect(kept).toEqual({ own: kept.own, folder: kept.own, names: ["NODE_COMPILE_CACHE"] });
    expect(await run(null)).toEqual({ own: null, folder: null, names: [] });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
