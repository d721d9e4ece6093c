import { readFileSync, readdirSync } from "node:fs";

const projectUrl = new URL("../../../", import.meta.url);

/**
 * The layers of the program, from bottom to top. Each may import its own folder and the named folders, files and
 * packages, and nothing else. Types, re-exports and dynamic imports count. `#queue/` is a folder of src/,
 * `#queue/lanes.ts` one file of it, `node:` every built-in module. A rule that no import needs fails the test.
 */
export interface ImportRule {
  readonly files: string;
  /** The folder that the files may import freely. */
  readonly own?: string;
  readonly may: readonly string[];
  /** Exceptions to `may`. */
  readonly never?: readonly string[];
}

const pathOf = (name: string): string => (name.startsWith("#") ? `src/${name.slice(1)}` : name);

/** `own`: the folder that the files may import freely; absent: `files` itself. */
function rule(files: string, may: string, { own = files, never = [] as readonly string[] } = {}): ImportRule {
  const names = may.split(" ").filter((name) => name !== "");
  return { files: pathOf(files), own: pathOf(own), may: names.map(pathOf), never };
}

/** Packages that talk to a particular database. Only the database's own files and the composition root import them. */
const drivers = [
  "open.ts group-commit.ts transaction-context.ts migrations/ dialects/sqlite.ts dialects/mysql-connections.ts dialects/mysql-dialect.ts",
  "dialects/mysql-stream.ts dialects/mysql-time-limit.ts search/open.ts search/sqlite.ts search/mysql.ts search/typesense/",
].flatMap((names) => names.split(" ").map((name) => `src/database/${name}`));

const markdown = "mdast mdast-util-from-markdown mdast-util-gfm micromark-extension-gfm";
const aboveDatabase = { never: drivers };

const layers: readonly ImportRule[] = [
  rule("#runtime/", "node: pino pino-pretty"),
  // Reads only what adapters declare.
  rule("#channels/catalog.ts", "#domain/ node: adapters/"),
  rule("#language/", "#runtime/ @orama/stemmers @orama/stopwords stemmer"),
  rule("#domain/", "#language/ node:crypto"),
  rule("#outbound/", "node: ipaddr.js undici"),
  rule("#database/", "#runtime/ #domain/ #channels/catalog.ts node: kysely mysql2 stemmer typebox typesense"),

  rule("#config/environment.ts", "#database/dialects/mysql-url.ts node:", { own: "#config/" }),
  rule("#config/", "#language/ #domain/ #outbound/ #channels/catalog.ts typebox yaml", {
    never: ["src/config/environment.ts"],
  }),
  rule("#mail/", "#runtime/ #database/ #config/environment.ts node:crypto nodemailer typebox", aboveDatabase),
  rule("#files/", "#runtime/ #domain/ #config/ node: aws4fetch file-type"),
  rule("#queue/", "#runtime/ #domain/ #database/ node: bullmq ioredis typebox", aboveDatabase),

  // The contract that adapters see. Only the loader imports adapters; channel-host/, which runs them, is a higher layer.
  rule("#channels/load-adapter.ts", "#channels/catalog.ts #channels/contract.ts #domain/ adapters/"),
  rule("#channels/", `#runtime/ #domain/ #config/errors.ts node: htmlparser2 typebox undici ${markdown}`),

  // The only files that import a language model's provider.
  rule("#models/", "#runtime/ #config/ node: ai @ai-sdk/anthropic @ai-sdk/openai @ai-sdk/openai-compatible"),
  // Only the composition root and the administration import the index outside the process.
  rule("#knowledge/typesense/", "#runtime/ #language/ #database/ node:", { own: "#knowledge/" }),
  rule(
    "#knowledge/",
    `#runtime/ #language/ #domain/ #outbound/ #database/ #channels/text/ #models/embedding.ts #models/model-away.ts node: kysely chardet csv-parse htmlparser2 mammoth robots-parser typebox unpdf yaml yauzl ${markdown}`,
    { never: [...drivers, "src/knowledge/typesense/"] },
  ),
  rule("#answering/evaluation/", "#domain/conversation/message.ts csv-parse", { own: "#answering/" }),
  rule(
    "#answering/",
    "#runtime/ #language/ #domain/ #knowledge/ #models/language-model.ts #models/model-away.ts #models/reranking.ts node:",
  ),
  rule(
    "#skills/",
    "#runtime/ #language/ #domain/ #outbound/ #database/ #models/language-model.ts #answering/ node:",
    aboveDatabase,
  ),
  rule("#webhooks/", "#runtime/ #outbound/ #database/ node: kysely typebox", aboveDatabase),
  rule("#metrics/", "#runtime/ #domain/ #database/ #channels/ #answering/ prom-client", aboveDatabase),

  // Kysely types the statements; the driver is not imported here.
  rule(
    "#conversations/",
    "#runtime/ #language/ #domain/ #database/ #files/contract.ts #queue/ #channels/ #answering/contract.ts node: kysely typebox",
    aboveDatabase,
  ),
  rule(
    "#agent-desk/",
    "#runtime/ #domain/ #database/ #files/contract.ts #queue/lanes.ts #queue/retry-later.ts #channels/ #conversations/ node: typebox",
    { never: [...drivers, "src/conversations/engine.ts"] },
  ),
  // Runs the adapters: opens accounts, keeps their connections, and is what their calls reach.
  rule(
    "#channel-host/",
    "#runtime/ #domain/ #database/ #files/contract.ts #queue/signals/ #metrics/ #channels/ #conversations/ #agent-desk/ #http/dependencies.ts",
    aboveDatabase,
  ),
  // Queues work for the server and reports on it.
  rule("#admin/installation/search.ts", "#runtime/ #database/ #knowledge/typesense/", { own: "#admin/" }),
  rule(
    "#admin/",
    "#runtime/ #language/ #domain/ #outbound/ #database/ #files/contract.ts #config/ #mail/work.ts #knowledge/documents/ #knowledge/crawl/crawls.ts #channels/ #webhooks/ #conversations/ node: kysely openid-client typebox yaml",
    aboveDatabase,
  ),
  rule(
    "#http/",
    "#runtime/ #language/locale.ts #domain/ #database/ #files/contract.ts #outbound/ #queue/signals/ #channels/ #conversations/ #admin/ #config/setting-keys.ts #config/sections/ #skills/look-up.ts #skills/try-skill.ts #skills/skill-arguments.ts node: fastify @fastify/cookie @fastify/multipart @fastify/swagger @fastify/type-provider-typebox typebox kysely pino prom-client ipaddr.js uqr",
    { never: [...drivers, "src/conversations/engine.ts"] },
  ),

  // The inbox in the browser imports no server code.
  rule("#web/inbox/", "#domain/ #http/inbox/wire.ts #web/shared/ preact @preact/signals"),
  rule(
    "#web/dashboard/",
    "#domain/ #language/locale.ts #channels/text/markdown.ts #web/shared/ preact @preact/signals uplot",
  ),
  // Components of the inbox and the dashboard. The widget, on the pages of others, does without a library.
  rule("#web/shared/ui/", "#channels/text/markdown.ts preact @preact/signals", { own: "#web/shared/" }),
  rule("#web/shared/", "#channels/text/markdown.ts", { own: "#web/shared/elements.ts" }),
  rule("#web/", "node: esbuild"),

  // The composition root is the only folder that chooses implementations.
  rule("#app/", "src/ node: pino prom-client", { never: ["src/cli/", "src/main.ts"] }),
  rule(
    "#cli/",
    "#runtime/ #domain/ #database/ #config/ #mail/ #models/ #answering/evaluation/ #admin/ #app/ node: ioredis kysely pino",
  ),
  rule("#main.ts", "#cli/run.ts"),
  rule("#build/start.ts", "computed", { own: "#build/program.ts" }),
  rule("#build/", "#web/build.ts node: esbuild"),
  rule("bin/", "#build/start.ts node:"),
  rule("config/", "#config/schema.ts node:"),
];

const testPackages = "vitest fast-check playwright-core kysely pino yaml smtp-server undici ws";

const serverPackages = new Set(layers.flatMap(({ may }) => may));
const { dependencies } = JSON.parse(readFileSync(new URL("package.json", projectUrl), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
/** The program sends its own mails, and reads YAML and text of unknown encodings, too. */
const sharedPackages = "typebox nodemailer yaml chardet";
/** Packages that only adapters use: the platforms' SDKs. A test checks that no two adapters share one. */
export const adapterPackages = Object.keys(dependencies).filter((name) => !serverPackages.has(name));

const adaptersUrl = new URL("adapters/", projectUrl);
const foldersIn = (folder: URL): readonly string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [`${entry.name}/`] : []));

const adapterRules = foldersIn(adaptersUrl).flatMap((name): readonly ImportRule[] => {
  const own = `adapters/${name}`;
  const packages = adapterPackages.join(" ");
  const tests = ["", ...foldersIn(new URL(name, adaptersUrl))].map((part) =>
    rule(`${own}${part}test/`, `src/ test/support/ node: ${sharedPackages} ${testPackages} ${packages}`, { own }),
  );
  return [
    rule(
      `${own}browser/`,
      `#domain/ #language/text-keys.ts #language/locales/en.ts #channels/text/markdown.ts #web/shared/ ${own}frames.ts`,
      { never: ["src/web/shared/ui/"] },
    ),
    ...tests,
    rule(
      own,
      `#channels/ #domain/ #language/ #runtime/abort.ts #runtime/clock.ts #runtime/log.ts node: ${sharedPackages} ${packages}`,
    ),
  ];
});

export const importRules: readonly ImportRule[] = [...adapterRules, ...layers];

/**
 * The rooms of src/conversations, from bottom to top. A room imports the rooms below it: not those above it, and not
 * contract.ts and engine.ts, which put them together.
 */
export const conversationRooms: readonly string[] = [
  // Kinds of work, and signals after a commit, that several rooms queue.
  "work",
  "reporting",
  "references",
  "attachments",
  "transaction",
  "contacts",
  "automation",
  "delivery",
  "feedback",
  "agents",
  "answering",
  "inbound",
  "trial",
  "retention",
];

/** The upward imports that are left: rules and timers run at the end of each transaction. */
const upwardImports: Readonly<Record<string, readonly string[]>> = {
  "src/conversations/transaction/unit-of-work.ts": [
    "src/conversations/automation/rules.ts",
    "src/conversations/automation/timers.ts",
  ],
};

/** Which of these imports lead from a room to one that is not below it. `unused`: exceptions that no file needs. */
export function upwardArrows(imports: readonly { readonly path: string; readonly target: string }[]) {
  const heightOf = (path: string): number => {
    const room = conversationRooms.indexOf(path.split("/")[2] ?? "");
    return room === -1 ? conversationRooms.length : room;
  };
  const isOf = (path: string): boolean => path.startsWith("src/conversations/");
  const upward = imports.filter(({ path, target }) => isOf(path) && isOf(target) && heightOf(path) < heightOf(target));
  const isNamed = ({ path, target }: { readonly path: string; readonly target: string }): boolean =>
    upwardImports[path]?.includes(target) === true;
  const named = Object.entries(upwardImports).flatMap(([path, targets]) => targets.map((target) => ({ path, target })));
  return {
    offences: upward.filter((each) => !isNamed(each)),
    unused: named.filter((each) => !upward.some(({ path, target }) => path === each.path && target === each.target)),
  };
}

/** Files that implement a port or open a connection. Apart from their own folder, only the listed files import them. */
export const implementations: Readonly<Record<string, readonly string[]>> = {
  "src/database/open.ts": ["src/app/", "src/cli/", "src/admin/installation/search.ts"],
  "src/database/search/open.ts": ["src/app/"],
  "src/knowledge/index/embedded-index.ts": ["src/app/"],
  "src/knowledge/typesense/typesense-index.ts": ["src/app/"],
  "src/files/open.ts": ["src/app/"],
  "src/answering/answerer.ts": ["src/app/"],
  "src/answering/generate/model-composer.ts": ["src/app/", "src/metrics/model.ts"],
  "src/models/model.ts": ["src/app/", "src/cli/doctor.ts"],
  "src/models/embedder.ts": ["src/app/", "src/cli/doctor.ts"],
  "src/models/reranker.ts": ["src/app/", "src/cli/doctor.ts"],
  "src/knowledge/vectors/hybrid-index.ts": ["src/app/"],
  "src/http/server.ts": ["src/app/"],
  "src/queue/worker/worker.ts": ["src/app/"],
  "src/queue/signals/in-process.ts": ["src/app/"],
};

export function matches(pattern: string, target: string): boolean {
  return pattern.endsWith("/") || pattern === "node:" ? target.startsWith(pattern) : target === pattern;
}

/** Why the import is not allowed; undefined if it is. */
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
