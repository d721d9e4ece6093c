import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock, Store } from "#engine/ports.ts";
import { countDown, countUp } from "#store/counters.ts";
import { agentOfSession } from "../../operator/agents.ts";
import { InboxRefusal } from "./refusal.ts";

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

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

const windowMs = 15 * 60_000;
const attemptsMax = { address: 30, account: 10 };

/**
 * Counts an attempt to sign in, before it is checked, so that attempts at the same time count too. The end of it gives
 * the attempt back. By address and by account: neither many accounts from one place nor one from many can be tried.
 */
export async function countAttempt(
  store: Store,
  clock: Clock,
  remoteAddress: string,
  account: string | undefined,
): Promise<() => Promise<void>> {
  const now = clock.now();
  const windowStart = now - (now % windowMs);
  const counters = [
    { name: `inbox:address:${remoteAddress}`, windowStart, max: attemptsMax.address },
    ...(account === undefined
      ? []
      : [
          {
            name: `inbox:account:${hash("sha256", account.trim().toLowerCase())}`,
            windowStart,
            max: attemptsMax.account,
          },
        ]),
  ];
  const values = await store.write((tx) => countUp(tx, counters));
  if (counters.some(({ max }, index) => (values[index] ?? 0) > max)) {
    const minutes = Math.ceil((windowStart + windowMs - now) / 60_000);
    throw new InboxRefusal(
      "too_many_attempts",
      `Too many attempts to sign in. Please wait ${minutes} minutes and try again.`,
    );
  }
  return () => store.write((tx) => countDown(tx, counters));
}
