import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { channelChecks } from "#test/support/channels/channel-checks.ts";
import { hourMs, minuteMs } from "#test/support/engine-bench.ts";
import { startDovecot } from "./support/dovecot.ts";
import type { MailBench } from "./support/mail-bench.ts";
import { openMailBench } from "./support/mail-bench.ts";
import type { TokenProvider } from "./support/token-provider.ts";
import { startTokenProvider } from "./support/token-provider.ts";

/** A provider of access tokens. Dovecot and the SMTP server check each token with it. */
let provider: TokenProvider;
let mail: MailBench;
beforeAll(async () => {
  provider = await startTokenProvider();
  mail = await openMailBench({}, {}, { provider, mechanisms: "xoauth2 oauthbearer" });
});
afterAll(async () => {
  await mail.close();
  await provider.close();
});

/** The account's state in the program's health report. */
async function health() {
  const response = await fetch(`${mail.url}/health/ready`);
  const { dependencies } = (await response.json()) as {
    readonly dependencies: readonly { readonly name: string; readonly state: string; readonly cause: string | null }[];
  };
  return dependencies.find(({ name }) => name.startsWith("channel"));
}

const logged = (): string => mail.bench.logged.join("\n");
const said = async (address: string) =>
  (await mail.mailsTo(address)).map(({ parsed }) => parsed.text?.trim().split("\n")[0]);

describe("a mailbox with access tokens", () => {
  it("signs in to both servers and answers a mail once", async () => {
    await mail.write({ from: "ann@customers.example", id: "<ann-1@x.example>", text: "How much is a lamp?" });
    expect(await said("ann@customers.example")).toEqual(["You asked: How much is a lamp?"]);
    expect(await channelChecks(mail.bench)).toEqual([
      expect.stringMatching(/^good: support\d+@shop\.example, \d+ e-mails in INBOX, 127\.0\.0\.1 takes mails$/),
    ]);
  });

  it("signs in by XOAUTH2 too, the only mechanism of Microsoft", async () => {
    const server = await startDovecot({ mechanisms: "xoauth2", introspectionUrl: provider.introspectionUrl });
    try {
      const adapter = await mail.adapter({
        imap_port: server.imapPort,
        oauth_refresh_token: provider.signIn(mail.world.address),
      });
      expect(await adapter.check?.(new AbortController().signal)).toContain("e-mails in INBOX");
    } finally {
      await server.close();
    }
  });

  it("continues when the server ends the session before the token expires", async () => {
    await mail.connected();
    const before = provider.given();
    provider.endAccessTokens();
    mail.world.dovecot.kick(mail.world.user);
    await mail.write({ from: "bob@customers.example", id: "<bob-1@x.example>", text: "And a table?" });
    expect(await said("bob@customers.example")).toEqual(["You asked: And a table?"]);
    expect(provider.given()).toBe(before + 1);
    expect(await health()).toMatchObject({ state: "ready" });
    // The expired token caused no failure: a new one was requested at once.
    expect(logged()).not.toContain("does not let");
  });

  it("sends a reply once and at once with a new token when the token is refused", async () => {
    await mail.write({ from: "cid@customers.example", id: "<cid-1@x.example>", text: "A question of Cid" });
    await mail.bench.settle();
    const before = provider.given();
    provider.endAccessTokens();
    await mail.reply(await mail.conversationWith("A question of Cid"), "For Cid");
    expect(await said("cid@customers.example")).toEqual(["You asked: A question of Cid", "For Cid"]);
    expect(provider.given()).toBe(before + 1);
  });

  it("requests a new token when one expires", async () => {
    await mail.bench.settle();
    const before = provider.given();
    await mail.bench.advance(hourMs);
    await mail.write({ from: "dee@customers.example", id: "<dee-1@x.example>", text: "A question of Dee" });
    expect(await said("dee@customers.example")).toEqual(["You asked: A question of Dee"]);
    expect(provider.given()).toBe(before + 1);
  });

  it("has its token renewed by one of several processes, which all use it", async () => {
    await mail.bench.settle();
    const before = provider.given();
    await mail.bench.advance(hourMs);
    // Three checks of `doctor` next to the server, with refresh tokens that work once.
    const checks = await Promise.all([1, 2, 3].map(() => channelChecks(mail.bench)));
    expect(checks.flat().filter((line) => !line.startsWith("good: "))).toEqual([]);
    await mail.connected();
    expect(await health()).toMatchObject({ state: "ready" });
    expect(provider.given()).toBe(before + 1);
  });

  it("reports the fix when access was revoked, keeps the queued reply, and logs no token", async () => {
    await mail.write({ from: "eli@customers.example", id: "<eli-1@x.example>", text: "A question of Eli" });
    const conversation = await mail.conversationWith("A question of Eli");
    await mail.bench.settle();
    await mail.connected();
    const refresh = provider.revoke();
    mail.world.dovecot.kick(mail.world.user);
    const reply = await mail.reply(conversation, "For Eli, later");
    const fix =
      "no access token is given for this mailbox (invalid_grant): oauth_refresh_token has ended, was revoked, or belongs to another application: sign in again and put the new one there";
    expect(await channelChecks(mail.bench)).toEqual([`wrong: ${fix}`]);
    // The first cause is the closed connection.
    for (let looks = 0; (await health())?.cause !== fix && looks < 50; looks += 1) await mail.bench.advance(2_000);
    expect(await health()).toMatchObject({ state: "degraded", cause: fix });
    expect(await said("eli@customers.example")).toEqual(["You asked: A question of Eli"]);
    provider.restore(refresh);
    await mail.bench.advance(minuteMs);
    expect(await said("eli@customers.example")).toEqual(["You asked: A question of Eli", "For Eli, later"]);
    await mail.connected();
    expect(await health()).toMatchObject({ state: "ready" });
    const sent = await mail.bench.store.read
      .selectFrom("deliveries")
      .select("state")
      .where("message_id", "=", reply)
      .execute();
    expect(sent).toEqual([{ state: "sent" }]);
    const database = mail.bench.url.replace("sqlite:", "");
    const files = [database, `${database}-wal`].map((file) => readFileSync(file, "latin1"));
    for (const secret of provider.secrets) {
      expect(logged()).not.toContain(secret);
      for (const stored of files) expect(stored.includes(secret)).toBe(false);
    }
  });
});
