import { Type } from "typebox";
import { agentReactions } from "#domain/conversation/reaction.ts";
import { Problem } from "#domain/problem.ts";
import { agentName } from "#database/queries/agents.ts";
import { prepareRead } from "#database/dialects/prepared.ts";
import { keyActor } from "#http/v1/access/auth.ts";
import { createCursors } from "#http/v1/cursor.ts";
import type { App } from "#http/app-type.ts";
import { answerOnce } from "#http/v1/access/once.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import { conversationNotFound } from "#http/v1/not-found.ts";
import * as schemas from "#http/v1/schemas.ts";

const conversationIds = prepareRead((db, { id, workspaceId }: { readonly id: string; readonly workspaceId: string }) =>
  db.selectFrom("conversations").select("id").where("id", "=", id).where("workspace_id", "=", workspaceId),
);
/** Prepared once per order. */
const pageRows = prepareRead(
  (db, { id, after, most }: { readonly id: string; readonly after: number; readonly most: number }, shape) => {
    const order = shape === "desc" ? "desc" : "asc";
    return db
      .selectFrom("messages")
      .selectAll()
      .where("conversation_id", "=", id)
      .where("seq", order === "asc" ? ">" : "<", after)
      .orderBy("seq", order)
      .limit(most);
  },
);

const pageQuery = Type.Object({
  limit: schemas.listLimit(50),
  cursor: schemas.listCursor,
  order: Type.Optional(Type.Enum(["asc", "desc"], { default: "asc" })),
});

const listSchema = {
  tags: ["Conversations"],
  operationId: "listMessages",
  summary: "Read the messages of a conversation page by page",
  querystring: pageQuery,
  response: schemas.responses(
    {
      200: Type.Object(
        { messages: Type.Array(schemas.message), pagination: schemas.pagination },
        { title: "MessageList" },
      ),
    },
    ["conversation_not_found", "invalid_cursor"],
  ),
};

const replyBody = Type.Object(
  {
    content: schemas.noteText,
    author_email: schemas.emailAddress,
    refers_to: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          "The id of the message of this conversation that the reply answers. Where the channel cannot show that, the reply begins with a quote",
      }),
    ),
  },
  { title: "NewReply" },
);

const replySchema = {
  tags: ["Conversations"],
  operationId: "sendReply",
  summary: "Reply to the customer as an agent, on the channel that they wrote on",
  body: replyBody,
  response: schemas.responses({ 201: schemas.message }, [
    ...schemas.withBody,
    "conversation_not_found",
    "invalid_transition",
    "duplicate_request_id",
  ]),
};

const reactionBody = Type.Object(
  {
    emoji: Type.Optional(Type.Enum(agentReactions, { description: "Absent: the reaction is taken back" })),
    author_email: schemas.emailAddress,
  },
  { title: "NewReaction" },
);

const reactionSchema = {
  tags: ["Conversations"],
  operationId: "setReaction",
  summary: "React to a customer's message as an agent, in place of the reaction before it",
  body: reactionBody,
  response: schemas.responses({ 200: schemas.message }, [
    ...schemas.withBody,
    "conversation_not_found",
    "not_found",
    "invalid_transition",
  ]),
};

/** Pages of messages, replies of agents, and their reactions. */
export function messageRoutes(app: App, resources: Resources): void {
  const { store, engine, representation, idempotency } = resources;
  const cursors = createCursors(resources.cursorKey, "messages", Type.Object({ seq: Type.Integer() }));

  app.get<{ Params: { conversation_id: string }; Querystring: Type.Static<typeof pageQuery> }>(
    "/conversations/:conversation_id/messages",
    { schema: listSchema },
    async (request) => {
      const { order = "asc", limit = 50, cursor } = request.query;
      const id = request.params.conversation_id;
      const [conversation] = await conversationIds(store, { id, workspaceId: callerOf(request).workspaceId });
      if (conversation === undefined) throw conversationNotFound();
      const list = { id, order };
      // Sequence numbers begin with 1.
      const after =
        cursor === undefined ? (order === "asc" ? 0 : Number.MAX_SAFE_INTEGER) : cursors.read(list, cursor).seq;
      const rows = await pageRows(store, { id, after, most: limit + 1 }, order);
      const page = rows.slice(0, limit);
      return {
        messages: await representation.messages(page),
        pagination: {
          next_cursor: cursors.issue(list, { seq: page.at(-1)?.seq ?? after }),
          has_more: rows.length > limit,
        },
      };
    },
  );

  app.post<{ Params: { conversation_id: string }; Body: Type.Static<typeof replyBody> }>(
    "/conversations/:conversation_id/messages",
    { schema: replySchema },
    async (request, reply) => {
      const caller = callerOf(request);
      const { body, params } = request;
      return answerOnce(idempotency, request, reply, async (workId) => {
        const { messageId } = await engine.reply({
          workspaceId: caller.workspaceId,
          conversationId: params.conversation_id,
          content: body.content,
          authorEmail: body.author_email.toLowerCase(),
          ...(body.refers_to === undefined ? {} : { refersTo: body.refers_to }),
          // A retry finds the stored reply by it if the process died before it stored the response.
          ...(workId === undefined ? {} : { clientId: workId }),
          actor: keyActor(caller),
        });
        return { status: 201, body: await shownMessage(messageId) };
      });
    },
  );

  app.put<{ Params: { conversation_id: string; message_id: string }; Body: Type.Static<typeof reactionBody> }>(
    "/conversations/:conversation_id/messages/:message_id/reaction",
    { schema: reactionSchema },
    async (request) => {
      const { workspaceId } = callerOf(request);
      const { conversation_id: id, message_id: messageId } = request.params;
      const { emoji = null, author_email: author } = request.body;
      const [conversation] = await conversationIds(store, { id, workspaceId });
      if (conversation === undefined) throw conversationNotFound();
      const email = author.toLowerCase();
      const agent = { email, name: await agentName(store.read, workspaceId, email) };
      const result = await engine.postAgentMessage(workspaceId, id, { kind: "react", messageId, emoji }, agent);
      if (result.kind === "refused") throw new Problem("invalid_transition", result.reason);
      return shownMessage(messageId);
    },
  );

  async function shownMessage(messageId: string): Promise<object> {
    const row = await store.read
      .selectFrom("messages")
      .selectAll()
      .where("id", "=", messageId)
      .executeTakeFirstOrThrow();
    const [shown = {}] = await representation.messages([row]);
    return shown;
  }
}
