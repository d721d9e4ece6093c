import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { silentLog } from "#test/support/knowledge/knowledge.ts";
import { runConnection } from "../connection.ts";
import type { FakeSlack } from "./support/fake-slack.ts";
import { startFakeSlack } from "./support/fake-slack.ts";

let slack: FakeSlack;
beforeEach(async () => {
  slack = await startFakeSlack();
});
afterEach(() => slack.close());

const opened = () => slack.calls("apps.connections.open").length;
const run = (signal: AbortSignal): Promise<void> =>
  runConnection(
    {
      appToken: slack.appToken,
      baseUrl: slack.url,
      deliveries: { take: async () => null },
      host: { allow: () => true, log: silentLog },
    },
    signal,
  );

describe("a connection to Slack that is stopped", { timeout: 30_000 }, () => {
  it("before it started is not opened", async () => {
    await run(AbortSignal.abort());
    expect(opened()).toBe(0);
  });

  it("while it opens is closed", async () => {
    const abort = new AbortController();
    const running = run(abort.signal);
    await eventually(() => expect(opened()).toBe(1));
    abort.abort();
    await running;
    await eventually(() => expect(slack.sockets()).toBe(0));
    expect(opened()).toBe(1);
  });

  it("while it is open is closed", async () => {
    const abort = new AbortController();
    const running = run(abort.signal);
    await eventually(() => expect(slack.sockets()).toBe(1));
    abort.abort();
    await running;
    await eventually(() => expect(slack.sockets()).toBe(0));
    expect(opened()).toBe(1);
  });
});
