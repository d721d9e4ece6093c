/**
 * Who may import whom. A file is bound by the first rule whose `files` is a prefix of its path, and may import its own
 * folder (`own`), the files and packages of `may`, and nothing else: types, re-exports and dynamic imports included.
 * An entry that ends in `/` stands for a folder.
 */
export interface ImportRule {
  readonly files: string;
  /** The folder that the files may use freely. */
  readonly own?: string;
  readonly may: readonly string[];
  /** Exceptions to `may`. */
  readonly never?: readonly string[];
}

/** What talks to a particular database. Only the store's own files and the composition root know of it. */
const drivers = [
  "src/store/open.ts",
  "src/store/sqlite.ts",
  "src/store/group-commit.ts",
  "src/store/mysql-time-limit.ts",
  "src/store/conversation-search.ts",
  "src/store/conversation-search-mysql.ts",
  "src/store/conversation-search-sqlite.ts",
  "src/store/conversation-search-typesense.ts",
  "src/store/typesense-client.ts",
  "src/store/typesense-collections.ts",
  "src/store/typesense-conversations.ts",
  "src/store/typesense-search-queue.ts",
  "src/store/typesense-search-work.ts",
  "src/store/transaction-context.ts",
  "src/store/migrations/",
];

const ports = "src/engine/ports.ts";

/** The platform SDKs and other packages of each adapter. */
const adapterPackages: Readonly<Record<string, readonly string[]>> = {
  discord: ["discord.js", "@discordjs/ws", "ws", "typebox"],
  email: ["imapflow", "mailparser", "nodemailer", "typebox"],
  intercom: ["intercom-client", "typebox"],
  slack: ["@slack/web-api", "@slack/socket-mode", "ws", "typebox"],
  telegram: ["grammy", "typebox"],
  twilio: ["twilio", "typebox"],
  // Calls come by the same platform as text messages, and its client, forms and errors are the same.
  voice: ["twilio", "typebox", "adapters/twilio/"],
  widget: ["ws", "typebox"],
};

const adapterRules: readonly ImportRule[] = Object.entries(adapterPackages).flatMap(([name, packages]) => [
  {
    files: `adapters/${name}/browser/`,
    own: `adapters/${name}/browser/`,
    may: ["src/domain/", "src/channel/markdown.ts", "src/web/shared/", `adapters/${name}/frames.ts`],
  },
  {
    files: `adapters/${name}/test/`,
    own: `adapters/${name}/`,
    may: [
      "src/",
      "test/support/",
      "node:",
      "vitest",
      "fast-check",
      "playwright-core",
      "kysely",
      "pino",
      "yaml",
      "smtp-server",
      "undici",
      ...packages,
    ],
  },
  {
    files: `adapters/${name}/`,
    own: `adapters/${name}/`,
    may: ["src/channel/", "src/desk/", "src/domain/", "node:", ...packages],
  },
]);

export const importRules: readonly ImportRule[] = [
  { files: "src/domain/", own: "src/domain/", may: ["node:crypto"] },
  { files: "src/desk/", own: "src/desk/", may: ["src/domain/"] },
  {
    files: "src/channel/",
    own: "src/channel/",
    may: [
      "src/domain/",
      "src/desk/contract.ts",
      "node:crypto",
      "node:http",
      "node:net",
      "node:stream",
      "node:util",
      "node:zlib",
      "htmlparser2",
      "typebox",
      "undici",
      "mdast",
      "mdast-util-from-markdown",
      "mdast-util-gfm",
      "mdast-util-to-string",
      "micromark-extension-gfm",
    ],
  },
  ...adapterRules,
  // The statements it runs are typed by kysely; which database runs them it does not know.
  {
    files: "src/engine/",
    own: "src/engine/",
    may: ["src/domain/", "src/channel/", "src/desk/", "src/store/", "kysely", "node:crypto"],
    never: drivers,
  },
  {
    files: "src/store/",
    own: "src/store/",
    may: ["src/domain/", ports, "src/data-folder.ts", "kysely", "mysql2", "stemmer", "node:"],
  },
  // The index in an engine outside; that there is one, only the composition root knows.
  {
    files: "src/knowledge/typesense/",
    own: "src/knowledge/",
    may: [
      "src/answering/terms.ts",
      "src/domain/",
      ports,
      "src/store/outbox.ts",
      "src/store/schema-knowledge.ts",
      "src/store/typesense-client.ts",
      "src/store/typesense-collections.ts",
      "node:crypto",
      "node:timers/promises",
    ],
  },
  {
    files: "src/knowledge/",
    own: "src/knowledge/",
    may: [
      "src/domain/",
      ports,
      "src/store/",
      "src/answering/languages.ts",
      "src/answering/terms.ts",
      "src/channel/markdown-parts.ts",
      "src/outbound/guarded-fetch.ts",
      "kysely",
      "node:",
      "csv-parse",
      "htmlparser2",
      "mammoth",
      "robots-parser",
      "unpdf",
      "yauzl",
      "mdast",
      "mdast-util-from-markdown",
      "mdast-util-gfm",
      "mdast-util-to-string",
      "micromark-extension-gfm",
      "yaml",
    ],
    never: [...drivers, "src/knowledge/typesense/"],
  },
  {
    files: "src/answering/",
    own: "src/answering/",
    may: [
      "src/domain/",
      ports,
      "src/knowledge/blocks.ts",
      "src/knowledge/chunk-text.ts",
      "src/knowledge/index/index-port.ts",
      "src/knowledge/sentences.ts",
      "src/knowledge/spelling.ts",
      "stemmer",
      "@orama/",
      "node:crypto",
      "node:timers/promises",
    ],
  },
  {
    files: "src/skills/",
    own: "src/skills/",
    may: [
      "src/domain/",
      ports,
      "src/answering/model/language-model.ts",
      "src/answering/model/personal-data.ts",
      "src/answering/spoken-language.ts",
      "src/outbound/guarded-fetch.ts",
      "src/store/duplicate.ts",
      "node:crypto",
    ],
  },
  // The only files that know a language model's provider.
  {
    files: "src/model/",
    own: "src/model/",
    may: [
      "src/answering/model/language-model.ts",
      "src/answering/model/model-composer.ts",
      ports,
      "src/config/environment.ts",
      "src/knowledge/index/embedder.ts",
      "node:timers/promises",
      "ai",
      "@ai-sdk/openai",
      "@ai-sdk/anthropic",
      "@ai-sdk/openai-compatible",
      "prom-client",
    ],
  },
  {
    files: "src/files/",
    own: "src/files/",
    may: ["src/domain/", ports, "src/config/environment.ts", "src/secrets.ts", "node:", "aws4fetch", "file-type"],
  },
  { files: "src/outbound/", own: "src/outbound/", may: ["node:", "undici", "ipaddr.js"] },
  {
    files: "src/webhooks/",
    own: "src/webhooks/",
    may: ["src/domain/", ports, "src/store/", "src/outbound/guarded-fetch.ts", "kysely", "node:crypto"],
    never: drivers,
  },
  {
    files: "src/jobs/",
    own: "src/jobs/",
    may: ["src/domain/", ports, "src/store/", "node:", "bullmq", "ioredis"],
    never: drivers,
  },
  {
    files: "src/http/",
    own: "src/http/",
    may: [
      "src/request-context.ts",
      "src/domain/",
      "src/channel/",
      "src/engine/act.ts",
      "src/engine/act-words.ts",
      "src/engine/attachments.ts",
      "src/engine/engine.ts",
      "src/engine/provenance.ts",
      "src/engine/representation.ts",
      "src/engine/topics.ts",
      "src/engine/workspaces.ts",
      ports,
      "src/store/",
      "src/operator/",
      "node:",
      "fastify",
      "@fastify/",
      "typebox",
      "kysely",
      "pino",
      "prom-client",
      "ipaddr.js",
    ],
    never: [...drivers, "src/operator/first-start.ts"],
  },
  // The inbox in the browser: no server code.
  {
    files: "src/web/inbox/",
    own: "src/web/inbox/",
    may: ["src/domain/", "src/channel/markdown.ts", "src/web/shared/", "src/http/inbox/wire.ts"],
  },
  // What the widget draws with, too: nothing of the inbox's.
  { files: "src/web/shared/", own: "src/web/shared/", may: ["src/channel/markdown.ts"] },
  { files: "src/web/", own: "src/web/", may: ["src/domain/", "node:", "esbuild"] },
  // Its work is done by the server; this only queues it and tells of it.
  {
    files: "src/operator/search.ts",
    own: "src/operator/",
    may: [
      ports,
      "src/knowledge/typesense/typesense-index.ts",
      "src/store/typesense-search-queue.ts",
      "src/store/open.ts",
      "src/store/typesense-check.ts",
      "src/store/typesense-client.ts",
      "src/store/typesense-collections.ts",
    ],
  },
  {
    files: "src/operator/",
    own: "src/operator/",
    may: [
      "src/domain/",
      "src/engine/events.ts",
      ports,
      "src/engine/retime.ts",
      "src/engine/traces.ts",
      "src/engine/sign-out.ts",
      "src/store/",
      "src/outbound/addresses.ts",
      "src/outbound/guarded-fetch.ts",
      "src/webhooks/",
      "src/channels.ts",
      "src/config/environment.ts",
      "src/config/file.ts",
      "src/config/mistakes.ts",
      "src/secrets.ts",
      "src/app.ts",
      "src/core.ts",
      "kysely",
      "node:",
    ],
    never: drivers,
  },
  {
    files: "src/cli/",
    own: "src/cli/",
    may: [
      "src/domain/",
      "src/operator/",
      "src/engine/ports.ts",
      "src/store/open.ts",
      "src/store/customers.ts",
      "src/store/faults.ts",
      "src/store/database-state.ts",
      "src/store/mysql-url.ts",
      "src/app.ts",
      "src/closing.ts",
      "src/core.ts",
      "src/data-folder.ts",
      "src/declared-channels.ts",
      "src/clock.ts",
      "src/config/environment.ts",
      "src/config/file.ts",
      "src/config/mistakes.ts",
      "src/log.ts",
      "src/model/open-embedder.ts",
      "src/model/open-model.ts",
      "node:",
      "pino",
      "ioredis",
      "kysely",
    ],
  },
  // The composition root: the only place that knows which implementation stands behind a port.
  { files: "src/app.ts", may: ["src/", "node:", "pino", "ioredis"] },
  {
    files: "src/readiness.ts",
    may: ["src/domain/", "src/http/dependencies.ts", "src/jobs/processes.ts", "src/store/open.ts", "src/files/disk.ts"],
  },
  {
    files: "src/declared-channels.ts",
    may: [
      "src/core.ts",
      "src/channels.ts",
      "src/config/environment.ts",
      "src/config/file.ts",
      "src/config/mistakes.ts",
      "src/operator/accounts.ts",
      "src/operator/workspaces.ts",
      "node:",
    ],
  },
  { files: "src/core.ts", may: ["src/", "node:", "pino", "prom-client"], never: ["src/app.ts", "src/http/server.ts"] },
  { files: "src/engine-counts.ts", may: ["prom-client"] },
  {
    files: "src/measures.ts",
    may: [
      ports,
      "src/domain/",
      "src/channel/errors.ts",
      "src/store/work-figures.ts",
      "src/connections.ts",
      "prom-client",
    ],
  },
  { files: "src/main.ts", may: ["src/cli/", "node:"] },
  {
    files: "src/channels.ts",
    may: [
      "src/channel-host.ts",
      "src/typing-signs.ts",
      "src/config/mistakes.ts",
      "src/domain/",
      "src/channel/",
      "src/engine/",
      "src/store/",
      "adapters/",
      "typebox",
      "node:",
    ],
    never: drivers,
  },
  {
    files: "src/channel-host.ts",
    may: [
      "src/measures.ts",
      "src/domain/",
      "src/desk/",
      "src/channel/",
      "src/engine/",
      "src/store/",
      "src/secrets.ts",
      "src/token-keys.ts",
      "src/windows.ts",
    ],
    never: drivers,
  },
  { files: "src/connections.ts", may: [ports, "src/channel/", "src/store/", "src/channels.ts"], never: drivers },
  {
    files: "src/sites.ts",
    may: ["src/domain/", "src/channel/", "src/http/dependencies.ts", "src/channels.ts", "src/measures.ts"],
  },
  { files: "src/config/environment.ts", own: "src/config/", may: ["src/store/mysql-url.ts", "node:"] },
  {
    files: "src/config/",
    own: "src/config/",
    may: ["src/domain/", "src/outbound/addresses.ts", "typebox", "yaml"],
    never: ["src/config/environment.ts"],
  },
  { files: "src/secrets.ts", may: ["node:", "src/data-folder.ts"] },
  { files: "src/data-folder.ts", may: ["node:fs"] },
  { files: "src/token-keys.ts", may: ["src/domain/", "src/secrets.ts", ports] },
  { files: "src/closing.ts", may: [] },
  { files: "src/backoff.ts", may: ["src/domain/", "src/engine/deliver.ts", "src/store/typesense-client.ts"] },
  { files: "src/windows.ts", may: [ports] },
  { files: "src/typing-signs.ts", may: [ports] },
  { files: "src/version.ts", may: ["node:fs"] },
  { files: "src/log.ts", may: ["node:fs", "pino", "pino-pretty", "src/request-context.ts"] },
  { files: "src/request-context.ts", may: ["node:async_hooks"] },
  {
    files: "src/work-payloads.ts",
    may: ["src/domain/", "src/desk/", "src/engine/desk/mirror-work.ts", "src/store/outbox.ts", "typebox"],
  },
  { files: "src/clock.ts", may: ["src/channel/contract.ts"] },
  { files: "config/", may: ["src/config/file.ts", "node:"] },
  { files: "bin/", may: ["src/main.ts", "node:"] },
];

/** What stands behind a port, or opens something. Apart from its own folder, only these files name it. */
export const implementations: Readonly<Record<string, readonly string[]>> = {
  "src/store/open.ts": ["src/app.ts", "src/readiness.ts", "src/core.ts", "src/cli/", "src/operator/search.ts"],
  "src/store/conversation-search.ts": ["src/app.ts", "src/core.ts"],
  "src/knowledge/index/embedded-index.ts": ["src/app.ts", "src/core.ts"],
  "src/knowledge/typesense/typesense-index.ts": ["src/app.ts", "src/core.ts", "src/operator/search.ts"],
  "src/files/open-files.ts": ["src/core.ts"],
  "src/answering/answerer.ts": ["src/app.ts", "src/core.ts"],
  "src/answering/model/model-composer.ts": ["src/app.ts", "src/core.ts", "src/model/counts.ts"],
  "src/model/open-model.ts": ["src/app.ts", "src/core.ts", "src/cli/doctor.ts"],
  "src/model/open-embedder.ts": ["src/app.ts", "src/core.ts", "src/cli/doctor.ts"],
  "src/knowledge/index/hybrid-index.ts": ["src/app.ts", "src/core.ts"],
  "src/http/server.ts": ["src/app.ts", "src/core.ts"],
  "src/jobs/worker.ts": ["src/app.ts", "src/core.ts"],
  "src/jobs/in-process.ts": ["src/app.ts", "src/core.ts"],
};

export function matches(pattern: string, target: string): boolean {
  return pattern.endsWith("/") || pattern === "node:" ? target.startsWith(pattern) : target === pattern;
}

/** Undefined where the import is allowed, else why it is not. */
export function objection(rules: readonly ImportRule[], file: string, target: string): string | undefined {
  const rule = rules.find(({ files }) => (files.endsWith("/") ? file.startsWith(files) : file === files));
  if (rule === undefined) return `no rule of test/support/import-rules.ts covers ${file}: add one`;
  if (rule.own !== undefined && target.startsWith(rule.own)) return undefined;
  const allowed = rule.may.some((pattern) => matches(pattern, target));
  const banned = rule.never?.some((pattern) => matches(pattern, target)) === true;
  if (allowed && !banned) return undefined;
  const except = rule.never === undefined ? "" : `; never ${rule.never.join(", ")}`;
  return `${rule.files} may import ${[rule.own, ...rule.may].filter((each) => each !== undefined).join(", ")}${except}`;
}
