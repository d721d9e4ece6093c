import type { Account, ChannelHost, SitePost, WebResponse, WorkspaceBranding } from "#channels/contract.ts";
import type { ProblemCode } from "#domain/problem.ts";
import { Problem } from "#domain/problem.ts";
import type { UploadRefusal, UploadedFile } from "./frames.ts";
import type { Limits } from "./config.ts";
import { answer, postAllowed, preflight } from "./site/cross-origin.ts";
import { addressKey } from "./sockets/addresses.ts";
import { ownSession, threadOf } from "./visitor/session.ts";

/** The code that a browser gets for each problem with a file. */
const refusals: Readonly<Partial<Record<ProblemCode, UploadRefusal>>> = {
  payload_too_large: "too_large",
  request_timeout: "unavailable",
  rate_limit_day: "quota",
  storage_full: "full",
};

type Refuse = (status: number, code: UploadRefusal, detail: string) => WebResponse;

/**
 * Receives files from customers. The body is the file; the session's token names its owner. Only a message of that session
 * can contain it, and it is shown to nobody before.
 */
export function createUploads(account: Account, host: ChannelHost, limits: Limits): SitePost {
  return {
    path: "/widget/files",
    async handle({ method, headers, query, remoteAddress }, body, signal) {
      const workspace = await host.workspace();
      const { origin } = headers;
      const refuse: Refuse = (status, code, detail) => answer(status, { code, detail }, origin);
      if (!postAllowed(headers, account.channel, workspace.allowedOrigins))
        return refuse(403, "forbidden", "This page may not use this widget.");
      if (method === "OPTIONS") return preflight(origin);
      if (workspace.files === null) return refuse(403, "forbidden", "This chat takes no files.");
      const token = /^Bearer (\S{1,2048})$/u.exec(headers["authorization"] ?? "")?.[1];
      const session = token === undefined ? null : await ownSession(token, host);
      if (session === null) return refuse(401, "bad_token", "The session is not known.");
      if (!limits.file(session.id, addressKey(remoteAddress))) {
        return refuse(429, "limited", "Too many files in a short time; try again in a minute.");
      }
      const declared = headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
      if ((declared ?? 0) > workspace.files.bytesMax) {
        return refuse(413, "too_large", "The file is too large.");
      }
      const thread = threadOf(session);
      try {
        const file = await host.files.upload(
          thread,
          {
            name: query["name"] ?? "",
            mediaType: query["type"] ?? "",
            address: addressKey(remoteAddress),
            ...(declared === undefined ? {} : { bytes: declared }),
          },
          atMost(body, workspace.files.bytesMax),
          signal,
        );
        if (isAcceptedType(file.mediaType, workspace.files)) return answer(200, file satisfies UploadedFile, origin);
        await host.files.drop(thread, file.id);
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

/** `mediaType` is detected from the bytes, not from the name. */
function isAcceptedType(mediaType: string, { types }: NonNullable<WorkspaceBranding["files"]>): boolean {
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
