import { Type } from "typebox";
import { publicKeysOf } from "#domain/customer/user-token.ts";
import type { Fail } from "./values.ts";

export const identityKeysSchema = Type.String({
  maxLength: 20_000,
  description:
    "Public keys in PEM, one after the other, for signatures of user_token: RSA (RS256) or P-256 (ES256). Empty: none.",
});

export function identityKeysOf(given: string, fail: Fail): readonly string[] {
  try {
    return publicKeysOf(given);
  } catch (error) {
    return fail([], error instanceof Error ? error.message : String(error));
  }
}
