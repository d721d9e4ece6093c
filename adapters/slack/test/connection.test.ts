import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SlackAccount } from "./support/account.ts";
import { openSlackAccount } from "./support/account.ts";
import { envelopeOf } from "./support/events.ts";
import type { Pushed } from "./support/fake-slack.ts";
import { runStatement } from "#test/support/database/run-statement.ts";

let account: SlackAccount;
const appTokens: string[] = [];

beforeEach(async () => {
  account = await openSlackAccount((slack) => {
    appTokens.push(slack.appToken);
    return { app_token: slack.appToken, signing_secret: undefined };
  });
  await account.bench.advance(10_000);
});
afterEach(() => account.close());

/** Waits for a connection; advances the clock, because the host reconnects by it. */
const connected = () =>
  account.bench.until(
    "it is connected",
    () => {
      if (account.slack.sockets() === 1) return true;
      account.bench.clock.advance(5);
      return false;
    },
    20_000,
  );
/** Pushes an event until it is acknowledged: Slack resends unacknowledged events over the next socket. */
async function pushEvent(event: object): Promise<Pushed> {
  for (let attempt = 0; ; attempt += 1) {
    const pushed = await account.slack.push("events_api", event);
    if (pushed.closed !== true || attempt > 5) return pushed;
    await connected();
  }
}
const push = (text: string) => pushEvent(envelopeOf(account.slack, account.said({ channel: "D0ADA", text })));
const logged = (words: string): boolean => account.bench.logged.some((line) => line.includes(words));

describe("an account in Socket Mode", () => {
  it("receives messages and commands over its connection", async () => {
    await connected();
    expect(await push("How much?")).toMatchObject({ acknowledged: true });
    await account.bench.settle();
    expect(account.texts("D0ADA")).toEqual(["You asked: How much?"]);
    const command = { command: "/parley", user_id: "U0ADA", text: "mine" };
    expect(await account.slack.push("slash_commands", command)).toMatchObject({
      acknowledged: true,
      reply: { response_type: "ephemeral" },
    });
    const pressed = { type: "block_actions", user: { id: "U0ADA" }, actions: [] };
    expect(await account.slack.push("interactive", pressed)).toMatchObject({ acknowledged: true });
  });

  it("does not acknowledge a message that could not be stored, and stores it when it is resent", async () => {
    await connected();
    const event = envelopeOf(account.slack, account.said({ channel: "D0ADA", text: "Keep me" }));
    await runStatement(account.bench.url, "alter table inbound_events rename to away");
    const refused = account.slack.push("events_api", event);
    await account.bench.until("it has failed", () => logged("storing or acknowledging"));
    account.slack.dropSockets();
    expect(await refused).toMatchObject({ acknowledged: false });
    await runStatement(account.bench.url, "alter table away rename to inbound_events");
    await connected();
    expect(await pushEvent(event)).toMatchObject({ acknowledged: true });
    expect(await pushEvent(event)).toMatchObject({ acknowledged: true });
    expect(await account.stored()).toEqual(["Keep me"]);
  });

  it("reconnects when Slack requests it, or closes the connection", async () => {
    await connected();
    account.slack.refreshSockets();
    await account.bench.until(
      "it has connected again",
      () => account.slack.calls("apps.connections.open").length === 2 && account.slack.sockets() === 1,
    );
    expect(await push("After the refresh")).toMatchObject({ acknowledged: true });
    account.slack.dropSockets();
    await account.bench.until(
      "it has connected again",
      () => account.slack.calls("apps.connections.open").length === 3 && account.slack.sockets() === 1,
    );
    expect(await push("After the break")).toMatchObject({ acknowledged: true });
    expect(await account.stored()).toEqual(["After the refresh", "After the break"]);
  });

  it("retries during an outage of Slack, and logs no token", async () => {
    await connected();
    await account.slack.goAway();
    await account.bench.until("it has noticed", () => logged("connections: connection broke"));
    await account.slack.comeBack();
    await account.bench.advance(120_000);
    await connected();
    expect(await push("You are back")).toMatchObject({ acknowledged: true });
    for (const token of [...appTokens, account.slack.botToken]) {
      expect(account.bench.logged.join("\n")).not.toContain(token);
    }
    expect(account.bench.logged.join("\n")).not.toContain("ticket=");
  });

  it("survives malformed messages", async () => {
    await connected();
    for (const text of [
      "{",
      "null",
      "5",
      "[]",
      "{}",
      '{"type":"close"}',
      '{"type":"events_api"}',
      '{"type":"events_api","payload":null,"envelope_id":"e"}',
      '{"type":"events_api","payload":{"event":{"type":"ws_message"}},"envelope_id":"e"}',
      '{"type":"events_api","payload":{"event":{"type":"message","channel":7}},"envelope_id":"e"}',
      '{"type":"interactive","payload":"x","envelope_id":"e"}',
    ]) {
      account.slack.pushRaw(text);
    }
    expect(await push("Still there?")).toMatchObject({ acknowledged: true });
    expect(await account.stored()).toEqual(["Still there?"]);
    expect(account.slack.calls("apps.connections.open")).toHaveLength(1);
  });

  it("reports an unknown token, and connections that Slack closes at once", async () => {
    await connected();
    account.slack.fail("apps.connections.open", { kind: "error", error: "invalid_auth" });
    account.slack.dropSockets();
    await account.bench.until("it has failed", () => logged("Slack does not know app_token"));
    await account.bench.advance(120_000);
    await connected();
    for (let at = 0; at < 12 && !logged("closes every connection"); at += 1) {
      const calls = account.slack.calls("apps.connections.open").length;
      account.slack.dropSockets();
      await account.bench.until(
        "it connects again or gives up",
        () =>
          logged("closes every connection") ||
          (account.slack.calls("apps.connections.open").length > calls && account.slack.sockets() === 1),
      );
    }
    expect(logged("closes every connection")).toBe(true);
  });

  it("refuses deliveries over HTTP", async () => {
    expect((await account.say({ channel: "D0ADA", text: "By the other door" })).status).toBe(404);
    expect(await account.stored()).toEqual([]);
  });
});
