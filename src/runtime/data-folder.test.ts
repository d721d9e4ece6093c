import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeDataFolder, makeWritableFolder } from "./data-folder.ts";
import { loadSecret } from "./secrets.ts";
import { openStore } from "#database/open.ts";

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), "folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it("creates the data folder for its own user only", () => {
  const path = join(place(), "a", "data");
  makeWritableFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it("names the folder that is not writable, with the cause and the fix", async () => {
  const file = join(place(), "file");
  writeFileSync(file, "");
  const path = join(file, "data");
  const message = `The folder ${path} cannot be written to (ENOTDIR): give this user the right, or set PARLEY_DATA_DIR`;
  expect(() => makeDataFolder(path)).toThrow(message);
  expect(() => loadSecret(undefined, path)).toThrow(message);
  await expect(openStore(`sqlite:${join(path, "parley.sqlite")}`)).rejects.toThrow(message);
});
