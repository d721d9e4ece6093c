import type { Channels } from "#channels/channels.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { RetryLater } from "#queue/retry-later.ts";

/** A missed resumption delays messages by this time. */
const lookAgainMs = 300_000;
/** Every process has noticed a change after this time. */
const noticedMs = 1_500;

/** An administrator has paused the channel account. Messages wait, however long that takes. */
export class ChannelPaused extends RetryLater {
  constructor(accountId: string) {
    super(reasonOf(accountId), lookAgainMs, undefined);
    this.name = "ChannelPaused";
  }
}

/** Stored with waiting work, which is found by it. */
const reasonOf = (accountId: string): string => `the channel account ${accountId} is paused`;

/** Throws {@link ChannelPaused}. The account must be opened. Reads the database only while the account seems paused. */
export async function requireRunning(
  read: Reader,
  channels: Pick<Channels, "paused">,
  account: { readonly id: string },
): Promise<void> {
  if (!channels.paused(account)) return;
  const row = await read.selectFrom("accounts").select("paused").where("id", "=", account.id).executeTakeFirst();
  if (row?.paused === 1) throw new ChannelPaused(account.id);
  // It was resumed or removed a moment ago. Its waiting work was made due then, without this one.
  throw new RetryLater("the channel account is being changed", noticedMs, undefined);
}

/** For work that calls the platform. */
export const waitsForResumption = {
  waitsOut: (_row: unknown, error: unknown) => error instanceof ChannelPaused,
  countsWaiting: false,
} as const;

/** Makes the work due that waits for the account. Returns its lanes, which the worker must be notified of after the commit. */
export async function hastenWaitingWork(tx: Tx, accountId: string, now: number): Promise<readonly string[]> {
  const waiting = await tx
    .selectFrom("outbox")
    .select(["lane", (eb) => eb.fn.max("due_at").as("until")])
    .where("last_error", "=", reasonOf(accountId))
    .where("dead_at", "is", null)
    .where("due_at", ">", now)
    .groupBy("lane")
    .execute();
  for (const { lane, until } of waiting) {
    // Later work of a lane was deferred with the work that waits.
    await tx
      .updateTable("outbox")
      .set({ due_at: now })
      .where("lane", "=", lane)
      .where("dead_at", "is", null)
      .where("due_at", ">", now)
      .where("due_at", "<=", until)
      .execute();
  }
  return waiting.map(({ lane }) => lane);
}
