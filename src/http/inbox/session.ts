import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import type { Counter } from "#database/queries/counters.ts";
import { countDown, countUp } from "#database/queries/counters.ts";
import { agentOfSession } from "#admin/agents.ts";
import { networkOf } from "#http/middleware/client-address.ts";
import { InboxRefusal } from "./refused.ts";

export type SignedIn = NonNullable<Awaited<ReturnType<typeof agentOfSession>>>;

const cookieName = "parley_session";
const cookieMaxAgeS = 14 * 86_400;
/** What `randomBytes(32).toString("base64url")` looks like; anything else is not worth a look into the database. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

export function sessionToken(request: FastifyRequest): string | undefined {
  const token = request.cookies[cookieName];
  return token !== undefined && tokenPattern.test(token) ? token : undefined;
}

export async function signedIn(store: Store, clock: Clock, request: FastifyRequest): Promise<SignedIn | undefined> {
  const token = sessionToken(request);
  if (token === undefined) return undefined;
  const agent = await agentOfSession(store, clock, token);
  if (agent === undefined) return undefined;
  const workspace = await store.read
    .selectFrom("workspaces")
    .select("id")
    .where("id", "=", agent.workspace_id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return workspace === undefined ? undefined : agent;
}

/** Not readable by scripts, not sent along from other sites, and only to the inbox. */
export function setSession(reply: FastifyReply, token: string, publicUrl: string): void {
  void reply.setCookie(cookieName, token, {
    path: "/inbox",
    httpOnly: true,
    sameSite: "lax",
    secure: publicUrl.startsWith("https:"),
    maxAge: cookieMaxAgeS,
  });
}

export function clearSession(reply: FastifyReply): void {
  void reply.clearCookie(cookieName, { path: "/inbox" });
}

/**
 * Refuses a change that another site's page asks for. Browsers say with every POST, PATCH and DELETE where it comes from;
 * what says nothing is refused as well.
 */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  const { origin, host } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const own = origin !== undefined && (origin === new URL(publicUrl).origin || hostOf(origin) === host);
  if (site === undefined ? own : site === "same-origin" && (origin === undefined || own)) return;
  throw new InboxRefusal("cross_site", "This can only be done from the inbox itself.");
}

/**
 * Refuses to sign in where the session would not be kept: browsers take no cookie of an https address on a page without
 * encryption, except on their own machine, and would show the sign-in page again without a word.
 */
export function requireKeptSession(request: FastifyRequest, publicUrl: string): void {
  const { origin } = request.headers;
  if (!publicUrl.startsWith("https:") || origin === undefined || !URL.canParse(origin)) return;
  const { protocol, hostname } = new URL(origin);
  if (protocol !== "http:" || /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(hostname)) return;
  throw new InboxRefusal(
    "not_encrypted",
    `You cannot sign in over an address that is not encrypted. Open this page at ${new URL(publicUrl).origin}, which is set as the address of this installation (PUBLIC_URL).`,
  );
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

const quarterMs = 15 * 60_000;
const dayMs = 86_400_000;
/** From where somebody has signed in lately, the bound on all strangers' attempts together does not hold. */
const knownDays = 30;
const attemptsMax = { client: 30, accountFromClient: 10, accountFromStrangers: 60 };

export interface Attempt {
  /** The attempt was right: it does not count, and the account is known from here. */
  succeeded(): Promise<void>;
}

/**
 * Counts an attempt to sign in, before it is checked, so that attempts at the same time count too. What is bounded is
 * what comes from one client, to all accounts and to one; a stranger's wrong passwords lock out the stranger. Against
 * many clients at once an account has a wider bound, which those clients are free of that its agent has used.
 */
export async function countAttempt(
  store: Store,
  clock: Clock,
  remoteAddress: string,
  account: string | undefined,
): Promise<Attempt> {
  const now = clock.now();
  const windowStart = now - (now % quarterMs);
  const client = networkOf(remoteAddress);
  const who = account === undefined ? undefined : hash("sha256", account.trim().toLowerCase());
  const here = who === undefined ? undefined : hash("sha256", `${who}\n${client}`);
  const known = here === undefined ? undefined : `inbox:known:${here}`;
  const counters: (Counter & { readonly max: number })[] = [
    { name: `inbox:client:${client}`, windowStart, max: attemptsMax.client },
  ];
  if (here !== undefined) {
    counters.push({ name: `inbox:account-here:${here}`, windowStart, max: attemptsMax.accountFromClient });
  }
  if (who !== undefined && !(await isKnown(store, known, now))) {
    counters.push({ name: `inbox:account:${who}`, windowStart, max: attemptsMax.accountFromStrangers });
  }
  const values = await store.write((tx) => countUp(tx, counters));
  if (counters.some(({ max }, index) => (values[index] ?? 0) > max)) {
    const minutes = Math.ceil((windowStart + quarterMs - now) / 60_000);
    throw new InboxRefusal(
      "too_many_attempts",
      `Too many attempts to sign in. Please wait ${minutes} minutes and try again, or ask for a sign-in link.`,
    );
  }
  return {
    succeeded: () =>
      store.write(async (tx) => {
        await countDown(tx, counters);
        if (known !== undefined) await countUp(tx, [{ name: known, windowStart: now - (now % dayMs) }]);
      }),
  };
}

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
