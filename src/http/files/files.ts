import { Readable } from "node:stream";
import { Type } from "typebox";
import type { FastifyReply } from "fastify";
import { savedTypes } from "#domain/media-types.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { App } from "#http/app-type.ts";

/** A file to send. */
export interface ServedFile {
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly media_type: string;
  readonly bytes: number | null;
}

type Bytes = Pick<HttpDependencies["files"], "open">;

/** Links to files in messages. They need no session and expire. */
export function fileLinks(app: App, { files, store }: Pick<HttpDependencies, "files" | "store">): void {
  app.get(
    "/files/:token",
    { schema: { hide: true, params: Type.Object({ token: Type.String({ maxLength: 400 }) }) } },
    async (request, reply) => {
      const found = files.ofLink(request.params.token);
      const row =
        found === null || found.expired
          ? undefined
          : await store.read
              .selectFrom("attachments")
              .select(["id", "workspace_id", "name", "media_type", "bytes"])
              .where("id", "=", found.id)
              .where("state", "=", "stored")
              .executeTakeFirst();
      if (row === undefined) return sendGone(reply, found?.expired === true);
      return sendFile(reply, files, row);
    },
  );
}

/**
 * Sends an untrusted file. Browsers save it, or show it as a picture within a page, but never open it as a page on our
 * address.
 */
export async function sendFile(reply: FastifyReply, files: Bytes, file: ServedFile): Promise<FastifyReply> {
  let bytes: AsyncIterable<Uint8Array>;
  try {
    bytes = await files.open({ workspaceId: file.workspace_id, id: file.id });
  } catch (error) {
    if (error instanceof Error && error.name === "FileGone") return sendGone(reply, false);
    throw error;
  }
  const type = savedTypes.has(file.media_type) ? file.media_type : "application/octet-stream";
  void reply
    .header("content-type", type)
    .header("content-disposition", contentDisposition(file.name))
    .header("content-security-policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
    .header("x-content-type-options", "nosniff")
    .header("cross-origin-resource-policy", "cross-origin")
    .header("referrer-policy", "no-referrer")
    .header("cache-control", "private, max-age=300");
  if (file.bytes !== null) void reply.header("content-length", file.bytes);
  return reply.send(bytes instanceof Readable ? bytes : Readable.from(bytes));
}

function sendGone(reply: FastifyReply, expired: boolean): FastifyReply {
  const [title, advice] = expired
    ? ["This link has ended", "Please ask for a new one where you got it."]
    : ["This file does not exist", "It may have been deleted."];
  return reply
    .code(expired ? 410 : 404)
    .header("content-type", "text/html; charset=utf-8")
    .header("content-security-policy", "default-src 'none'; frame-ancestors 'none'")
    .header("cache-control", "no-store")
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${advice}</p></html>`,
    );
}

/** The name in both forms of RFC 6266: ASCII, and complete. */
function contentDisposition(name: string): string {
  const plain = name.normalize("NFKD").replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
