import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { loadConfig } from "./environment.ts";
import { readConfigFile } from "./file.ts";
import { configFileSchema } from "./schema.ts";
import { schemaFile } from "../../config/generate.ts";
import { projectDir } from "#test/support/project/source-tree.ts";

const read = (path: string): string => readFileSync(join(projectDir, path), "utf8");
const example = read("config/parley.example.yaml");
/** The example with its commented-out settings, which have no space, or indentation only, after the #. */
const wholeExample = example.replaceAll(/^( *)#(?=\S|  )/gm, "$1");

describe("config/schema.json", () => {
  it("reports all errors at once, each with its line and what is allowed", () => {
    const text = [
      "workspaces:",
      "  - name: Shop",
      "    bot_nam: Ella",
      "    strictness: lax",
      "    auto_resolve_days: never",
      "    sla: {urgent: 0, hihg: 3}",
      "    widget: {color: red, title: 5, files: [1, 2]}",
      "    messages: {handover: '${NOT_SET}', unknown: ''}",
      "    channels:",
      "      - {name: Bot, channel: telegram}",
      "      - {name: fax, channel: fax}",
      "  - name: Shop 2",
      "    plan: gold",
    ].join("\n");
    let message = "";
    try {
      readConfigFile("c.yaml", text, {});
    } catch (error) {
      message = (error as Error).message;
    }
    const [head, ...lines] = message.split("\n");
    expect(head).toBe("12 errors in c.yaml:");
    expect(lines.map((line) => line.trim().slice(0, 60))).toEqual([
      expect.stringContaining("line 3: workspaces.0.bot_nam is not a setting; allowed here:"),
      expect.stringContaining("line 4: workspaces.0.strictness must be one of strict, helpf"),
      expect.stringContaining("line 5: workspaces.0.auto_resolve_days must be integer. Days"),
      expect.stringContaining("line 6: workspaces.0.sla.hihg is not a setting; allowed here"),
      expect.stringContaining("line 6: workspaces.0.sla.urgent must be >= 1. Minutes that a"),
      expect.stringContaining("line 7: workspaces.0.widget.title must be a text: put it in"),
      expect.stringContaining("line 7: workspaces.0.widget.color cannot be right. Accent co"),
      expect.stringContaining("line 7: workspaces.0.widget.files must be boolean. Whether c"),
      expect.stringContaining("line 8: the environment has no variable NOT_SET: set it, or "),
      expect.stringContaining("line 10: workspaces.0.channels.0.name cannot be right. Name "),
      expect.stringContaining("line 11: workspaces.0.channels.1.channel must be one of disc"),
      expect.stringContaining("line 13: workspaces.1.plan must be one of "),
    ]);
  });

  it("leaves agents, websites and articles to config apply", () => {
    const text = "workspaces:\n  - name: Shop\n    articles: [{title: Hours, text: 'We open at $${NINE}.'}]";
    expect(() => readConfigFile("c.yaml", text, {})).toThrow(
      /line 3: workspaces\.0\.articles is read by "parley config/,
    );
    expect(readConfigFile("c.yaml", text, {}, "applied").workspaces).toMatchObject([
      { articles: [{ title: "Hours", text: "We open at ${NINE}." }] },
    ]);
  });

  it("is generated from the program's own schema", () => {
    expect(read("config/schema.json"), "run: node config/generate.ts").toBe(schemaFile());
  });

  it("is valid for editors, and refuses what the program refuses", () => {
    const validate = new Ajv({ allErrors: true }).compile(JSON.parse(read("config/schema.json")) as object);
    expect(validate(parse(example)), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ workspaces: [{ name: "A", colour: "red" }] })).toBe(false);
    expect(validate({ workspaces: [{ name: "A", auto_resolve_days: 91 }] })).toBe(false);
  });

  it("describes every setting", () => {
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
  it("is accepted unchanged", () => {
    const [workspace, ...others] = readConfigFile("config/parley.example.yaml", example, {}).workspaces;
    expect(workspace).toMatchObject({ name: "Support", channels: [] });
    expect(workspace?.webhooks ?? []).toEqual([]);
    expect(others).toEqual([]);
  });

  it("is accepted with its commented-out settings", () => {
    const [workspace] = readConfigFile("config/parley.example.yaml", wholeExample, {}).workspaces;
    expect(workspace).toMatchObject({
      channels: [
        { name: "telegram", enabled: false },
        { name: "discord" },
        { name: "slack", enabled: false },
        { name: "sms" },
        { name: "whatsapp" },
        { name: "whatsapp-meta" },
        { name: "voice", config: { dial_to: "+15557654321", transcribe: true } },
        { name: "email", enabled: false },
        { name: "intercom" },
      ],
      webhooks: [{ url: "https://shop.example/hooks/parley" }],
      settings: {
        widgetOrigins: ["https://shop.example", "https://www.shop.example"],
        audiences: { pro: { plan: ["pro", "enterprise"] }, staff: { role: ["employee"] } },
        synonyms: [
          ["SSO", "single sign-on"],
          ["hub", "gateway", "base station"],
        ],
      },
    });
    expect(workspace?.settings.escalationPhrases).toContain("talk to a human");
  });

  it("shows every setting", () => {
    const shown = parse(wholeExample) as unknown;
    const missing: string[] = [];
    const walk = (schema: unknown, value: unknown, path: string): void => {
      const { properties, items } = schema as { properties?: Record<string, unknown>; items?: unknown };
      for (const [name, each] of Object.entries(properties ?? {})) {
        const inside = (value as Record<string, unknown> | undefined)?.[name];
        if (inside === undefined) missing.push(`${path}${name}`);
        else walk(each, inside, `${path}${name}.`);
      }
      // One rule cannot have all triggers, so the items of the list are merged.
      if (items !== undefined && Array.isArray(value)) walk(items, value.reduce(together, undefined), path);
    };
    const together = (one: unknown, other: unknown): unknown => {
      if (Array.isArray(one) && Array.isArray(other)) return [...(one as unknown[]), ...(other as unknown[])];
      if (!isMap(one) || !isMap(other)) return one ?? other;
      const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
      return Object.fromEntries(keys.map((key) => [key, together(one[key], other[key])]));
    };
    const isMap = (value: unknown): value is Record<string, unknown> =>
      typeof value === "object" && value !== null && !Array.isArray(value);
    walk(configFileSchema, shown, "");
    expect(missing).toEqual([]);
  });

  it("refuses saved replies with unknown placeholders or invalid names", () => {
    const text = [
      "workspaces:",
      "  - name: Shop",
      "    saved_replies:",
      "      right: Hello {customer}, I am {agent}.",
      "      misspelt: Hello {Customer}",
      "      open: Hello {customer",
      "      Two Words: Hello",
      "      empty: ''",
    ].join("\n");
    const readReplies = (): unknown => readConfigFile("c.yaml", text, {});
    for (const line of ["line 5: workspaces.0.saved_replies.misspelt", "line 6: ", "line 7: ", "line 8: "])
      expect(readReplies).toThrow(line);
    expect(readReplies).toThrow("{customer} and {agent} are their names");
    expect(readReplies).toThrow("4 errors");
  });

  it("sets defaults only", () => {
    const [workspace] = readConfigFile("config/parley.example.yaml", example, {}).workspaces;
    expect({ ...defaultSettings, ...workspace?.settings }).toEqual(defaultSettings);
    const unset = [
      "widgetOrigins",
      "audiences",
      "escalationPhrases",
      "synonyms",
      "businessHours",
      "timezone",
      "skills",
      "savedReplies",
      "macros",
      "rules",
      "desk",
      "singleSignOn",
      "widgetFileTypes",
      "widgetFileMb",
    ];
    const defaults = Object.fromEntries(Object.entries(defaultSettings).filter(([name]) => !unset.includes(name)));
    expect(workspace?.settings).toEqual(defaults);
    expect(workspace).toMatchObject({ skills: [], rules: [] });
  });
});

describe("secrets in files", () => {
  it("are read from the file named by NAME_FILE, without the line end", () => {
    const path = join(projectDir, "test/support/example-secret.txt");
    const config = loadConfig({ PARLEY_SECRET_FILE: path });
    expect(config.secret).toBe("an example, and nobody's secret");
  });

  it("are refused if both forms are set or the file is missing", () => {
    const path = join(projectDir, "test/support/example-secret.txt");
    expect(() => loadConfig({ PARLEY_SECRET: "x", PARLEY_SECRET_FILE: path })).toThrow(
      "PARLEY_SECRET and PARLEY_SECRET_FILE",
    );
    expect(() => loadConfig({ DATABASE_URL_FILE: "/nowhere/at/all" })).toThrow("DATABASE_URL_FILE");
  });
});

describe("the language model", () => {
  const openai = { MODEL_PROVIDER: "openai", MODEL_NAME: "some-model", MODEL_API_KEY: "sk-test-1" };

  it("is absent if its variables are unset or empty", () => {
    expect(loadConfig({}).model).toBeUndefined();
    expect(loadConfig({ MODEL_PROVIDER: "", MODEL_NAME: "", MODEL_API_KEY: " " }).model).toBeUndefined();
  });

  it("has a name, a key and an address, which may be private", () => {
    expect(loadConfig(openai).model).toEqual({
      provider: "openai",
      name: "some-model",
      apiKey: "sk-test-1",
      baseUrl: undefined,
      check: "doubtful",
    });
    expect(
      loadConfig({
        MODEL_PROVIDER: "openai-compatible",
        MODEL_NAME: "some-model",
        MODEL_BASE_URL: "http://192.168.1.5:11434/v1/",
        MODEL_CHECK: "words",
      }).model,
    ).toEqual({
      provider: "openai-compatible",
      name: "some-model",
      apiKey: undefined,
      baseUrl: "http://192.168.1.5:11434/v1",
      check: "words",
    });
    const path = join(projectDir, "test/support/example-key.txt");
    const { MODEL_API_KEY: _, ...keyless } = openai;
    expect(loadConfig({ ...keyless, MODEL_API_KEY_FILE: path }).model?.apiKey).toBe("sk-example-and-nobodys-key");
  });

  it.each<[string, Record<string, string>, string]>([
    ["an unknown provider", { ...openai, MODEL_PROVIDER: "acme" }, 'MODEL_PROVIDER is "acme": use openai, anthropic'],
    ["no name", { ...openai, MODEL_NAME: "" }, "MODEL_NAME is missing"],
    ["no key", { ...openai, MODEL_API_KEY: "" }, "MODEL_API_KEY is missing"],
    ["a key that was copied badly", { ...openai, MODEL_API_KEY: "sk secret" }, "MODEL_API_KEY has characters"],
    ["no address", { MODEL_PROVIDER: "openai-compatible", MODEL_NAME: "x" }, "MODEL_BASE_URL is missing"],
    ["a wrong address", { ...openai, MODEL_BASE_URL: "ftp://x" }, "MODEL_BASE_URL: use an http or https address"],
    ["a password in the address", { ...openai, MODEL_BASE_URL: "http://a:secret@x/v1" }, "without password"],
    ["an unknown check", { ...openai, MODEL_CHECK: "all" }, 'MODEL_CHECK is "all": use doubtful, every, words'],
    ["no provider", { MODEL_NAME: "some-model" }, "MODEL_NAME is set and MODEL_PROVIDER is not"],
  ])("is refused with %s, without revealing a secret", (_what, env, message) => {
    expect(() => loadConfig(env)).toThrow(message);
    expect(() => loadConfig(env)).not.toThrow("secret");
  });
});

describe("an embedding server", () => {
  const server = { EMBEDDING_PROVIDER: "openai-compatible", EMBEDDING_NAME: "x", EMBEDDING_BASE_URL: "http://h/v1/" };

  it("finds out its prefixes unless they are set", () => {
    expect(loadConfig(server).embedding).toMatchObject({ baseUrl: "http://h/v1", prefixes: "auto" });
    expect(loadConfig({ ...server, EMBEDDING_PREFIXES: "e5" }).embedding).toMatchObject({ prefixes: "e5" });
  });

  it.each([
    ["an unknown prefix", { ...server, EMBEDDING_PREFIXES: "query" }, "use auto, none, e5, nomic, instruct"],
    ["no provider", { EMBEDDING_PREFIXES: "e5" }, "EMBEDDING_PREFIXES is set and EMBEDDING_PROVIDER is not"],
  ])("is refused with %s", (_what, env, message) => {
    expect(() => loadConfig(env)).toThrow(message);
  });
});

describe("a reranker", () => {
  const model = { MODEL_PROVIDER: "openai-compatible", MODEL_NAME: "m", MODEL_BASE_URL: "http://m/v1" };
  const reranker = { RERANKER_BASE_URL: "https://api.cohere.com/v2/rerank/", RERANKER_NAME: "x" };

  it("is set by the address of its API, with or without its last part", () => {
    const { reranker: given } = loadConfig({ ...model, ...reranker, RERANKER_API_KEY: "k" });
    expect(given).toEqual({ baseUrl: "https://api.cohere.com/v2", name: "x", apiKey: "k" });
    expect(loadConfig({ ...model, ...reranker, RERANKER_BASE_URL: "http://h/v1" }).reranker?.baseUrl).toBe(
      "http://h/v1",
    );
  });

  it.each([
    ["no language model", reranker, "RERANKER_BASE_URL is set and MODEL_PROVIDER is not"],
    ["no address", { ...model, RERANKER_NAME: "x" }, "RERANKER_NAME is set and RERANKER_BASE_URL is not"],
    ["no name", { ...model, ...reranker, RERANKER_NAME: "" }, "RERANKER_NAME is missing"],
    ["a wrong address", { ...model, ...reranker, RERANKER_BASE_URL: "h:1" }, "RERANKER_BASE_URL: use an http"],
    ["a key that was copied badly", { ...model, ...reranker, RERANKER_API_KEY: "a secret" }, "RERANKER_API_KEY has"],
  ])("is refused with %s, without revealing a secret", (_what, env, message) => {
    expect(() => loadConfig(env)).toThrow(message);
    expect(() => loadConfig(env)).not.toThrow("secret");
  });
});

describe("channels in the configuration file", () => {
  const file = (channel: string) => `workspaces:\n  - name: A\n    channels:\n${channel}`;

  it("are read with their platform's settings and variables of the environment", () => {
    const yaml = file("      - name: tg\n        channel: telegram\n        token: ${TOKEN}\n");
    const [workspace] = readConfigFile("c.yaml", yaml, { TOKEN: "1234:abcdefghijkl" }).workspaces;
    expect(workspace?.channels).toMatchObject([
      { name: "tg", channel: "telegram", enabled: true, config: { token: "1234:abcdefghijkl" } },
    ]);
  });

  it("have unique names and known platforms", () => {
    const twice = file("      - {name: tg, channel: telegram}\n      - {name: tg, channel: telegram}\n");
    expect(() => readConfigFile("c.yaml", twice, {})).toThrow("c.yaml, line 5: two channels of this workspace");
    expect(() => readConfigFile("c.yaml", file("      - {name: x, channel: widget}\n"), {})).toThrow(
      /c\.yaml, line 4: workspaces\.0\.channels\.0\.channel must be one of .*telegram/,
    );
  });
});

describe("workspaces of the configuration file", () => {
  it("have unique names, and one rule per tag whatever its capitals", () => {
    const twice = "workspaces:\n  - name: Shop\n    plan: growth\n  - name: Shop\n    plan: free\n";
    expect(() => readConfigFile("parley.yaml", twice, {})).toThrow(
      "parley.yaml, line 4: two workspaces are named Shop",
    );
    const rules = (tag: string): string =>
      `workspaces:\n  - name: Shop\n    audiences:\n      Staff: {}\n      ${tag}: { role: [employee] }\n`;
    expect(() => readConfigFile("parley.yaml", rules("staff"), {})).toThrow(
      "parley.yaml, line 5: the tag staff has two rules",
    );
    const [shop] = readConfigFile("parley.yaml", rules("pro"), {}).workspaces;
    expect(shop?.settings.audiences).toEqual({ staff: {}, pro: { role: ["employee"] } });
  });

  it("have one channel at the desk for each tag, whatever its capitals", () => {
    const withTags = (tags: string): string =>
      [
        "workspaces:",
        "  - name: Shop",
        `    channels: [{name: work, channel: slack, bot_token: xoxb-1-2-abcdefghijklmnopqrstuvwx, signing_secret: ${"a".repeat(32)}}]`,
        "    desk:",
        "      kind: slack",
        "      account: work",
        "      channel: C0123456789",
        "      team_channels:",
        "        - {tags: [Billing, tax], channel: C0111111111}",
        `        - {tags: ${tags}, channel: C0222222222}`,
        "",
      ].join("\n");
    const desk = readConfigFile("parley.yaml", withTags("sales"), {}).workspaces[0]?.desk;
    expect(desk?.teamChannels).toEqual([
      { channel: "C0111111111", tags: ["billing", "tax"] },
      { channel: "C0222222222", tags: ["sales"] },
    ]);
    expect(() => readConfigFile("parley.yaml", withTags("[sales, BILLING]"), {})).toThrow(
      "parley.yaml, line 10: the tag billing has a channel already, and the first one counts",
    );
    expect(() => readConfigFile("parley.yaml", withTags('" "'), {})).toThrow(
      "parley.yaml, line 10: a tag needs a letter",
    );
  });
});
