import type { Account, ChannelAdapter, Receipt, SendContext } from "./contract.ts";
import type { Part } from "./inbound-event.ts";
import type { TypingParty } from "./thread.ts";
import type { Desk } from "./desk/contract.ts";

/** Route for a reply that a visitor has not read after `afterMs` milliseconds. */
export interface FollowUp {
  readonly accountId: string;
  readonly afterMs: number;
}

/** The opened channel accounts. Members that use an adapter throw a `DeliveryError` if the account is not opened. */
export interface Channels {
  /** Opens the account. Rejects if the account or its adapter does not exist. Accounts of the API have no adapter. */
  ready(account: Pick<Account, "id">): Promise<void>;
  /** Whether the account is opened in this process. */
  loaded(account: Pick<Account, "id">): boolean;
  /** Whether messages of this account wait until an administrator resumes it. False if it is not opened. */
  paused(account: Pick<Account, "id">): boolean;
  adapter(account: Pick<Account, "id">): OpenAdapter;
  send(account: Pick<Account, "id">, part: Part, context: SendContext): Promise<Receipt>;
  /** Opens the workspace's account that takes replies to visitors who have left. Undefined if there is none. */
  followUp(workspaceId: string): Promise<FollowUp | undefined>;
  typing(account: Pick<Account, "id">, thread: string, who: TypingParty): void;
  /** Shows the indicator on platforms after a moment only, because most answers are sent sooner. Returns its end. */
  typingSoon(account: Pick<Account, "id">, thread: string, who: TypingParty): () => void;
  /** Returns the agents' desk on this account. Undefined if there is none. */
  desk(account: Pick<Account, "id">): Desk | undefined;
  /** Returns the desk to erase its content, also if the account is disabled or its workspace is being deleted. */
  deskToErase(account: Pick<Account, "id">): Promise<Desk | undefined>;
  /** Returns the account of this name. Undefined if there is none, or it is disabled. */
  named(workspaceId: string, name: string): Promise<{ readonly id: string } | undefined>;
}

/** An adapter without the calls that the host makes: {@link Channels.send}, {@link Channels.typing} and closing. */
export type OpenAdapter = Omit<ChannelAdapter, "send" | "typing" | "close">;
