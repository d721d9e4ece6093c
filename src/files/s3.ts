import { openAsBlob } from "node:fs";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { AwsClient } from "aws4fetch";
import type { FileStorage } from "./storage.ts";
import { FileGone, isStorageKey } from "./storage.ts";

export interface S3Config {
  /** `https://host/bucket` or `https://host/bucket/prefix`, without a slash at the end. */
  readonly url: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** Time limit for an answer, and for each piece of a file. A whole file may take longer. */
const defaultWaitLimitMs = 120_000;
/** Additional time per uploaded byte, about 80 kB a second. */
const msPerByte = 1 / 80;

/** A storage with the S3 protocol and addresses of the form host/bucket/key. */
export function createS3Storage(
  { url, region, accessKey, secretKey }: S3Config,
  { waitLimitMs = defaultWaitLimitMs }: { readonly waitLimitMs?: number } = {},
): FileStorage {
  const client = new AwsClient({
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    region,
    service: "s3",
    // Callers retry by themselves, later and for longer.
    retries: 0,
  });
  const { origin, pathname } = new URL(url);
  const [bucket = "", ...rest] = pathname.split("/").filter((part) => part !== "");
  const prefix = rest.length === 0 ? "" : `${rest.join("/")}/`;
  const bucketUrl = `${origin}/${bucket}`;
  const addressOf = (key: string): string => {
    if (!isStorageKey(key)) throw new Error("not a key of a stored file");
    return `${bucketUrl}/${prefix}${key}`;
  };

  async function call(
    address: string,
    init: RequestInit,
    signal?: AbortSignal,
    timeoutMs: number | null = waitLimitMs,
  ): Promise<Response> {
    const signals = [signal, timeoutMs === null ? undefined : AbortSignal.timeout(timeoutMs)];
    try {
      return await client.fetch(address, {
        ...init,
        // Signed requests must not follow redirects to another address.
        redirect: "manual",
        signal: AbortSignal.any(signals.filter((each) => each !== undefined)),
      });
    } catch (error) {
      throw new Error("the file storage of FILES_S3_URL cannot be reached", { cause: error });
    }
  }

  async function* list(signal?: AbortSignal): AsyncGenerator<{ readonly key: string; readonly storedAt: number }> {
    for (let token: string | undefined; ;) {
      const query = new URLSearchParams({ "list-type": "2", prefix });
      if (token !== undefined) query.set("continuation-token", token);
      const response = await call(`${bucketUrl}?${query.toString()}`, { method: "GET" }, signal);
      if (!response.ok) throw await refusal(response, "listing");
      const text = await response.text();
      for (const [, content = ""] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const key = (tagOf(content, "Key") ?? "").slice(prefix.length);
        const storedAt = Date.parse(tagOf(content, "LastModified") ?? "");
        // The bucket may hold other files.
        if (isStorageKey(key) && !Number.isNaN(storedAt)) yield { key, storedAt };
      }
      token = tagOf(text, "NextContinuationToken");
      if (token === undefined) return;
    }
  }

  return {
    async put(key, { path, bytes, sha256 }, signal) {
      const headers = { "content-length": String(bytes), "x-amz-content-sha256": sha256 };
      const response = await call(
        addressOf(key),
        { method: "PUT", body: await openAsBlob(path, { type: "application/octet-stream" }), headers },
        signal,
        waitLimitMs + Math.ceil(bytes * msPerByte),
      );
      if (!response.ok) throw await refusal(response, "storing");
      await response.body?.cancel();
    },
    async get(key) {
      const waitLimit = createWaitLimit(waitLimitMs);
      try {
        // Without a limit for the whole file, whose duration depends on the reader.
        const response = await call(addressOf(key), { method: "GET" }, waitLimit.signal, null);
        if (response.status === 404) {
          await response.body?.cancel();
          throw new FileGone();
        }
        if (!response.ok) throw await refusal(response, "reading");
        if (response.body === null) return Readable.from([]);
        return Readable.from(withWaitLimit(response.body as ReadableStream<Uint8Array>, waitLimit));
      } finally {
        waitLimit.rest();
      }
    },
    async remove(key) {
      const response = await call(addressOf(key), { method: "DELETE" });
      if (!response.ok && response.status !== 404) throw await refusal(response, "removing");
      await response.body?.cancel();
    },
    list,
    async check(signal) {
      // The first page shows that the keys are valid.
      for await (const _ of list(signal)) break;
      return `in ${bucketUrl}${prefix === "" ? "" : `/${prefix}`}`;
    },
  };
}

interface WaitLimit {
  readonly signal: AbortSignal;
  /** Starts the time limit. */
  begin(): void;
  /** Stops the time limit. */
  rest(): void;
}

/** Aborts when a single wait takes too long. */
function createWaitLimit(ms: number): WaitLimit {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rest = (): void => clearTimeout(timer);
  const begin = (): void => {
    rest();
    timer = setTimeout(() => abort.abort(new Error("the file storage stopped sending")), ms);
  };
  begin();
  return { signal: abort.signal, begin, rest };
}

/** Limits each read of the body. Time between reads does not count. */
async function* withWaitLimit(body: ReadableStream<Uint8Array>, waitLimit: WaitLimit): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      waitLimit.begin();
      const { done, value } = await reader.read();
      waitLimit.rest();
      if (done) return;
      yield value;
    }
  } finally {
    waitLimit.rest();
    // The error was already reported.
    await reader.cancel().catch(() => undefined);
  }
}

/** An error with the storage's message, without the signed request. */
async function refusal(response: Response, what: string): Promise<Error> {
  const text = (await response.text().catch(() => "")).slice(0, 2_000);
  const code = tagOf(text, "Code") ?? "no reason given";
  const fix =
    response.status === 403
      ? ": check FILES_S3_ACCESS_KEY and FILES_S3_SECRET_KEY, and what this key may do"
      : response.status === 404
        ? ": check the bucket in FILES_S3_URL"
        : "";
  return new Error(`the file storage refuses ${what} (${response.status} ${code})${fix}`);
}

function tagOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text
    ?.replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}
