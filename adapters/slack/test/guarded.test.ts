import { afterAll, beforeAll, expect, it } from "vitest";
import { namingSettings } from "#channels/http/guarded-connect.ts";
import { createGuardedLookup } from "#outbound/guarded-fetch.ts";
import { silentLog } from "#test/support/knowledge/knowledge.ts";
import { runConnection } from "../connection.ts";
import type { FakeSlack } from "./support/fake-slack.ts";
import { startFakeSlack } from "./support/fake-slack.ts";

let slack: FakeSlack;
beforeAll(async () => {
  slack = await startFakeSlack();
});
afterAll(() => slack.close());

const strict = createGuardedLookup({ allowPrivate: false });
const open = createGuardedLookup({ allowPrivate: true });

it.each([
  ["API", "base_url: 127.0.0.1 is not a public address", strict, "127.0.0.1"],
  // The API is reached by name, and names a socket by its address.
  [
    "socket",
    "127.0.0.1: 127.0.0.1 is not a public address",
    ((host, ...rest) => (host === "localhost" ? open : strict)(host, ...rest)) satisfies typeof strict,
    "localhost",
  ],
] as const)("connects to no private %s, and says so", { timeout: 30_000 }, async (_name, reason, guard, server) => {
  const baseUrl = slack.url.replace("127.0.0.1", server);
  const lookup = namingSettings(guard, ["base_url"], { base_url: baseUrl });
  const connection = runConnection(
    {
      appToken: slack.appToken,
      baseUrl,
      deliveries: { take: async () => null },
      host: { allow: () => true, log: silentLog, lookup },
    },
    AbortSignal.timeout(20_000),
  );
  await expect(connection).rejects.toThrow(reason);
  expect(slack.sockets()).toBe(0);
});
