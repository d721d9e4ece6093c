import { claim } from "#conversations/transaction/owner.ts";
import type { EventHandler } from "../batch.ts";
import { filesOf } from "../batch.ts";
import { noResult } from "../incoming-event.ts";

/** Stores a message that an agent wrote on the platform. Claims the conversation, as a reply from the inbox does. */
export const ingestAgentMessage: EventHandler<"agent"> = (batch, incoming, found) => {
  if (found === undefined) return noResult;
  const { account, workspace, event } = incoming;
  const draft = batch.changes.track(found, workspace.settings, false);
  const { row } = draft;
  const { email, name } = event.author;
  if (row.status === "open" || row.status === "escalated") claim(draft, email, { type: "agent", id: email, name });
  const message = draft.addMessage({
    role: "agent",
    content: event.text,
    authorId: email,
    authorName: name,
    externalId: event.messageExternalId ?? event.externalId,
    ...(event.metadata === undefined ? {} : { metadata: JSON.stringify(event.metadata) }),
    files: filesOf(batch, incoming),
    parts: (event.parts ?? []).map((part) => ({
      payload: JSON.stringify(part),
      ...(row.account_id === account.id ? {} : { elsewhere: { accountId: account.id, afterMs: 0 } }),
    })),
  });
  row.settled_seq = row.last_customer_seq;
  return { ...noResult, conversationId: row.id, messageId: message.id, seq: message.seq };
};
