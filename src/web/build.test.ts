import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import type { Built } from "./build.ts";
import { buildBrowserCode } from "./build.ts";

const projectPath = fileURLToPath(new URL("../../", import.meta.url));

/** The files below `src/web` that a program is made of. */
async function partsOf(entry: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: projectPath,
    bundle: true,
    write: false,
    metafile: true,
    loader: { ".css": "text" },
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  return Object.keys(metafile.inputs).filter((path) => path.startsWith("src/web/"));
}

describe("the browser code", () => {
  let built: readonly Built[];
  beforeAll(async () => {
    built = await buildBrowserCode(await mkdtemp(join(tmpdir(), "built-")));
  });

  it.for([
    { files: ["dashboard.js", "dashboard.css"], limitKb: 120 },
    { files: ["inbox.js", "inbox.css"], limitKb: 60 },
    // Loaded by the pages of others.
    { files: ["widget.js"], limitKb: 25 },
  ])("has at most $limitKb KB, compressed, in $files", ({ files, limitKb }) => {
    const parts = built.filter(({ file }) => files.includes(file));
    expect(parts.map(({ file }) => file)).toEqual(files);
    expect(parts.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0)).toBeLessThanOrEqual(limitKb * 1024);
  });
});

it("keeps the programs of the inbox and the dashboard apart", async () => {
  const [inbox, dashboard] = await Promise.all(
    ["inbox", "dashboard"].map((name) => partsOf(`src/web/${name}/entry.tsx`)),
  );
  expect(inbox).toContain("src/web/inbox/entry.tsx");
  expect(dashboard).toContain("src/web/dashboard/entry.tsx");
  expect(inbox?.filter((path) => path.startsWith("src/web/dashboard/"))).toEqual([]);
  expect(dashboard?.filter((path) => path.startsWith("src/web/inbox/"))).toEqual([]);
});
