import Type from "typebox";
import { Compile } from "typebox/compile";
import type { ChannelHost, VerifiedUser } from "#channel/contract.ts";
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
  | {
      readonly kind: "open";
      readonly session: Session;
      readonly verified: VerifiedUser | null;
      /** An identity was claimed and not proved. */
      readonly identityRejected: boolean;
    };

/** A token that was not used for this long is worth nothing; each greeting gives a new one. */
const tokenLifeMs = 400 * 24 * 60 * 60 * 1_000;

const sealed = Compile(
  Type.Object({
    s: Type.String({ pattern: "^ses_[0-9a-z]{26}$" }),
    u: Type.Union([Type.String(), Type.Null()]),
    at: Type.Integer(),
  }),
);

export function tokenOf(session: Session, host: ChannelHost): string {
  return host.seal(JSON.stringify({ s: session.id, u: session.userId, at: host.clock.now() }));
}

export function threadOf(session: Session): string {
  return `web:${session.id}`;
}

/** Which session a greeting continues, or begins. */
export async function openSession(hello: HelloFrame, host: ChannelHost): Promise<Opened> {
  const claimed = hello.identity;
  const proved = claimed !== undefined && (await host.verifyUser(claimed.user_id, claimed.hash));
  const verified: VerifiedUser | null =
    claimed === undefined || !proved
      ? null
      : {
          userId: claimed.user_id,
          ...(claimed.name === undefined || claimed.name === "" ? {} : { name: claimed.name }),
          ...(claimed.email === undefined || claimed.email === "" ? {} : { email: claimed.email }),
        };
  const identityRejected = claimed !== undefined && !proved;
  const userId = verified?.userId ?? null;
  const begin = (): Opened => ({
    kind: "open",
    session: { id: newId("ses", host.clock.now()), userId },
    verified,
    identityRejected,
  });
  if (hello.token === undefined) return begin();
  const known = readToken(hello.token, host);
  if (known === null) return { kind: "bad_token" };
  // An anonymous session becomes its user's on sign-in; a user's session is never anybody else's.
  if (known.userId !== null && known.userId !== userId) return begin();
  // The visitor's old token opens the same thread: once it is a user's, it opens nothing without their proof.
  const owner = (await host.thread(threadOf(known)))?.userId ?? null;
  if (owner !== null && owner !== userId) return begin();
  return { kind: "open", session: { id: known.id, userId }, verified, identityRejected };
}

/** The session of a token, unless its thread is a user's by now and the token an older one. */
export async function ownSession(token: string, host: ChannelHost): Promise<Session | null> {
  const known = readToken(token, host);
  if (known === null) return null;
  const owner = (await host.thread(threadOf(known)))?.userId ?? null;
  return owner === null || owner === known.userId ? known : null;
}

function readToken(token: string, host: ChannelHost): Session | null {
  const text = host.unseal(token);
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!sealed.Check(value) || host.clock.now() - value.at > tokenLifeMs) return null;
  return { id: value.s, userId: value.u };
}
