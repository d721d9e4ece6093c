import { provesIdentity } from "#domain/customer/identity-proof.ts";
import { Problem } from "#domain/problem.ts";
import type { TokenKeys, VerifiedUser } from "#domain/customer/user-token.ts";
import { checkUserToken } from "#domain/customer/user-token.ts";

export interface ClaimedIdentity {
  readonly userId: string | undefined;
  /** HMAC-SHA256 of the user id with the workspace's identity secret: hex, base64 or base64url. */
  readonly hash: string | undefined;
  /** `<expiry, Unix seconds>.<hex HMAC-SHA256 of "user_id.expiry">`. */
  readonly token: string | undefined;
  /** A JWT with facts about the user. */
  readonly userToken: string | undefined;
}

/**
 * The verified user, with the facts of the JWT; null without any proof. Throws Problem verification_required if a proof is
 * invalid, even if another one is valid: an anonymous answer would hide the error from the developer.
 */
export async function verifyIdentity(
  { userId, hash, token, userToken }: ClaimedIdentity,
  tokenKeys: () => Promise<TokenKeys>,
  nowMs: number,
): Promise<VerifiedUser | null> {
  if (hash === undefined && token === undefined && userToken === undefined) return null;
  const keys = await tokenKeys();
  const signed = userToken === undefined ? null : signedUser(userToken, keys, nowMs);
  const id = userId ?? signed?.userId;
  if (id === undefined) {
    throw new Problem("missing_field", "user.user_id is required with user.hash or verification_token.");
  }
  if (signed !== null && signed.userId !== id) {
    throw new Problem("verification_required", "user.user_token was not made for this user_id.");
  }
  if (hash !== undefined && !provesIdentity(keys.secret, id, hash)) {
    throw new Problem("verification_required", "user.hash is not the HMAC-SHA256 of user_id with the identity secret.");
  }
  if (token !== undefined && !isValidToken(token, id, keys.secret, nowMs)) {
    throw new Problem("verification_required", "verification_token has expired or was not made for this user_id.");
  }
  return signed ?? { userId: id };
}

function signedUser(userToken: string, keys: TokenKeys, nowMs: number): VerifiedUser {
  const checked = checkUserToken(userToken, keys, nowMs);
  if (checked.kind === "valid") return checked.user;
  const reason = checked.kind === "expired" ? "it has expired" : checked.reason;
  throw new Problem("verification_required", `user.user_token is refused: ${reason}.`);
}

function isValidToken(token: string, userId: string, key: string, nowMs: number): boolean {
  const match = /^(\d{1,12})\.([0-9a-f]{64})$/i.exec(token);
  const [, expiry, digest] = match ?? [];
  if (expiry === undefined || digest === undefined) return false;
  return provesIdentity(key, `${userId}.${expiry}`, digest) && Number(expiry) * 1_000 > nowMs;
}
