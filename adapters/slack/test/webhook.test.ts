import { describe, expect, it } from "vitest";
import { hostWith } from "#test/support/channels/partial-host.ts";
import type { WebResponse } from "#channels/contract.ts";
import { lastAuthFailure } from "../deliveries/auth-failures.ts";
import { createRelay, signedRequest } from "../install/relay.ts";
import { createWebhook } from "../webhook.ts";

const secret = "secret";
const request = signedRequest({ api_app_id: "A1", team_id: "T2", command: "/parley" }, secret, 0);

/** The webhook of T1, which relays this delivery to the account of T2. */
function webhookRelayingTo(deliver: () => Promise<WebResponse>) {
  const stored = new Map<string, string>();
  let now = 1;
  const host = hostWith({
    clock: { now: () => now, timer: () => () => undefined },
    installation: { key: "A1/T1", deliver },
    state: {
      get: async (key) => stored.get(key) ?? null,
      set: async (key, value) => void stored.set(key, value),
    },
  });
  const deliveries = { take: () => Promise.reject(new Error("the delivery is for T2")) };
  return {
    webhook: createWebhook({ host, deliveries, relay: createRelay(host), signingSecret: secret }),
    failure: () => lastAuthFailure(host, secret),
    wait: (ms: number) => (now += ms),
  };
}

describe.each(["receive", "relay"] as const)("%s of a delivery for another account", (way) => {
  it("asks Slack to deliver again while the other account fails", async () => {
    const { webhook } = webhookRelayingTo(() => Promise.reject(new Error("the database is away")));
    expect(await webhook[way](request)).toEqual({ status: 503 });
  });

  it("ends an earlier refusal in doctor", async () => {
    const { webhook, failure, wait } = webhookRelayingTo(async () => ({ status: 200 }));
    const forged = { ...request, headers: { ...request.headers, "x-slack-signature": `v0=${"0".repeat(64)}` } };
    expect(await webhook[way](forged)).toEqual({ status: 401 });
    expect(await failure()).toContain("signing_secret");
    wait(1_000);
    expect(await webhook[way](request)).toEqual({ status: 200 });
    expect(await failure()).toBeUndefined();
  });
});
