import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";
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

it("makes a dashboard of at most 120 KB, compressed", async () => {
  const built = await buildBrowserCode(await mkdtemp(join(tmpdir(), "built-")));
  const parts = built.filter(({ file }) => file.startsWith("dashboard."));
  expect(parts.map(({ file }) => file)).toEqual(["dashboard.js", "dashboard.css"]);
  expect(parts.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0)).toBeLessThanOrEqual(120 * 1024);
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
