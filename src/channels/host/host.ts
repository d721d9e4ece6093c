import type { Account, ChannelHost, ThreadFile, ThreadMessage } from "#channels/contract.ts";
import type { DeskHost } from "#channels/desk/contract.ts";
import { provesIdentity } from "#domain/customer/identity-proof.ts";
import { checkUserToken } from "#domain/customer/user-token.ts";
import type { Source } from "#domain/conversation/message.ts";
import { previewTypes } from "#domain/files.ts";
import type { DeskSettings } from "#domain/workspace/settings.ts";
import { threadTopic, workspaceTopic } from "#queue/signals/topics.ts";
import type { DeskService } from "#agent-desk/desk-service.ts";
import type { Engine } from "#conversations/contract.ts";
import { recentThreads, threadsBeginning } from "#conversations/delivery/recent-threads.ts";
import { createAccountRecords } from "./account-records.ts";
import type { AttachmentRow } from "#conversations/attachments/attachments.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import { prefetchedFileId } from "#conversations/attachments/prefetch.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import { createThreadStates } from "#conversations/delivery/thread-states.ts";
import type { Workspaces } from "#database/queries/workspaces.ts";
import { Problem } from "#domain/problem.ts";
import type { Metrics } from "#metrics/metrics.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { readTokenKeys } from "#conversations/contacts/user-token-keys.ts";
import { createRateLimiter } from "#runtime/rate-limiter.ts";

/** A page that shows a conversation asks again sooner. */
const shownLinkMs = 86_400_000;
/** As many changed messages as a page that shows a conversation is told of. */
const amendedMax = 100;

export interface ChannelHostDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly fanout: Fanout;
  readonly secrets: Secrets;
  readonly workspaces: Workspaces;
  /** Called when an event arrives: the engine is made after the channels that it needs. */
  readonly engine: () => Engine;
  readonly desk: () => DeskService;
  readonly metrics: Pick<Metrics, "seen" | "send" | "fileRefused">;
  readonly files: Pick<Files, "bytesMax" | "link">;
  /** As platforms reach us; without a slash at the end. */
  readonly publicUrl: string;
  /** The database is thrown away after a look at the accounts. */
  readonly passing?: boolean;
}

/** What an account may ask when its workspace has its desk there. */
export function createDeskHost({ desk }: ChannelHostDependencies, account: Account, settings: DeskSettings): DeskHost {
  const { id, workspaceId } = account;
  return {
    channel: settings.channel,
    replyMode: settings.replyMode,
    accept: (event) => desk().accept({ id, workspaceId }, event),
    conversationOf: (thread) => desk().conversationOf(id, thread),
    conversation: (conversationId) => desk().conversation(workspaceId, conversationId),
    list: (view, limit) => desk().list(workspaceId, view, limit),
  };
}

/** What the adapter of an account may ask of the program. */
export function createChannelHost(dependencies: ChannelHostDependencies, account: Account): ChannelHost {
  const { store, clock, log, fanout, secrets, workspaces } = dependencies;
  const topic = (thread: string) => threadTopic(account.id, thread);
  const windows = createRateLimiter(clock);
  const records = createAccountRecords(store, account, clock);
  const purpose = `account:${account.id}`;
  const tokenKeys = () => readTokenKeys(store, secrets, account.workspaceId);
  const threadFile = ({ id, name, media_type: mediaType, bytes, state }: AttachmentRow): ThreadFile => ({
    id,
    name,
    mediaType,
    bytes,
    url: state === "stored" ? dependencies.files.link(id, shownLinkMs) : null,
    preview: state === "stored" && previewTypes.has(mediaType),
  });

  const messagesOf = (thread: string) =>
    store.read
      .selectFrom("messages as message")
      .innerJoin("conversations as conversation", "conversation.id", "message.conversation_id")
      .select([
        "message.id",
        "message.seq",
        "message.role",
        "message.content",
        "message.author_name",
        "message.sources",
        "message.confidence",
        "message.external_id",
        "message.files",
        "message.created_at",
        "message.deleted_at",
      ])
      .where("conversation.account_id", "=", account.id)
      .where("conversation.context_key", "=", thread);

  async function conversationIdOf(thread: string): Promise<string | null> {
    const row = await store.read
      .selectFrom("conversations")
      .select("id")
      .where("account_id", "=", account.id)
      .where("context_key", "=", thread)
      .executeTakeFirst();
    return row?.id ?? null;
  }

  async function threadMessages(
    rows: Awaited<ReturnType<ReturnType<typeof messagesOf>["execute"]>>,
  ): Promise<readonly ThreadMessage[]> {
    const attachments = await attachmentsOf(store.read, rows);
    return rows.map((row): ThreadMessage => ({
      id: row.id,
      seq: row.seq,
      role: row.role,
      markdown: row.deleted_at === null ? row.content : "",
      authorName: row.author_name,
      sources: row.sources === null ? [] : (JSON.parse(row.sources) as Source[]),
      confidence: row.confidence,
      externalId: row.external_id,
      createdAt: row.created_at,
      files: row.deleted_at === null ? (attachments.get(row.id) ?? []).map(threadFile) : [],
      deleted: row.deleted_at !== null,
    }));
  }

  return {
    clock,
    log,
    webhookUrl: `${dependencies.publicUrl}/channels/${account.channel}/${account.id}`,
    accept(event) {
      dependencies.metrics.seen(account.channel, "inbound");
      return dependencies.engine().ingest(account.id, event);
    },
    fileBytesMax: dependencies.files.bytesMax,
    async upload(thread, { bytes: declaredBytes, ...file }, bytes, signal) {
      const upload = {
        workspaceId: account.workspaceId,
        accountId: account.id,
        conversationId: await conversationIdOf(thread),
        uploadedBy: thread,
        ...file,
        ...(declaredBytes === undefined ? {} : { declaredBytes }),
      };
      try {
        return await dependencies.engine().upload(upload, bytes, signal);
      } catch (error) {
        const code = error instanceof Problem ? error.code : undefined;
        if (code === "storage_full" || code === "rate_limit_day") dependencies.metrics.fileRefused(code);
        throw error;
      }
    },
    prefetchFiles: async (thread, files, options, signal) =>
      dependencies.engine().prefetchFiles(
        files.map(({ key, ...file }) => ({ ...file, id: prefetchedFileId(account.id, thread, key) })),
        {
          workspaceId: account.workspaceId,
          accountId: account.id,
          conversationId: await conversationIdOf(thread),
          uploadedBy: thread,
        },
        options,
        signal,
      ),
    dropUpload: (thread, id) =>
      dependencies.engine().dropUpload({ workspaceId: account.workspaceId, uploadedBy: thread, id }),
    customerTyping(thread) {
      fanout.publish(
        workspaceTopic(account.workspaceId),
        JSON.stringify({ kind: "typing", accountId: account.id, thread }),
      );
    },
    history: async (thread, afterSeq, limit) =>
      threadMessages(
        await messagesOf(thread).where("message.seq", ">", afterSeq).orderBy("message.seq").limit(limit).execute(),
      ),
    async amended(thread, seq) {
      const newest = await messagesOf(thread)
        .where("message.seq", "<=", seq)
        .where((eb) => eb.or([eb("message.edited_at", "is not", null), eb("message.deleted_at", "is not", null)]))
        .orderBy("message.seq", "desc")
        .limit(amendedMax)
        .execute();
      return threadMessages(newest.toReversed());
    },
    thread: createThreadStates(store.read, account),
    recentThreads: (since) => recentThreads(store.read, account, since),
    threadsBeginning: (prefix) => threadsBeginning(store.read, account.id, prefix),
    watch: (thread, listener) =>
      fanout.subscribe(topic(thread), (message) => listener(JSON.parse(message) as Parameters<typeof listener>[0])),
    announce: (thread) => fanout.publish(topic(thread), JSON.stringify({ kind: "changed" })),
    async workspace() {
      const workspace = await workspaces.get(account.workspaceId);
      if (workspace === undefined) throw new Error("the workspace of this account was deleted");
      const { settings } = workspace;
      return {
        id: workspace.id,
        botName: settings.botName,
        title: settings.widgetTitle,
        greeting: settings.widgetGreeting,
        color: settings.widgetColor,
        allowedOrigins: settings.widgetOrigins,
        leadCapture: settings.leadCapture,
        files: settings.widgetFiles
          ? {
              bytesMax: Math.min(dependencies.files.bytesMax, (settings.widgetFileMb ?? Infinity) * 1_048_576),
              types: settings.widgetFileTypes,
            }
          : null,
      };
    },
    verifyUser: async (userId, hash) => provesIdentity((await tokenKeys()).secret, userId, hash),
    checkUserToken: async (token) => checkUserToken(token, await tokenKeys(), clock.now()),
    signToken: (value) => secrets.sign(purpose, value),
    verifyToken: (token) => secrets.verify(purpose, token),
    allow: windows.take,
    keeps: dependencies.passing !== true,
    ...records,
    rememberSecret: (key, value) => records.remember(`secret ${key}`, secrets.seal(value)),
    async recallSecret(key) {
      const sealed = await records.recall(`secret ${key}`);
      return sealed === null ? null : secrets.open(sealed);
    },
  };
}
