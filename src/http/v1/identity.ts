import { provesIdentity } from "#domain/identity.ts";
import { Problem } from "#domain/problem.ts";

export interface ClaimedIdentity {
  readonly userId: string | undefined;
  /** HMAC-SHA256 of the user id with the workspace's identity secret: hex, base64 or base64url. */
  readonly hash: string | undefined;
  /** `<expiry, Unix seconds>.<hex HMAC-SHA256 of "user_id.expiry">`. */
  readonly token: string | undefined;
}

/**
 * Whether the user is who they say. No proof: false. A proof that does not hold, or two of which one does not: Problem
 * verification_required, since going on anonymously would hide the mistake.
 */
export async function verifyIdentity(
  { userId, hash, token }: ClaimedIdentity,
  secret: () => Promise<string>,
  nowMs: number,
): Promise<boolean> {
  if (hash === undefined && token === undefined) return false;
  if (userId === undefined) {
    throw new Problem("missing_field", "user.user_id is required with user.hash or verification_token.");
  }
  const key = await secret();
  if (hash !== undefined && !provesIdentity(key, userId, hash)) {
    throw new Problem("verification_required", "user.hash is not the HMAC-SHA256 of user_id with the identity secret.");
  }
  if (token !== undefined && !tokenHolds(token, userId, key, nowMs)) {
    throw new Problem("verification_required", "verification_token has expired or was not made for this user_id.");
  }
  return true;
}

function tokenHolds(token: string, userId: string, key: string, nowMs: number): boolean {
  const match = /^(\d{1,12})\.([0-9a-f]{64})$/i.exec(token);
  const [, expiry, digest] = match ?? [];
  if (expiry === undefined || digest === undefined) return false;
  return provesIdentity(key, `${userId}.${expiry}`, digest) && Number(expiry) * 1_000 > nowMs;
}
