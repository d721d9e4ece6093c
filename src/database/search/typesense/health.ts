import { randomBytes } from "node:crypto";
import { TypesenseAway, isRefusal, unanswered } from "./client.ts";
import type { Typesense } from "./client.ts";
import {
  createCollection,
  deleteAlias,
  dropCollection,
  importDocuments,
  listCollections,
  pointAlias,
  unlessRefused,
} from "./collections.ts";

// Checks whether the server can be used, and says what to fix.

/** Limit for this check, which must not delay the readiness check of all dependencies. */
const troubleMsMax = 1_000;
const away = "check TYPESENSE_URL and that the server runs";

export interface TypesenseState {
  /** Why the server cannot be used now, or null. */
  readonly trouble: string | null;
  /** Names of the server's collections. */
  readonly collections: readonly string[];
}

export async function typesenseState(typesense: Typesense): Promise<TypesenseState> {
  const signal = AbortSignal.timeout(troubleMsMax);
  const failed = (trouble: string): TypesenseState => ({ trouble, collections: [] });
  try {
    const lacks = await lackOf(typesense, signal);
    // The health check needs no key, so the key is checked separately.
    const collections = await listCollections(typesense, signal);
    // The server reports that it is healthy, but accepts no writes.
    return typeof lacks === "string" ? { trouble: shortOf(lacks), collections } : { trouble: null, collections };
  } catch (error) {
    if (signal.aborted) return failed(`Typesense does not answer within ${troubleMsMax} ms: ${away}`);
    if (!(error instanceof TypesenseAway)) return failed(error instanceof Error ? error.message : "unknown failure");
    const lacks = /\((OUT_OF_[A-Z]+)\)/.exec(error.message)?.[1];
    if (lacks !== undefined) return failed(shortOf(lacks));
    if (error.status === 503) return failed(starting);
    return failed(error.message.startsWith(unanswered) ? `${error.message}: ${away}` : error.message);
  }
}

/** The resource that a running server is out of. */
async function lackOf(typesense: Typesense, signal: AbortSignal): Promise<unknown> {
  let status = 200;
  try {
    const health: unknown = await typesense("tell its health", { signal }).health.retrieve();
    if (typeof health === "object" && health !== null && "ok" in health)
      return "resource_error" in health ? health.resource_error : undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    ({ status } = error);
  }
  throw new Error(`what answers there is no Typesense server (it said ${status} to GET /health): check TYPESENSE_URL`);
}

const shortOf = (lacks: string): string =>
  `Typesense reports ${lacks.slice(0, 100)} and takes no writes: give it more disk or memory`;

/** A starting server, and one whose disk is full, give no more details. */
const starting =
  "Typesense is not ready (503): it is replaying its log, or its disk was full. If this lasts, read its log, free disk space and restart it";

/** The server's version; the key may lack the right to read it. */
export async function typesenseVersion(typesense: Typesense): Promise<string> {
  const debug = await unlessRefused(typesense("tell its version").debug.retrieve());
  const version: unknown = debug?.version;
  return typeof version === "string" ? version.slice(0, 40) : "of an unknown version";
}

/** The oldest supported version. */
const majorMin = 30;

/** Why this version is not supported, or null. An unknown version is accepted. */
export function versionTrouble(version: string): string | null {
  const major = /^v?(\d+)\./.exec(version)?.[1];
  return major === undefined || Number(major) >= majorMin
    ? null
    : `Typesense ${version} is too old: install version ${majorMin} or later`;
}

const triedPrefix = "parley_doctor";

/** Checks the key's rights with a temporary collection. Returns the missing right, or null. */
export async function typesenseRights(typesense: Typesense): Promise<string | null> {
  // Several checks may run at the same time.
  const collection = `${triedPrefix}_${randomBytes(5).toString("hex")}`;
  const alias = `${collection}_alias`;
  const failures: TypesenseAway[] = [];
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof TypesenseAway)) throw error;
      failures.push(error);
    }
  };
  await attempt(async () => {
    await createCollection(typesense, { name: collection, fields: [{ name: "tried", type: "string" }] });
    await importDocuments(typesense, collection, [{ id: "1", tried: "yes" }], (_, { error }) => {
      throw new TypesenseAway(`Typesense refused to take a document: ${error}`);
    });
    await pointAlias(typesense, alias, collection);
  });
  await attempt(() => deleteAlias(typesense, alias));
  await attempt(() => dropCollection(typesense, collection));
  // Left behind by earlier versions.
  await attempt(() => dropCollection(typesense, triedPrefix));
  const [first] = failures;
  if (first === undefined) return null;
  const mayRead = /with 40[13]\b/.test(first.message)
    ? ", which needs all actions on collections, documents and aliases whose names begin with parley_"
    : "";
  return `${first.message}${mayRead}`;
}
