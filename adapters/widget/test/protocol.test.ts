import { createHmac } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { userToken } from "#test/support/user-tokens.ts";
import { greet, connect, newClientId, refusal, texts } from "./support/client.ts";
import type { SiteOptions, TestSite } from "./support/site.ts";
import { createTestHost, handClock, realClock, startSite } from "./support/site.ts";

const open: TestSite[] = [];

async function site(options: SiteOptions = {}): Promise<TestSite> {
  const started = await startSite(options);
  open.push(started);
  return started;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

describe("reactions", () => {
  it("are confirmed once they are stored, and are one of six emoji to a message of the thread", async () => {
    const shop = await site();
    const client = await greet(shop);
    client.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    await client.next("message");
    shop.host.say(shop.host.thread1(), { role: "agent", markdown: "Good morning" });
    const { id } = await client.next("message");
    client.send({ kind: "reaction", message: id.replace(/.$/u, id.endsWith("0") ? "1" : "0"), emoji: "🎉" });
    client.send({ kind: "reaction", message: id, emoji: "🎉" });
    expect(await client.next("reaction")).toEqual({ kind: "reaction", message: id, emoji: "🎉" });
    client.send({ kind: "reaction", message: id, emoji: null });
    expect(await client.next("reaction")).toEqual({ kind: "reaction", message: id, emoji: null });
    const { session } = client.ready;
    const event = { kind: "reaction", thread: `web:${session}`, sender: { key: session }, removed: "all" };
    expect(shop.host.events.slice(-2)).toMatchObject([
      { ...event, of: { externalIds: [], messageId: id }, added: ["🎉"] },
      { ...event, of: { externalIds: [], messageId: id }, added: [] },
    ]);
    client.send({ kind: "reaction", message: id, emoji: "🍕" });
    expect(await client.next("error")).toMatchObject({ code: "bad_frame" });
    client.send({ kind: "reaction", message: "1", emoji: "🎉" });
    expect(await client.next("error")).toMatchObject({ code: "bad_frame" });
    shop.host.allow = (name) => !name.startsWith("feedback:");
    client.send({ kind: "reaction", message: id, emoji: "👀" });
    expect(await client.next("error")).toMatchObject({ code: "limited" });
    shop.host.allow = () => true;
    shop.host.failure = new Error("the disk is full");
    client.send({ kind: "reaction", message: id, emoji: "👀" });
    await client.closed;
    expect(client.frames.filter(({ kind }) => kind === "reaction")).toHaveLength(2);
  });
});

describe("messages", () => {
  it("are acknowledged once they are stored, and return numbered with the browser's own id", async () => {
    const { host, ...rest } = await site();
    const client = await greet({ host, ...rest });
    const clientId = newClientId();
    client.send({ kind: "send", clientId, text: "Where is my parcel?" });
    const ack = await client.next("ack");
    const message = await client.next("message");
    expect(ack).toMatchObject({ clientId, seq: 1 });
    expect(message).toMatchObject({
      seq: 1,
      prev: 0,
      role: "user",
      clientId,
      content: [{ t: "p", c: ["Where is my parcel?"] }],
    });
    expect(host.events).toMatchObject([
      { kind: "message", externalId: `${client.ready.session}:${clientId}`, thread: `web:${client.ready.session}` },
    ]);
  });

  it("are not acknowledged when they could not be stored", async () => {
    const { host, ...rest } = await site();
    const client = await greet({ host, ...rest });
    host.failure = new Error("the disk is full");
    const clientId = newClientId();
    client.send({ kind: "send", clientId, text: "Hello" });
    expect(await client.next("nack")).toMatchObject({ clientId, code: "unavailable" });
    host.failure = undefined;
    client.send({ kind: "send", clientId, text: "Hello" });
    expect(await client.next("ack")).toMatchObject({ clientId, seq: 1 });
    expect(JSON.stringify(client.frames)).not.toContain("disk");
  });

  it("are stored once when they are repeated, with the same acknowledgement", async () => {
    const shop = await site();
    const client = await greet(shop);
    const clientId = newClientId();
    client.send({ kind: "send", clientId, text: "Hello" });
    const first = await client.next("ack");
    client.send({ kind: "send", clientId, text: "Hello" });
    expect(await client.next("ack")).toEqual(first);
    expect(shop.host.events).toHaveLength(1);
  });

  it.each([
    ["empty", "  \n "],
    ["too_long", "😀".repeat(4_001)],
  ])("are refused with the code %s", async (code, text) => {
    const client = await greet(await site());
    const clientId = newClientId();
    client.send({ kind: "send", clientId, text });
    expect(await client.next("nack")).toMatchObject({ clientId, code });
  });

  it("can have 4,000 characters, whatever their size in bytes", async () => {
    const client = await greet(await site());
    client.send({ kind: "send", clientId: newClientId(), text: "😀".repeat(4_000) });
    expect(await client.next("ack")).toMatchObject({ seq: 1 });
  });

  it("are stored in the order they were sent", async () => {
    const shop = await site();
    const client = await greet(shop);
    for (let index = 0; index < 10; index += 1)
      client.send({ kind: "send", clientId: newClientId(), text: `number ${index}` });
    for (let index = 0; index < 10; index += 1) await client.next("ack");
    expect(shop.host.events.map((event) => (event.kind === "message" ? event.text : ""))).toEqual(
      Array.from({ length: 10 }, (_, index) => `number ${index}`),
    );
  });

  it("of agents carry the agent's name and sources, and need no call but send", async () => {
    const shop = await site();
    const client = await greet(shop);
    client.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    await client.next("message");
    const source = { title: "Guide", url: "https://docs.test/guide", chunk: "…", score: 1 };
    shop.host.say(shop.host.thread1(), { role: "agent", authorName: "Anna", markdown: "**Hi**", sources: [source] });
    expect(await client.next("message")).toMatchObject({
      role: "agent",
      author: "Anna",
      content: [{ t: "p", c: [{ t: "b", c: ["Hi"] }] }],
      sources: [source],
    });
    const parts = shop.adapter.render({ role: "agent", authorName: "Anna", markdown: "**Hi**", sources: [] });
    expect(parts).toHaveLength(1);
    const [part] = parts;
    if (part === undefined) throw new Error("a part was expected");
    const context = { thread: shop.host.thread1(), key: "k", messageId: "msg_1", signal: new AbortController().signal };
    expect(await shop.adapter.send(part, context)).toEqual({ externalId: "msg_1", state: "sent" });
  });
});

describe("resuming", () => {
  it("replays messages after the browser's position, in order and once, over several pages", async () => {
    const shop = await site();
    const first = await greet(shop);
    first.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    const { seq } = await first.next("message");
    const { token, session } = first.ready;
    first.close();
    await first.closed;
    for (let index = 0; index < 250; index += 1)
      shop.host.say(shop.host.thread1(), { role: "assistant", markdown: `line ${index}` });
    const conversation = shop.host.storedThreads.get(shop.host.thread1())?.conversationId;
    const again = await greet(shop, { token, lastSeq: seq, conversation });
    expect(again.ready).toMatchObject({ session, after: seq });
    for (let index = 0; index < 250; index += 1) await again.next("message");
    expect(texts(again.frames)).toEqual(Array.from({ length: 250 }, (_, index) => `line ${index}`));
    let before = seq;
    for (const frame of again.frames) {
      if (frame.kind !== "message") continue;
      expect(frame.prev).toBe(before);
      before = frame.seq;
    }
  });

  it("starts over when the conversation was erased", async () => {
    const shop = await site();
    const client = await greet(shop);
    client.send({ kind: "send", clientId: newClientId(), text: "Forget me" });
    await client.next("message");
    // The first message began the conversation: a second ready tells its id.
    expect((await client.next("ready")).conversation).not.toBeNull();
    shop.host.erase(shop.host.thread1());
    expect(await client.next("ready")).toMatchObject({ conversation: null, after: 0, lastSeq: 0 });
    client.send({ kind: "send", clientId: newClientId(), text: "I am back" });
    expect(await client.next("message")).toMatchObject({ seq: 1, prev: 0 });
  });

  it("repeats messages for a browser that missed one", async () => {
    const shop = await site();
    const client = await greet(shop);
    client.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    await client.next("message");
    shop.host.say(shop.host.thread1(), { role: "assistant", markdown: "one" });
    shop.host.say(shop.host.thread1(), { role: "assistant", markdown: "two" });
    await client.next("message");
    await client.next("message");
    client.send({ kind: "resume", lastSeq: 1 });
    expect(await client.next("message")).toMatchObject({ prev: 1, content: [{ t: "p", c: ["one"] }] });
    expect(await client.next("message")).toMatchObject({ content: [{ t: "p", c: ["two"] }] });
  });

  it("shows every tab of a browser the same thread", async () => {
    const shop = await site();
    const one = await greet(shop);
    const two = await greet(shop, { token: one.ready.token });
    one.send({ kind: "send", clientId: newClientId(), text: "From the first tab" });
    expect(await two.next("message")).toMatchObject({ role: "user", content: [{ t: "p", c: ["From the first tab"] }] });
    expect(two.ready.session).toBe(one.ready.session);
  });

  it("refuses a token that is foreign or was changed", async () => {
    const shop = await site();
    const { ready } = await greet(shop);
    for (const token of ["nonsense", `${ready.token}x`, `x${ready.token}`]) {
      const client = await connect(shop);
      client.send({ kind: "hello", lastSeq: 0, token });
      expect(await client.closed).toBe(4401);
    }
  });

  it("refuses a token that was not used for more than a year", async () => {
    const clock = handClock();
    const shop = await site({ host: createTestHost(clock) });
    const { ready } = await greet(shop);
    clock.advance(401 * 24 * 60 * 60 * 1_000);
    const client = await connect(shop);
    client.send({ kind: "hello", lastSeq: 0, token: ready.token });
    expect(await client.closed).toBe(4401);
  });
});

describe("identity", () => {
  const identity = (secret: string, userId: string) => ({
    user_id: userId,
    hash: createHmac("sha256", secret).update(userId).digest("hex"),
    name: "Ada",
    email: "ada@example.com",
  });

  it("is passed on when the hash proves it, and the session stays the visitor's own", async () => {
    const shop = await site();
    const visitor = await greet(shop);
    const user = await greet(shop, { token: visitor.ready.token, identity: identity(shop.host.secret, "u1") });
    expect(user.ready).toMatchObject({ verified: true, hasEmail: true, session: visitor.ready.session });
    user.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    await user.next("ack");
    expect(shop.host.events[0]).toMatchObject({
      sender: { verified: { userId: "u1" }, claimed: { name: "Ada", email: "ada@example.com" } },
    });
    expect(Object.keys(Reflect.get(shop.host.events[0] ?? {}, "sender").verified)).toEqual(["userId"]);
  });

  it("is refused when the hash does not prove it, and the visitor is anonymous", async () => {
    const shop = await site();
    const client = await greet(shop, { identity: identity("another secret", "u1") });
    expect(await client.next("error")).toMatchObject({ code: "identity_rejected" });
    expect(client.ready.verified).toBe(false);
    client.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    await client.next("ack");
    expect(shop.host.events[0]).toMatchObject({ sender: { key: client.ready.session } });
    expect(JSON.stringify(shop.host.events)).not.toContain("u1");
  });

  it.each([
    ["another user", "u2"],
    ["nobody", undefined],
  ])("never shows a user's thread to %s on the same browser", async (_who, other) => {
    const shop = await site();
    const first = await greet(shop, { identity: identity(shop.host.secret, "u1") });
    first.send({ kind: "send", clientId: newClientId(), text: "My secret" });
    await first.next("message");
    const second = await greet(shop, {
      token: first.ready.token,
      ...(other === undefined ? {} : { identity: identity(shop.host.secret, other) }),
    });
    expect(second.ready).toMatchObject({ lastSeq: 0, conversation: null });
    expect(second.ready.session).not.toBe(first.ready.session);
    second.send({ kind: "ping" });
    await second.next("pong");
    expect(texts(second.frames)).toEqual([]);
  });
});

describe("a visitor who signs in", () => {
  const identity = (secret: string, userId: string) => ({
    user_id: userId,
    hash: createHmac("sha256", secret).update(userId).digest("hex"),
  });

  const signIn = async () => {
    const shop = await site();
    const visitor = await greet(shop);
    const user = await greet(shop, { token: visitor.ready.token, identity: identity(shop.host.secret, "u1") });
    user.send({ kind: "send", clientId: newClientId(), text: "My secret" });
    await user.next("message");
    return { shop, visitor, user };
  };

  it.each([
    ["nobody", undefined],
    ["another user", "u2"],
  ])("gives nothing to %s with the visitor's old token", async (_who, other) => {
    const { shop, visitor } = await signIn();
    const later = await greet(shop, {
      token: visitor.ready.token,
      ...(other === undefined ? {} : { identity: identity(shop.host.secret, other) }),
    });
    expect(later.ready).toMatchObject({ lastSeq: 0, conversation: null });
    expect(later.ready.session).not.toBe(visitor.ready.session);
    later.send({ kind: "ping" });
    await later.next("pong");
    expect(texts(later.frames)).toEqual([]);
  });

  it("closes sockets that the visitor had open", async () => {
    const { visitor } = await signIn();
    expect(await visitor.closed).toBe(4401);
    expect(texts(visitor.frames)).toEqual([]);
  });

  it("accepts no message that an earlier socket sends at the same time", async () => {
    const shop = await site();
    const { accept } = shop.host;
    const gate = Promise.withResolvers<undefined>();
    shop.host.accept = async (event) => {
      if (event.kind === "message" && event.sender.verified === undefined) await gate.promise;
      return accept(event);
    };
    const visitor = await greet(shop);
    const user = await greet(shop, { token: visitor.ready.token, identity: identity(shop.host.secret, "u1") });
    for (const text of ["one", "two", "three"]) visitor.send({ kind: "send", clientId: newClientId(), text });
    user.send({ kind: "send", clientId: newClientId(), text: "My secret" });
    await user.next("ack");
    gate.resolve(undefined);
    expect(await visitor.closed).toBe(4401);
    expect(visitor.frames.filter(({ kind }) => kind === "ack" || kind === "nack")).toEqual([]);
    expect(shop.host.events.map((event) => Reflect.get(event, "text"))).toEqual(["My secret"]);
  });

  it("accepts no contact details from an earlier socket", async () => {
    const shop = await site();
    const { accept } = shop.host;
    const gate = Promise.withResolvers<undefined>();
    shop.host.accept = async (event) => {
      if (event.kind === "contact") await gate.promise;
      return accept(event);
    };
    const visitor = await greet(shop);
    const user = await greet(shop, { token: visitor.ready.token, identity: identity(shop.host.secret, "u1") });
    visitor.send({ kind: "lead", clientId: newClientId(), name: "Eve", email: "eve@example.com" });
    user.send({ kind: "send", clientId: newClientId(), text: "My secret" });
    await user.next("ack");
    gate.resolve(undefined);
    expect(await visitor.closed).toBe(4401);
    expect(visitor.frames.filter(({ kind }) => kind === "lead_saved")).toEqual([]);
    expect(shop.host.events).toHaveLength(1);
  });

  it("drops queued messages once its socket is closed", async () => {
    const clock = handClock();
    const shop = await site({ host: createTestHost(clock) });
    const { accept } = shop.host;
    const gate = Promise.withResolvers<undefined>();
    shop.host.accept = async (event) => {
      await gate.promise;
      return accept(event);
    };
    const user = await greet(shop, {
      identity: { user_token: userToken(shop.host.secret, { sub: "u1", exp: clock.now() / 1_000 + 10 }) },
    });
    for (const text of ["one", "two"]) user.send({ kind: "send", clientId: newClientId(), text });
    user.send({ kind: "ping" });
    await user.next("pong");
    clock.advance(10_000);
    expect(await user.closed).toBe(4402);
    gate.resolve(undefined);
    await shop.close();
    open.splice(open.indexOf(shop), 1);
    expect(shop.host.events.map((event) => Reflect.get(event, "text"))).toEqual(["one"]);
  });

  it("continues in every window that proves the same user", async () => {
    const { shop, visitor } = await signIn();
    const again = await greet(shop, { token: visitor.ready.token, identity: identity(shop.host.secret, "u1") });
    expect(again.ready.session).toBe(visitor.ready.session);
    await again.next("message");
    expect(texts(again.frames)).toEqual(["My secret"]);
  });
});

describe("typing, read receipts and contact details", () => {
  it("shows agents that the customer is typing, at most once in 1.5 s", async () => {
    const shop = await site();
    const client = await greet(shop);
    for (let index = 0; index < 5; index += 1) client.send({ kind: "typing" });
    client.send({ kind: "ping" });
    await client.next("pong");
    expect(shop.host.typed).toEqual([`web:${client.ready.session}`]);
  });

  it("shows the customer who is typing", async () => {
    const shop = await site();
    const client = await greet(shop);
    const thread = `web:${client.ready.session}`;
    shop.host.signal(thread, { kind: "typing", who: { role: "assistant", name: "Assistant" } });
    expect(await client.next("typing")).toMatchObject({ role: "assistant", name: "Assistant" });
    shop.host.signal(thread, { kind: "typing", who: { role: "agent", name: "Anna" } });
    expect(await client.next("typing")).toMatchObject({ role: "agent", name: "Anna" });
  });

  it("reports who answers now", async () => {
    const shop = await site();
    const client = await greet(shop);
    client.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    await client.next("message");
    shop.host.set(shop.host.thread1(), { handledBy: "agent", agentName: "Anna" });
    expect(await client.next("standing")).toMatchObject({ handledBy: "agent", agentName: "Anna" });
  });

  it("reports an answer as read once it was on the screen", async () => {
    const shop = await site();
    const client = await greet(shop);
    client.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    await client.next("message");
    shop.host.say(shop.host.thread1(), { role: "assistant", markdown: "Hi" });
    const { seq, id } = await client.next("message");
    client.send({ kind: "seen", seq });
    client.send({ kind: "seen", seq });
    client.send({ kind: "ping" });
    await client.next("pong");
    expect(shop.host.events.filter((event) => event.kind === "delivery")).toMatchObject([
      { partExternalId: id, state: "read" },
    ]);
  });

  it("saves a name and an address, and refuses an invalid address", async () => {
    const shop = await site();
    const client = await greet(shop);
    client.send({ kind: "lead", clientId: newClientId(), email: "not an address" });
    expect(await client.next("nack")).toMatchObject({ code: "invalid_email" });
    const clientId = newClientId();
    client.send({ kind: "lead", clientId, name: " Ada ", email: "ada@example.com" });
    expect(await client.next("lead_saved")).toMatchObject({ clientId });
    expect(shop.host.events).toMatchObject([{ kind: "contact", contact: { name: "Ada", email: "ada@example.com" } }]);
  });
});

describe("origins", () => {
  const list = ["https://shop.example", "http://localhost:3000"];

  it.each([
    ["https://shop.example", undefined],
    ["http://localhost:3000", undefined],
    ["https://www.shop.example", 403],
    ["https://shop.example.evil.test", 403],
    ["https://evilshop.example", 403],
    ["http://shop.example", 403],
    ["https://shop.example:8443", 403],
    ["null", 403],
    ["", 403],
  ])("with a list, %s gets %s", async (origin, expected) => {
    const shop = await site({ host: createTestHost(realClock, { allowedOrigins: list }) });
    expect(await refusal(shop, origin === "" ? {} : { origin })).toBe(expected);
    const face = await fetch(`${shop.origin}/chat/${shop.host.face.id}/face`, {
      headers: origin === "" ? {} : { origin },
    });
    expect(face.status).toBe(origin === "" ? 200 : (expected ?? 200));
  });

  it("are all allowed without a list", async () => {
    expect(await refusal(await site(), { origin: "https://anything.example" })).toBeUndefined();
  });

  it("of the hosted page may always use the hosted channel, and only that", async () => {
    const host = () => createTestHost(realClock, { allowedOrigins: list });
    const hosted = await site({ channel: "hosted", host: host() });
    expect(await refusal(hosted, { origin: hosted.origin })).toBeUndefined();
    expect(await refusal(hosted, { origin: "https://evil.test" })).toBe(403);
    const widget = await site({ host: host() });
    expect(await refusal(widget, { origin: widget.origin })).toBe(403);
  });
});

describe("stopping", () => {
  it("tells browsers to reconnect, and leaves nothing running", async () => {
    const started = await startSite();
    const client = await greet(started);
    await started.close();
    expect(await client.closed).toBe(1001);
    expect(started.host.watchers()).toBe(0);
  });
});
