import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkUserToken, publicKeysOf } from "./user-token.ts";
import { skipped } from "#test/support/skipped.ts";
import { asymmetric, badTokens, hs256, keyPairs, pemOf, tokenOf } from "#test/support/user-tokens.ts";

const now = Date.UTC(2031, 4, 14, 10, 20, 30);
const seconds = now / 1_000;
const { rsa, ec, otherRsa, p384 } = keyPairs;
const keys = {
  workspaceId: "wt_abc123_0123456789abcdef",
  secret: "5d1f6a",
  publicKeys: publicKeysOf(pemOf(rsa.publicKey) + pemOf(ec.publicKey)),
};
const claims = { sub: "u1", exp: seconds + 600 };

describe("a user token", () => {
  it.each([
    ["HS256", hs256(keys.secret)],
    ["RS256", asymmetric(rsa.privateKey)],
    ["ES256", asymmetric(ec.privateKey)],
  ])("signed by %s carries what the company says of the user", (alg, signer) => {
    const attributes = { country: "DE", seats: 4, roles: ["owner", "admin"] };
    const said = { name: "Ada", email: "Ada@shop.example", phone: "+4930123456" };
    const token = tokenOf({ ...claims, ...said, plan: "pro", attributes, other: 1 }, { alg, typ: "JWT" }, signer);
    expect(checkUserToken(token, keys, now)).toEqual({
      kind: "valid",
      user: { userId: "u1", ...said, attributes: { ...attributes, plan: "pro" } },
      expiresAt: now + 600_000,
    });
  });

  it.each([
    ["nothing but sub and exp", {}],
    ["nulls for what is not known", { email: null, name: null, plan: null, attributes: null }],
    ["a whole day", { exp: seconds + 86_400 }],
    ["its workspace as aud", { aud: keys.workspaceId }],
    ["its workspace as aud by its other name", { aud: keys.workspaceId.replace("wt_", "ws_") }],
    ["its workspace among others by its other name", { aud: ["other", keys.workspaceId.replace("wt_", "ws_")] }],
    ["null as aud", { aud: null }],
    ["its workspace among others", { aud: ["other", keys.workspaceId] }],
    ["an nbf that the clock has nearly reached", { nbf: seconds + 30 }],
  ])("may have %s", (_what, more) => {
    const token = tokenOf({ ...claims, ...more }, { alg: "HS256" }, hs256(keys.secret));
    expect(checkUserToken(token, keys, now)).toMatchObject({ kind: "valid", user: { userId: "u1" } });
  });

  const bad = badTokens({ ...keys, otherSecret: "another" }, now);
  it.each(bad)("is refused with %s", (what, token) => {
    expect(checkUserToken(token, keys, now).kind).toBe(/^expire[sd]/.test(what) ? "expired" : "refused");
  });
});

describe("public keys", () => {
  it("are read from PEM, several at a time, and with spaces for line breaks", () => {
    const text = pemOf(rsa.publicKey) + pemOf(ec.publicKey);
    expect(publicKeysOf(text)).toHaveLength(2);
    expect(publicKeysOf(text.replaceAll("\n", " "))).toEqual(publicKeysOf(text));
    expect(publicKeysOf("")).toEqual([]);
  });

  it.each([
    ["a private key", ec.privateKey.export({ format: "pem", type: "pkcs8" }).toString(), /private key/],
    ["another curve", pemOf(p384.publicKey), /P-256/],
    ["a file of something else", "ssh-ed25519 AAAA", /not a public key/],
    ["a broken key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", /cannot be read/],
    ["six keys", pemOf(otherRsa.publicKey).repeat(6), /at most 5/],
  ])("are not taken from %s", (_what, text, message) => {
    expect(() => publicKeysOf(text)).toThrow(message);
  });
});

describe("the examples of the manual", () => {
  const manual = readFileSync(new URL("../../../docs/identity.md", import.meta.url), "utf8");
  const example = (title: string, language: string): string =>
    new RegExp(`^## ${title}$[^]*?\`\`\`${language}\\n([^]*?)\`\`\``, "m").exec(manual)?.[1] ?? "";

  describe.each([
    ["How do I make a user token in Node.js\\?", "js", process.execPath, ["--input-type=module", "-e"]],
    ["How do I make a user token in Python\\?", "python", "python3", ["-c"]],
  ])("%s", (title, language, program, before) => {
    const name = "makes a token that is accepted";
    if (spawnSync(program, ["--version"]).error !== undefined) return skipped(name, `${program} is missing`);
    it(name, () => {
      const options = { env: { ...process.env, PARLEY_IDENTITY_SECRET: keys.secret }, encoding: "utf8" as const };
      const run = spawnSync(program, [...before, example(title, language)], options);
      expect(run.stderr).toBe("");
      const user = { userId: "user-42", email: "ada@shop.example", name: "Ada", attributes: { plan: "pro" } };
      expect(checkUserToken(run.stdout.trim(), keys, Date.now())).toMatchObject({ kind: "valid", user });
    });
  });
});
