import { Type } from "typebox";
import type { App } from "#http/app-type.ts";
import { requireRow } from "#http/inbox/conversation/conversation.ts";
import { messagePage } from "#http/inbox/conversation/messages.ts";
import type { InboxDependencies } from "#http/inbox/dependencies.ts";
import { countViews } from "#http/inbox/list/counts.ts";
import { listPage } from "#http/inbox/list/list.ts";
import { skippedMessages } from "#database/queries/accounts/skipped-messages.ts";
import type { Counts, ListPage, MessagePage, SkippedMessageView } from "#http/inbox/wire.ts";
import { views, waitingOrders } from "#http/inbox/wire.ts";
import type { AgentRequests } from "./agent-requests.ts";
import { agentOf } from "./agent-requests.ts";
import { hidden, instantMs, oneConversation } from "./schemas.ts";

const skippedShownMax = 200;

const listQuery = Type.Object({
  view: Type.Enum(views),
  q: Type.Optional(Type.String({ maxLength: 500 })),
  order: Type.Optional(Type.Enum(waitingOrders)),
  cursor: Type.Optional(Type.String({ maxLength: 100 })),
});
const seqNumber = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const messagesQuery = Type.Object({
  from: Type.Optional(seqNumber),
  before: Type.Optional(seqNumber),
  at: Type.Optional(instantMs),
});

/** Reads the list of conversations, its counts, one conversation, and pages of its messages. */
export function conversationRoutes(api: App, dependencies: InboxDependencies, requests: AgentRequests): void {
  const { store, clock } = dependencies;

  api.get("/counts", hidden, async (request): Promise<Counts> => {
    const agent = agentOf(request);
    return countViews(store.read, agent.workspace_id, agent.email);
  });

  api.get("/skipped-messages", hidden, async (request): Promise<readonly SkippedMessageView[]> => {
    const rows = await skippedMessages(store.read, agentOf(request).workspace_id, skippedShownMax);
    return rows.map(({ received_at: receivedAt, account, sender, title, reason }) => ({
      receivedAt,
      account,
      sender,
      title,
      reason,
    }));
  });

  api.get("/conversations", { schema: { hide: true, querystring: listQuery } }, async (request): Promise<ListPage> => {
    const agent = agentOf(request);
    const { view, q = "", cursor, order = "latest" } = request.query;
    const { settings } = await requests.workspaceOf(agent);
    const text = q.trim() === "" ? undefined : q.trim();
    const list = { workspaceId: agent.workspace_id, me: agent.email, view, text, cursor, order };
    return listPage(dependencies, settings, list, clock.now());
  });

  api.get("/conversations/:id", oneConversation, async (request) => requests.view(agentOf(request), request.params.id));

  api.get(
    "/conversations/:id/messages",
    { schema: { ...oneConversation.schema, querystring: messagesQuery } },
    async (request): Promise<MessagePage> => {
      const agent = agentOf(request);
      const { id } = await requireRow(store.read, agent.workspace_id, request.params.id);
      return messagePage(store.read, id, request.query, agent.email);
    },
  );
}
