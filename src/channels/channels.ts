import type {
  Account,
  Attempt,
  OutboundMessage,
  Handover,
  OutboundNote,
  Receipt,
  ReplyWindow,
  SendContext,
  ThreadContext,
} from "./contract.ts";
import type { Part, PlatformStatus } from "./inbound-event.ts";
import type { TypingParty } from "./thread.ts";
import type { Desk } from "./desk/contract.ts";

/** Route for a reply that a visitor has not read after `afterMs` milliseconds. */
export interface FollowUp {
  readonly accountId: string;
  readonly afterMs: number;
}

/** The adapters, by account. */
export interface Channels {
  /** Loads the account's adapter; everything else here needs it loaded. Rejects when the account or its adapter is gone. */
  ready(account: Pick<Account, "id">): Promise<void>;
  render(account: Pick<Account, "id">, message: OutboundMessage): readonly Part[];
  send(account: Pick<Account, "id">, part: Part, context: SendContext): Promise<Receipt>;
  reconcile(
    account: Pick<Account, "id">,
    key: string,
    context: SendContext,
    attempt: Attempt,
  ): Promise<Receipt | null | "cannot_tell">;
  /** Whether there is anybody to ask: otherwise {@link reconcile} cannot tell. */
  reconciles(account: Pick<Account, "id">): boolean;
  idempotentSend(account: Pick<Account, "id">): boolean;
  /** The largest file that the account's channel carries; 0 where it carries none. */
  fileBytesMax(account: Pick<Account, "id">): number;
  /** Undefined where customers can be written to at any time. */
  window(account: Pick<Account, "id">): ReplyWindow | undefined;
  /** Whether nobody but the customer is known to read this thread. */
  isPrivate(account: Pick<Account, "id">, thread: string): boolean;
  /** Undefined where the channel's adapter cannot fetch files. */
  fetchFile(
    account: Pick<Account, "id">,
    ref: string,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> | undefined;
  /** Whether the account's adapter is loaded in this process. */
  loaded(account: Pick<Account, "id">): boolean;
  /** The workspace's account that takes replies to visitors who have left, loaded; undefined where there is none. */
  followUp(workspaceId: string): Promise<FollowUp | undefined>;
  typing(account: Pick<Account, "id">, thread: string, who: TypingParty): void;
  /** The same, on platforms only when it has not been ended in a moment: most answers are there before it would be seen. */
  typingSoon(account: Pick<Account, "id">, thread: string, who: TypingParty): () => void;
  /** Whether a part that was sent can be changed, or taken back. */
  can(account: Pick<Account, "id">, what: "edit" | "remove"): boolean;
  edit(account: Pick<Account, "id">, part: Part, externalId: string, context: SendContext): Promise<void>;
  remove(account: Pick<Account, "id">, externalId: string, context: SendContext): Promise<void>;
  /** Nothing happens where conversations have no state of their own on the platform. */
  setState(account: Pick<Account, "id">, state: PlatformStatus, context: ThreadContext): Promise<void>;
  /** Nothing happens where the platform shows notes to nobody. */
  addNote(account: Pick<Account, "id">, note: OutboundNote, context: ThreadContext): Promise<void>;
  /** Nothing happens where nobody works on the platform. */
  handOver(account: Pick<Account, "id">, handover: Handover, context: ThreadContext): Promise<void>;
  /** The agents' desk on this account; undefined where there is none. */
  desk(account: Pick<Account, "id">): Desk | undefined;
  /** The same for taking back what it shows, also where the account is disabled or its workspace is being deleted. */
  deskToErase(account: Pick<Account, "id">): Promise<Desk | undefined>;
  /** The account of this name; undefined where there is none, or it is disabled. */
  named(workspaceId: string, name: string): Promise<{ readonly id: string } | undefined>;
}
