import Type from "typebox";
import { Compile } from "typebox/compile";
import type { ChannelHost, Sender, VerifiedUser } from "#channels/contract.ts";
import { newId } from "#domain/ids.ts";
import type { HelloFrame } from "./frames.ts";

/**
 * A browser's standing with us. The id is what its thread is named after; `userId` is the signed-in user that the thread
 * belongs to, once there was one: nobody else is shown it, on the same browser either.
 */
export interface Session {
  readonly id: string;
  readonly userId: string | null;
}

export type Opened =
  | { readonly kind: "bad_token" }
  /** The session is a user's, and their user token has expired: with another one it goes on. */
  | { readonly kind: "expired" }
  | ({ readonly kind: "open"; readonly session: Session } & Identified);

interface Identified {
  readonly verified: VerifiedUser | null;
  /** The page's own claims about the user, beside the proof. */
  readonly claimed: Sender["claimed"];
  /** When the proof ends; null: never. */
  readonly expiresAt: number | null;
  /** Why an identity was rejected; null: it was not. */
  readonly rejected: string | null;
  /** Rejected because the user token has expired. */
  readonly isExpired: boolean;
}

/** A token that was not used for this long is worth nothing; each greeting gives a new one. */
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

/** Which session a greeting continues, or begins. */
export async function openSession(hello: HelloFrame, host: ChannelHost): Promise<Opened> {
  const identified = await identify(hello.identity, host);
  const userId = identified.verified?.userId ?? null;
  const open = (id: string): Opened => ({ kind: "open", session: { id, userId }, ...identified });
  const begin = (): Opened => open(newId("ses", host.clock.now()));
  if (hello.token === undefined) return begin();
  const known = readToken(hello.token, host);
  if (known === null) return { kind: "bad_token" };
  if (known.userId !== null && identified.isExpired) return { kind: "expired" };
  // An anonymous session becomes its user's on sign-in; a user's session is never anybody else's.
  if (known.userId !== null && known.userId !== userId) return begin();
  // The visitor's old token opens the same thread: once it is a user's, it opens nothing without their proof.
  const owner = (await host.thread(threadOf(known)))?.userId ?? null;
  if (owner !== null && owner !== userId) return begin();
  return open(known.id);
}

const nobody: Identified = { verified: null, claimed: undefined, expiresAt: null, rejected: null, isExpired: false };

async function identify(identity: HelloFrame["identity"], host: ChannelHost): Promise<Identified> {
  if (identity === undefined) return nobody;
  const { user_id: userId, hash, user_token: token, name = "", email = "" } = identity;
  const claimed = { ...(name === "" ? {} : { name }), ...(email === "" ? {} : { email }) };
  if (token !== undefined) {
    const checked = await host.checkUserToken(token);
    if (checked.kind === "valid") {
      return { ...nobody, verified: checked.user, claimed, expiresAt: checked.expiresAt };
    }
    if (checked.kind === "expired") {
      return { ...nobody, rejected: "The user token has expired; the visitor is anonymous.", isExpired: true };
    }
    return { ...nobody, rejected: `The user token is refused: ${checked.reason}; the visitor is anonymous.` };
  }
  if (userId !== undefined && hash !== undefined && (await host.verifyUser(userId, hash))) {
    return { ...nobody, verified: { userId }, claimed };
  }
  return { ...nobody, rejected: "The hash does not prove this user_id; the visitor is anonymous." };
}

/** The session of a token, unless its thread is a user's by now and the token an older one. */
export async function ownSession(token: string, host: ChannelHost): Promise<Session | null> {
  const known = readToken(token, host);
  if (known === null) return null;
  const owner = (await host.thread(threadOf(known)))?.userId ?? null;
  return owner === null || owner === known.userId ? known : null;
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
