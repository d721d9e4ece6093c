import type { Account, ChannelHost, SiteUploads, WebResponse, WorkspaceBranding } from "#channels/contract.ts";
import type { ProblemCode } from "#domain/problem.ts";
import { Problem } from "#domain/problem.ts";
import type { UploadRefusal, UploadedFile } from "./frames.ts";
import type { Limits } from "./config.ts";
import { addressKey } from "./config.ts";
import { hostHeaders, originAllowed } from "./origins.ts";
import { ownSession, threadOf } from "./session.ts";

/** The answer that a browser gets for a refused file. */
const refusals: Readonly<Partial<Record<ProblemCode, UploadRefusal>>> = {
  payload_too_large: "too_large",
  request_timeout: "unavailable",
  rate_limit_day: "quota",
  storage_full: "full",
};

type Refuse = (status: number, code: UploadRefusal, detail: string) => WebResponse;

/**
 * Files that customers send. The body is the file; the session's token says whose it is. It can be sent with a message of
 * that session alone, and shown to nobody before.
 */
export function createUploads(account: Account, host: ChannelHost, limits: Limits): SiteUploads {
  return {
    path: "/widget/files",
    async handle({ method, headers, query, remoteAddress }, body, signal) {
      const face = await host.workspace();
      const { origin } = headers;
      const refuse: Refuse = (status, code, detail) => answer(status, { code, detail }, origin);
      // A page's request to its own server carries no Origin.
      const isWelcome =
        origin === undefined
          ? account.channel === "hosted" || face.allowedOrigins.length === 0
          : originAllowed({ origin, ...hostHeaders(headers) }, account.channel, face.allowedOrigins);
      if (!isWelcome) return refuse(403, "forbidden", "This page may not use this widget.");
      if (method === "OPTIONS") return preflight(origin);
      if (face.files === null) return refuse(403, "forbidden", "This chat takes no files.");
      const token = /^Bearer (\S{1,2048})$/u.exec(headers["authorization"] ?? "")?.[1];
      const session = token === undefined ? null : await ownSession(token, host);
      if (session === null) return refuse(401, "bad_token", "The session is not known.");
      if (!limits.file(session.id, addressKey(remoteAddress))) {
        return refuse(429, "limited", "Too many files in a short time; try again in a minute.");
      }
      const declared = headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
      if ((declared ?? 0) > face.files.bytesMax) {
        return refuse(413, "too_large", "The file is too large.");
      }
      const thread = threadOf(session);
      try {
        const file = await host.upload(
          thread,
          {
            name: query["name"] ?? "",
            mediaType: query["type"] ?? "",
            address: addressKey(remoteAddress),
            ...(declared === undefined ? {} : { bytes: declared }),
          },
          atMost(body, face.files.bytesMax),
          signal,
        );
        if (isTaken(file.mediaType, face.files)) return answer(200, file satisfies UploadedFile, origin);
        await host.dropUpload(thread, file.id);
        return refuse(415, "type", "This kind of file is not taken here.");
      } catch (error) {
        const refusal = error instanceof Problem ? refusals[error.code] : undefined;
        if (error instanceof Problem && refusal !== undefined) {
          const refused = refuse(error.status, refusal, error.message);
          if (error.retryAfterS === undefined) return refused;
          const wait = { "Retry-After": String(Math.ceil(error.retryAfterS)) };
          return { ...refused, headers: { ...refused.headers, ...wait } };
        }
        if (signal.aborted) return refuse(400, "unavailable", "The file did not arrive.");
        host.log.error({ err: error }, "widget: storing a file failed");
        return refuse(503, "unavailable", "The file could not be stored; please try again.");
      }
    },
  };
}

/** What the bytes say counts, whatever the file is called. */
function isTaken(mediaType: string, { types }: NonNullable<WorkspaceBranding["files"]>): boolean {
  if (types.length === 0) return true;
  return types.some((type) => (type.endsWith("/*") ? mediaType.startsWith(type.slice(0, -1)) : type === mediaType));
}

async function* atMost(body: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new Problem("payload_too_large", "The file is too large.");
    yield chunk;
  }
}

function preflight(origin: string | undefined): WebResponse {
  return {
    status: 204,
    headers: {
      ...crossOrigin(origin),
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": "authorization, content-type",
      "Access-Control-Max-Age": "600",
    },
  };
}

function answer(status: number, body: object, origin: string | undefined): WebResponse {
  return {
    status,
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "Cache-Control": "no-store",
      ...crossOrigin(origin),
    },
    body: JSON.stringify(body),
  };
}

const crossOrigin = (origin: string | undefined): Record<string, string> => ({
  Vary: "Origin",
  "Cross-Origin-Resource-Policy": "cross-origin",
  ...(origin === undefined ? {} : { "Access-Control-Allow-Origin": origin }),
});
