import { afterEach, beforeEach, expect, it } from "vitest";
import { eventTypes } from "#domain/event-types.ts";
import { replayEvent, replayRange } from "#admin/webhooks/replay.ts";
import {
  addWebhook,
  enableWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhook,
  webhookDeliveries,
} from "#admin/webhooks/webhooks.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, dayMs, hourMs, metricsToken, minuteMs, openBench } from "#test/support/engine-bench.ts";
import type { Behaviour, Receiver } from "#test/support/servers/webhook-receiver.ts";
import { openReceiver, verify } from "#test/support/servers/webhook-receiver.ts";

const secrets = createSecrets("a secret for tests, of more than thirty-two characters");
const allowPrivate = ["127.0.0.1"];
const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ""): Behaviour =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);
const hang: Behaviour = () => undefined;

eachDatabase("sending events to endpoints", (open) => {
  let bench: EngineBench;
  let receiver: Receiver;
  beforeEach(async () => {
    bench = await openBench(open, { file: { workspaces: [], allowPrivate } });
    receiver = await openReceiver(() => bench.clock.now());
  });
  afterEach(async () => {
    await bench.close();
    await receiver.close();
  });

  const dependencies = () => ({ store: bench.store, clock: bench.clock, secrets, allowPrivate });
  const add = (url = receiver.url, events: readonly string[] = ["conversation.started", "conversation.resolved"]) =>
    addWebhook(dependencies(), { workspaceId: bench.workspaceId, url, events });
  const resolve = (id: string) => bench.engine.update(bench.workspaceId, id, { status: "resolved" }, anna);
  const stateOf = async (id: string) => (await listWebhooks(bench.store, undefined)).find((each) => each.id === id);
  const log = (endpointId: string) => webhookDeliveries(bench.store, { endpointId, limit: 1_000 });
  /** Commands run in another process, so their changes are found by the next poll. */
  const jump = async (ms: number): Promise<void> => {
    bench.clock.advance(ms);
    await bench.settle();
  };
  const receive = (count: number) =>
    bench.until(`${count} requests have come`, () => receiver.received.length >= count);

  it("posts an event in its original form, with a signature that the reference library accepts", async () => {
    const { secret } = await add(receiver.url, eventTypes);
    const id = await bench.begin("thread", "Hello");
    await bench.settle();
    const [first] = receiver.received;
    if (first === undefined) throw new Error("nothing was received");
    expect(verify(secret, first)).toEqual(first.event);
    expect(first.headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": first.event.data.event_id,
      "webhook-timestamp": String(Math.floor(bench.clock.now() / 1_000)),
    });
    expect(first.event).toMatchObject({ type: "conversation.started", data: { conversation: { id, status: "open" } } });
    expect(() => verify(secret, { ...first, body: first.body.replace("open", "shut") })).toThrow("No matching");
    expect(() => verify("whsec_c29tZWJvZHkgZWxzZSdzIHNlY3JldCwgbm90IG91cnM=", first)).toThrow("No matching");
    expect(receiver.types()).toEqual(["conversation.started", "message.created", "message.created"]);
  });

  it("includes every file of an album in the message's event, and late ones in an event of their own", async () => {
    const { secret } = await add(receiver.url, ["message.created", "message.updated", "conversation.resolved"]);
    const sender = { key: "ada" };
    const part = (externalId: string, more: object) =>
      bench.accept({
        kind: "message",
        externalId,
        thread: "album",
        sender,
        sentAt: bench.clock.now(),
        text: "",
        files: [{ ref: `ref-${externalId}`, name: `${externalId}.jpg`, mediaType: "image/jpeg", bytes: 3 }],
        group: { key: "album" },
        ...more,
      });
    const names = () =>
      receiver.received.map(({ event: { type, data } }) => {
        const { attachments = [] } =
          (data as unknown as { message?: { attachments?: { name: string }[] } }).message ?? {};
        return [type, ...attachments.map(({ name }) => name).toSorted()];
      });
    // The first two arrive in one delivery of the platform, the third later.
    const [{ conversationId }] = await Promise.all([part("front", { text: "Look" }), part("back", {})]);
    bench.clock.advance(1_000);
    await bench.settle();
    await part("side", {});
    await resolve(conversationId ?? "");
    await bench.settle();
    expect(receiver.received).toEqual([]);
    await bench.advance(1_000);
    await receive(2);
    expect(names()).toEqual([["message.created", "back.jpg", "front.jpg", "side.jpg"], ["conversation.resolved"]]);
    const [first] = receiver.received;
    if (first === undefined) throw new Error("nothing was received");
    expect(verify(secret, first)).toEqual(first.event);
    expect(first.event.data).toMatchObject({ message: { content: "Look" } });

    await bench.advance(60_000);
    const before = receiver.received.length;
    await part("late", {});
    await receive(before + 1);
    expect(names().at(-1)).toEqual(["message.updated", "back.jpg", "front.jpg", "late.jpg", "side.jpg"]);
  });

  it("retries after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, with the same id, then gives up", async () => {
    const { id, secret } = await add();
    receiver.behave(answer(500, {}, "out of order"));
    await bench.begin("thread", "Hello");
    await bench.advance(6 * dayMs);
    const times = receiver.received.map(({ at }) => at);
    const gaps = times.slice(1).map((at, i) => at - (times[i] ?? 0));
    const planned = [5_000, 5 * minuteMs, 30 * minuteMs, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs)];
    expect(gaps).toHaveLength(planned.length);
    for (const [i, gap] of gaps.entries()) {
      expect(gap).toBeGreaterThanOrEqual(planned[i] ?? 0);
      expect(gap).toBeLessThan((planned[i] ?? 0) * 1.1 + 1_000);
    }
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    for (const request of receiver.received) expect(verify(secret, request)).toEqual(request.event);
    const tries = await log(id);
    expect(tries.map(({ attempt, outcome, status }) => [attempt, outcome, status])).toEqual([
      [10, "given_up", 500],
      ...Array.from({ length: 9 }, (_, i) => [9 - i, "retry", 500]),
    ]);
    expect(tries[0]).toMatchObject({ response: "out of order", error: "the endpoint answered 500", next_at: null });
  });

  it("keeps the order of a conversation's events while one fails, without delaying other conversations", async () => {
    await add(receiver.url, ["conversation.started", "conversation.claimed", "conversation.resolved"]);
    const slow = await bench.begin("slow", "Hello");
    let broken = true;
    receiver.behave(({ event }, response) => {
      response.writeHead(broken && event.data.conversation.id === slow ? 500 : 200).end();
    });
    await bench.settle();
    await bench.engine.update(bench.workspaceId, slow, { status: "claimed", assignedTo: "a@b.example" }, anna);
    await resolve(slow);
    const other = await bench.begin("other", "Hello");
    await resolve(other);
    await bench.settle();
    const seen = (id: string) => receiver.received.filter(({ event }) => event.data.conversation.id === id);
    expect(seen(other).map(({ event }) => event.type)).toEqual(["conversation.started", "conversation.resolved"]);
    expect(new Set(seen(slow).map(({ event }) => event.type))).toEqual(new Set(["conversation.started"]));
    broken = false;
    await bench.advance(10 * minuteMs);
    const types = seen(slow).map(({ event }) => event.type);
    expect(types.slice(-3)).toEqual(["conversation.started", "conversation.claimed", "conversation.resolved"]);
    expect(types.filter((type) => type !== "conversation.started")).toHaveLength(2);
  });

  it("times out after 15 s, without delaying other endpoints or customers", async () => {
    const hanging = await openReceiver(() => bench.clock.now());
    hanging.behave(hang);
    try {
      const { id } = await add(hanging.url);
      await add();
      for (let i = 0; i < 12; i += 1) await bench.begin(`thread ${i}`, "Hello");
      await receive(12);
      await bench.until("all are answered", () => bench.sent.length === 12);
      bench.clock.advance(250);
      await bench.until("as many are under way as may be", () => hanging.received.length === 4);
      bench.clock.advance(250);
      expect(hanging.received).toHaveLength(4);
      bench.clock.advance(15_000);
      await bench.until("it is noted", async () => (await log(id)).length >= 4);
      expect((await log(id)).at(-1)).toMatchObject({
        status: null,
        error: "there was no answer within 15 s",
        outcome: "retry",
      });
      const later = await bench.begin("one more", "Hello");
      await bench.until("the other endpoint hears of it at once", () =>
        receiver.received.some(({ event }) => event.data.conversation.id === later),
      );
    } finally {
      await removeAll();
      await hanging.close();
    }
  });
  const removeAll = async () => {
    for (const { id } of await listWebhooks(bench.store, undefined)) await removeWebhook(bench.store, bench.clock, id);
  };

  const misbehaviours: readonly { how: string; behaviour: Behaviour; error: string; status: number | null }[] = [
    {
      how: "redirects to a private address",
      behaviour: answer(307, { location: "http://10.0.0.1/" }),
      error: "the endpoint answered 307: redirects are not followed",
      status: 307,
    },
    {
      how: "closes the connection after it has read",
      behaviour: (_, response) => void response.destroy(),
      error: "the connection to 127.0.0.1 broke",
      status: null,
    },
    { how: "refuses", behaviour: answer(400, {}, "no"), error: "the endpoint answered 400", status: 400 },
    {
      how: "answers without end",
      behaviour: (_, response) => {
        response.writeHead(500);
        const more = (): void => {
          while (!response.destroyed && response.write("x".repeat(16_384)));
        };
        response.on("drain", more);
        more();
      },
      error: "the endpoint answered 500",
      status: 500,
    },
  ];
  for (const { how, behaviour, error, status } of misbehaviours) {
    it(`counts a failure when an endpoint ${how}, and delivers when it recovers`, async () => {
      const { id } = await add();
      receiver.behave(behaviour);
      await bench.begin("thread", "Hello");
      await bench.settle();
      const [first] = await log(id);
      expect(first).toMatchObject({ outcome: "retry", status, error: expect.stringContaining(error) });
      expect((first?.response ?? "").length).toBeLessThanOrEqual(1_024);
      expect(await stateOf(id)).toMatchObject({ state: "failing", waiting: 1 });
      receiver.behave(answer(204));
      await bench.advance(6_000);
      expect(receiver.received).toHaveLength(2);
      expect((await log(id))[0]).toMatchObject({ outcome: "delivered", status: 204, attempt: 2 });
      expect(await stateOf(id)).toMatchObject({ state: "enabled", waiting: 0, failing_since: null });
    });
  }

  it("waits as long as an endpoint requests, up to a day", async () => {
    await add();
    receiver.behave(answer(429, { "retry-after": "3600" }));
    await bench.begin("thread", "Hello");
    await bench.advance(hourMs - 1);
    expect(receiver.received).toHaveLength(1);
    receiver.behave(answer(503, { "retry-after": "99999999" }));
    await bench.advance(minuteMs);
    expect(receiver.received).toHaveLength(2);
    await bench.advance(dayMs);
    expect(receiver.received).toHaveLength(3);
  });

  it("disables an endpoint that answers 410, and replays missed events on request once it is enabled", async () => {
    const { id } = await add();
    receiver.behave(answer(410));
    const first = await bench.begin("thread", "Hello");
    await bench.settle();
    expect(await stateOf(id)).toMatchObject({ state: "disabled", disabled_reason: expect.stringContaining("410") });
    receiver.behave(answer(200));
    await resolve(first);
    await bench.settle();
    expect(receiver.received).toHaveLength(1);
    await expect(replayRange(bench.store, bench.clock, id, { failed: true })).rejects.toThrow(
      `is disabled: enable it first, with "parley webhook enable ${id}"`,
    );
    const by = { failed: true, by: anna };
    await expect(replayRange(bench.store, bench.clock, id, by)).rejects.toThrow("in the dashboard");
    await enableWebhook(bench.store, bench.clock, id);
    expect(await replayRange(bench.store, bench.clock, id, { failed: true })).toBe(2);
    await jump(1_000);
    expect(receiver.types()).toEqual(["conversation.started", "conversation.started", "conversation.resolved"]);
    expect(await replayRange(bench.store, bench.clock, id, { failed: true })).toBe(0);
  });

  it("disables an endpoint after 5 days without a success, not earlier", async () => {
    const { id } = await add();
    receiver.behave(answer(500));
    for (let day = 0; day < 5; day += 1) {
      await bench.begin(`day ${day}`, "Hello");
      await bench.settle();
      await jump(dayMs - 1);
      expect((await stateOf(id))?.state).toBe("failing");
      await jump(1);
    }
    await bench.begin("day 5", "Hello");
    await bench.settle();
    expect(await stateOf(id)).toMatchObject({
      state: "disabled",
      disabled_reason: expect.stringContaining("everything has failed for 5 days"),
      waiting: 0,
    });
    const before = receiver.received.length;
    await bench.begin("after", "Hello");
    await bench.advance(dayMs);
    expect(receiver.received).toHaveLength(before);
  });

  it("signs with both secrets for a day after a rotation, then with the new one only", async () => {
    const { id, secret: old } = await add();
    const { secret } = await rotateWebhook(dependencies(), id);
    await bench.begin("one", "Hello");
    await bench.settle();
    await bench.advance(dayMs);
    await bench.begin("two", "Hello");
    await bench.settle();
    const [both, alone] = receiver.received;
    if (both === undefined || alone === undefined) throw new Error("not everything was received");
    expect(verify(secret, both)).toEqual(verify(old, both));
    expect(verify(secret, alone)).toEqual(alone.event);
    expect(() => verify(old, alone)).toThrow("No matching");
    const stored = JSON.stringify(await bench.store.read.selectFrom("webhooks").selectAll().execute());
    for (const each of [secret, old]) {
      expect(stored).not.toContain(each.slice(6));
      expect(bench.logged.join()).not.toContain(each.slice(6));
    }
  });

  it("replays one event or those of a period, byte for byte and with their ids", async () => {
    const { id } = await add();
    const ids = [];
    for (const thread of ["one", "two", "three"]) {
      ids.push(await bench.begin(thread, "Hello"));
      await bench.settle();
      await bench.advance(hourMs);
    }
    const sent = [...receiver.received];
    const [, second] = sent;
    if (second === undefined) throw new Error("not everything was received");
    await replayEvent(bench.store, bench.clock, second.event.data.event_id, id);
    await jump(1_000);
    expect(receiver.received.slice(3).map(({ body }) => body)).toEqual([second.body]);
    expect(receiver.received[3]?.headers["webhook-id"]).toBe(second.headers["webhook-id"]);
    const since = sent[0]?.at ?? 0;
    expect(await replayRange(bench.store, bench.clock, id, { since, until: sent[2]?.at ?? 0 })).toBe(1);
    expect(await replayRange(bench.store, bench.clock, id, { since })).toBe(2);
    await jump(1_000);
    // Events of different conversations have no order.
    expect(receiver.received.slice(4).map(({ body }) => body)).toHaveLength(2);
    expect(new Set(receiver.received.slice(4).map(({ body }) => body))).toEqual(new Set([second.body, sent[2]?.body]));
  });

  it("sends nothing for a deleted workspace, a deleted conversation or a removed endpoint", async () => {
    const { id } = await add();
    receiver.behave(answer(500));
    const conversation = await bench.begin("thread", "Hello");
    await bench.settle();
    await bench.engine.remove(bench.workspaceId, conversation, anna);
    await bench.advance(hourMs);
    expect(receiver.received).toHaveLength(1);
    await bench.begin("another", "Hello");
    await bench.settle();
    await bench.store.write((tx) =>
      tx.updateTable("workspaces").set({ deleted_at: bench.clock.now() }).where("id", "=", bench.workspaceId).execute(),
    );
    await bench.advance(dayMs);
    expect(receiver.received).toHaveLength(2);
    await removeWebhook(bench.store, bench.clock, id);
    for (const table of ["webhook_queue", "webhook_attempts"] as const) {
      expect(await bench.store.read.selectFrom(table).select("id").execute()).toEqual([]);
    }
  });

  it("deletes events and the log after 30 days", async () => {
    const { id } = await add();
    await bench.begin("thread", "Hello");
    await bench.settle();
    await jump(29 * dayMs);
    expect(await log(id)).not.toEqual([]);
    await jump(2 * dayMs);
    expect((await log(id)).filter(({ type }) => type === "conversation.started")).toEqual([]);
    const kept = await bench.store.read.selectFrom("events").select("type").execute();
    expect(kept.map(({ type }) => type)).toEqual(["conversation.resolved"]);
  });

  it("counts attempts by their outcome", async () => {
    await add();
    await bench.begin("thread", "Hello");
    await bench.settle();
    const address = await bench.app.listen();
    const metrics = await (
      await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
    ).text();
    expect(metrics).toContain('parley_webhook_deliveries_total{outcome="delivered"} 1');
  });

  it("continues after the process dies in the middle", async () => {
    const { id } = await add();
    receiver.behave(hang);
    await bench.begin("thread", "Hello");
    await receive(1);
    const other = await openBench(open, { beside: bench, clock: bench.clock, file: { workspaces: [], allowPrivate } });
    try {
      receiver.behave(answer(200));
      let ended = false;
      const ending = bench.app.close().then(() => {
        ended = true;
      });
      await other.until("the process has ended", () => {
        if (!ended) bench.clock.advance(20);
        return ended;
      });
      await ending;
      bench.clock.advance(1_000);
      await other.until("it is sent again", () => receiver.received.length === 2);
      await other.until("it is noted", async () =>
        (await webhookDeliveries(other.store, { endpointId: id, limit: 10 })).some((each) => each.status === 200),
      );
      expect(await webhookDeliveries(other.store, { endpointId: id, limit: 10 })).toHaveLength(1);
      expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
    } finally {
      await other.close();
    }
  });
});

eachDatabase("addresses of endpoints", (open) => {
  it("are refused if they are private or resolve to a private one, unless allowed", async () => {
    const bench = await openBench(open, { file: { workspaces: [], allowPrivate: false } });
    const receiver = await openReceiver(() => bench.clock.now());
    try {
      const add = (url: string, allowed: boolean) =>
        addWebhook(
          { store: bench.store, clock: bench.clock, secrets, allowPrivate: allowed },
          { workspaceId: bench.workspaceId, url },
        );
      for (const host of ["127.0.0.1", "10.1.2.3", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"]) {
        await expect(add(`http://${host}/hook`, false), host).rejects.toThrow("is not a public address");
      }
      for (const url of ["ftp://shop.example/", "shop.example", "https://user:word@shop.example/"]) {
        await expect(add(url, true), url).rejects.toThrow("url: ");
      }
      const { id } = await add(`http://localhost:${receiver.port}/hook`, false);
      await bench.begin("thread", "Hello");
      await bench.settle();
      const [first] = await webhookDeliveries(bench.store, { endpointId: id, limit: 1 });
      expect(first).toMatchObject({ outcome: "retry", error: expect.stringContaining("outbound.allow_private") });
      expect(receiver.received).toEqual([]);
    } finally {
      await bench.close();
      await receiver.close();
    }
  });
});
