import { createHmac, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { OutboundFile } from "#channels/contract.ts";
import type { GuardedLookup } from "#channels/http/guarded-connect.ts";
import { createPlatformFetch } from "#channels/http/platform-fetch.ts";
import type { PlatformRequest, PlatformResponse } from "#channels/http/platform-fetch.ts";
import { foreignAnswer } from "#channels/http/foreign-response.ts";
import { brokenConnection, refusal } from "./errors.ts";
import type { Settings } from "./config.ts";

const timeoutMs = 30_000;
/** The time for 100 MB at 4 Mbit/s. */
const uploadMs = 240_000;

export type JsonObject = Readonly<Record<string, unknown>>;

/** Calls of the Graph API. Each throws a DeliveryError, which never holds the token. */
export interface GraphApi {
  /** `token`: another one than the account's. */
  get(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal, token?: string): Promise<JsonObject>;
  post(path: string, body: object, signal: AbortSignal, token?: string): Promise<JsonObject>;
  /** Uploads a file for a message. Returns its id. */
  upload(file: OutboundFile, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<string>;
}

export function createApi(
  { apiUrl, accessToken, appSecret, phoneNumberId }: Settings,
  lookup?: GuardedLookup,
): GraphApi {
  const send = createPlatformFetch(lookup);
  /** Proves to Meta that the caller has the app's secret, which an app can require of each call. */
  const proof = createHmac("sha256", appSecret).update(accessToken).digest("hex");

  async function call(path: string, query: Readonly<Record<string, string>>, request: PlatformRequest, token?: string) {
    const search = new URLSearchParams(token === undefined ? { ...query, appsecret_proof: proof } : query).toString();
    const headers = { ...request.headers, authorization: `Bearer ${token ?? accessToken}` };
    let response: PlatformResponse;
    try {
      response = await send(`${apiUrl}/${path}${search === "" ? "" : `?${search}`}`, {
        timeoutMs,
        ...request,
        headers,
      });
    } catch (error) {
      throw brokenConnection(error);
    }
    return objectOf(response);
  }

  return {
    get: (path, query, signal, token) => call(path, query, { signal }, token),
    post: (path, body, signal, token) =>
      call(
        path,
        {},
        { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal },
        token,
      ),
    async upload(file, bytes, signal) {
      const { id } = await call(`${phoneNumberId}/media`, {}, { ...formOf(file, bytes), signal, timeoutMs: uploadMs });
      if (typeof id === "string") return id;
      throw foreignAnswer("Meta", 200);
    },
  };
}

async function objectOf(response: PlatformResponse): Promise<JsonObject> {
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok || typeof answer !== "object" || answer === null) throw refusal(response, answer);
  return answer as JsonObject;
}

/** A multipart form that is sent while the file is read. */
function formOf({ mediaType, bytes: size }: OutboundFile, bytes: AsyncIterable<Uint8Array>) {
  const boundary = `parley-${randomUUID()}`;
  const field = (name: string, value: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const type = mediaType.replaceAll(/[^\w.+/;= -]/g, "");
  const head = Buffer.from(
    `${field("messaging_product", "whatsapp")}${field("type", type)}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\nContent-Type: ${type}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* body() {
    yield head;
    yield* bytes;
    yield tail;
  }
  return {
    method: "POST",
    headers: {
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": String(head.length + size + tail.length),
    },
    body: Readable.from(body(), { objectMode: false }),
  };
}
