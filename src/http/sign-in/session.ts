import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { lacksSecondFactor } from "#admin/sign-in/settings.ts";
import type { SessionClient } from "#admin/team/sessions.ts";
import { agentOfSession, recordSessionUse } from "#admin/team/sessions.ts";
import { Problem } from "#domain/problem.ts";
import { InboxRefusal } from "#http/inbox/refusal.ts";
import { networkOf } from "#http/middleware/client-address.ts";

export type SignedIn = NonNullable<Awaited<ReturnType<typeof agentOfSession>>>;

const cookieName = "parley_session";
const cookieMaxAgeS = 14 * 86_400;
/** `randomBytes(32).toString("base64url")`. Other values are not looked up. */
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
  if (workspace === undefined) return undefined;
  // An inbox that can only be read, because the disk is full, is better than none.
  await recordSessionUse(store, agent, token, clock.now()).catch((error: unknown) => {
    request.log.warn({ err: error, agent: agent.id }, "sign-in: last use not stored");
  });
  return agent;
}

/** Whether the agent of a session can reach only their own account until they have a second factor. */
export const mustSetUpSecondFactor = (store: Store, { id, workspace_id, method }: SignedIn): Promise<boolean> =>
  lacksSecondFactor(store.read, { agentId: id, workspaceId: workspace_id, tokenId: null, signedInBy: method });

/** The browser that signs in. */
export const clientOf = (request: FastifyRequest): SessionClient => ({
  userAgent: request.headers["user-agent"],
  network: networkOf(request.remoteAddress),
});

/**
 * The cookie is hidden from scripts. It has the path `/`, since the inbox, the dashboard and `/admin/v1` use it; the
 * cookie of an earlier version, for `/inbox` only, would be sent first there, and is removed.
 */
export function setSession(reply: FastifyReply, token: string, publicUrl: string): void {
  void reply.setCookie(cookieName, token, {
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    secure: publicUrl.startsWith("https:"),
    maxAge: cookieMaxAgeS,
  });
  void reply.clearCookie(cookieName, { path: "/inbox" });
}

export function clearSession(reply: FastifyReply): void {
  for (const path of ["/inbox", "/"]) void reply.clearCookie(cookieName, { path });
}

/**
 * Refuses changes that the page of another site requests. Browsers name the origin with every POST, PATCH and DELETE;
 * requests without it are refused too.
 */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  const { origin, host } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const own = origin !== undefined && (origin === new URL(publicUrl).origin || hostOf(origin) === host);
  if (site === undefined ? own : site === "same-origin" && (origin === undefined || own)) return;
  throw crossSite();
}

/**
 * Refuses links and pictures of other sites to a download, which adds an entry to the audit log. Browsers name the site
 * over https and to localhost only, and nothing else with a GET request.
 */
export function refuseOtherSites({ headers }: FastifyRequest): void {
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return;
  throw crossSite();
}

const crossSite = (): Problem =>
  new Problem("cross_site", "This can only be done from the pages of this installation.");

/**
 * Refuses to sign in over http when PUBLIC_URL is https: the browser would drop the secure cookie and show the sign-in page
 * again without an error. Browsers accept it on localhost.
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
