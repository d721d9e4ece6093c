import type { Account, HostThreads, ThreadFile, ThreadMessage } from "#channels/contract.ts";
import type { AttachmentRow } from "#conversations/attachments/attachments.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import { recentThreads, threadOfMessage, threadsBeginning } from "#conversations/delivery/recent-threads.ts";
import { createThreadStates } from "#conversations/delivery/thread-states.ts";
import { shownReferences } from "#conversations/references/shown-references.ts";
import { opinionsOf } from "#conversations/feedback/message-opinions.ts";
import { reactionsOf } from "#conversations/references/stored-reactions.ts";
import type { Reader } from "#database/contract.ts";
import type { ReactionsTable } from "#database/schema/feedback.ts";
import { avatarsOf } from "#database/queries/agents.ts";
import type { Role, Source } from "#domain/conversation/message.ts";
import { previewTypes } from "#domain/media-types.ts";
import type { Files } from "#files/contract.ts";
import type { Engine } from "#conversations/contract.ts";
import type { Log } from "#runtime/log.ts";
import { threadTopic, workspaceTopic } from "#queue/signals/topics.ts";
import type { Fanout } from "#runtime/signals.ts";
import { readCorrespondence } from "./correspondence.ts";

/** A page that shows a conversation requests new links before these expire. */
const linkMs = 86_400_000;
const amendedMax = 100;

export interface ThreadDependencies {
  readonly read: Reader;
  readonly fanout: Fanout;
  readonly files: Pick<Files, "link">;
  readonly log: Log;
  readonly engine: () => Pick<Engine, "customerTyping">;
}

/** The threads of one account. */
export function createAccountThreads(
  { read, fanout, files, log, engine }: ThreadDependencies,
  account: Account,
): HostThreads {
  const topic = (thread: string) => threadTopic(account.id, thread);

  return {
    get: createThreadStates(read, account),
    history: async (thread, afterSeq, limit) =>
      messagesFrom(
        await messagesOf(thread).where("message.seq", ">", afterSeq).orderBy("message.seq").limit(limit).execute(),
      ),
    async amended(thread, seq) {
      const newest = await messagesOf(thread)
        .where("message.seq", "<=", seq)
        .where((eb) =>
          eb.or([
            eb("message.edited_at", "is not", null),
            eb("message.deleted_at", "is not", null),
            eb("message.reacted_at", "is not", null),
          ]),
        )
        .orderBy("message.seq", "desc")
        .limit(amendedMax)
        .execute();
      return messagesFrom(newest.toReversed());
    },
    recent: (since) => recentThreads(read, account, since),
    withPrefix: (prefix) => threadsBeginning(read, account.id, prefix),
    async findByMessageRef(messageRefs) {
      if (messageRefs.length === 0) return null;
      const rows = await read
        .selectFrom("conversation_links as link")
        .innerJoin("conversations as conversation", "conversation.id", "link.conversation_id")
        .select(["link.name", "conversation.id", "conversation.account_id", "conversation.context_key"])
        .where("link.account_id", "=", account.id)
        .where("link.kind", "=", "mark")
        .where("link.name", "in", messageRefs)
        .execute();
      const found = messageRefs.map((ref) => rows.find(({ name }) => name === ref)).find((row) => row !== undefined);
      if (found === undefined) return null;
      // A conversation of another account continues here under its own id.
      return found.account_id === account.id ? found.context_key : found.id;
    },
    ofMessage: (message) => threadOfMessage(read, account, message),
    correspondence: (thread, limit) => readCorrespondence(read, account.id, thread, limit),
    watch: (thread, listener) =>
      fanout.subscribe(topic(thread), (message) => listener(JSON.parse(message) as Parameters<typeof listener>[0])),
    announce: (thread) => fanout.publish(topic(thread), JSON.stringify({ kind: "changed" })),
    customerTyping(thread) {
      fanout.publish(
        workspaceTopic(account.workspaceId),
        JSON.stringify({ kind: "typing", accountId: account.id, thread }),
      );
      engine()
        .customerTyping(account.id, thread)
        .catch((error: unknown) => {
          log.warn({ err: error, account: account.id }, "channels: holding the answer while a customer types failed");
        });
    },
  };

  function messagesOf(thread: string) {
    return read
      .selectFrom("messages as message")
      .innerJoin("conversations as conversation", "conversation.id", "message.conversation_id")
      .select([
        "message.id",
        "message.conversation_id",
        "message.seq",
        "message.role",
        "message.content",
        "message.author_id",
        "message.author_name",
        "message.sources",
        "message.confidence",
        "message.external_id",
        "message.files",
        "message.refers_to",
        "message.created_at",
        "message.deleted_at",
        "message.reacted_at",
        "message.kind",
      ])
      .where("conversation.account_id", "=", account.id)
      .where("conversation.context_key", "=", thread);
  }

  async function messagesFrom(
    rows: Awaited<ReturnType<ReturnType<typeof messagesOf>["execute"]>>,
  ): Promise<readonly ThreadMessage[]> {
    const attachments = await attachmentsOf(read, rows);
    // A customer's own messages, the most frequent ones, cost no further statement.
    const agents = rows.flatMap(({ role, author_id: author }) => (role === "agent" && author !== null ? [author] : []));
    const avatars = await avatarsOf(read, account.workspaceId, agents);
    const { opinions, ratings } = await opinionsOf(read, rows);
    const references = await shownReferences(read, rows);
    const reactions = await reactionsOf(
      read,
      rows.filter((row) => row.reacted_at !== null),
    );
    return rows.map((row): ThreadMessage => ({
      id: row.id,
      seq: row.seq,
      role: row.role,
      markdown: row.deleted_at === null ? row.content : "",
      authorName: row.author_name,
      authorAvatar: row.role === "agent" ? (avatars.get(row.author_id ?? "") ?? null) : null,
      sources: row.sources === null ? [] : (JSON.parse(row.sources) as Source[]),
      confidence: row.confidence,
      kind: row.kind,
      feedback: opinions.get(row.id) ?? null,
      rating: row.kind === "survey" ? (ratings.get(row.conversation_id) ?? null) : null,
      externalId: row.external_id,
      createdAt: row.created_at,
      files: row.deleted_at === null ? (attachments.get(row.id) ?? []).map((each) => threadFile(each, files)) : [],
      reaction: reactionTo(row, reactions.get(row.id) ?? []),
      refersTo: references.get(row.id) ?? null,
      deleted: row.deleted_at !== null,
    }));
  }
}

/** The newest one of the side that did not write the message. */
function reactionTo({ role }: { readonly role: Role }, all: readonly ReactionsTable[]): ThreadMessage["reaction"] {
  const found = all.findLast((reaction) => (reaction.role === "user") !== (role === "user"));
  return found === undefined ? null : { emoji: found.emoji, author: found.author_name };
}

function threadFile(
  { id, name, media_type: mediaType, bytes, state }: AttachmentRow,
  files: Pick<Files, "link">,
): ThreadFile {
  const isStored = state === "stored";
  return {
    id,
    name,
    mediaType,
    bytes,
    url: isStored ? files.link(id, linkMs) : null,
    preview: isStored && previewTypes.has(mediaType),
  };
}
