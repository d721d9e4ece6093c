import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { programUrl } from "./program.ts";
import { bundleServer } from "./server.ts";

it("bundles the program with its worker threads, and starts the bundle of these sources", async () => {
  const folder = await bundleServer();
  expect(programUrl()).toBe(new URL("main.js", folder).href);
  const workers = ["compare-vectors.js", "read-document.js", "read-mail.js", "search-index.js"];
  expect(await readdir(folder)).toEqual(expect.arrayContaining(workers));
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(programUrl()), "help"]);
  expect(stdout).toContain("parley doctor");
});
