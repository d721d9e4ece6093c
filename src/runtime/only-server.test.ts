import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { becomeOnlyServer } from "./only-server.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-only-server-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("admits one process at a time, and the next one after a kill", async () => {
  const file = join(folder, "parley.sqlite");
  const code = `
    const { becomeOnlyServer } = await import(process.argv[1]);
    globalThis.release = await becomeOnlyServer(process.argv[2]);
    process.stdout.write("here");
    setInterval(() => undefined, 1_000);
  `;
  const module = new URL("only-server.ts", import.meta.url).href;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code, module, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  await expect(becomeOnlyServer(file, 0)).rejects.toThrow(
    /Another server uses .*: stop it, give this one another folder/,
  );
  child.kill("SIGKILL");
  await once(child, "close");
  const release = await becomeOnlyServer(file, 0);
  await expect(becomeOnlyServer(file, 0)).rejects.toThrow(/PARLEY_DATA_DIR \(or DATABASE_URL\), or set REDIS_URL/);
  release();
  (await becomeOnlyServer(file, 0))();
});
