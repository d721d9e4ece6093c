import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { functionLengths } from "../support/project/function-lengths.ts";
import { projectDir, readSourceTree } from "../support/project/source-tree.ts";

const product = readSourceTree().filter(
  ({ path }) => /^(?:src|adapters|bin|config)\//.test(path) && !/\.test\.tsx?$|\/test\//.test(path),
);

describe("functions", () => {
  const lengths = product.flatMap(({ path, text }) => functionLengths(path, text));
  const describeAll = (long: typeof lengths): readonly string[] =>
    long.map(({ path, line, name, own, total }) => `${path}:${line} ${name}: ${own} of its own, ${total} in all`);

  it("have a body of at most 60 lines, without the functions inside", () => {
    expect(describeAll(lengths.filter(({ own }) => own > 60))).toEqual([]);
  });

  it("have at most 200 lines with all that is inside", () => {
    expect(describeAll(lengths.filter(({ total }) => total > 200))).toEqual([]);
  });

  it("are measured without the functions inside them", () => {
    const text = "function outer() {\n  const inner = () => {\n    return 1;\n  };\n  return inner;\n}\n";
    expect(functionLengths("example.ts", text)).toMatchObject([
      { name: "inner", line: 2, own: 3, total: 3 },
      { name: "outer", line: 1, own: 3, total: 6 },
    ]);
  });
});

/** Entries without tests, which are named after their subjects. */
const entriesOf = (folder: string): readonly string[] =>
  readdirSync(join(projectDir, folder)).filter((name) => !/\.test\.tsx?$/.test(name));

describe("folders", () => {
  const entriesMax = 16;
  /** One file for each thing of a kind, or the rooms of the house. */
  const longLists = new Set(["src", "src/database/migrations", "src/language/locales"]);

  it(`have at most ${entriesMax} entries`, () => {
    const folders = readdirSync(join(projectDir, "src"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ parentPath, name }) => join(parentPath, name).slice(projectDir.length).replaceAll("\\", "/"));
    const full = ["src", ...folders]
      .filter((folder) => !longLists.has(folder))
      .map((folder) => ({ folder, entries: entriesOf(folder).length }))
      .filter(({ entries }) => entries > entriesMax);
    expect(full).toEqual([]);
  });
});

describe("an adapter's folder", () => {
  const required = ["README.md", "channels.ts", "config.ts", "index.ts", "test"];
  /** The same role has the same file name in every adapter. */
  const roles = new Set([
    ...required,
    "check.ts",
    "client.ts",
    "connection.ts",
    "errors.ts",
    "events.ts",
    "files.ts",
    "inbound.ts",
    "render.ts",
    "send.ts",
    "webhook.ts",
  ]);
  const othersMax = 6;
  const adapters = readdirSync(join(projectDir, "adapters"), { recursive: true, withFileTypes: true })
    .filter(({ name }) => name === "channels.ts")
    .map(({ parentPath }) => parentPath.slice(projectDir.length).replaceAll("\\", "/"));

  it.each(adapters)("%s names roles as all adapters do", (folder) => {
    const entries = entriesOf(folder);
    expect(required.filter((name) => !entries.includes(name))).toEqual([]);
    expect(entries.filter((name) => !roles.has(name)).length).toBeLessThanOrEqual(othersMax);
  });
});
