import Type from "typebox";
import { Compile } from "typebox/compile";
import type { ChannelHost, Sender, ThreadState, VerifiedUser } from "#channels/contract.ts";
import { newId } from "#domain/ids.ts";
import type { HelloFrame } from "../frames.ts";

/** A browser's session. Its thread is named after `id`. */
export interface Session {
  readonly id: string;
  /** The signed-in user who owns the thread. No other user of the same browser may see it. */
  readonly userId: string | null;
}

/** Whom a socket serves. */
export interface VisitorIdentity {
  readonly session: Session;
  readonly thread: string;
  readonly verified: VerifiedUser | null;
  /** The page's unproven claims about the user. */
  readonly claimed: Sender["claimed"];
  /** Origin and path of the page that the customer is on. */
  readonly page: string | undefined;
}

export type SessionResult =
  | { readonly kind: "bad_token" }
  /** The session is a user's, and their user token has expired. A new user token continues it. */
  | { readonly kind: "expired" }
  | ({ readonly kind: "open"; readonly session: Session } & IdentityCheck);

interface IdentityCheck extends Pick<VisitorIdentity, "verified" | "claimed"> {
  /** Epoch milliseconds at which the proof expires; null: never. */
  readonly expiresAt: number | null;
  /** Why the identity was rejected; null: it was not. */
  readonly rejected: string | null;
  /** Rejected because the user token has expired. */
  readonly isExpired: boolean;
}

/** Lifetime of a session token since the last `ready`, which issues a new one. */
const tokenLifeMs = 400 * 24 * 60 * 60 * 1_000;

const tokenContent = Compile(
  Type.Object({
    s: Type.String({ pattern: "^ses_[0-9a-z]{26}$" }),
    u: Type.Union([Type.String(), Type.Null()]),
    at: Type.Integer(),
  }),
);

export function tokenOf(session: Session, host: ChannelHost): string {
  return host.signToken(JSON.stringify({ s: session.id, u: session.userId, at: host.clock.now() }));
}

export function threadOf(session: Session): string {
  return `web:${session.id}`;
}

/** Continues the session of the hello's token, or begins one. */
export async function openSession(hello: HelloFrame, host: ChannelHost): Promise<SessionResult> {
  const check = await checkIdentity(hello.identity, host);
  const userId = check.verified?.userId ?? null;
  const open = (id: string): SessionResult => ({ kind: "open", session: { id, userId }, ...check });
  const begin = (): SessionResult => open(newId("ses", host.clock.now()));
  if (hello.token === undefined) return begin();
  const session = readToken(hello.token, host);
  if (session === null) return { kind: "bad_token" };
  if (session.userId !== null && check.isExpired) return { kind: "expired" };
  // An anonymous session becomes its user's on sign-in. A user's session never becomes another user's.
  if (session.userId !== null && session.userId !== userId) return begin();
  // The token that a visitor had before signing in names the same thread: it opens nothing without the user's proof.
  if (belongsToOther(await host.threads.get(threadOf(session)), check)) return begin();
  return open(session.id);
}

export const identityOf = (
  { session, verified, claimed }: Omit<VisitorIdentity, "thread" | "page">,
  hello: HelloFrame,
): VisitorIdentity => ({ session, thread: threadOf(session), verified, claimed, page: pageOf(hello.page) });

/** True where the thread is a signed-in user's, and the visitor has not proved to be that user. */
export const belongsToOther = (state: ThreadState | null, { verified }: Pick<VisitorIdentity, "verified">): boolean =>
  state !== null && state.userId !== null && state.userId !== verified?.userId;

const anonymous: IdentityCheck = {
  verified: null,
  claimed: undefined,
  expiresAt: null,
  rejected: null,
  isExpired: false,
};

async function checkIdentity(identity: HelloFrame["identity"], host: ChannelHost): Promise<IdentityCheck> {
  if (identity === undefined) return anonymous;
  const { user_id: userId, hash, user_token: token, name = "", email = "" } = identity;
  const claimed = { ...(name === "" ? {} : { name }), ...(email === "" ? {} : { email }) };
  if (token !== undefined) {
    const checked = await host.people.checkUserToken(token);
    if (checked.kind === "valid") {
      return { ...anonymous, verified: checked.user, claimed, expiresAt: checked.expiresAt };
    }
    if (checked.kind === "expired") {
      return { ...anonymous, rejected: "The user token has expired; the visitor is anonymous.", isExpired: true };
    }
    return { ...anonymous, rejected: `The user token is refused: ${checked.reason}; the visitor is anonymous.` };
  }
  if (userId !== undefined && hash !== undefined && (await host.people.verifyUser(userId, hash))) {
    return { ...anonymous, verified: { userId }, claimed };
  }
  return { ...anonymous, rejected: "The hash does not prove this user_id; the visitor is anonymous." };
}

/** The session of a token. Null for a token from before its thread became a user's. */
export async function ownSession(token: string, host: ChannelHost): Promise<Session | null> {
  const session = readToken(token, host);
  if (session === null) return null;
  const owner = (await host.threads.get(threadOf(session)))?.userId ?? null;
  return owner === null || owner === session.userId ? session : null;
}

function readToken(token: string, host: ChannelHost): Session | null {
  const text = host.verifyToken(token);
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!tokenContent.Check(value) || host.clock.now() - value.at > tokenLifeMs) return null;
  return { id: value.s, userId: value.u };
}

/** Without the query, which may hold private data. */
function pageOf(page: string | undefined): string | undefined {
  if (page === undefined || !URL.canParse(page)) return undefined;
  const url = new URL(page);
  return url.protocol === "https:" || url.protocol === "http:" ? `${url.origin}${url.pathname}` : undefined;
}
