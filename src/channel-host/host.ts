import type { Account, ChannelHost, HostPeople, WorkspaceBranding } from "#channels/contract.ts";
import type { DeskHost } from "#channels/desk/contract.ts";
import { provesIdentity } from "#domain/customer/identity-proof.ts";
import { checkUserToken } from "#domain/customer/user-token.ts";
import type { DeskSettings } from "#domain/workspace/settings.ts";
import { deskChannelsOf } from "#domain/workspace/settings.ts";
import type { DeskService } from "#agent-desk/desk-service.ts";
import type { Engine } from "#conversations/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import { storeSkipped } from "#database/queries/accounts/skipped-messages.ts";
import type { Workspaces } from "#database/queries/workspaces.ts";
import type { Metrics } from "#metrics/metrics.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { readTokenKeys } from "#conversations/contacts/user-token-keys.ts";
import { createRateLimiter } from "#runtime/rate-limiter.ts";
import type { AccountStatus } from "./account-status.ts";
import { createAccountFiles } from "./account-files.ts";
import { createAccountState } from "./account-state.ts";
import { createAccountThreads } from "./account-threads.ts";

export interface ChannelHostDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly fanout: Fanout;
  readonly secrets: Secrets;
  readonly workspaces: Workspaces;
  /** Called when an event arrives: the engine is made after the channels. */
  readonly engine: () => Engine;
  readonly desk: () => DeskService;
  readonly metrics: Pick<Metrics, "seen" | "send" | "fileRefused">;
  readonly status: Pick<AccountStatus, "received" | "failed" | "connection" | "flush">;
  readonly files: Pick<Files, "bytesMax" | "link">;
  /** The base address for platforms' deliveries, without a trailing slash. */
  readonly publicUrl: string;
  /** Refuses servers that only the operator may choose. */
  readonly guardedLookup: NonNullable<ChannelHost["lookup"]>;
  /** A check of accounts: the database is deleted afterwards. */
  readonly passing?: boolean;
}

/** The desk's functions, for a workspace with its desk on the account. */
export function createDeskHost({ desk }: ChannelHostDependencies, account: Account, settings: DeskSettings): DeskHost {
  const { id, workspaceId } = account;
  return {
    channels: deskChannelsOf(settings),
    replyMode: settings.replyMode,
    accept: (event) => desk().accept({ id, workspaceId }, event),
    conversationOf: (thread) => desk().conversationOf(id, thread),
    conversationOfPost: (messageId) => desk().conversationOfPost(id, messageId),
    conversation: (conversationId) => desk().conversation(workspaceId, conversationId),
    list: (view, limit) => desk().list(workspaceId, view, limit),
  };
}

/** The address that the platform delivers to. */
export const webhookUrlOf = (publicUrl: string, { channel, id }: Pick<Account, "channel" | "id">): string =>
  `${publicUrl}/channels/${channel}/${id}`;

/** The program's functions for the adapter of an account, as it is stored under `revision`. */
export function createChannelHost(
  dependencies: ChannelHostDependencies,
  account: Account,
  revision: number,
): ChannelHost {
  const { store, clock, log, fanout, secrets, files, metrics, status, engine, publicUrl, passing } = dependencies;
  const { read } = store;
  const purpose = `account:${account.id}`;
  return {
    clock,
    log,
    webhookUrl: webhookUrlOf(publicUrl, account),
    accept(event) {
      metrics.seen(account.channel, "inbound");
      status.received(account.id);
      return engine().ingest(account.id, event);
    },
    state: createAccountState(store, account, clock, secrets, passing !== true),
    threads: createAccountThreads({ read, fanout, files, log, engine }, account),
    files: createAccountFiles({ read, engine, metrics, bytesMax: files.bytesMax }, account),
    people: createPeople(dependencies, account.workspaceId),
    workspace: () => readBranding(dependencies, account.workspaceId),
    signToken: (value) => secrets.sign(purpose, value),
    verifyToken: (token) => secrets.verify(purpose, token),
    allow: createRateLimiter(clock).take,
    async reportDown(cause) {
      status.connection(account.id, revision, "unusable", cause);
      await status.flush();
    },
    reportSkipped: (message) => store.write((tx) => storeSkipped(tx, account.id, message)),
  };
}

function createPeople({ store, clock, secrets }: ChannelHostDependencies, workspaceId: string): HostPeople {
  const tokenKeys = () => readTokenKeys(store, secrets, workspaceId);
  return {
    async agent(email) {
      const row = await store.read
        .selectFrom("agents")
        .select(["email", "name"])
        .where("workspace_id", "=", workspaceId)
        .where("email", "=", email.toLowerCase())
        .executeTakeFirst();
      return row ?? null;
    },
    verifyUser: async (userId, hash) => provesIdentity((await tokenKeys()).secret, userId, hash),
    checkUserToken: async (token) => checkUserToken(token, await tokenKeys(), clock.now()),
  };
}

async function readBranding(
  { workspaces, files }: Pick<ChannelHostDependencies, "workspaces" | "files">,
  workspaceId: string,
): Promise<WorkspaceBranding> {
  const workspace = await workspaces.get(workspaceId);
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
          bytesMax: Math.min(files.bytesMax, (settings.widgetFileMb ?? Infinity) * 1_048_576),
          types: settings.widgetFileTypes,
        }
      : null,
  };
}
