import { afterEach, describe, expect, it } from "vitest";
import { greet, connect, newClientId, refusal } from "./support/client.ts";
import type { SiteOptions, TestSite } from "./support/site.ts";
import { createTestHost, handClock, startSite } from "./support/site.ts";

const open: TestSite[] = [];

async function site(options: SiteOptions = {}): Promise<TestSite> {
  const started = await startSite(options);
  open.push(started);
  return started;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

describe("hostile clients", () => {
  it.each([
    ["no JSON", "{"],
    ["no object", "[1]"],
    ["an unknown kind", '{"kind":"drop"}'],
    ["a wrong type", '{"kind":"hello","lastSeq":"1"}'],
    ["a number out of range", '{"kind":"hello","lastSeq":-1}'],
    ["a prototype", '{"kind":"__proto__","lastSeq":0}'],
    ["talk before hello", '{"kind":"send","clientId":"abcdefgh","text":"x"}'],
  ])("get an error for a frame of %s, and are closed when they repeat it", async (_what, frame) => {
    const client = await connect(await site());
    for (let index = 0; index < 3; index += 1) client.socket.send(frame);
    expect(await client.next("error")).toMatchObject({ code: "bad_frame" });
    expect(await client.closed).toBe(4400);
  });

  it("cannot send binary frames, nor frames over 64 KiB", async () => {
    const shop = await site();
    const binary = await connect(shop);
    binary.socket.send(Buffer.from([1, 2, 3]), { binary: true });
    expect(await binary.next("error")).toMatchObject({ code: "bad_frame" });
    const huge = await connect(shop);
    huge.socket.send("x".repeat(64 * 1024 + 1));
    expect(await huge.closed).toBe(1009);
  });

  it("get a refusal for each message over the limit, and are served again in the next minute", async () => {
    const clock = handClock();
    const shop = await site({ host: createTestHost(clock), config: { messages_per_minute: 2 } });
    const client = await greet(shop);
    for (let index = 0; index < 3; index += 1) client.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    expect(await client.next("nack")).toMatchObject({ code: "limited" });
    for (let passedS = 0; passedS < 60; passedS += 20) {
      clock.advance(20_000);
      client.send({ kind: "ping" });
      await client.next("pong");
    }
    client.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    for (let index = 0; index < 3; index += 1) await client.next("ack");
    expect(shop.host.events).toHaveLength(3);
  });

  it("are closed when they flood", async () => {
    const shop = await site({ config: { messages_per_minute_address: 1 } });
    const client = await greet(shop);
    for (let index = 0; index < 30; index += 1) client.send({ kind: "ping" });
    expect(await client.closed).toBe(4429);
  });

  it("are limited in new and in open connections from one address", async () => {
    const rate = await site({ config: { connections_per_minute: 2 } });
    expect(await refusal(rate, {})).toBeUndefined();
    expect(await refusal(rate, {})).toBeUndefined();
    expect(await refusal(rate, {})).toBe(429);
    const held = await site({ config: { sockets_per_address: 1 } });
    const client = await greet(held);
    expect(await refusal(held, {})).toBe(429);
    client.close();
    await client.closed;
    await expect.poll(() => refusal(held, {})).toBeUndefined();
  });

  it("receive only as fast as they read, and are disconnected when they stop", async () => {
    const clock = handClock();
    const shop = await site({ host: createTestHost(clock) });
    const client = await greet(shop);
    const thread = `web:${client.ready.session}`;
    client.socket.pause();
    shop.host.say(thread, { role: "user", markdown: "the first of many" });
    const first = shop.host.storedThreads.get(thread)?.messages[0];
    if (first === undefined) throw new Error("it was just said");
    const long = { ...first, markdown: "word ".repeat(4_000) };
    const many = Array.from({ length: 1_000 }, (_, index) => ({ ...long, seq: index + 2 }));
    shop.host.storedThreads.get(thread)?.messages.push(...many);
    shop.host.threads.announce(thread);
    let before = -1;
    const settled = (): boolean => {
      const still = shop.host.read === before && before > 0;
      before = shop.host.read;
      return still;
    };
    await expect.poll(settled, { timeout: 10_000, interval: 200 }).toBe(true);
    // The history is read page by page, and no further than the browser reads.
    expect(shop.host.read).toBeLessThan(900);
    clock.advance(25_000);
    clock.advance(25_000);
    await expect.poll(() => shop.host.watchers()).toBe(0);
    client.socket.terminate();
  });

  it("are closed without a hello, and disconnected when they fall silent", async () => {
    const clock = handClock();
    const shop = await site({ host: createTestHost(clock) });
    const silent = await connect(shop);
    clock.advance(10_000);
    expect(await silent.closed).toBe(4401);
    const dead = await greet(shop, {}, { autoPong: false });
    expect(shop.host.watchers()).toBe(1);
    clock.advance(25_000);
    clock.advance(25_000);
    expect(await dead.closed).toBe(1006);
    await expect.poll(() => shop.host.watchers()).toBe(0);
  });
});
