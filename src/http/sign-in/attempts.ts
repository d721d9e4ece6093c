import { hash } from "node:crypto";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import type { Counter } from "#database/queries/counters.ts";
import { countDown, countUp } from "#database/queries/counters.ts";
import { counted } from "#domain/plural.ts";
import { Problem } from "#domain/problem.ts";
import { networkOf } from "#http/middleware/client-address.ts";

const quarterMs = 15 * 60_000;
const dayMs = 86_400_000;
/** An account is known from a network for this long after a sign-in from there. */
const knownDays = 30;

interface Limits {
  readonly client: number;
  readonly accountFromClient?: number;
  readonly accountFromStrangers?: number;
}

/** Attempts in 15 minutes by their kind: of a network, and at an account from one and from all networks. */
const limitsOf = {
  /** Passwords and sign-in links. */
  inbox: { client: 30, accountFromClient: 10, accountFromStrangers: 60 },
  /** Codes of the second factor: six digits, of which three are right. */
  code: { client: 30, accountFromClient: 8, accountFromStrangers: 16 },
  /** Requests for a mail with a link that sets a new password. */
  reset: { client: 10, accountFromClient: 3, accountFromStrangers: 6 },
  /** Ways to a provider and back, before the account is known. */
  provider: { client: 60 },
} as const satisfies Readonly<Record<string, Limits>>;
export type AttemptKind = keyof typeof limitsOf;

export interface Attempt {
  /**
   * Removes the attempt from the counters, and records the account as known from this network. `begunAt`: the time of the
   * attempt of this kind that began the sign-in, which is removed too.
   */
  succeeded(begunAt?: number): Promise<void>;
}

/**
 * Counts an attempt to sign in before the password is checked, so that concurrent attempts count too. Throws Problem.
 * One network has a limit over all accounts and one per account, so a stranger cannot lock out the agent. Against many
 * networks, an account has a higher limit, which excludes networks that its agent signed in from.
 */
export async function countAttempt(
  store: Store,
  clock: Clock,
  remoteAddress: string,
  account: string | undefined,
  kind: AttemptKind = "inbox",
): Promise<Attempt> {
  const attemptsMax: Limits = limitsOf[kind];
  const now = clock.now();
  const windowStart = windowOf(now);
  const client = networkOf(remoteAddress);
  const accountHash = account === undefined ? undefined : hash("sha256", account.trim().toLowerCase());
  const pairHash = accountHash === undefined ? undefined : hash("sha256", `${accountHash}\n${client}`);
  const knownCounter = pairHash === undefined ? undefined : `inbox:known:${pairHash}`;
  const counters: (Counter & { readonly max: number })[] = [
    { name: `${kind}:client:${client}`, windowStart, max: attemptsMax.client },
  ];
  if (pairHash !== undefined && attemptsMax.accountFromClient !== undefined) {
    counters.push({ name: `${kind}:account-here:${pairHash}`, windowStart, max: attemptsMax.accountFromClient });
  }
  const { accountFromStrangers } = attemptsMax;
  if (accountHash !== undefined && accountFromStrangers !== undefined && !(await isKnown(store, knownCounter, now))) {
    counters.push({ name: `${kind}:account:${accountHash}`, windowStart, max: accountFromStrangers });
  }
  const values = await store.write((tx) => countUp(tx, counters));
  if (counters.some(({ max }, index) => (values[index] ?? 0) > max)) {
    const endS = Math.ceil((windowStart + quarterMs - now) / 1_000);
    throw new Problem(
      "too_many_attempts",
      `Too many attempts. Please wait ${counted(Math.ceil(endS / 60), "minute")} and try again, or ask for a sign-in link.`,
      { retryAfterS: endS },
    );
  }
  return {
    succeeded: (begunAt) =>
      store.write(async (tx) => {
        await countDown(tx, counters);
        if (begunAt !== undefined) {
          await countDown(
            tx,
            counters.map(({ name }) => ({ name, windowStart: windowOf(begunAt) })),
          );
        }
        if (knownCounter !== undefined) await countUp(tx, [{ name: knownCounter, windowStart: now - (now % dayMs) }]);
      }),
  };
}

const windowOf = (at: number): number => at - (at % quarterMs);

async function isKnown(store: Store, name: string | undefined, now: number): Promise<boolean> {
  if (name === undefined) return false;
  const row = await store.read
    .selectFrom("counters")
    .select("name")
    .where("name", "=", name)
    .where("window_start", ">", now - knownDays * dayMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
