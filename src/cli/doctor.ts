import { sql } from "kysely";
import { pino } from "pino";
import type { OpenStore } from "#database/open.ts";
import { DamagedDatabase, NewerDatabase } from "#database/damage.ts";
import { UnusableCa, tlsFaultOf } from "#database/dialects/mysql-url.ts";
import { openStore } from "#database/open.ts";
import { sizeText } from "#domain/files.ts";
import { checkFiles, runCheck } from "#app/channels/checks.ts";
import { diskOf } from "#app/services.ts";
import { checkDeclaredChannels } from "#app/channels/declared-channels.ts";
import { systemClock } from "#runtime/clock.ts";
import { isOpenToOthers, makeWritableFolder } from "#runtime/data-folder.ts";
import { readArguments } from "./terminal/arguments.ts";
import type { Command } from "./command.ts";
import { green, red } from "./terminal/output.ts";
import type { Config, MailConfig } from "#config/environment.ts";
import type { EmbeddingConfig, ModelConfig, RerankerServer } from "#config/models.ts";
import { hasSecret, requireConfiguredSecret } from "#admin/installation/secret.ts";
import { checkPublicAddress } from "#admin/installation/public-address.ts";
import { searchEngineState } from "#admin/installation/search.ts";

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** A failure that does not make the whole check fail. */
  readonly degraded?: true;
}

/** Checks the dependencies of the program. Each line of the output has the fix for a failure. */
export const doctor: Command = async ({ argv, output, config }) => {
  readArguments(argv, []);
  const database = await runCheck("database", () => checkDatabase(config));
  const secret = database.ok ? await runCheck("secret", () => checkSecret(config)) : undefined;
  // Runs in parallel with the other checks, because an unreachable address takes a while.
  const address = secret?.ok === true ? publicUrlOf(config) : undefined;
  const checks: Check[] = [
    {
      name: "configuration",
      ok: true,
      detail: `workspaces in the configuration file: ${config.file.workspaces.length}`,
    },
    await runCheck("Node.js", async () => {
      const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
      if (major < 24)
        throw new Error(
          `this is Node.js ${process.versions.node}; use "npm start" or "npm run parley", which bring Node.js 24`,
        );
      return `${major}.${minor}`;
    }),
    await folderOf(config),
    await runCheck("files", () => checkFiles(config, { clock: systemClock })),
    database,
    ...(secret === undefined ? [] : [secret]),
    ...(config.typesense === undefined || !database.ok
      ? []
      : [degradedAtMost(await runCheck("search engine", () => checkSearch(config)))]),
    ...(database.ok ? await channelsOf(config) : []),
    ...(config.redisUrl === undefined ? [] : [await runCheck("Redis", () => checkRedis(config.redisUrl ?? ""))]),
    ...(config.model === undefined ? [] : [await checkLanguageModel(config.model)]),
    ...(config.reranker === undefined ? [] : [degradedAtMost(await checkPassageOrder(config.reranker))]),
    ...(config.embedding === undefined
      ? []
      : [degradedAtMost(await checkEmbeddings(config, config.embedding, database.ok))]),
    ...(config.mail === undefined ? [] : [degradedAtMost(await checkMail(config.mail))]),
    ...((await address) ?? []),
  ];
  const good = checks.every(({ ok, degraded }) => ok || degraded === true);
  output.result(
    { ok: good, checks },
    checks.map(({ name, ok, detail, degraded }) => {
      const mark = ok ? green("✓") : degraded === true ? "!" : red("✗");
      return `${mark} ${name}: ${detail}`;
    }),
  );
  return good ? 0 : 1;
};

/** The channels of the current configuration file, even if the program was started with another one. */
async function channelsOf(config: Config): Promise<readonly Check[]> {
  const store = await openStore(config.databaseUrl);
  let pending: readonly string[];
  try {
    pending = await store.pendingMigrations();
  } finally {
    await store.close();
  }
  const options = { clock: systemClock, log: pino({ level: "silent" }) };
  return checkDeclaredChannels(config, pending.length === 0 && hasSecret(config), options);
}

const degradedAtMost = (made: Check): Check => (made.ok ? made : { ...made, degraded: true });

/** No answer is a warning only: platforms may reach an address that this machine cannot. */
async function publicUrlOf(config: Config): Promise<readonly Check[]> {
  const name = "public address";
  try {
    const found = await checkPublicAddress(config);
    if (found === undefined) return [];
    const made: Check = { name, ok: found.leads === "here", detail: found.detail };
    return [found.leads === "unsure" ? degradedAtMost(made) : made];
  } catch (error) {
    return [await runCheck(name, () => Promise.reject(error instanceof Error ? error : new Error("unknown failure")))];
  }
}

/** Access by other users of the machine is a warning only. */
async function folderOf(config: Config): Promise<Check> {
  const made = await runCheck("data folder", () => checkFolder(config));
  if (!made.ok || !isOpenToOthers(config.dataDir)) return made;
  const detail = `other users of this machine may be able to read ${config.dataDir}, with customers' messages: chmod 700 ${config.dataDir}`;
  return { ...made, ok: false, degraded: true, detail };
}

async function checkFolder(config: Config): Promise<string> {
  const { dataDir } = config;
  makeWritableFolder(dataDir);
  const { freeBytes, reserveBytes } = diskOf(config);
  const free = await freeBytes();
  if (free < reserveBytes) {
    throw new Error(
      `only ${sizeText(free)} are free in ${dataDir}, and ${sizeText(reserveBytes)} are reserved (FILES_RESERVE_MB), so files are refused: make room, or set PARLEY_DATA_DIR`,
    );
  }
  return `${dataDir}, ${sizeText(free)} free`;
}

async function checkDatabase({ databaseUrl }: Config): Promise<string> {
  const where = databaseUrl.startsWith("sqlite:") ? databaseUrl : new URL(databaseUrl).host;
  try {
    const store = await openStore(databaseUrl);
    try {
      await sql`select 1`.execute(store.read);
      await store.check();
      const pending = await store.pendingMigrations();
      const encryption = store.dialect === "mysql" ? `, ${await encryptionOf(store)}` : "";
      return `${where}${encryption}, ${pending.length === 0 ? "schema up to date" : `${pending.length} migrations to apply; "parley start" does it`}`;
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof DamagedDatabase || error instanceof NewerDatabase || error instanceof UnusableCa) throw error;
    const reason = error instanceof Error ? error.message : "unknown failure";
    const tlsFault = error instanceof Error ? tlsFaultOf(error) : undefined;
    const fault =
      tlsFault === undefined
        ? `does not answer (${reason}): check DATABASE_URL and that the server runs`
        : `answers, but ${tlsFault} (${reason})`;
    throw new Error(`${where} ${fault}`, { cause: error });
  }
}

async function encryptionOf({ read }: Pick<OpenStore, "read">): Promise<string> {
  const { rows } = await sql<Record<string, string>>`
    show session status where variable_name in ('Ssl_version', 'Ssl_cipher')`.execute(read);
  const values = new Map(rows.map((row) => Object.values(row) as [string, string]));
  const version = values.get("Ssl_version") ?? "";
  return version === ""
    ? "not encrypted (see ssl-mode)"
    : `encrypted with ${version}, ${values.get("Ssl_cipher") ?? "unknown cipher"}`;
}

async function checkSecret(config: Config): Promise<string> {
  const store = await openStore(config.databaseUrl);
  try {
    const pending = await store.pendingMigrations();
    if (pending.length > 0) return "nothing is stored with it yet";
    await requireConfiguredSecret(store, config);
    return config.secret === undefined ? `in ${config.dataDir}` : "PARLEY_SECRET";
  } finally {
    await store.close();
  }
}

/** Only searches with `q` need it. */
async function checkSearch({ typesense, databaseUrl }: Config): Promise<string> {
  if (typesense === undefined) return "the database";
  const store = await openStore(databaseUrl);
  try {
    return await searchEngineState(store, typesense);
  } finally {
    await store.close();
  }
}

/** Makes one small call, which costs a few tokens. */
async function checkLanguageModel(model: ModelConfig): Promise<Check> {
  const { checkModel } = await import("#models/model.ts");
  return runCheck("model", () => checkModel(model, systemClock));
}

/** Makes one small call. Without the server, words and vectors choose the passages, so a failure is a warning. */
async function checkPassageOrder(reranker: RerankerServer): Promise<Check> {
  const { checkReranker } = await import("#models/reranker.ts");
  return runCheck("reranker", () => checkReranker(reranker, systemClock));
}

/** Makes one small call. Without the server, answers are found by words only, so a failure is a warning. */
async function checkEmbeddings(config: Config, embedding: EmbeddingConfig, hasDatabase: boolean): Promise<Check> {
  if (embedding.provider === "built-in") {
    const { checkEncoder } = await import("#app/searches.ts");
    return runCheck("built-in encoder", checkEncoder);
  }
  const { checkEmbedder, createEmbedder } = await import("#models/embedder.ts");
  const { checkCalibrations } = await import("#app/searches.ts");
  return runCheck("embedding server", async () => {
    const reached = await checkEmbedder(embedding, systemClock);
    if (!hasDatabase) return reached;
    const store = await openStore(config.databaseUrl);
    try {
      if ((await store.pendingMigrations()).length > 0) return reached;
      return `${reached}; ${await checkCalibrations(store.read, createEmbedder(embedding, systemClock))}`;
    } finally {
      await store.close();
    }
  });
}

/** Connects and signs in. Without the server only mails wait, so a failure is a warning. */
async function checkMail(config: MailConfig): Promise<Check> {
  const { createMailTransport } = await import("#mail/transport.ts");
  return runCheck("mail server", () => createMailTransport(config).check());
}

async function checkRedis(url: string): Promise<string> {
  const { Redis } = (await import("ioredis")).default;
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 3_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.ping();
    return new URL(url).host;
  } catch (error) {
    throw new Error("it does not answer: check REDIS_URL and that the server runs", { cause: error });
  } finally {
    client.disconnect();
  }
}
