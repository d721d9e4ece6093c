import { afterAll, beforeAll, expect, it } from "vitest";
import { namingSettings } from "#channels/http/guarded-connect.ts";
import { createGuardedLookup } from "#outbound/guarded-fetch.ts";
import { hostWith } from "#test/support/channels/partial-host.ts";
import { createRest } from "../client.ts";
import { createGateway } from "../gateway/gateway.ts";
import type { FakeDiscord } from "./support/fake-discord.ts";
import { startFakeDiscord } from "./support/fake-discord.ts";

let discord: FakeDiscord;
beforeAll(async () => {
  discord = await startFakeDiscord();
});
afterAll(() => discord.close());

const nothing = (): undefined => undefined;

it.each([
  ["gateway_url", (given: FakeDiscord) => given.gatewayUrl],
  ["127.0.0.1", nothing],
])(
  "connects to no private gateway that the settings or the API name, and says so (%s)",
  { timeout: 30_000 },
  async (named, chosen) => {
    const { log } = hostWith({});
    const gatewayUrl = chosen(discord);
    const lookup = namingSettings(createGuardedLookup({ allowPrivate: false }), ["gateway_url"], {
      gateway_url: gatewayUrl,
    });
    // The API itself is reached, so that the gateway is what is refused.
    const rest = createRest(discord.token, discord.url);
    const sessions = {
      get: () => null,
      set: nothing,
      began: () => nothing,
      keep: nothing,
      save: async () => undefined,
    };
    const options = { log, rest, token: discord.token, guilds: "off" as const, gatewayUrl, lookup };
    const gateway = createGateway(options, sessions, { onPacket: nothing, onNewSession: nothing });
    await expect(gateway.run(new AbortController().signal)).rejects.toThrow(
      `${named}: 127.0.0.1 is not a public address`,
    );
  },
);
