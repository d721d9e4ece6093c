import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";

export const projectDir = fileURLToPath(new URL("../../../", import.meta.url));

export interface SourceFile {
  /** Relative to the project's folder, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

export interface Import {
  /** The specifier as written; `computed` for an expression. */
  readonly specifier: string;
  /** `src/domain/ids.ts` for our own file, `node:fs` for a built-in module, the package's name otherwise. */
  readonly target: string;
  readonly typeOnly: boolean;
  readonly line: number;
}

const folders = ["src", "adapters", "bench", "bin", "config", "test"];

/** Lists every program file of the project with its imports: static, type-only, dynamic, and re-exports. */
export function readSourceTree(): readonly SourceFile[] {
  const pattern = `{${folders.join(",")}}/**/*.{ts,tsx,js}`;
  return globSync(pattern, { cwd: projectDir, exclude: (name) => name === "node_modules" })
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(projectDir, path), "utf8");
      return { path, text, imports: importsOf(path, text) };
    });
}

export function importsOf(path: string, text: string): readonly Import[] {
  const { program, module, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} cannot be parsed: ${error.message}`);
  const imports: Import[] = [];
  const add = (specifier: string, start: number, typeOnly: boolean): void => {
    imports.push({
      specifier,
      target: targetOf(path, specifier),
      typeOnly,
      line: text.slice(0, start).split("\n").length,
    });
  };
  for (const { moduleRequest, entries, start } of module.staticImports) {
    add(moduleRequest.value, start, entries.length > 0 && entries.every((entry) => entry.isType));
  }
  for (const { entries, start } of module.staticExports) {
    for (const entry of entries) if (entry.moduleRequest !== null) add(entry.moduleRequest.value, start, entry.isType);
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const written = text.slice(moduleRequest.start, moduleRequest.end);
    add(/^["'`]/.test(written) ? written.slice(1, -1) : "computed", moduleRequest.start, false);
  }
  new Visitor({
    TSImportType: ({ source, start }) => add(source.value, start, true),
  }).visit(program);
  return imports;
}

function targetOf(path: string, specifier: string): string {
  if (/^#(?:test|adapters)\//.test(specifier)) return specifier.slice(1);
  if (specifier.startsWith("#")) return `src/${specifier.slice(1)}`;
  if (specifier.startsWith(".")) return posix.normalize(posix.join(posix.dirname(path), specifier));
  if (specifier.startsWith("node:")) return specifier;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
