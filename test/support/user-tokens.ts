import type { KeyObject } from "node:crypto";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

export type Signer = (signed: string) => Buffer;

/** A JWT as a company's server signs it. */
export function tokenOf(claims: object, header: object, signer: Signer): string {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${signer(signed).toString("base64url")}`;
}

export const hs256 =
  (secret: string): Signer =>
  (signed) =>
    createHmac("sha256", secret).update(signed).digest();

export const asymmetric =
  (key: KeyObject, dsaEncoding: "ieee-p1363" | "der" = "ieee-p1363"): Signer =>
  (signed) =>
    sign("sha256", Buffer.from(signed), { key, dsaEncoding });

export const userToken = (secret: string, claims: object): string => tokenOf(claims, { alg: "HS256" }, hs256(secret));

export const pemOf = (key: KeyObject): string => key.export({ format: "pem", type: "spki" }).toString();

export const keyPairs = {
  rsa: generateKeyPairSync("rsa", { modulusLength: 2_048 }),
  otherRsa: generateKeyPairSync("rsa", { modulusLength: 2_048 }),
  ec: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  p384: generateKeyPairSync("ec", { namedCurve: "P-384" }),
};

/** Tokens that no server may accept, keyed by their fault. `now`: epoch milliseconds. */
export function badTokens(
  {
    workspaceId,
    secret,
    otherSecret,
  }: { readonly workspaceId: string; readonly secret: string; readonly otherSecret: string },
  now: number,
): readonly (readonly [string, string])[] {
  const seconds = Math.floor(now / 1_000);
  const claims = { sub: "mallory", email: "victim@shop.example", plan: "pro", exp: seconds + 600 };
  const own = (changes: object, header: object = { alg: "HS256" }) =>
    tokenOf({ ...claims, ...changes }, header, hs256(secret));
  const { rsa, otherRsa, ec } = keyPairs;
  const good = own({});
  const [head = "", body = "", signature = ""] = good.split(".");
  return [
    ["alg none, unsigned", `${part({ alg: "none" })}.${body}.`],
    ["alg none, signed", own({}, { alg: "none" })],
    ["alg nOnE", own({}, { alg: "nOnE" })],
    ["no alg", own({}, {})],
    ["HS512 named over HS256", own({}, { alg: "HS512" })],
    ["the secret of another workspace", tokenOf(claims, { alg: "HS256" }, hs256(otherSecret))],
    ["an empty secret", tokenOf(claims, { alg: "HS256" }, hs256(""))],
    ["a registered public key as secret", tokenOf(claims, { alg: "HS256" }, hs256(pemOf(rsa.publicKey)))],
    ["RS256 with a key that is not registered", tokenOf(claims, { alg: "RS256" }, asymmetric(otherRsa.privateKey))],
    ["RS256 over a signature of P-256", tokenOf(claims, { alg: "RS256" }, asymmetric(ec.privateKey))],
    ["ES256 over a signature of RSA", tokenOf(claims, { alg: "ES256" }, asymmetric(rsa.privateKey))],
    ["ES256 in DER", tokenOf(claims, { alg: "ES256" }, asymmetric(ec.privateKey, "der"))],
    ["ES256 of zeros", tokenOf(claims, { alg: "ES256" }, () => Buffer.alloc(64))],
    ["RS256 over an HMAC", tokenOf(claims, { alg: "RS256" }, hs256(secret))],
    [
      "the key in its own header",
      tokenOf(
        claims,
        { alg: "RS256", jwk: otherRsa.publicKey.export({ format: "jwk" }) },
        asymmetric(otherRsa.privateKey),
      ),
    ],
    ["crit", own({}, { alg: "HS256", crit: ["b64"], b64: false })],
    ["expired", own({ exp: seconds - 1 })],
    ["expires now", own({ exp: seconds })],
    ["no exp", own({ exp: undefined })],
    ["exp as text", own({ exp: String(seconds + 600) })],
    ["exp in milliseconds", own({ exp: now + 600_000 })],
    ["exp two days ahead", own({ exp: seconds + 172_800 })],
    ["exp without end", `${head}.${Buffer.from(`{"sub":"mallory","exp":1e999}`).toString("base64url")}.${signature}`],
    ["nbf ahead", own({ nbf: seconds + 300 })],
    ["aud of another workspace", own({ aud: `${workspaceId}x` })],
    ["no sub", own({ sub: undefined })],
    ["an empty sub", own({ sub: "" })],
    ["a number as sub", own({ sub: 7 })],
    ["a sub that is too long", own({ sub: "x".repeat(191) })],
    ["half a sign in sub", own({ sub: "\ud800" })],
    ["no address in email", own({ email: "not an address" })],
    ["an object as name", own({ name: { first: "Ada" } })],
    ["a list as attributes", own({ attributes: ["pro"] })],
    ["attributes of objects", own({ attributes: { plan: { is: "pro" } } })],
    ["51 attributes", own({ attributes: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`a${i}`, i])) })],
    ["oversized", own({ attributes: { x: "x".repeat(9_000) } })],
    ["another payload", `${head}.${part({ ...claims, sub: "admin" })}.${signature}`],
    ["a cut signature", good.slice(0, -2)],
    ["no signature", `${head}.${body}.`],
    ["two parts", `${head}.${body}`],
    ["four parts", `${good}.x`],
    ["a payload that is no object", tokenOf([claims], { alg: "HS256" }, hs256(secret))],
    ["no JWT at all", "mallory"],
    ["nothing", ""],
  ];
}
