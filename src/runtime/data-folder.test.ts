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

it("makes the folder of what customers wrote for its own user alone", () => {
  const path = join(place(), "a", "data");
  makeWritableFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it("says which folder cannot be written to, why, and what helps", async () => {
  const file = join(place(), "file");
  writeFileSync(file, "");
  const path = join(file, "data");
  const told = `The folder ${path} cannot be written to (ENOTDIR): give this user the right, or set PARLEY_DATA_DIR`;
  expect(() => makeDataFolder(path)).toThrow(told);
  expect(() => loadSecret(undefined, path)).toThrow(told);
  await expect(openStore(`sqlite:${join(path, "parley.sqlite")}`)).rejects.toThrow(told);
});
