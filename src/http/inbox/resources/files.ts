import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import type { App } from "#http/app-type.ts";
import { sendFile } from "#http/files/files.ts";
import { requireRow } from "#http/inbox/conversation/conversation.ts";
import { fileView } from "#http/inbox/conversation/messages.ts";
import type { InboxDependencies } from "#http/inbox/dependencies.ts";
import type { FileView } from "#http/inbox/wire.ts";
import { bodyOf, linger } from "#http/middleware/bodies/linger.ts";
import { agentOf } from "./agent-requests.ts";
import { filePath, oneConversation } from "./schemas.ts";

const uploadQuery = Type.Object({
  name: Type.String({ maxLength: 1_000 }),
  type: Type.Optional(Type.String({ maxLength: 200 })),
});

/** Files of messages: those of agents are uploaded before the reply that has them. */
export async function fileRoutes(api: App, dependencies: InboxDependencies): Promise<void> {
  const { store, engine, files } = dependencies;
  await api.register(async (uploads: App) => uploadRoute(uploads, dependencies));

  api.get("/files/:id", { schema: { hide: true, params: filePath } }, async (request, reply) => {
    const row = await store.read
      .selectFrom("attachments")
      .select(["id", "workspace_id", "name", "media_type", "bytes"])
      .where("id", "=", request.params.id)
      .where("workspace_id", "=", agentOf(request).workspace_id)
      .where("state", "=", "stored")
      .executeTakeFirst();
    if (row === undefined) throw new Problem("not_found", "This file does not exist any more.");
    return sendFile(reply, files, row);
  });

  api.delete("/files/:id", { schema: { hide: true, params: filePath } }, async (request, reply) => {
    const { workspace_id: workspaceId, email: uploadedBy } = agentOf(request);
    await engine.dropUpload({ workspaceId, uploadedBy, id: request.params.id });
    return reply.code(204).send();
  });
}

function uploadRoute(scope: App, { store, engine, options }: InboxDependencies): void {
  // The body is streamed to the engine, which has its own limit of bytes.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("application/octet-stream", (_request, _body, done) => done(null));

  scope.post(
    "/conversations/:id/files",
    { schema: { ...oneConversation.schema, querystring: uploadQuery } },
    async (request): Promise<FileView> => {
      const agent = agentOf(request);
      const aborted = new AbortController();
      request.raw.once("close", () => {
        if (!request.raw.complete) aborted.abort(new Error("the browser closed the connection"));
      });
      try {
        const row = await requireRow(store.read, agent.workspace_id, request.params.id);
        const { name, type: mediaType = "" } = request.query;
        const stored = await engine.upload(
          {
            workspaceId: agent.workspace_id,
            accountId: row.account_id,
            conversationId: row.id,
            uploadedBy: agent.email,
            name,
            mediaType,
          },
          bodyOf(request, options.timeouts.bodyMs),
          aborted.signal,
        );
        return fileView({ ...stored, media_type: stored.mediaType, state: "stored", reason: null });
      } finally {
        linger(request);
      }
    },
  );
}
