import type { KeyObject } from "node:crypto";
import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";
import type { Attributes, AttributeValue } from "#domain/workspace/audience.ts";
import { emailIdentity } from "./identity-proof.ts";
import { parseWorkspaceId } from "#domain/ids.ts";

/** A user from a signed token, with nothing but the signed claims. */
export interface VerifiedUser {
  readonly userId: string;
  readonly name?: string;
  readonly email?: string;
  readonly phone?: string;
  /** Absent: the stored attributes stay. */
  readonly attributes?: Attributes;
}

export type TokenCheck =
  | { readonly kind: "valid"; readonly user: VerifiedUser; readonly expiresAt: number }
  | { readonly kind: "expired" }
  /** `reason`: for the developer of the company's server. */
  | { readonly kind: "refused"; readonly reason: string };

export interface TokenKeys {
  readonly workspaceId: string;
  readonly secret: string;
  /** Registered public keys, as {@link publicKeysOf} returns them. */
  readonly publicKeys: readonly string[];
}

export const userTokenMax = 8_192;
export const attributesMax = 50;
export const attributeNameMax = 64;
const textMax = 190;
const lifetimeMaxMs = 86_400_000;
/** Clocks of two servers differ; `exp` itself gets no tolerance. */
const clockToleranceMs = 60_000;
const publicKeysMax = 5;
const rsaBitsMin = 2_048;
const rsaBitsMax = 8_192;

class Refused extends Error {}

/**
 * Checks a JWT of the company: HS256 with the identity secret, or RS256 or ES256 with a registered public key. The
 * algorithm selects the kind of key, so that no key serves another algorithm than its own.
 */
export function checkUserToken(token: string, keys: TokenKeys, nowMs: number): TokenCheck {
  try {
    const claims = signedClaims(token, keys);
    const expiresAt = expiryOf(claims, nowMs);
    if (expiresAt <= nowMs) return { kind: "expired" };
    checkScope(claims, keys.workspaceId, nowMs);
    return { kind: "valid", user: userOf(claims), expiresAt };
  } catch (error) {
    if (error instanceof Refused) return { kind: "refused", reason: error.message };
    throw error;
  }
}

type Claims = Readonly<Record<string, unknown>>;

function signedClaims(token: string, { secret, publicKeys }: TokenKeys): Claims {
  if (token.length > userTokenMax) throw new Refused(`it is longer than ${userTokenMax} characters`);
  const [, head = "", body = "", signature = ""] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token) ?? [];
  if (head === "") throw new Refused("it is not a signed JWT");
  const header = objectIn(head);
  if (header["crit"] !== undefined) throw new Refused("its header has crit");
  const signed = Buffer.from(`${head}.${body}`);
  const given = Buffer.from(signature, "base64url");
  if (!isSignedBy(header["alg"], signed, given, secret, publicKeys)) throw new Refused("its signature does not verify");
  return objectIn(body);
}

function isSignedBy(
  alg: unknown,
  signed: Buffer,
  signature: Buffer,
  secret: string,
  publicKeys: readonly string[],
): boolean {
  switch (alg) {
    case "HS256": {
      const expected = createHmac("sha256", secret).update(signed).digest();
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    }
    case "RS256":
    case "ES256": {
      const type = alg === "RS256" ? "rsa" : "ec";
      const fitting = publicKeys.map(keyOf).filter(({ asymmetricKeyType }) => asymmetricKeyType === type);
      return fitting.some((key) => verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, signature));
    }
    default:
      throw new Refused("its alg is none of HS256, RS256 and ES256");
  }
}

function objectIn(part: string): Claims {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(part, "base64url")));
  } catch {
    throw new Refused("it is not a signed JWT");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refused("it is not a signed JWT");
  return value as Claims;
}

function expiryOf({ exp }: Claims, nowMs: number): number {
  if (typeof exp !== "number") throw new Refused("it has no exp, in Unix seconds");
  if (exp * 1_000 > nowMs + lifetimeMaxMs + clockToleranceMs) throw new Refused("its exp is more than 24 hours ahead");
  return exp * 1_000;
}

function checkScope({ aud, nbf }: Claims, workspaceId: string, nowMs: number): void {
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud ?? workspaceId];
  if (!audiences.some((each) => typeof each === "string" && parseWorkspaceId(each) === workspaceId)) {
    throw new Refused("its aud is not this workspace");
  }
  if (nbf === undefined) return;
  if (typeof nbf !== "number" || nbf * 1_000 > nowMs + clockToleranceMs) throw new Refused("its nbf is ahead");
}

function userOf(claims: Claims): VerifiedUser {
  const userId = textOf(claims, "sub");
  if (userId === undefined) throw new Refused("it has no sub, the user id");
  const name = textOf(claims, "name");
  const email = textOf(claims, "email");
  const phone = textOf(claims, "phone");
  const plan = textOf(claims, "plan");
  if (email !== undefined && emailIdentity(email) === undefined)
    throw new Refused("its email is not an e-mail address");
  const given = attributesOf(claims["attributes"]);
  const attributes = plan === undefined ? given : { ...given, plan };
  return {
    userId,
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    ...(phone === undefined ? {} : { phone }),
    ...(attributes === undefined ? {} : { attributes }),
  };
}

/** Null counts as absent: libraries write it for a value that they do not have. */
function textOf(claims: Claims, name: string): string | undefined {
  const value = claims[name] ?? undefined;
  if (value === undefined || value === "") return undefined;
  if (isText(value)) return value;
  throw new Refused(`its ${name} is not a text of at most ${textMax} characters`);
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && [...value].length <= textMax && value.isWellFormed() && !value.includes("\0");

function attributesOf(given: unknown): Attributes | undefined {
  if (given === undefined || given === null) return undefined;
  const refuse = (): never => {
    throw new Refused(
      `its attributes are not an object of at most ${attributesMax} texts, numbers, booleans or lists of them`,
    );
  };
  if (typeof given !== "object" || Array.isArray(given)) return refuse();
  const entries = Object.entries(given);
  const isValue = (value: unknown): value is AttributeValue =>
    isText(value) || typeof value === "number" || typeof value === "boolean";
  const fits = ([name, value]: [string, unknown]): boolean =>
    name !== "" &&
    [...name].length <= attributeNameMax &&
    (Array.isArray(value) ? value.length <= attributesMax && value.every(isValue) : isValue(value));
  return entries.length <= attributesMax && entries.every(fits) ? Object.fromEntries(entries) : refuse();
}

const keyOf = (spki: string): KeyObject =>
  createPublicKey({ key: Buffer.from(spki, "base64"), format: "der", type: "spki" });

/**
 * The public keys in a text of PEM blocks, as they are stored. Line breaks may have become spaces. Throws an Error
 * that says what is wrong.
 */
export function publicKeysOf(text: string): readonly string[] {
  const rest = text.replaceAll(/-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/g, "");
  if (rest.includes("PRIVATE KEY")) throw new Error("this is a private key: give the public key that belongs to it");
  if (rest.trim() !== "")
    throw new Error("this is not a public key in PEM, which begins with -----BEGIN PUBLIC KEY-----");
  const found = [...text.matchAll(/-----BEGIN PUBLIC KEY-----([^-]+)-----END/g)].map(([, body = ""]) =>
    body.replaceAll(/\s/g, ""),
  );
  if (found.length > publicKeysMax) throw new Error(`at most ${publicKeysMax} public keys can be registered`);
  for (const spki of found) checkKey(spki);
  return [...new Set(found)];
}

function checkKey(spki: string): void {
  let key: KeyObject;
  try {
    key = keyOf(spki);
  } catch (cause) {
    throw new Error("this public key cannot be read", { cause });
  }
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  const isRsa = key.asymmetricKeyType === "rsa" && modulusLength >= rsaBitsMin && modulusLength <= rsaBitsMax;
  if (!isRsa && namedCurve !== "prime256v1") {
    throw new Error("a public key is of RSA with 2,048 to 8,192 bits, or of the curve P-256");
  }
}
