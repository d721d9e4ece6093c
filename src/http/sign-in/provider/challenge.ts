import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Challenge } from "#admin/sign-in/provider/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { isDestination } from "#http/sign-in/entrance.ts";

const cookieName = "parley_provider";
const path = "/inbox/login/provider";
/** Time to sign in at the provider. */
const lifeS = 15 * 60;

const content = Type.Object({
  providerOf: Type.String(),
  until: Type.Number(),
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  to: Type.Optional(Type.String()),
});

interface CookieContext {
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly isSecure: boolean;
}

/** Only the browser that began the sign-in can end it. Nothing is stored on the server. */
export function setChallenge(
  reply: FastifyReply,
  { secrets, clock, isSecure }: CookieContext,
  workspaceId: string,
  challenge: Challenge,
  to: string | undefined,
): void {
  const value = {
    ...challenge,
    providerOf: workspaceId,
    until: clock.now() + lifeS * 1_000,
    ...(to === undefined ? {} : { to }),
  };
  void reply.setCookie(cookieName, secrets.seal(JSON.stringify(value)), {
    path,
    httpOnly: true,
    // Sent when the provider leads the browser back.
    sameSite: "lax",
    secure: isSecure,
    maxAge: lifeS,
  });
}

/** Undefined: this browser has not begun to sign in to the workspace, or too long ago. */
export function takeChallenge(
  request: FastifyRequest,
  reply: FastifyReply,
  { secrets, clock }: CookieContext,
  workspaceId: string,
): (Challenge & { readonly to: string | undefined; readonly begunAt: number }) | undefined {
  const sealed = request.cookies[cookieName];
  if (sealed === undefined) return undefined;
  void reply.clearCookie(cookieName, { path });
  const value = opened(secrets, sealed);
  if (!Value.Check(content, value) || value.providerOf !== workspaceId || value.until <= clock.now()) return undefined;
  const { state, nonce, verifier, to, until } = value;
  const begunAt = until - lifeS * 1_000;
  return { state, nonce, verifier, to: isDestination(to) ? to : undefined, begunAt };
}

/** Anybody can send a cookie. */
function opened(secrets: Secrets, sealed: string): unknown {
  try {
    return JSON.parse(secrets.open(sealed));
  } catch {
    return undefined;
  }
}
