import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Plugin } from "esbuild";

/** Programs and style sheets of browsers. Each becomes one file in `dist/`; a missing one is left out. */
const programs = [
  { entry: "adapters/widget/browser/entry.ts", file: "widget.js" },
  { entry: "src/web/inbox/entry.tsx", file: "inbox.js" },
  { entry: "src/web/inbox/style.css", file: "inbox.css" },
  { entry: "src/web/dashboard/entry.tsx", file: "dashboard.js" },
  { entry: "src/web/dashboard/style.css", file: "dashboard.css" },
] as const;

const projectUrl = new URL("../../", import.meta.url);

export interface Built {
  readonly file: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** Bundles one program or style sheet, with all that it imports. */
export async function bundleForBrowsers(entry: URL): Promise<Uint8Array> {
  const { build, transform } = await import("esbuild");
  const styleSheets: Plugin = {
    name: "style sheets as minified text",
    setup(bundle) {
      bundle.onLoad({ filter: /\.css$/ }, async ({ path }) => {
        const { code } = await transform(await readFile(path, "utf8"), {
          loader: "css",
          minify: true,
          target: browsers,
        });
        return { contents: code, loader: "text" };
      });
    },
  };
  const result = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    platform: "browser",
    target: browsers,
    // The same as in tsconfig.json, which the build of the image does not have.
    jsx: "automatic",
    jsxImportSource: "preact",
    charset: "utf8",
    legalComments: "none",
    // An imported style sheet becomes text in the program.
    plugins: entry.pathname.endsWith(".css") ? [] : [styleSheets],
  });
  const contents = result.outputFiles[0]?.contents;
  if (contents === undefined) throw new Error(`esbuild made nothing of ${entry.pathname}`);
  return contents;
}

/**
 * Bundles the browser code into `outDir`. Files are replaced in one step, so that a running server never serves half of
 * one. Needs esbuild, a development dependency; an installation without those ships with `dist/` built.
 */
export async function buildBrowserCode(
  outDir: string = fileURLToPath(new URL("dist/", projectUrl)),
): Promise<readonly Built[]> {
  await mkdir(outDir, { recursive: true });
  const present = programs.filter(({ entry }) => existsSync(new URL(entry, projectUrl)));
  return Promise.all(
    present.map(async ({ entry, file }) => {
      const contents = await bundleForBrowsers(new URL(entry, projectUrl));
      const target = `${outDir.replace(/\/$/u, "")}/${file}`;
      const partial = `${target}.${process.pid}.partial`;
      await writeFile(partial, contents);
      await rename(partial, target);
      return { file, bytes: contents.byteLength, gzipBytes: gzipSync(contents).byteLength };
    }),
  );
}

const browsers = ["chrome111", "firefox115", "safari16.4"];
