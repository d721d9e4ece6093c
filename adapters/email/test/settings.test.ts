import { hostWith } from "#test/support/channels/partial-host.ts";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { createTokens } from "../oauth/tokens.ts";
import { configSchema, requireUsable, secretNames } from "../config.ts";

const root = new URL("../../../", import.meta.url);
const base = { address: "support@shop.example", imap_host: "imap.shop.example", smtp_host: "smtp.shop.example" };

describe("the settings of an e-mail account", () => {
  it("are all in the example of the configuration file and in the documentation", () => {
    const example = readFileSync(new URL("config/parley.example.yaml", root), "utf8").replaceAll(
      /^( *)#(?=\S|  )/gm,
      "$1",
    );
    const { workspaces } = parse(example) as { workspaces: { channels: Record<string, unknown>[] }[] };
    const account = workspaces[0]?.channels.find(({ channel }) => channel === "email") ?? {};
    const { name: _name, channel: _channel, enabled: _enabled, ...config } = account;
    expect(Object.keys(config).toSorted()).toEqual(Object.keys(configSchema.properties).toSorted());
    expect(Value.Errors(configSchema, config)).toEqual([]);
    const docs = readFileSync(new URL("docs/channels.md", root), "utf8");
    for (const name of Object.keys(configSchema.properties)) expect(docs).toContain(`\`${name}\``);
    for (const name of secretNames) expect(Object.keys(configSchema.properties)).toContain(name);
  });

  it("are refused with the fix when they cannot work", () => {
    expect(() => requireUsable(base)).toThrow("neither password nor oauth_token_url");
    expect(() => requireUsable({ ...base, oauth_token_url: "https://x.example" })).toThrow("oauth_client_id");
    const long = { ...base, password: "x", address: "a-very-long-support-address@shop.example" };
    expect(() => requireUsable(long)).toThrow("plus_addressing: false");
    expect(() => requireUsable({ ...long, plus_addressing: false })).not.toThrow();
    expect(() => requireUsable({ ...base, password: "x" })).not.toThrow();
  });

  it("accept no ambiguous address", () => {
    for (const address of ["support", "a+b@shop.example", "a@b@c", "<a@b>", "a b@c.example", "a@b.example\r\nBcc: x"]) {
      expect(Value.Check(configSchema, { ...base, address })).toBe(false);
    }
  });
});

async function until(reached: () => boolean): Promise<void> {
  for (const end = performance.now() + 20_000; !reached();) {
    if (performance.now() > end) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("access tokens", () => {
  const asked: URLSearchParams[] = [];
  let answer: { readonly status: number; readonly body: string } = { status: 200, body: "{}" };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      asked.push(new URLSearchParams(body));
      response.writeHead(answer.status).end(answer.body);
    });
  });
  async function bodyOf(request: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString("utf8");
  }
  let url = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  });
  afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

  const tokensOf = (more: object = {}) => {
    const clock = createHandMovedClock(0);
    const config = {
      ...base,
      oauth_token_url: url,
      oauth_client_id: "the-id",
      oauth_client_secret: "the-secret",
      ...more,
    };
    const kept = new Map<string, string>();
    /** Reads of the renewal lease. */
    const looks: string[] = [];
    const host = hostWith({
      clock,
      state: {
        setSecret: async (key: string, value: string) => void kept.set(key, value),
        getSecret: async (key: string) => kept.get(key) ?? null,
        async get(key: string) {
          looks.push(key);
          return kept.get(key) ?? null;
        },
        async compareAndSet(key: string, before: string | null, after: string) {
          if ((kept.get(key) ?? null) !== before) return false;
          kept.set(key, after);
          return true;
        },
      },
    });
    const again = (given: object = {}) => createTokens({ ...config, ...given }, host);
    const tokens = again();
    const token = async () => (await tokens?.token())?.token;
    return { clock, kept, looks, again, tokens, token };
  };

  it("use the latest refresh token, also after a restart, or a new one from the configuration", async () => {
    const { clock, tokens, token, again } = tokensOf({ oauth_refresh_token: "first" });
    answer = { status: 200, body: JSON.stringify({ access_token: "t1", expires_in: "3600", refresh_token: "second" }) };
    asked.length = 0;
    // Reading and sending share one request.
    expect(await Promise.all([token(), token()])).toEqual(["t1", "t1"]);
    const first = await tokens?.token();
    expect(first).toMatchObject({ token: "t1", isNew: false });
    first?.refused();
    expect(await tokens?.token()).toMatchObject({ isNew: true });
    // An already refused token has no effect.
    first?.refused();
    expect(await tokens?.token()).toMatchObject({ isNew: false });
    // The access token survives a restart, unless its scope changed.
    expect(await again()?.token()).toMatchObject({ token: "t1", isNew: false });
    expect(await again({ oauth_scope: "more" })?.token()).toMatchObject({ isNew: true });
    clock.leap(3_600_000);
    await again()?.token();
    await again({ oauth_refresh_token: "put there by hand" })?.token();
    expect(asked.map((each) => each.get("refresh_token"))).toEqual([
      "first",
      "second",
      "second",
      "second",
      "put there by hand",
    ]);
  });

  it("are renewed by another process after the renewing one crashed", async () => {
    const { clock, kept, looks, token } = tokensOf({ oauth_refresh_token: "r" });
    answer = { status: 200, body: JSON.stringify({ access_token: "t1" }) };
    asked.length = 0;
    kept.set("oauth renewal", `${clock.now() + 45_000} somebody`);
    const renewed = token();
    await until(() => looks.length > 3);
    expect(asked).toEqual([]);
    clock.leap(45_000);
    expect(await renewed).toBe("t1");
  });

  it("are awaited until the caller aborts, the account closes or the limit is reached", async () => {
    const { clock, kept, looks, tokens, again } = tokensOf({ oauth_refresh_token: "r" });
    asked.length = 0;
    const leased = () => kept.set("oauth renewal", `${clock.now() + 45_000} somebody`);
    leased();
    const stop = new AbortController();
    const stopped = tokens?.token(stop.signal);
    const other = tokens?.token();
    await until(() => looks.length > 0);
    stop.abort(new Error("the mailbox stops"));
    await expect(stopped).rejects.toThrow("the mailbox stops");
    tokens?.close();
    await expect(other).rejects.toMatchObject({ name: "AbortError" });
    const third = again()?.token();
    const given = third?.catch((error: unknown) => error);
    for (const _ of [1, 2, 3]) {
      const before = looks.length;
      await until(() => looks.length > before);
      clock.leap(45_000);
      leased();
    }
    expect(await given).toMatchObject({
      message: expect.stringContaining("renew the mailbox's access token") as string,
    });
    expect(asked).toEqual([]);
  });

  it("are requested without a secret if the application has none", async () => {
    const { tokens } = tokensOf({ oauth_refresh_token: "r", oauth_client_secret: undefined });
    answer = { status: 200, body: JSON.stringify({ access_token: "t1" }) };
    asked.length = 0;
    await tokens?.token();
    expect(asked[0]?.has("client_secret")).toBe(false);
  });

  it("are refused from endless answers, and if they are invalid in a header", async () => {
    const { token } = tokensOf();
    answer = { status: 200, body: JSON.stringify({ access_token: "t".repeat(100_000) }) };
    await expect(token?.()).rejects.toThrow("its answer is too long");
    for (const bad of ["two\nlines", "", 7, null]) {
      answer = { status: 200, body: JSON.stringify({ access_token: bad }) };
      await expect(token?.()).rejects.toThrow("no access token is given");
    }
  });

  it("are reported with the fix for each refusal", async () => {
    const { token } = tokensOf({ oauth_refresh_token: "the-refresh-token" });
    for (const [error, fix] of [
      ["invalid_grant", "oauth_refresh_token has ended"],
      ["invalid_client", "check oauth_client_id and oauth_client_secret"],
      ["invalid_scope", "check oauth_scope"],
      ["something_new", "check the settings that begin with oauth_"],
      ["constructor", "check the settings that begin with oauth_"],
    ]) {
      answer = { status: 400, body: JSON.stringify({ error, error_description: "AADSTS7000215: secret the-secret" }) };
      await expect(token?.()).rejects.toThrow(`(${error}, AADSTS7000215): ${fix}`);
    }
  });

  it("are requested with the refresh token, used until they expire, and requested again", async () => {
    const { clock, token } = tokensOf({ oauth_refresh_token: "the-refresh-token", oauth_scope: "mail" });
    asked.length = 0;
    answer = { status: 200, body: JSON.stringify({ access_token: "token-1", expires_in: 3_600 }) };
    expect([await token?.(), await token?.()]).toEqual(["token-1", "token-1"]);
    answer = { status: 200, body: JSON.stringify({ access_token: "token-2", expires_in: 3_600 }) };
    clock.leap(3_590_000);
    expect(await token?.()).toBe("token-2");
    expect(asked.map((each) => Object.fromEntries(each))).toEqual([
      expect.objectContaining({ grant_type: "refresh_token", refresh_token: "the-refresh-token", scope: "mail" }),
      expect.objectContaining({ grant_type: "refresh_token" }),
    ]);
  });

  it("are requested by the application itself without a refresh token", async () => {
    answer = { status: 200, body: JSON.stringify({ access_token: "token-3" }) };
    asked.length = 0;
    expect(await tokensOf().token?.()).toBe("token-3");
    expect(asked[0]?.get("grant_type")).toBe("client_credentials");
  });

  it("are reported without secrets when a request fails", async () => {
    const { token } = tokensOf({ oauth_refresh_token: "the-refresh-token" });
    answer = { status: 400, body: JSON.stringify({ error: "invalid_grant", error_description: "the-refresh-token" }) };
    await expect(token?.()).rejects.toThrow("no access token is given for this mailbox (invalid_grant)");
    answer = { status: 502, body: "<html>the-secret</html>" };
    await expect(token?.()).rejects.toThrow(/\(status 502\): check oauth_token_url/);
    await expect(token?.()).rejects.not.toThrow("the-secret");
  });
});
