import { Type } from "typebox";
import { agentReactions } from "#domain/conversation/reaction.ts";
import { Problem } from "#domain/problem.ts";
import { hasTrait } from "#channels/catalog.ts";
import type { Block } from "#channels/text/markdown.ts";
import { safeTree } from "#channels/text/markdown.ts";
import type { ReplyPreview } from "#http/inbox/wire.ts";
import type { Engine } from "#conversations/contract.ts";
import type { App } from "#http/app-type.ts";
import type { AgentRequests } from "./agent-requests.ts";
import { agentOf } from "./agent-requests.ts";
import { clientId, fileIds, messagePath, oneConversation, replyText, text } from "./schemas.ts";

const replyBody = Type.Object({
  content: replyText,
  files: Type.Optional(fileIds),
  clientId,
  /** The id of the message that this one answers. */
  refersTo: Type.Optional(Type.String({ maxLength: 100 })),
  /** The last message that the agent saw. Newer ones refuse the reply, unless `force`. */
  lastSeq: Type.Integer({ minimum: 0 }),
  force: Type.Optional(Type.Boolean()),
  /** Sends it even if a colleague owns the conversation. */
  anyway: Type.Optional(Type.Boolean()),
});
const noteBody = Type.Object({ content: text, clientId: Type.Optional(clientId) });
/** `was`: the text that the agent began to edit. */
const amendBody = Type.Object({ content: text, was: Type.Optional(Type.String({ maxLength: 100_000 })) });

const reactionBody = Type.Object({ emoji: Type.Enum(agentReactions) });

const bare = (given: string): string => given.replaceAll(/\s+/gu, " ").trim();

const isAsTyped = (block: Block): boolean =>
  block.t === "p" && block.c.every((inline) => typeof inline === "string" || inline.t === "br");

/** Replies, their edits and deletions, reactions, notes, and the typing signal. */
export function messageRoutes(
  api: App,
  engine: Pick<Engine, "typing" | "previewReply">,
  { postMessage }: AgentRequests,
): void {
  const { schema } = oneConversation;

  api.post("/conversations/:id/reply", { schema: { ...schema, body: replyBody } }, async (request) => {
    const { content, clientId: own, refersTo, lastSeq, force, anyway, files = [] } = request.body;
    if (content.trim() === "" && files.length === 0) {
      throw new Problem("invalid_parameter", "content must be a text, where there are no files");
    }
    return postMessage(request, request.params.id, {
      kind: "reply",
      content: content.trim(),
      files,
      clientId: `${agentOf(request).id}:${own}`,
      ...(refersTo === undefined ? {} : { refersTo }),
      ...(force === true ? {} : { basedOnSeq: lastSeq }),
      overrideOwner: anyway === true,
    });
  });

  api.patch(
    "/conversations/:id/messages/:messageId",
    { schema: { hide: true, params: messagePath, body: amendBody } },
    async (request) => {
      const { id, messageId } = request.params;
      const { content, was } = request.body;
      const change = { kind: "amend", messageId, content: content.trim() } as const;
      return postMessage(request, id, was === undefined ? change : { ...change, was });
    },
  );

  api.delete("/conversations/:id/messages/:messageId", { schema: { hide: true, params: messagePath } }, (request) => {
    const { id, messageId } = request.params;
    return postMessage(request, id, { kind: "amend", messageId, content: null });
  });

  const reactionAt = "/conversations/:id/messages/:messageId/reaction";
  api.put(reactionAt, { schema: { hide: true, params: messagePath, body: reactionBody } }, (request) => {
    const { id, messageId } = request.params;
    return postMessage(request, id, { kind: "react", messageId, emoji: request.body.emoji });
  });

  api.delete(reactionAt, { schema: { hide: true, params: messagePath } }, (request) => {
    const { id, messageId } = request.params;
    return postMessage(request, id, { kind: "react", messageId, emoji: null });
  });

  api.post("/conversations/:id/notes", { schema: { ...schema, body: noteBody } }, async (request) => {
    const { content, clientId: own } = request.body;
    const note = { kind: "note", content: content.trim() } as const;
    const message = own === undefined ? note : { ...note, clientId: `${agentOf(request).id}:${own}` };
    return postMessage(request, request.params.id, message);
  });

  api.post(
    "/conversations/:id/preview",
    { schema: { ...schema, body: Type.Object({ content: text }) } },
    async (request): Promise<ReplyPreview> => {
      const content = request.body.content.trim();
      const { workspace_id: workspaceId } = agentOf(request);
      const { channel, texts } = await engine.previewReply(workspaceId, request.params.id, content);
      if (hasTrait(channel, "plain-text")) {
        return { blocks: null, texts: bare(texts.join(" ")) === bare(content) ? null : texts };
      }
      const blocks = safeTree(content);
      return { blocks: blocks.every(isAsTyped) ? null : blocks, texts: null };
    },
  );

  api.post("/conversations/:id/typing", oneConversation, async (request, reply) => {
    const agent = agentOf(request);
    await engine.typing(agent.workspace_id, request.params.id, { role: "agent", name: agent.name });
    return reply.code(204).send();
  });
}
