import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { projectDir } from "#test/support/project/source-tree.ts";

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

const run = promisify(execFile);
const options = {
  target: "es2024",
  module: "nodenext",
  lib: ["es2024", "dom", "dom.iterable"],
  types: ["node"],
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
};

let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await startApp(newSqlite);
  folder = await mkdtemp(join(tmpdir(), "parley-client-"));
  await symlink(join(projectDir, "node_modules"), join(folder, "node_modules"));
  await copyFile(join(projectDir, "test/client/walk.mts"), join(folder, "walk.mts"));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["walk.mts"] }));
  await writeFile(join(folder, "openapi.json"), await (await fetch(`${app.url}/openapi.json`)).text());
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

it("generates a client from the OpenAPI document, type-checks its use, and calls every operation with it", async () => {
  const generator = join(projectDir, "node_modules/oazapfts/dist/cli.js");
  await run(process.execPath, [generator, "openapi.json", "client.ts"], { cwd: folder });
  const checked = await run(join(projectDir, "node_modules/.bin/tsc"), ["-p", "."], { cwd: folder }).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  expect(checked.stdout).toBe("");

  const env = { ...process.env, API_URL: app.url, API_KEY: app.workspace.key, WORKSPACE_ID: app.workspace.id };
  // Time goes on for the program as it does for the other process: texts become searchable by it.
  const clock = setInterval(() => app.clock.advance(50), 50);
  const walked = await run(process.execPath, ["walk.mts"], { cwd: folder, env }).catch(
    (error: unknown) => error as { readonly stderr: string },
  );
  clearInterval(clock);
  expect(walked.stderr).toBe("");

  const walk = await readFile(join(folder, "walk.mts"), "utf8");
  const client = await readFile(join(folder, "client.ts"), "utf8");
  const document = JSON.parse(await readFile(join(folder, "openapi.json"), "utf8")) as OpenApi;
  const ofKeys = Object.entries(document.paths).filter(([path]) => path.startsWith("/v1/"));
  const operations = ofKeys.flatMap(([, methods]) => Object.values(methods).map(({ operationId }) => operationId));
  expect(operations).toHaveLength(20);
  for (const name of operations) expect(client).toContain(`export function ${name}(`);
  for (const name of operations) expect(walk).toContain(`api.${name}(`);
});
