import type { InboxDependencies } from "./dependencies.ts";
import { Type } from "typebox";
import cookie from "@fastify/cookie";
import type { FastifyRequest } from "fastify";
import { statuses } from "#domain/conversation/status.ts";
import { priorities } from "#domain/conversation/sla.ts";
import type { ActionResult, Action } from "#conversations/agents/actions.ts";
import type { AgentMessage } from "#conversations/agents/messages.ts";
import { conflictText } from "#conversations/agents/actions.ts";
import { filesPerMessage } from "#domain/files.ts";
import { Problem } from "#domain/problem.ts";
import type { Engine } from "#conversations/contract.ts";
import type { Snooze } from "#conversations/agents/requests.ts";
import { createWorkspaces } from "#database/queries/workspaces.ts";
import { manualDocuments, removeManual } from "#admin/installation/manual.ts";
import type { Bodies } from "#http/middleware/bodies.ts";
import { parseBodies } from "#http/middleware/bodies.ts";
import type { App } from "#http/app-type.ts";
import { normalTags } from "#http/v1/conversations.ts";
import { emailAddress } from "#http/v1/schemas.ts";
import { sendFile } from "#http/files.ts";
import { bodyOf, linger } from "#http/middleware/linger.ts";
import { bulk, bulkBody } from "./bulk.ts";
import { conversationView, fileView, messagePage, requireRow, writtenSince } from "./conversation.ts";
import { createLiveEvents } from "./events.ts";
import { colleagues, countViews, listPage } from "./list.ts";
import { createAsset, sendPage, shell } from "./pages.ts";
import { answerError, InboxRefusal } from "./refused.ts";
import type { SignedIn } from "./session.ts";
import { requireSameOrigin, signedIn } from "./session.ts";
import { formBytesMax, registerSignIn } from "./sign-in.ts";
import type { Colleague, Counts, FileView, Me, ConversationView, ListPage, MessagePage, SavedReply } from "./wire.ts";
import { views, waitingOrders } from "./wire.ts";

const contentCharsMax = 10_000;

const conversationPath = Type.Object({
  id: Type.String({ pattern: "^conv_[0-9a-z]{26}$", allowed: "a conversation's id" }),
});
const text = Type.String({
  minLength: 1,
  maxLength: contentCharsMax,
  pattern: "\\S",
  allowed: `a text of 1 to ${contentCharsMax} characters`,
});

const fileId = Type.String({ pattern: "^file_[0-9a-z]{26}$", allowed: "a file's id" });
const filePath = Type.Object({ id: fileId });
const uploadQuery = Type.Object({
  name: Type.String({ maxLength: 1_000 }),
  type: Type.Optional(Type.String({ maxLength: 200 })),
});

const listQuery = Type.Object({
  view: Type.Enum(views),
  q: Type.Optional(Type.String({ maxLength: 500 })),
  order: Type.Optional(Type.Enum(waitingOrders)),
  cursor: Type.Optional(Type.String({ maxLength: 100 })),
});
const meBody = Type.Object({ waitingOrder: Type.Enum(waitingOrders) });
const seqNumber = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const messagesQuery = Type.Object({
  from: Type.Optional(seqNumber),
  before: Type.Optional(seqNumber),
  at: Type.Optional(Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 })),
});
const claimBody = Type.Object({ takeOver: Type.Optional(Type.Boolean()) });
/** How the conversation stood when it was decided; the first change wins. */
const seenBody = Type.Object({
  status: Type.Enum(statuses),
  assignedTo: Type.Optional(Type.Union([Type.String({ maxLength: 320 }), Type.Null()])),
});
const seenOf = ({ status, assignedTo = null }: Type.Static<typeof seenBody>) => ({ status, assignedTo });
const actBody = Type.Object({ seen: Type.Optional(seenBody) });
/** `to` null: to nobody. */
const assignBody = Type.Object({
  to: Type.Optional(Type.Union([emailAddress, Type.Null()])),
  seen: seenBody,
});
const snoozeBody = Type.Object({
  seen: Type.Optional(seenBody),
  until: Type.Optional(Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 })),
});
/** `snoozedUntil`: until when it was snoozed before it was resolved; absent: until the customer replies. */
const undoBody = Type.Object({
  snoozedUntil: Type.Optional(Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 })),
});
const clientId = Type.String({ pattern: "^[A-Za-z0-9_-]{8,64}$", allowed: "8 to 64 letters, digits, _ or -" });
const replyBody = Type.Object({
  // Empty where there are files.
  content: Type.String({ maxLength: contentCharsMax }),
  files: Type.Optional(Type.Array(fileId, { maxItems: filesPerMessage })),
  clientId,
  lastSeq: Type.Integer({ minimum: 0 }),
  /** Whatever was written since. */
  force: Type.Optional(Type.Boolean()),
  /** Whoever has the conversation. */
  anyway: Type.Optional(Type.Boolean()),
});
const noteBody = Type.Object({ content: text, clientId: Type.Optional(clientId) });
const messagePath = Type.Object({
  id: Type.String({ pattern: "^conv_[0-9a-z]{26}$", allowed: "a conversation's id" }),
  messageId: Type.String({ pattern: "^msg_[0-9a-z]{26}$", allowed: "a message's id" }),
});
const amendBody = Type.Object({
  content: text,
  was: Type.Optional(Type.String({ maxLength: 100_000 })),
});
const tagList = Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1_000 }));
const changeBody = Type.Object({
  tags: tagList,
  /** What two agents add at once, both add. */
  addTags: tagList,
  removeTags: tagList,
  priority: Type.Optional(Type.Enum(priorities)),
});

/** Adds the agents' inbox below `/inbox`: its pages, and the JSON and events that they live on. */
export async function registerInbox(app: App, dependencies: InboxDependencies, bodies: Bodies): Promise<void> {
  await app.register(async (scope: App) => inbox(scope, dependencies, bodies), { prefix: "/inbox" });
}

async function inbox(scope: App, dependencies: InboxDependencies, bodies: Bodies): Promise<void> {
  const { store, engine, clock, log, fanout, files, options } = dependencies;
  const assets = dependencies.assets ?? new URL("../../../dist/", import.meta.url);
  const hidden = { schema: { hide: true } };
  await scope.register(cookie);
  scope.setErrorHandler(answerError);
  parseBodies(
    scope,
    bodies,
    "application/x-www-form-urlencoded",
    (_request, body, done) => done(null, new URLSearchParams(body.toString())),
    () => formBytesMax,
  );
  const secure = options.publicUrl.startsWith("https:");
  scope.addHook("onRequest", async (request, reply) => {
    if (secure) void reply.header("strict-transport-security", "max-age=31536000");
    if (request.method !== "GET" && request.method !== "HEAD") requireSameOrigin(request, options.publicUrl);
  });

  scope.get("/app.js", hidden, createAsset(new URL("inbox.js", assets), "text/javascript; charset=utf-8"));
  scope.get("/app.css", hidden, createAsset(new URL("inbox.css", assets), "text/css; charset=utf-8"));
  scope.get("/", hidden, async (request, reply) =>
    (await signedIn(store, clock, request)) === undefined
      ? reply.redirect("/inbox/login", 303)
      : sendPage(reply, 200, shell),
  );
  registerSignIn(scope, dependencies);

  await scope.register(
    async (api: App) => {
      const events = createLiveEvents(store.read, fanout, clock, log);
      const workspaces = createWorkspaces(store, clock);
      const agents = new WeakMap<FastifyRequest, SignedIn>();
      api.addHook("preClose", async () => events.close());
      api.addHook("onRequest", async (request, reply) => {
        void reply.header("cache-control", "no-store");
        const agent = await signedIn(store, clock, request);
        if (agent === undefined) throw new InboxRefusal("signed_out", "Your session has ended. Please sign in again.");
        agents.set(request, agent);
      });

      const agentOf = (request: FastifyRequest): SignedIn => {
        const agent = agents.get(request);
        if (agent === undefined) throw new Error("a request came past the session check");
        return agent;
      };
      const workspaceOf = async (agent: SignedIn) => {
        const workspace = await workspaces.get(agent.workspace_id);
        if (workspace === undefined) throw new InboxRefusal("signed_out", "This workspace does not exist any more.");
        return workspace;
      };
      const view = async (agent: SignedIn, id: string): Promise<ConversationView> =>
        conversationView({ db: store.read, engine }, agent, id, (await workspaceOf(agent)).settings, clock.now());
      const refuseLost = (acted: Extract<ActionResult, { kind: "lost" }>, agent: SignedIn): InboxRefusal => {
        const assignee = acted.holder ?? undefined;
        return new InboxRefusal(
          "claimed_by_other",
          conflictText(acted, agent),
          assignee === undefined ? {} : { assignee },
        );
      };
      const perform = async (
        request: FastifyRequest,
        id: string,
        action: Action,
        seen?: Parameters<Engine["applyAction"]>[4],
      ): Promise<ConversationView> => {
        const agent = agentOf(request);
        const acted = await engine.applyAction(agent.workspace_id, id, action, agent, seen);
        if (acted.kind === "lost") throw refuseLost(acted, agent);
        return view(agent, id);
      };
      const speak = async (request: FastifyRequest, id: string, words: AgentMessage): Promise<ConversationView> => {
        const agent = agentOf(request);
        const said = await engine.postAgentMessage(agent.workspace_id, id, words, agent);
        switch (said.kind) {
          case "done":
            return view(agent, id);
          case "lost":
            throw refuseLost(said, agent);
          case "refused":
            throw new InboxRefusal("cannot_be_done", said.reason);
          case "stale": {
            const seen = words.kind === "reply" ? (words.basedOnSeq ?? 0) : 0;
            throw new InboxRefusal(
              "stale_view",
              "There are newer messages, which you may want to read before you send this.",
              { newer: await writtenSince(store.read, id, seen, agent.email) },
            );
          }
        }
      };

      api.get("/me", hidden, async (request): Promise<Me> => {
        const agent = agentOf(request);
        const { id, name } = await workspaceOf(agent);
        return {
          agent: { email: agent.email, name: agent.name, role: agent.role, waitingOrder: agent.waiting_order },
          workspace: { id, name },
          hasManual: agent.role === "admin" && (await manualDocuments(dependencies, id)).length > 0,
          now: clock.now(),
        };
      });

      api.post("/manual/remove", hidden, async (request, reply) => {
        const agent = agentOf(request);
        if (agent.role !== "admin") {
          throw new InboxRefusal("insufficient_role", "Only agents with the role admin can remove the manual.");
        }
        const removed = await removeManual(dependencies, agent.workspace_id);
        request.log.info(
          { workspace: agent.workspace_id, agent: agent.id, documents: removed },
          "inbox: manual removed",
        );
        return reply.code(204).send();
      });

      api.patch("/me", { schema: { hide: true, body: meBody } }, async (request, reply) => {
        const { waitingOrder } = request.body;
        await store.write((tx) =>
          tx.updateTable("agents").set({ waiting_order: waitingOrder }).where("id", "=", agentOf(request).id).execute(),
        );
        return reply.code(204).send();
      });

      api.get("/agents", hidden, async (request): Promise<readonly Colleague[]> =>
        colleagues(store.read, agentOf(request).workspace_id),
      );

      api.get("/saved-replies", hidden, async (request): Promise<readonly SavedReply[]> => {
        const { savedReplies } = (await workspaceOf(agentOf(request))).settings;
        return Object.entries(savedReplies)
          .map(([name, content]) => ({ name, text: content }))
          .toSorted((a, b) => (a.name < b.name ? -1 : 1));
      });

      api.get("/counts", hidden, async (request): Promise<Counts> => {
        const agent = agentOf(request);
        return countViews(store.read, agent.workspace_id, agent.email);
      });

      api.get(
        "/conversations",
        { schema: { hide: true, querystring: listQuery } },
        async (request): Promise<ListPage> => {
          const agent = agentOf(request);
          const { q = "", cursor, order = "latest" } = request.query;
          const { settings } = await workspaceOf(agent);
          return listPage(
            dependencies,
            settings,
            {
              workspaceId: agent.workspace_id,
              me: agent.email,
              view: request.query.view,
              text: q.trim() === "" ? undefined : q.trim(),
              cursor,
              order,
            },
            clock.now(),
          );
        },
      );

      api.post("/bulk", { schema: { hide: true, body: bulkBody } }, async (request) =>
        bulk(engine, agentOf(request), request.body, { log: request.log, requestId: request.id }),
      );

      const one = { schema: { hide: true, params: conversationPath } };
      api.get("/conversations/:id", one, async (request) => view(agentOf(request), request.params.id));

      api.get(
        "/conversations/:id/messages",
        { schema: { ...one.schema, querystring: messagesQuery } },
        async (request): Promise<MessagePage> => {
          const { id } = await requireRow(store.read, agentOf(request).workspace_id, request.params.id);
          return messagePage(store.read, id, request.query, agentOf(request).email);
        },
      );

      api.post("/conversations/:id/claim", { schema: { ...one.schema, body: claimBody } }, async (request) =>
        perform(request, request.params.id, { kind: request.body.takeOver === true ? "take_over" : "claim" }),
      );
      for (const kind of ["release", "resolve", "archive", "reopen"] as const) {
        api.post(`/conversations/:id/${kind}`, { schema: { ...one.schema, body: actBody } }, async (request) => {
          const { seen } = request.body;
          return perform(request, request.params.id, { kind }, seen && seenOf(seen));
        });
      }
      api.post("/conversations/:id/assign", { schema: { ...one.schema, body: assignBody } }, async (request) => {
        const { to = null, seen } = request.body;
        if (to === null && seen.status !== "claimed") {
          throw new Problem("invalid_transition", "Only a claimed conversation can be given back to the assistant.");
        }
        const action: Action = to === null ? { kind: "release" } : { kind: "assign", to: to.toLowerCase() };
        return perform(request, request.params.id, action, seenOf(seen));
      });
      api.post("/conversations/:id/snooze", { schema: { ...one.schema, body: snoozeBody } }, async (request) => {
        const { until, seen } = request.body;
        const snooze: Snooze = until === undefined ? { kind: "until_reply" } : { kind: "until", at: until };
        return perform(request, request.params.id, { kind: "snooze", snooze }, seen && seenOf(seen));
      });

      api.post("/conversations/:id/undo-resolve", { schema: { ...one.schema, body: undoBody } }, (request) => {
        const { snoozedUntil: at } = request.body;
        const snooze: Snooze = at === undefined ? { kind: "until_reply" } : { kind: "until", at };
        return perform(request, request.params.id, { kind: "undo_resolve", snooze });
      });

      api.patch("/conversations/:id", { schema: { ...one.schema, body: changeBody } }, async (request) => {
        const { priority, tags, addTags, removeTags } = request.body;
        const clean = (name: string, list: readonly string[] | undefined): Record<string, string[]> =>
          list === undefined
            ? {}
            : {
                [name]: normalTags(
                  name,
                  list.filter((tag) => tag.trim() !== ""),
                ),
              };
        return perform(request, request.params.id, {
          kind: "describe",
          ...clean("tags", tags),
          ...clean("addTags", addTags),
          ...clean("removeTags", removeTags),
          ...(priority === undefined ? {} : { priority }),
        });
      });

      api.post("/conversations/:id/reply", { schema: { ...one.schema, body: replyBody } }, async (request) => {
        const agent = agentOf(request);
        const { content, clientId: own, lastSeq, force, anyway, files: attached = [] } = request.body;
        if (content.trim() === "" && attached.length === 0) {
          throw new Problem("invalid_parameter", "content must be a text, where there are no files");
        }
        const { id } = request.params;
        return speak(request, id, {
          kind: "reply",
          content: content.trim(),
          files: attached,
          clientId: `${agent.id}:${own}`,
          ...(force === true ? {} : { basedOnSeq: lastSeq }),
          anyway: anyway === true,
        });
      });

      api.patch(
        "/conversations/:id/messages/:messageId",
        { schema: { hide: true, params: messagePath, body: amendBody } },
        async (request) => {
          const { id, messageId } = request.params;
          const { content, was } = request.body;
          return speak(request, id, {
            kind: "amend",
            messageId,
            content: content.trim(),
            ...(was === undefined ? {} : { was }),
          });
        },
      );

      api.delete("/conversations/:id/messages/:messageId", { schema: { hide: true, params: messagePath } }, (request) =>
        speak(request, request.params.id, { kind: "amend", messageId: request.params.messageId, content: null }),
      );

      await api.register(async (uploads: App) => {
        // Read as it comes; the engine stops at its own bound.
        uploads.removeAllContentTypeParsers();
        uploads.addContentTypeParser("application/octet-stream", (_request, _body, done) => done(null));
        uploads.post(
          "/conversations/:id/files",
          { schema: { ...one.schema, querystring: uploadQuery } },
          async (request): Promise<FileView> => {
            const agent = agentOf(request);
            const gone = new AbortController();
            request.raw.once("close", () => {
              if (!request.raw.complete) gone.abort(new Error("the browser went away"));
            });
            try {
              const row = await requireRow(store.read, agent.workspace_id, request.params.id);
              const { name, type = "" } = request.query;
              const stored = await engine.upload(
                {
                  workspaceId: agent.workspace_id,
                  accountId: row.account_id,
                  conversationId: row.id,
                  uploadedBy: agent.email,
                  name,
                  mediaType: type,
                },
                bodyOf(request, options.timeouts.bodyMs),
                gone.signal,
              );
              return fileView({ ...stored, media_type: stored.mediaType, state: "stored", reason: null });
            } finally {
              linger(request);
            }
          },
        );
      });

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
        const agent = agentOf(request);
        await engine.dropUpload({
          workspaceId: agent.workspace_id,
          uploadedBy: agent.email,
          id: request.params.id,
        });
        return reply.code(204).send();
      });

      api.post("/conversations/:id/notes", { schema: { ...one.schema, body: noteBody } }, async (request) => {
        const { content, clientId: own } = request.body;
        return speak(request, request.params.id, {
          kind: "note",
          content: content.trim(),
          ...(own === undefined ? {} : { clientId: `${agentOf(request).id}:${own}` }),
        });
      });

      api.post("/conversations/:id/typing", one, async (request, reply) => {
        const agent = agentOf(request);
        await engine.typing(agent.workspace_id, request.params.id, { role: "agent", name: agent.name });
        return reply.code(204).send();
      });

      api.get("/events", hidden, (request, reply) => {
        events.open(reply, agentOf(request), async () => (await signedIn(store, clock, request)) !== undefined);
      });
    },
    { prefix: "/api" },
  );
}
