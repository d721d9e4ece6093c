import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseMysqlUrl } from "#database/dialects/mysql-url.ts";
import { ConfigError } from "./config-error.ts";
import { readConfigFile } from "./file.ts";
import type { FileConfig } from "./file.ts";
import type { EmbeddingConfig, ModelConfig, RerankerServer, Value } from "./models.ts";
import { embeddingOf, modelOf, rerankerOf } from "./models.ts";

export type Role = "all" | "web" | "worker";

/** The server for the program's own mails, such as password resets. */
export interface MailConfig {
  readonly host: string;
  readonly port: number;
  /** True: TLS from the first byte. False: STARTTLS where the server offers it. */
  readonly secure: boolean;
  readonly credentials: { readonly user: string; readonly password: string } | undefined;
  /** `Name <address>` or an address. */
  readonly from: string;
}

export interface FilesConfig {
  readonly bytesMax?: number;
  /** Files are refused while less is free on the disk. */
  readonly reserveBytes?: number;
  /** Absent: in the data folder. */
  readonly s3?: {
    /** `https://host/bucket` or `https://host/bucket/prefix`, without a slash at the end. */
    readonly url: string;
    readonly region: string;
    readonly accessKey: string;
    readonly secretKey: string;
  };
}

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Without a slash at the end. */
  readonly publicUrl: string;
  /** True if PUBLIC_URL is set; otherwise the address follows from HOST and PORT. */
  readonly publicUrlGiven?: boolean;
  readonly dataDir: string;
  readonly secret: string | undefined;
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  /** The search engine for conversations; absent: the database. */
  readonly typesense?: { readonly urls: readonly string[]; readonly apiKey: string };
  readonly role: Role;
  readonly logLevel: string;
  /** Bearer token that gives access to /metrics. */
  readonly metricsToken?: string | undefined;
  /** Addresses of proxies whose X-Forwarded-For is trusted; empty: none. */
  readonly trustedProxies: readonly string[];
  /** Absent: answers consist of the documents' sentences. */
  readonly model?: ModelConfig;
  /** Absent: passages are found by words only. */
  readonly embedding?: EmbeddingConfig;
  /** Absent: passages are ordered by words and vectors. */
  readonly reranker?: RerankerServer;
  /** Storage of message files and their largest size; absent: the data folder, 25 MB. */
  readonly files?: FilesConfig;
  /** The server for the program's own mails; absent: none are sent. */
  readonly mail?: MailConfig;
  readonly file: FileConfig;
  /** The checkpoint at which a test kills the process. */
  readonly killAt: string | undefined;
}

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];
const roles: readonly Role[] = ["all", "web", "worker"];
const defaultFile = "config/parley.yaml";

/** Reads the environment and the configuration file, as far as the caller needs it. Throws {@link ConfigError}. */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  needs: "all" | "outbound" = "all",
): Config {
  const value = (name: string): string | undefined => {
    const text = env[name]?.trim();
    return text === "" ? undefined : text;
  };
  /** Secrets can be in a file named by `NAME_FILE`, to keep them out of process lists and container descriptions. */
  const secretValue = (name: string): string | undefined => {
    const path = value(`${name}_FILE`);
    if (path === undefined) return value(name);
    if (value(name) !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set: use one of them`);
    try {
      return readFileSync(path, "utf8").trim();
    } catch (error) {
      throw new ConfigError(`${name}_FILE names ${path}, which cannot be read`, { cause: error });
    }
  };
  const host = value("HOST") ?? "127.0.0.1";
  const port = Number(value("PORT") ?? "8080");
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new ConfigError(`PORT is "${value("PORT")}": use a number from 0 (any free port) to 65535`);
  }
  const role = roles.find((each) => each === (value("PARLEY_ROLE") ?? "all"));
  if (role === undefined) throw new ConfigError(`PARLEY_ROLE is "${value("PARLEY_ROLE")}": use ${roles.join(", ")}`);
  const logLevel = value("LOG_LEVEL") ?? "info";
  if (!logLevels.includes(logLevel)) throw new ConfigError(`LOG_LEVEL is "${logLevel}": use ${logLevels.join(", ")}`);
  const dataDir = resolve(value("PARLEY_DATA_DIR") ?? "./data");
  const databaseUrl = secretValue("DATABASE_URL") ?? `sqlite:${dataDir}/parley.sqlite`;
  if (!/^(sqlite:.|mysql:\/\/.|mariadb:\/\/.)/.test(databaseUrl)) {
    throw new ConfigError("DATABASE_URL: use sqlite:PATH or mysql://user:password@host:port/database");
  }
  if (!databaseUrl.startsWith("sqlite:")) checkMysqlUrl(databaseUrl);
  const redisUrl = secretValue("REDIS_URL");
  if (redisUrl !== undefined && !/^rediss?:\/\/./.test(redisUrl)) {
    throw new ConfigError("REDIS_URL: use redis://host:port, or rediss:// with TLS");
  }
  if (role !== "all" && redisUrl === undefined) {
    throw new ConfigError(
      `PARLEY_ROLE is ${role}: processes with different roles reach each other through Redis; set REDIS_URL`,
    );
  }
  const typesense = typesenseOf(value("TYPESENSE_URL"), secretValue("TYPESENSE_API_KEY"));
  const model = modelOf(value, secretValue);
  const embedding = embeddingOf(value, secretValue);
  const reranker = rerankerOf(value, secretValue, model);
  const mail = mailOf(secretValue("SMTP_URL"), value("SMTP_FROM"));
  return {
    host,
    port,
    publicUrlGiven: value("PUBLIC_URL") !== undefined,
    publicUrl: publicUrlOf(value("PUBLIC_URL"), host, port),
    dataDir,
    secret: secretValue("PARLEY_SECRET"),
    databaseUrl,
    redisUrl,
    ...(typesense === undefined ? {} : { typesense }),
    role,
    logLevel,
    metricsToken: metricsTokenOf(secretValue("METRICS_TOKEN")),
    trustedProxies: (value("TRUSTED_PROXIES") ?? "")
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== ""),
    ...(model === undefined ? {} : { model }),
    ...(embedding === undefined ? {} : { embedding }),
    ...(reranker === undefined ? {} : { reranker }),
    ...(mail === undefined ? {} : { mail }),
    files: filesOf(value, secretValue),
    file: loadFile(value("PARLEY_CONFIG"), env, needs),
    killAt: value("PARLEY_TEST_KILL_AT"),
  };
}

function typesenseOf(given: string | undefined, apiKey: string | undefined): Config["typesense"] {
  if (given === undefined) return undefined;
  const urls = given.split(",").map((each) => {
    const url = URL.parse(each.trim());
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "") {
      throw new ConfigError(
        "TYPESENSE_URL: use http://host:8108 or https://host; several, separated by commas, for the nodes of a cluster",
      );
    }
    return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  });
  if (apiKey === undefined) {
    throw new ConfigError("TYPESENSE_URL is set without a key: set TYPESENSE_API_KEY, or TYPESENSE_API_KEY_FILE");
  }
  // The error for such a header would quote the key.
  if (!/^[ -~]+$/.test(apiKey)) {
    throw new ConfigError("TYPESENSE_API_KEY has several lines, or letters that no key has: set it to the key alone");
  }
  return { urls, apiKey };
}

/** The address may hold a password, so errors do not quote it. */
function mailOf(given: string | undefined, from: string | undefined): MailConfig | undefined {
  if (given === undefined) {
    if (from === undefined) return undefined;
    throw new ConfigError("SMTP_FROM is set and SMTP_URL is not: set it to smtp://HOST:587, or unset SMTP_FROM");
  }
  const url = URL.parse(given);
  const { protocol, hostname, port, username, password, pathname, search } = url ?? new URL("invalid:");
  const isAddress = /^smtps?:$/.test(protocol) && hostname !== "" && /^\/?$/.test(pathname) && search === "";
  if (!isAddress || (username === "") !== (password === "")) {
    throw new ConfigError(
      "SMTP_URL: use smtp://USER:PASSWORD@HOST:587, or smtps://USER:PASSWORD@HOST:465 for TLS from the start, with special characters percent-encoded",
    );
  }
  if (from === undefined || !/^(?:[^<>\r\n]{1,100} <[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/.test(from)) {
    throw new ConfigError("SMTP_FROM: set it to the sender of mails, such as Parley <parley@shop.example>");
  }
  const secure = protocol === "smtps:";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    credentials:
      username === "" ? undefined : { user: decodeURIComponent(username), password: decodeURIComponent(password) },
    from,
  };
}

const fileMbMost = 1_024;
const reserveMbMost = 1_048_576;
export const defaultReserveBytes = 1_024 * 1_048_576;

function filesOf(value: Value, secretValue: Value): FilesConfig {
  const given = value("FILES_MAX_MB");
  const megabytes = Number(given ?? "25");
  if (!Number.isInteger(megabytes) || megabytes < 1 || megabytes > fileMbMost) {
    throw new ConfigError(`FILES_MAX_MB is "${given}": use a number of megabytes from 1 to ${fileMbMost}`);
  }
  const bytesMax = megabytes * 1_048_576;
  const reserveMb = Number(value("FILES_RESERVE_MB") ?? defaultReserveBytes / 1_048_576);
  if (!Number.isInteger(reserveMb) || reserveMb < 0 || reserveMb > reserveMbMost) {
    throw new ConfigError(
      `FILES_RESERVE_MB is "${value("FILES_RESERVE_MB")}": use a number of megabytes from 0 (none) to ${reserveMbMost}`,
    );
  }
  const reserveBytes = reserveMb * 1_048_576;
  const s3 = {
    FILES_S3_URL: value("FILES_S3_URL"),
    FILES_S3_ACCESS_KEY: secretValue("FILES_S3_ACCESS_KEY"),
    FILES_S3_SECRET_KEY: secretValue("FILES_S3_SECRET_KEY"),
  };
  const region = value("FILES_S3_REGION");
  if (s3.FILES_S3_URL === undefined) {
    const [left] = Object.entries({ ...s3, FILES_S3_REGION: region }).flatMap(([name, set]) =>
      set === undefined ? [] : [name],
    );
    if (left === undefined) return { bytesMax, reserveBytes };
    throw new ConfigError(`${left} is set and FILES_S3_URL is not: set it to https://HOST/BUCKET, or unset ${left}`);
  }
  const url = URL.parse(s3.FILES_S3_URL);
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "";
  if (!isAddress || !/^\/[^/]+/.test(url.pathname)) {
    throw new ConfigError(
      "FILES_S3_URL: use https://HOST/BUCKET or https://HOST/BUCKET/PREFIX, such as https://s3.eu-central-1.amazonaws.com/my-files",
    );
  }
  const { FILES_S3_ACCESS_KEY: accessKey, FILES_S3_SECRET_KEY: secretKey } = s3;
  if (accessKey === undefined || secretKey === undefined) {
    const missing = accessKey === undefined ? "FILES_S3_ACCESS_KEY" : "FILES_S3_SECRET_KEY";
    throw new ConfigError(`FILES_S3_URL is set without a key: set ${missing}, or ${missing}_FILE`);
  }
  const address = `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  return { bytesMax, reserveBytes, s3: { url: address, region: region ?? "us-east-1", accessKey, secretKey } };
}

function metricsTokenOf(token: string | undefined): string | undefined {
  if (token === undefined || /^[\x21-\x7e]{16,}$/.test(token)) return token;
  throw new ConfigError("METRICS_TOKEN must have at least 16 visible ASCII characters and no space");
}

function publicUrlOf(given: string | undefined, host: string, port: number): string {
  if (given === undefined) {
    // A server that listens on all addresses is reachable as localhost from the same machine.
    const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
    return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
  }
  const url = URL.parse(given);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new ConfigError(
      `PUBLIC_URL is "${given}": use the address that customers reach this at, such as https://support.example`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function checkMysqlUrl(url: string): void {
  try {
    parseMysqlUrl(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it cannot be read";
    throw new ConfigError(`DATABASE_URL: ${reason}`, { cause: error });
  }
}

function loadFile(
  path: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  needs: "all" | "outbound",
): FileConfig {
  const file = path ?? defaultFile;
  if (!existsSync(file)) {
    if (path !== undefined) throw new ConfigError(`PARLEY_CONFIG names ${path}, and there is no such file`);
    return { workspaces: [] };
  }
  return readConfigFile(file, readFileSync(file, "utf8"), env, needs);
}
