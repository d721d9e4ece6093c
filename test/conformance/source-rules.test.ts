import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  adapterPackages,
  conversationRooms,
  implementations,
  importRules,
  matches,
  objection,
  upwardArrows,
} from "../support/project/import-rules.ts";
import { importsOf, projectDir, readSourceTree } from "../support/project/source-tree.ts";
import type { SourceFile } from "../support/project/source-tree.ts";

const tree = readSourceTree();
const isTest = (path: string): boolean => /^adapters\/.*\/test\/|\.test\.ts$/.test(path);
const product = tree.filter(({ path }) => /^(?:src|adapters|bin|config)\//.test(path) && !path.endsWith(".test.ts"));

describe("the imports of a file", () => {
  it("are found in every form", () => {
    const text = [
      'import { a } from "./a.ts";',
      'import type { B } from "#domain/b.ts";',
      'export { c } from "node:crypto";',
      'export type { D } from "#runtime/d.ts";',
      'export * from "@scope/name/deep";',
      "const e = await import(`../../adapters/${a}/index.ts`);",
      'type F = import("kysely").Kysely<B>;',
    ].join("\n");
    expect(
      importsOf("src/http/example.ts", text).map(({ target, typeOnly, line }) => [target, typeOnly, line]),
    ).toEqual([
      ["src/http/a.ts", false, 1],
      ["src/domain/b.ts", true, 2],
      ["node:crypto", false, 3],
      ["src/runtime/d.ts", true, 4],
      ["@scope/name", false, 5],
      // oxlint-disable-next-line no-template-curly-in-string -- a quotation of the text above
      ["adapters/${a}/index.ts", false, 6],
      ["kysely", true, 7],
    ]);
  });

  it("are refused unless a rule names them", () => {
    expect(objection(importRules, "src/domain/ids.ts", "node:crypto")).toBeUndefined();
    expect(objection(importRules, "src/domain/ids.ts", "src/database/schema/tables.ts")).toContain(
      "src/domain/ may import",
    );
    expect(
      objection(importRules, "src/conversations/inbound/ingest.ts", "src/database/queries/outbox.ts"),
    ).toBeUndefined();
    expect(objection(importRules, "src/conversations/inbound/ingest.ts", "src/database/dialects/sqlite.ts")).toContain(
      "may import",
    );
    expect(objection(importRules, "adapters/widget/index.ts", "src/conversations/contract.ts")).toContain(
      "adapters/widget/ may import",
    );
    expect(objection(importRules, "src/nowhere/new.ts", "node:fs")).toContain("no rule");
  });
});

describe("every file", () => {
  it("imports only what its layer allows", () => {
    const offences = product.flatMap(({ path, imports }) =>
      imports.flatMap(({ specifier, target, line }) => {
        const why = objection(importRules, path, target);
        return why === undefined ? [] : [`${path}:${line} imports ${specifier}: ${why}`];
      }),
    );
    expect(offences).toEqual([]);
  });

  it("has no rule for imports that do not exist", () => {
    const unused = importRules
      .filter(({ files }) => files.startsWith("src/"))
      .flatMap(({ files, may }) => {
        const bound = product.filter(
          ({ path }) => importRules.find((each) => matches(each.files, path))?.files === files,
        );
        const targets = bound.flatMap(({ imports }) => imports.map(({ target }) => target));
        return may
          .filter((pattern) => !targets.some((target) => matches(pattern, target)))
          .map((pattern) => `${files} imports nothing of ${pattern}`);
      });
    expect(unused).toEqual([]);
  });

  it("of a room of src/conversations imports the rooms below it only", () => {
    const imports = product.flatMap(({ path, imports: all }) => all.map(({ target }) => ({ path, target })));
    expect(upwardArrows(imports)).toEqual({ offences: [], unused: [] });
    const arrow = { path: "src/conversations/delivery/deliver.ts", target: "src/conversations/agents/actions.ts" };
    expect(upwardArrows([...imports, arrow]).offences).toEqual([arrow]);
    const rooms = product.flatMap(({ path }) => /^src\/conversations\/([^/]+)\//.exec(path)?.[1] ?? []);
    expect(conversationRooms.toSorted()).toEqual([...new Set(rooms)].toSorted());
  });

  it("gets implementations from the composition root", () => {
    const offences = product
      .filter(({ path }) => !isTest(path))
      .flatMap(({ path, imports }) =>
        imports.flatMap(({ target, line }) => {
          const knownTo = implementations[target];
          if (knownTo === undefined || path.startsWith(`${target.split("/").slice(0, 2).join("/")}/`)) return [];
          if (knownTo.some((pattern) => matches(pattern, path))) return [];
          return [
            `${path}:${line} imports ${target}, which only ${knownTo.join(", ")} may know: take it as a parameter`,
          ];
        }),
      );
    expect(offences).toEqual([]);
    expect(Object.keys(implementations).filter((path) => !existsSync(join(projectDir, path)))).toEqual([]);
  });

  it("loads adapters by name in two places: their declarations, and the adapters", () => {
    const offences = product
      .filter(({ path }) => !path.startsWith("adapters/"))
      .flatMap(({ path, imports }) =>
        imports.filter(({ target }) => target.startsWith("adapters/")).map(({ specifier }) => `${path}: ${specifier}`),
      );
    expect(offences.toSorted().map((offence) => offence.replace(/\$\{\w+\}/, "*"))).toEqual([
      "src/channels/catalog.ts: ../../adapters/*/channels.ts",
      "src/channels/load-adapter.ts: ../../adapters/*/index.ts",
    ]);
  });

  it("is free of import cycles", () => {
    expect(cyclesIn(tree)).toEqual([]);
  });

  it("names only files that exist", () => {
    const missing = tree.flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ target }) =>
            /^(?:src|adapters|test|bench|config)\/[^$]*$/.test(target) && !existsSync(join(projectDir, target)),
        )
        .map(({ specifier, line }) => `${path}:${line} imports ${specifier}`),
    );
    expect(missing).toEqual([]);
  });

  it("gets the environment as a parameter; only the command line reads it", () => {
    const mayRead = new Set(["src/cli/run.ts", "src/cli/terminal/output.ts"]);
    expect(lines(product, /\bprocess\.env\b/, (path) => mayRead.has(path) || isTest(path))).toEqual([]);
  });

  it("logs through its logger; only commands and builds write to the terminal", () => {
    const mayPrint = /^(?:src\/cli\/|src\/main\.ts$|src\/build\/main\.ts$|config\/|bin\/|adapters\/.*\/test\/)/;
    const browser = /^(?:adapters\/[^/]+\/browser\/|src\/web\/(?:inbox|dashboard|shared)\/)/;
    expect(lines(product, /\bconsole\.\w/, (path) => mayPrint.test(path) || browser.test(path))).toEqual([]);
    // On a customer's page, our code logs errors and warnings only.
    expect(
      lines(
        product.filter(({ path }) => browser.test(path)),
        /\bconsole\.(?!(?:error|warn)\b)\w/,
      ),
    ).toEqual([]);
  });

  it("has no marks of unfinished work", () => {
    // Spelled in parts, so that this file does not match.
    const marks = new RegExp(
      `\\b(?:${["TO_DO", "FIX_ME", "X_X_X"].map((mark) => mark.replaceAll("_", "")).join("|")})\\b`,
    );
    expect(lines(tree, marks)).toEqual([]);
  });

  it("disables no check", () => {
    expect(lines(product, /@ts-(?:ignore|expect-error|nocheck)|eslint-disable/)).toEqual([]);
  });

  // V8 gives every object literal with an accessor a hidden class of its own. The class keeps everything the accessor
  // reaches until the next collection of the old generation: each message would leak its context until then.
  it("creates no objects with accessors where messages are handled", () => {
    const handling = product.filter(
      ({ path }) =>
        /^(?:adapters\/|src\/(?:conversations|database|answering|channels|queue)\/)/.test(path) &&
        !/\/(?:test|browser)\//.test(path),
    );
    expect(handling.length).toBeGreaterThan(100);
    expect(lines(handling, /^\s+(?:get|set) [\w#]+\(/)).toEqual([]);
  });

  it("has a kebab-case name", () => {
    // "Services" is the name of the composition root that commands share; the desk has one service.
    const namedServices = ["src/agent-desk/desk-service.ts", "src/app/services.ts", "src/cli/with-services.ts"];
    const vague = /(?:^|[-./])(?:utils?|helpers?|common|misc|managers?|services?)(?=[-./]|$)/;
    const odd = tree
      .map(({ path }) => path)
      .filter(
        (path) =>
          !path
            .split("/")
            .every((part) =>
              /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*(?=\.test\.ts$))?(?:\.(?:test|d|css))*(?:\.[a-z]+)?$/.test(
                part,
              ),
            ),
      );
    expect(odd).toEqual([]);
    expect(product.map(({ path }) => path).filter((path) => vague.test(path))).toEqual(namedServices);
    expect(tree.map(({ path }) => path).filter((path) => /(?:^|[-/])tmp[-./]|-tmp\./.test(path))).toEqual([]);
  });
});

describe("a platform's package", () => {
  it("is imported by one adapter only", () => {
    const users = adapterPackages.map((name) => {
      const files = product.filter(
        ({ path, imports }) => !isTest(path) && imports.some(({ target }) => target === name),
      );
      return [name, new Set(files.map(({ path }) => path.split("/").slice(0, 2).join("/")))] as const;
    });
    expect(users.filter(([, folders]) => folders.size > 1).map(([name]) => name)).toEqual([]);
  });

  it("is not loaded with an adapter's declaration of its channels", () => {
    const declaring = product.filter(({ path }) => /^adapters\/.*\/channels\.ts$/.test(path));
    expect(declaring.length).toBeGreaterThan(5);
    expect(declaring.flatMap(({ imports }) => imports.filter(({ typeOnly }) => !typeOnly))).toEqual([]);
  });
});

function lines(
  files: readonly SourceFile[],
  pattern: RegExp,
  except: (path: string) => boolean = () => false,
): string[] {
  return files
    .filter(({ path }) => !except(path))
    .flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [])),
    );
}

/** Lists all import cycles. Types count: files that need each other's types cannot be read separately. */
function cyclesIn(files: readonly SourceFile[]): string[] {
  const next = new Map(files.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
      return;
    }
    if (done.has(path)) return;
    for (const target of next.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return found;
}
