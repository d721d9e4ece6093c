import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { defaultSettings } from "#domain/workspace.ts";
import { loadConfig } from "#src/config.ts";
import { configFileSchema, readConfigFile } from "#src/config-file.ts";
import { schemaFile } from "../../config/generate.ts";
import { projectDir } from "../support/source-tree.ts";

const read = (path: string): string => readFileSync(join(projectDir, path), "utf8");
const example = read("config/parley.example.yaml");

describe("config/schema.json", () => {
  it("is made of the schema that the program checks with", () => {
    expect(read("config/schema.json"), "run: node config/generate.ts").toBe(schemaFile());
  });

  it("is a schema that editors understand, and refuses what the program refuses", () => {
    const validate = new Ajv({ allErrors: true }).compile(JSON.parse(read("config/schema.json")) as object);
    expect(validate(parse(example)), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ workspaces: [{ name: "A", colour: "red" }] })).toBe(false);
    expect(validate({ workspaces: [{ name: "A", auto_resolve_days: 91 }] })).toBe(false);
  });

  it("explains every setting", () => {
    const unexplained: string[] = [];
    const walk = (schema: unknown, path: string): void => {
      const { properties, items, description } = schema as {
        properties?: object;
        items?: unknown;
        description?: string;
      };
      if (path !== "" && description === undefined && items === undefined) unexplained.push(path);
      for (const [name, each] of Object.entries(properties ?? {})) walk(each, `${path}.${name}`);
      if (items !== undefined) walk(items, `${path}[]`);
    };
    walk(configFileSchema, "");
    expect(unexplained.filter((path) => !path.endsWith("[]"))).toEqual([]);
  });
});

describe("config/parley.example.yaml", () => {
  it("is accepted as it stands", () => {
    expect(readConfigFile("config/parley.example.yaml", example, {}).workspaces).toHaveLength(1);
  });

  it("shows every setting there is", () => {
    const shown = parse(example) as unknown;
    const missing: string[] = [];
    const walk = (schema: unknown, value: unknown, path: string): void => {
      const { properties, items } = schema as { properties?: Record<string, unknown>; items?: unknown };
      for (const [name, each] of Object.entries(properties ?? {})) {
        const inside = (value as Record<string, unknown> | undefined)?.[name];
        if (inside === undefined) missing.push(`${path}${name}`);
        else walk(each, inside, `${path}${name}.`);
      }
      if (items !== undefined && Array.isArray(value)) walk(items, value[0], path);
    };
    walk(configFileSchema, shown, "");
    expect(missing).toEqual([]);
  });

  it("shows the defaults where it says that it does", () => {
    const [workspace] = readConfigFile("config/parley.example.yaml", example, {}).workspaces;
    const { widgetOrigins: _, audiences, escalationPhrases, ...shown } = workspace?.settings ?? {};
    const { widgetOrigins: __, audiences: noRules, escalationPhrases: builtIn, ...defaults } = defaultSettings;
    expect(shown).toEqual(defaults);
    expect([audiences, noRules]).toEqual([{ pro: { plan: ["pro", "enterprise"] }, staff: { role: ["employee"] } }, {}]);
    expect(builtIn).toEqual(expect.arrayContaining([...(escalationPhrases ?? ["none"])]));
  });
});

describe("secrets in files", () => {
  it("are read from the file that NAME_FILE names, without the line end", () => {
    const path = join(projectDir, "test/support/example-secret.txt");
    const config = loadConfig({ PARLEY_SECRET_FILE: path });
    expect(config.secret).toBe("an example, and nobody's secret");
  });

  it("are refused when both forms are set, or the file is not there", () => {
    const path = join(projectDir, "test/support/example-secret.txt");
    expect(() => loadConfig({ PARLEY_SECRET: "x", PARLEY_SECRET_FILE: path })).toThrow(
      "PARLEY_SECRET and PARLEY_SECRET_FILE",
    );
    expect(() => loadConfig({ DATABASE_URL_FILE: "/nowhere/at/all" })).toThrow("DATABASE_URL_FILE");
  });
});

describe("channels in the configuration file", () => {
  const file = (channel: string) => `workspaces:\n  - name: A\n    channels:\n${channel}`;

  it("are read with what their platform needs, and the environment", () => {
    const yaml = file("      - name: tg\n        channel: telegram\n        token: ${TOKEN}\n");
    const [workspace] = readConfigFile("c.yaml", yaml, { TOKEN: "1234:abcdefghijkl" }).workspaces;
    expect(workspace?.channels).toMatchObject([
      { name: "tg", channel: "telegram", enabled: true, config: { token: "1234:abcdefghijkl" } },
    ]);
  });

  it("have names of their own, and platforms that there are", () => {
    const twice = file("      - {name: tg, channel: telegram}\n      - {name: tg, channel: telegram}\n");
    expect(() => readConfigFile("c.yaml", twice, {})).toThrow("c.yaml, line 5: two channels of this workspace");
    expect(() => readConfigFile("c.yaml", file("      - {name: x, channel: widget}\n"), {})).toThrow(
      /c\.yaml, line 4: workspaces\.0\.channels\.0\.channel must be one of .*telegram/,
    );
  });
});
