import { TypesenseAway } from "./typesense-client.ts";
import type { Typesense } from "./typesense-client.ts";
import {
  createCollection,
  dropCollection,
  importDocuments,
  parse,
  pointAlias,
  refusal,
} from "./typesense-collections.ts";

// Whether the server can do what it is there for, and the mend where it cannot.

/** The state of all things that the program depends on is asked for in one, which must not be late for this one. */
const troubleMsMax = 1_000;
const away = "check TYPESENSE_URL and that the server runs";

/** What the server says of itself: why it cannot do its work now, or null. */
export async function typesenseTrouble(typesense: Typesense): Promise<string | null> {
  const signal = AbortSignal.timeout(troubleMsMax);
  try {
    const { status, text } = await typesense.request("GET", "/health", { signal });
    const health = healthIn(text);
    if (health === undefined) {
      return `what answers there is no Typesense server (it said ${status} to GET /health): check TYPESENSE_URL`;
    }
    const { ok, resource_error } = health;
    if (typeof resource_error === "string")
      return `Typesense reports ${resource_error.slice(0, 100)}: give it more disk or memory`;
    if (status !== 200 || ok !== true) return `Typesense says that it is not ready (${status}): see its log`;
    // Anybody may ask for its health; the key has to be right too.
    const aliases = await typesense.request("GET", "/aliases", { signal });
    return aliases.status === 200 ? null : refusal("list aliases", aliases.status, aliases.text).message;
  } catch (error) {
    if (signal.aborted) return `Typesense does not answer within ${troubleMsMax} ms: ${away}`;
    if (error instanceof TypesenseAway) return `${error.message}: ${away}`;
    return error instanceof Error ? error.message : "unknown failure";
  }
}

function healthIn(text: string): { readonly ok: unknown; readonly resource_error?: unknown } | undefined {
  try {
    const health = JSON.parse(text) as { readonly ok?: unknown; readonly resource_error?: unknown } | null;
    return typeof health === "object" && health !== null && "ok" in health ? { ok: health.ok, ...health } : undefined;
  } catch {
    return undefined;
  }
}

/** The server's version, or that it does not tell: that takes more rights than the work does. */
export async function typesenseVersion(typesense: Typesense): Promise<string> {
  const { status, text } = await typesense.request("GET", "/debug");
  const version = status === 200 ? (parse(text) as { readonly version?: unknown }).version : undefined;
  return typeof version === "string" ? version.slice(0, 40) : "of an unknown version";
}

/** The oldest that this program was made for. */
const majorMin = 30;

/** Why this version does not do, or null; one that is not told is taken for good. */
export function versionTrouble(version: string): string | null {
  const major = /^v?(\d+)\./.exec(version)?.[1];
  return major === undefined || Number(major) >= majorMin
    ? null
    : `Typesense ${version} is too old: install version ${majorMin} or later`;
}

const triedCollection = "parley_doctor";

/** Tries with a collection of its own whether the key may do all that is needed, and takes that away again. Or why not. */
export async function typesenseRights(typesense: Typesense): Promise<string | null> {
  try {
    await createCollection(typesense, { name: triedCollection, fields: [{ name: "tried", type: "string" }] });
    await importDocuments(typesense, triedCollection, [{ id: "1", tried: "yes" }], (_, { error }) => {
      throw new TypesenseAway(`Typesense refused to take a document: ${error}`);
    });
    await pointAlias(typesense, triedCollection, triedCollection);
    await typesense.request("DELETE", `/aliases/${triedCollection}`);
    await dropCollection(typesense, triedCollection);
    return null;
  } catch (error) {
    if (!(error instanceof TypesenseAway)) throw error;
    const mayRead = /with 40[13]\b/.test(error.message)
      ? ", which needs all actions on collections, documents and aliases whose names begin with parley_"
      : "";
    return `${error.message}${mayRead}`;
  }
}
