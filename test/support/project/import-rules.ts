/**
 * The layers of the program, from bottom to top, and what each of them may import: its own folder, the folders, files and
 * packages that are named, and nothing else. Types, re-exports and dynamic imports count. `#queue/` is a folder of src/,
 * `#queue/lanes.ts` one file of it, `node:` every built-in module. A rule that no import needs fails the test.
 */
export interface ImportRule {
  readonly files: string;
  /** The folder that the files may use freely. */
  readonly own?: string;
  readonly may: readonly string[];
  /** Exceptions to `may`. */
  readonly never?: readonly string[];
}

const pathOf = (name: string): string => (name.startsWith("#") ? `src/${name.slice(1)}` : name);

/** `own`: the folder that the files may use freely; absent: the folder that they are. */
function rule(files: string, may: string, { own = files, never = [] as readonly string[] } = {}): ImportRule {
  const names = may.split(" ").filter((name) => name !== "");
  return { files: pathOf(files), own: pathOf(own), may: names.map(pathOf), never };
}

/** Files that talk to a particular database. Only the database's own files and the composition root know them. */
const drivers = [
  "open.ts group-commit.ts transaction-context.ts migrations/ dialects/sqlite.ts dialects/mysql-connections.ts dialects/mysql-dialect.ts",
  "dialects/mysql-stream.ts dialects/mysql-time-limit.ts search/open.ts search/sqlite.ts search/mysql.ts search/typesense/",
].flatMap((names) => names.split(" ").map((name) => `src/database/${name}`));

const markdown = "mdast mdast-util-from-markdown mdast-util-gfm micromark-extension-gfm";
const aboveDatabase = { never: drivers };

const layers: readonly ImportRule[] = [
  rule("#runtime/", "node: pino pino-pretty"),
  rule("#language/", "#runtime/ @orama/stemmers @orama/stopwords stemmer"),
  rule("#domain/", "#language/ node:crypto"),
  rule("#outbound/", "node: ipaddr.js undici"),
  rule("#database/", "#runtime/ #domain/ node: kysely mysql2 stemmer"),

  rule("#config/environment.ts", "#database/dialects/mysql-url.ts node:", { own: "#config/" }),
  rule("#config/", "#language/ #domain/ #outbound/ typebox yaml", { never: ["src/config/environment.ts"] }),
  rule("#files/", "#runtime/ #domain/ #config/ node: aws4fetch file-type"),
  rule("#queue/", "#runtime/ #domain/ #database/ node: bullmq ioredis", aboveDatabase),

  // The side that adapters see. Only the loader knows the adapters; host/, which runs them, is further up.
  rule("#channels/load-adapter.ts", "#channels/contract.ts #domain/ adapters/"),
  rule(
    "#channels/host/",
    "#runtime/ #domain/ #database/ #files/contract.ts #queue/signals/ #metrics/ #conversations/ #agent-desk/ #http/dependencies.ts",
    { own: "#channels/", never: drivers },
  ),
  rule("#channels/", `#runtime/ #domain/ #config/errors.ts node: htmlparser2 typebox undici ${markdown}`, {
    never: ["src/channels/host/"],
  }),

  // The only files that know a language model's provider.
  rule("#models/", "#runtime/ #config/ node: ai @ai-sdk/anthropic @ai-sdk/openai @ai-sdk/openai-compatible"),
  // Only the composition root and the administration know that there is an index outside the process.
  rule("#knowledge/typesense/", "#runtime/ #language/ #database/ node:", { own: "#knowledge/" }),
  rule(
    "#knowledge/",
    `#runtime/ #language/ #domain/ #outbound/ #database/ #channels/text/ #models/embedding.ts node: kysely csv-parse htmlparser2 mammoth robots-parser unpdf yaml yauzl ${markdown}`,
    { never: [...drivers, "src/knowledge/typesense/"] },
  ),
  rule("#answering/", "#runtime/ #language/ #domain/ #knowledge/ #models/language-model.ts node:"),
  rule(
    "#skills/",
    "#runtime/ #language/ #domain/ #outbound/ #database/ #models/language-model.ts #answering/ node:",
    aboveDatabase,
  ),
  rule("#webhooks/", "#runtime/ #outbound/ #database/ node: kysely", aboveDatabase),
  rule("#metrics/", "#runtime/ #domain/ #database/ #channels/ #answering/ prom-client", aboveDatabase),

  // The statements are typed by kysely; which database runs them is not known here.
  rule(
    "#conversations/",
    "#runtime/ #language/ #domain/ #database/ #files/contract.ts #queue/ #channels/ #answering/contract.ts node: kysely",
    { never: [...drivers, "src/channels/host/"] },
  ),
  rule(
    "#agent-desk/",
    "#runtime/ #domain/ #database/ #files/contract.ts #queue/lanes.ts #channels/ #conversations/ node:",
    { never: [...drivers, "src/channels/host/", "src/conversations/engine.ts"] },
  ),
  // Its work is done by the server; this only queues it and reports on it.
  rule("#admin/installation/search.ts", "#runtime/ #database/ #knowledge/typesense/", { own: "#admin/" }),
  rule(
    "#admin/",
    "#runtime/ #language/ #domain/ #outbound/ #database/ #config/ #channels/ #webhooks/ #conversations/ node: kysely",
    { never: [...drivers, "src/channels/host/"] },
  ),
  rule(
    "#http/",
    "#runtime/ #domain/ #database/ #files/contract.ts #queue/signals/ #channels/ #conversations/ #admin/ node: fastify @fastify/cookie @fastify/multipart @fastify/swagger @fastify/type-provider-typebox typebox kysely pino prom-client ipaddr.js",
    { never: [...drivers, "src/channels/host/", "src/conversations/engine.ts"] },
  ),

  // The inbox in the browser: no server code.
  rule("#web/inbox/", "#domain/ #channels/text/ #http/inbox/wire.ts #web/shared/"),
  rule("#web/shared/", "#channels/text/markdown.ts"),
  rule("#web/", "node: esbuild"),

  // The composition root: the only place that knows which implementation stands behind a port.
  rule("#app/", "src/ node: pino prom-client typebox", { never: ["src/cli/", "src/main.ts"] }),
  rule("#cli/", "#runtime/ #domain/ #database/ #config/ #models/ #admin/ #app/ node: ioredis kysely pino"),
  rule("#main.ts", "#cli/run.ts"),
  rule("bin/", "#main.ts node:"),
  rule("config/", "#config/file.ts node:"),
];

/** The platform SDKs and other packages of each adapter. */
const adapterPackages: Readonly<Record<string, string>> = {
  discord: "discord.js @discordjs/ws typebox",
  email: "imapflow mailparser nodemailer typebox",
  intercom: "intercom-client typebox",
  slack: "@slack/web-api @slack/socket-mode typebox",
  telegram: "grammy typebox",
  twilio: "twilio typebox",
  widget: "ws typebox",
};

const testPackages = "vitest fast-check playwright-core kysely pino yaml smtp-server undici ws";

const adapterRules = Object.entries(adapterPackages).flatMap(([name, packages]): readonly ImportRule[] => {
  const own = `adapters/${name}/`;
  const tests = (name === "twilio" ? ["messaging/", "voice/", "shared/"] : [""]).map((part) =>
    rule(`${own}${part}test/`, `src/ test/support/ node: ${testPackages} ${packages}`, { own }),
  );
  const browser = `${own}browser/`;
  return [
    rule(browser, `#domain/ #channels/text/markdown.ts #web/shared/ ${own}frames.ts`),
    ...tests,
    rule(own, `#channels/ #domain/ #runtime/clock.ts #runtime/log.ts node: ${packages}`, {
      never: ["src/channels/host/"],
    }),
  ];
});

export const importRules: readonly ImportRule[] = [...adapterRules, ...layers];

/** Files that implement a port or open a connection. Apart from their own folder, only these files import them. */
export const implementations: Readonly<Record<string, readonly string[]>> = {
  "src/database/open.ts": ["src/app/", "src/cli/", "src/admin/installation/search.ts"],
  "src/database/search/open.ts": ["src/app/"],
  "src/knowledge/index/embedded-index.ts": ["src/app/"],
  "src/knowledge/typesense/typesense-index.ts": ["src/app/", "src/admin/installation/search.ts"],
  "src/files/open.ts": ["src/app/"],
  "src/answering/answerer.ts": ["src/app/"],
  "src/answering/generate/model-composer.ts": ["src/app/", "src/metrics/model.ts"],
  "src/models/model.ts": ["src/app/", "src/cli/doctor.ts"],
  "src/models/embedder.ts": ["src/app/", "src/cli/doctor.ts"],
  "src/knowledge/vectors/hybrid-index.ts": ["src/app/"],
  "src/http/server.ts": ["src/app/"],
  "src/queue/worker/worker.ts": ["src/app/"],
  "src/queue/signals/in-process.ts": ["src/app/"],
};

export function matches(pattern: string, target: string): boolean {
  return pattern.endsWith("/") || pattern === "node:" ? target.startsWith(pattern) : target === pattern;
}

/** Undefined where the import is allowed, else why it is not. */
export function objection(rules: readonly ImportRule[], file: string, target: string): string | undefined {
  const found = rules.find(({ files }) => (files.endsWith("/") ? file.startsWith(files) : file === files));
  if (found === undefined) return `no rule of test/support/project/import-rules.ts covers ${file}: add one`;
  if (found.own !== undefined && target.startsWith(found.own)) return undefined;
  const allowed = found.may.some((pattern) => matches(pattern, target));
  const banned = found.never?.some((pattern) => matches(pattern, target)) === true;
  if (allowed && !banned) return undefined;
  const except = found.never === undefined || found.never.length === 0 ? "" : `; never ${found.never.join(", ")}`;
  return `${found.files} may import ${[found.own, ...found.may].filter((each) => each !== undefined).join(", ")}${except}`;
}
