import { afterEach, describe, expect, it } from "vitest";
import type { TestClient } from "../test/support/client.ts";
import { connect, greet, newClientId } from "../test/support/client.ts";
import type { TestHost, TestSite } from "../test/support/site.ts";
import { createTestHost, handClock, startSite } from "../test/support/site.ts";

const kb = 1_024;
const tryAgainLater = 1013;
const elsewhere = { headers: { "x-forwarded-for": "203.0.113.7" } };
let site: TestSite | undefined;

afterEach(() => site?.close());

/** The beginning of a message whose end does not come. */
const begin = (client: TestClient, text: string): void => client.socket.send(text, { fin: false });

describe("the memory of all sockets together", () => {
  it("are bounded for incomplete messages: the address with the most loses its largest socket", async () => {
    site = await startSite({ socketBytesMax: 128 * kb });
    const visitor = await greet(site);
    const clientId = newClientId();
    const message = JSON.stringify({ kind: "send", clientId, text: "x".repeat(40 * kb) });
    begin(visitor, message.slice(0, -1));
    const attackers = [await connect(site, elsewhere), await connect(site, elsewhere)] as const;
    begin(attackers[0], "x".repeat(40 * kb));
    begin(attackers[1], "x".repeat(60 * kb));
    expect(await attackers[1].closed).toBe(tryAgainLater);
    visitor.socket.send("}", { fin: true });
    expect(await visitor.next("nack")).toMatchObject({ clientId, code: "too_long" });
    attackers[0].close();
    expect(await attackers[0].closed).toBe(1005);
  });

  it("are released when messages are complete", async () => {
    site = await startSite({ socketBytesMax: 128 * kb });
    const visitor = await greet(site);
    for (let i = 0; i < 10; i += 1) {
      visitor.socket.ping("x".repeat(100));
      visitor.send({ kind: "send", clientId: newClientId(), text: "x".repeat(60 * kb) });
      await visitor.next("nack");
    }
    begin(visitor, "x".repeat(60 * kb));
    const other = await greet(site);
    other.send({ kind: "ping" });
    await other.next("pong");
    expect(visitor.socket.readyState).toBe(visitor.socket.OPEN);
  });

  it("are bounded for messages that are being stored", async () => {
    const host = createTestHost(handClock());
    const stored = Promise.withResolvers<void>();
    const { accept } = host;
    const waiting: TestHost = {
      ...host,
      accept: async (event) => {
        await stored.promise;
        return accept(event);
      },
    };
    site = await startSite({ host: waiting, socketBytesMax: 32 * kb });
    const client = await greet(site);
    for (let i = 0; i < 12; i += 1) client.send({ kind: "send", clientId: newClientId(), text: "x".repeat(3 * kb) });
    expect(await client.closed).toBe(tryAgainLater);
    stored.resolve();
  });

  it("are bounded for frames that browsers do not read", async () => {
    const host = createTestHost(handClock());
    const warned = Promise.withResolvers<unknown>();
    const log = { ...host.log, warn: (_fields: object, message: string) => warned.resolve(message) };
    site = await startSite({ host: { ...host, log }, socketBytesMax: 4 * kb * kb });
    const talker = await greet(site);
    talker.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    await talker.next("ack");
    for (let i = 0; i < 30; i += 1) host.say(host.thread1(), { role: "assistant", markdown: "x".repeat(30 * kb) });
    const { lastSeq = 0 } = (await host.threads.get(host.thread1())) ?? {};
    await expect
      .poll(() => talker.frames.some((frame) => frame.kind === "message" && frame.seq === lastSeq))
      .toBe(true);
    talker.socket.pause();
    for (let i = 0; i < 30; i += 1) talker.send({ kind: "older", before: lastSeq });
    expect(await warned.promise).toMatch(/too many bytes/);
    talker.socket.resume();
    expect(await talker.closed).toBe(tryAgainLater);
  });
});
