import type { Reader } from "#database/contract.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import { tagsOf } from "#domain/workspace/audience.ts";
import { userOf } from "#conversations/contacts/verified-user.ts";
import type { Query } from "./query.ts";
import type { EventOf } from "#channels/inbound-event.ts";
import type { AccountRef } from "#conversations/transaction/incoming-event.ts";
import type { QuestionOptions } from "#conversations/work/question-options.ts";

/** Returns the API query as a message of its customer. Throws `Problem` if it cannot continue the conversation. */
export async function queryEvent(
  db: Reader,
  request: Query,
  account: AccountRef,
  now: number,
): Promise<EventOf<"message">> {
  const { user, claimed, metadata } = request;
  const thread = await threadOf(db, request, account, now);
  return {
    kind: "message",
    externalId: request.clientId ?? newId("req", now),
    thread,
    // The key is the thread's own: an unproven user id must not name the contact that it claims to be, and a later query
    // without a user is still this user's.
    sender: {
      key: thread,
      ...(user === undefined ? {} : { verified: user }),
      ...(claimed === undefined ? {} : { claimed }),
    },
    sentAt: now,
    text: request.text,
    ...(metadata === undefined ? {} : { metadata }),
  };
}

async function threadOf(db: Reader, request: Query, account: AccountRef, now: number): Promise<string> {
  if (request.conversationId === undefined) return `api:${newId("ses", now)}`;
  const row = await db
    .selectFrom("conversations")
    .select(["id", "context_key", "account_id", "channel"])
    .where("id", "=", request.conversationId)
    .where("workspace_id", "=", request.workspaceId)
    .executeTakeFirst();
  if (row?.id !== request.conversationId) throw conversationNotFound();
  if (row.account_id !== account.id) {
    throw new Problem(
      "invalid_parameter",
      `conversation_id: this conversation belongs to the channel ${row.channel}; only its customer can ask there, and agents reply with POST /v1/conversations/{id}/messages`,
    );
  }
  return row.context_key;
}

export async function queryOptions(db: Reader, request: Query, workspace: Workspace): Promise<QuestionOptions> {
  const { strictness, topK, temperature, documentIds, user } = request;
  const audience = await audienceOf(db, request, workspace);
  return {
    ...(strictness === undefined ? {} : { strictness }),
    ...(topK === undefined ? {} : { topK }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(documentIds === undefined ? {} : { documentIds }),
    ...(audience.length === 0 ? {} : { audience }),
    ...(user === undefined ? {} : { userId: user.userId }),
  };
}

/** Returns the user's audience tags. The request can restrict them, but not add any. */
async function audienceOf(db: Reader, { user, audience }: Query, workspace: Workspace): Promise<readonly string[]> {
  if (user === undefined) return [];
  const attributes = user.attributes ?? (await userOf(db, workspace.id, user.userId))?.attributes ?? {};
  const tags = tagsOf(workspace.settings.audiences, attributes);
  return audience === undefined ? tags : tags.filter((tag) => audience.includes(tag));
}

export function conversationNotFound(): Problem {
  return new Problem("conversation_not_found", "there is no conversation with this id");
}
