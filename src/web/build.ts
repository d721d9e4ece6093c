import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Plugin } from "esbuild";

/** The programs and style sheets of browsers: each becomes one file in `dist/`. One that is not there yet is left out. */
const programs = [
  { entry: "adapters/widget/browser/entry.ts", file: "widget.js" },
  { entry: "src/web/inbox/entry.ts", file: "inbox.js" },
  { entry: "src/web/inbox/style.css", file: "inbox.css" },
] as const;

const projectUrl = new URL("../../", import.meta.url);

export interface Built {
  readonly file: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/**
 * Bundles the browser code into `outDir`. Files are replaced in one step, so a server that runs meanwhile never serves
 * half of one. Needs esbuild, which an installation without development dependencies does not have: it ships with
 * `dist/` built.
 */
export async function buildBrowserCode(
  outDir: string = fileURLToPath(new URL("dist/", projectUrl)),
): Promise<readonly Built[]> {
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
  await mkdir(outDir, { recursive: true });
  const present = programs.filter(({ entry }) => existsSync(new URL(entry, projectUrl)));
  return Promise.all(
    present.map(async ({ entry, file }) => {
      const result = await build({
        entryPoints: [fileURLToPath(new URL(entry, projectUrl))],
        bundle: true,
        write: false,
        minify: true,
        format: "iife",
        platform: "browser",
        target: browsers,
        charset: "utf8",
        legalComments: "none",
        // A style sheet of its own is a file; one that a program imports is text in the program.
        plugins: entry.endsWith(".css") ? [] : [styleSheets],
      });
      const contents = result.outputFiles[0]?.contents;
      if (contents === undefined) throw new Error(`esbuild made nothing of ${entry}`);
      const target = `${outDir.replace(/\/$/u, "")}/${file}`;
      const partial = `${target}.${process.pid}.partial`;
      await writeFile(partial, contents);
      await rename(partial, target);
      return { file, bytes: contents.byteLength, gzipBytes: gzipSync(contents).byteLength };
    }),
  );
}

const browsers = ["chrome111", "firefox115", "safari16.4"];

async function main(): Promise<void> {
  try {
    for (const { file, bytes, gzipBytes } of await buildBrowserCode()) {
      console.log(`dist/${file}: ${bytes} bytes, ${gzipBytes} compressed`);
    }
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    if (!missing || !existsSync(new URL("dist/widget.js", projectUrl))) throw error;
    console.log("esbuild is not installed; dist/ is used as it is");
  }
}

if (import.meta.main) await main();
