import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { commands, usage } from "#cli/commands.ts";
import { readConfigFile } from "#config/file.ts";
import { keyPairs, pemOf } from "../support/user-tokens.ts";
import { projectDir } from "../support/project/source-tree.ts";

const read = (path: string): string => readFileSync(join(projectDir, path), "utf8");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  ...globSync("docs/**/*.md", { cwd: projectDir }),
].map((path) => ({
  path,
  text: read(path),
}));
const manual = pages.filter(({ path }) => /^docs\/[^/]+\.md$/.test(path));
const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };

const prose = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, "");
const headings = (text: string): string[] =>
  [...prose(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading ?? "");
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replaceAll(/\s+/g, "-");

/** All matches of a pattern in the pages. */
function found(pattern: RegExp): readonly { readonly path: string; readonly match: RegExpExecArray }[] {
  return pages.flatMap(({ path, text }) => [...text.matchAll(pattern)].map((match) => ({ path, match })));
}

describe("the documentation", () => {
  it("links to files and sections that exist", () => {
    const links = found(/\]\(([^)\s]+)\)/g).filter(({ match }) => !/^(?:https?:|mailto:)/.test(match[1] ?? ""));
    expect(links.length).toBeGreaterThan(20);
    for (const { path, match } of links) {
      const [file = "", anchor] = (match[1] ?? "").split("#");
      const target = file === "" ? path : normalize(join(dirname(path), file));
      expect(existsSync(join(projectDir, target)), `${path} links to ${match[1]}`).toBe(true);
      if (anchor !== undefined)
        expect(headings(read(target)).map(anchorOf), `${path} links to ${match[1]}`).toContain(anchor);
    }
  });

  it("names npm scripts that exist", () => {
    const named = found(/npm run (?:-s )?([\w:]+)/g);
    expect(named.length).toBeGreaterThan(10);
    for (const { path, match } of named) expect(Object.keys(scripts), path).toContain(match[1]);
    for (const { path, match } of found(/npm (start|test)\b/g)) expect(Object.keys(scripts), path).toContain(match[1]);
  });

  it("names commands and options that exist", () => {
    const called = found(/(?:npm run -s parley -- |node src\/main\.ts )([^\n`]*)/g);
    expect(called.length).toBeGreaterThan(10);
    for (const { path, match } of called) {
      const line = match[1] ?? "";
      const words = line.split(/\s+/);
      if (words[0] === "" || words[0] === "help" || words[0] === "<command>") continue;
      const long = `${words[0]} ${words[1]}`;
      const command = long in commands ? long : words[0];
      expect(Object.keys(commands), `${path}: ${line}`).toContain(command);
      for (const [option] of line.matchAll(/--[a-z-]+/g)) {
        expect(`${usage} --json --audience`, `${path}: ${line}`).toContain(option);
      }
    }
    const list = read("docs/command-line.md");
    for (const command of Object.keys(commands))
      expect(list, "docs/command-line.md lists every command").toContain(command);
  });

  it("names programs and files that exist", () => {
    const places =
      /`((?:src|test|docs|config|adapters|bin|\.ci|\.github)\/[\w./-]*[\w/]|(?:README|CHANGELOG|SECURITY|CONTRIBUTING)\.md|docker-compose\.yml|Dockerfile|package\.json|tsconfig\.json|\.env\.example)`/g;
    const made = new Set(["config/parley.yaml"]);
    const named = found(places).filter(({ match }) => !made.has(match[1] ?? ""));
    expect(named.length).toBeGreaterThan(20);
    for (const { path, match } of named)
      expect(existsSync(join(projectDir, match[1] ?? "")), `${path} names ${match[1]}`).toBe(true);
    for (const { path, match } of found(/(?:\bnode|vitest run|^cp) ([\w./-]+\.(?:ts|js|yaml|example))/gm)) {
      expect(existsSync(join(projectDir, match[1] ?? "")), `${path} runs ${match[1]}`).toBe(true);
    }
  });

  it("shows settings that the program accepts", () => {
    const shown = found(/workspace set \S+ (.+)$/gm);
    expect(shown.length).toBeGreaterThan(5);
    for (const { path, match } of shown) {
      for (const [, quoted, double, plain] of (match[1] ?? "").matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)) {
        const [key = "", given = ""] = splitOnce(quoted ?? double ?? plain ?? "");
        const value = given === "$(cat public.pem)" ? pemOf(keyPairs.ec.publicKey) : given;
        const keys = key.split(".");
        const text = /^(?:\[.*\]|\d+(?:\.\d+)?|true|false)$/.test(value) ? value : JSON.stringify(value);
        const yaml = keys.map((each, depth) => `${"  ".repeat(depth + 2)}${each}:`).join("\n");
        const file =
          key === "name" ? `workspaces:\n  - name: ${text}\n` : `workspaces:\n  - name: A\n${yaml} ${text}\n`;
        expect(() => readConfigFile(path, file, {}), `${path}: ${key}=${value}`).not.toThrow();
      }
    }
  });

  it("lists the environment variables that the program reads, and no others", () => {
    const source = `${read("src/config/environment.ts")}${read("src/config/models.ts")}`;
    const inCode = new Set(
      [...source.matchAll(/(?:value|secretValue)\("([A-Z0-9_]+)"\)/g)].map(([, name]) => name ?? ""),
    );
    // Only tests set this variable, to end the process.
    inCode.delete("PARLEY_TEST_KILL_AT");
    const table = new Set(
      [...read("docs/configuration.md").matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map(([, name]) => name ?? ""),
    );
    expect(table).toEqual(inCode);
  });

  it("names endpoints that exist", () => {
    const routes = globSync("src/http/v1/**/*.ts", { cwd: projectDir, exclude: ["**/*.test.ts"] })
      .flatMap((path) => [...read(path).matchAll(/app\.(get|post|patch|delete)(?:<[^(]*>)?\(\s*"([^"]+)"/g)])
      .map(([, method, path]) => `${method} /v1${path}`.replaceAll(/:\w+/g, "{id}").toUpperCase());
    expect(routes.length).toBeGreaterThan(10);
    for (const { path, match } of found(/`(GET|POST|PATCH|DELETE) (\/v1\/[^`]*)`/g)) {
      const route = `${match[1]} ${match[2]}`.replace(/\/$/, "/{id}").toUpperCase();
      expect(routes, `${path} names ${match[0]}`).toContain(route);
    }
  });

  it("shows shell lines that a reader can paste", () => {
    for (const { path, match } of found(/^```sh\n([\s\S]*?)^```$/gm)) {
      expect(match[1], `${path}: a prompt is not part of a command`).not.toMatch(/^[$#>] /m);
    }
  });
});

describe("the structure of the manual", () => {
  it("is linked from the README, page by page", () => {
    const readme = read("README.md");
    for (const { path } of manual) expect(readme, path).toContain(`(${path})`);
  });

  it("has one title per page, and sections one level deep", () => {
    for (const { path, text } of manual) {
      expect(text, path).toMatch(/^# \S/);
      expect([...prose(text).matchAll(/^# /gm)], path).toHaveLength(1);
      expect(prose(text), path).not.toMatch(/^#{3,} /m);
    }
  });

  it("has no question twice", () => {
    const all = manual.flatMap(({ text }) => headings(text).map((heading) => heading.toLowerCase()));
    expect(all.filter((heading, at) => all.indexOf(heading) !== at)).toEqual([]);
  });

  it("has sections that begin with text, before any code", () => {
    for (const { path, text } of manual) {
      for (const section of text.split(/^## /m).slice(1)) {
        const [heading = "", ...rest] = section.split("\n");
        const words = prose(rest.join("\n"))
          .split(/\s+/)
          .filter((word) => word !== "");
        expect(words.length, `${path}: ${heading}`).toBeGreaterThan(10);
        expect(rest.join("\n").trimStart().startsWith("```"), `${path}: ${heading} begins with code`).toBe(false);
      }
    }
  });
});

function splitOnce(text: string): readonly string[] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}
