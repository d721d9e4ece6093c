import Type from "typebox";
import { expect, it } from "vitest";
import type { ChannelAdapter } from "#channels/contract.ts";
import { addWebhook } from "#admin/webhooks/webhooks.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { openStore } from "#database/open.ts";
import { openBareDesk } from "#test/support/desk/bare-desk.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, benchSecret, openBench } from "#test/support/engine-bench.ts";
import { openReceiver } from "#test/support/servers/webhook-receiver.ts";

// A process that pauses for longer than its lease must not overwrite what another process has shown or sent meanwhile.

const nothing = async (): Promise<void> => undefined;
const agent = { email: "anna@test.example", name: "Anna" };

eachDatabase("a process that paused while another did its work", (open) => {
  const take = ({ store }: EngineBench, kind: string) =>
    store.write((tx) => tx.updateTable("outbox").set({ lease_id: "ses_other" }).where("kind", "=", kind).execute());

  const end = ({ store }: EngineBench, kind: string) =>
    store.write((tx) => tx.deleteFrom("outbox").where("kind", "=", kind).execute());

  /** Pauses the process after its last read, before its call. */
  function pauseBefore(bench: EngineBench, kind: string): { readonly paused: Promise<undefined> } {
    const { select } = bench.store;
    const paused = Promise.withResolvers<undefined>();
    let isOver = false;
    Object.assign(bench.store, {
      async select(query: Parameters<typeof select>[0]) {
        if (!isOver && /^select .lease_id. from .outbox. where .id. =/.test(query.sql)) {
          isOver = true;
          await take(bench, kind);
          paused.resolve(undefined);
        }
        return select(query);
      },
    });
    return { paused: paused.promise };
  }

  /** A platform with its own agents, on which everything can be edited. */
  function openPlatform(given: () => Promise<TestDatabase>, calls: string[], more: Partial<ChannelAdapter> = {}) {
    return openBench(given, {
      account: {
        channel: "intercom",
        config: {},
        load: async () => ({
          channels: ["intercom"],
          config: Type.Object({}),
          secrets: [],
          create: () => ({
            capabilities: { textMax: null, typing: false, receipts: true, idempotentSend: true },
            inbound: { kind: "webhook", receive: async () => ({ status: 200 }) },
            render: ({ markdown }) => [{ text: markdown, payload: { markdown } }],
            send: async (_part, { key }) => ({ externalId: key, state: "sent" }),
            edit: async ({ text }) => void calls.push(`edit ${text}`),
            remove: async () => void calls.push("remove"),
            setState: async ({ kind }) => void calls.push(`state ${kind}`),
            addNote: async ({ text }) => void calls.push(`note ${text}`),
            close: nothing,
            ...more,
          }),
        }),
      },
    });
  }

  async function replied(bench: EngineBench): Promise<{ readonly id: string; readonly messageId: string }> {
    const id = await bench.begin("anna", "hello");
    await bench.settle();
    const reply = {
      kind: "reply",
      content: "It is red.",
      files: [],
      clientId: "req_reply",
      overrideOwner: true,
    } as const;
    await bench.engine.postAgentMessage(bench.workspaceId, id, reply, agent);
    await bench.settle();
    const message = (await bench.messages(id)).at(-1);
    return { id, messageId: message?.id ?? "" };
  }

  for (const content of ["It is blue.", null]) {
    it(`does not ${content === null ? "delete" : "edit"} a reply that the other has edited since`, async () => {
      const calls: string[] = [];
      const bench = await openPlatform(open, calls);
      const { id, messageId } = await replied(bench);
      const { paused } = pauseBefore(bench, "amend");
      await bench.engine.postAgentMessage(bench.workspaceId, id, { kind: "amend", messageId, content }, agent);
      await Promise.race([paused, bench.settle()]);
      await bench.close();
      expect(calls).toEqual([]);
    });
  }

  it("posts no note that the other has posted", async () => {
    const calls: string[] = [];
    const bench = await openPlatform(open, calls);
    const id = await bench.begin("anna", "hello");
    await bench.settle();
    const { paused } = pauseBefore(bench, "note-there");
    await bench.engine.addNote(bench.workspaceId, id, { content: "Call him.", authorEmail: null }, anna);
    await Promise.race([paused, bench.settle()]);
    await bench.close();
    expect(calls).toEqual([]);
  });

  it("restores the platform's state if it paused during a call", async () => {
    const calls: string[] = [];
    const called = Promise.withResolvers<undefined>();
    const wake = Promise.withResolvers<undefined>();
    const bench = await openPlatform(open, calls, {
      async setState({ kind }) {
        if (calls.length === 0 && kind === "closed") {
          called.resolve(undefined);
          await wake.promise;
        }
        calls.push(`state ${kind}`);
      },
    });
    const id = await bench.begin("anna", "hello");
    await bench.settle();
    await bench.engine.update(bench.workspaceId, id, { status: "resolved" }, anna);
    await called.promise;
    await take(bench, "stand-there");
    // The other process closes and reopens it.
    await bench.engine.update(bench.workspaceId, id, { status: "open" }, anna);
    await end(bench, "stand-there");
    wake.resolve(undefined);
    await bench.until("it stands there as it is", () => calls.length === 2);
    expect(calls).toEqual(["state closed", "state open"]);
    await bench.close();
  });

  const shown = {
    card: ({ engine, workspaceId }: EngineBench, id: string, priority: "high" | "urgent") =>
      engine.update(workspaceId, id, { priority }, anna),
    text: async (bench: EngineBench, id: string, text: string) =>
      bench.accept({
        kind: "edit",
        externalId: `edited to ${text}`,
        thread: "anna",
        messageExternalId: (await bench.messages(id))[0]?.external_id ?? "",
        text,
        sender: { key: "customer of anna" },
        sentAt: bench.clock.now(),
      }),
  };
  const openDesk = (show: (what: "card" | "text", now: string) => Promise<void>) =>
    openBareDesk(open, {
      update: (_thread, { priority }) => show("card", priority),
      change: (_id, { text }) => show("text", text),
    });

  it.each(["card", "text"] as const)("restores no older %s at the agents' desk", async (what) => {
    const calls: string[] = [];
    const bench = await openDesk(async (...call) => void calls.push(call.join(" ")));
    const id = await bench.begin("anna", "hello");
    await bench.settle();
    calls.length = 0;
    const { paused } = pauseBefore(bench, "desk");
    await shown[what](bench, id, "high");
    await Promise.race([paused, bench.settle()]);
    await bench.close();
    expect(calls).toEqual([]);
  });

  it.each(["card", "text"] as const)("shows the newest %s at the desk if it paused during a call", async (what) => {
    const called = Promise.withResolvers<undefined>();
    const wake = Promise.withResolvers<undefined>();
    const appliedValues: string[] = [];
    const bench = await openDesk(async (of, now) => {
      if (of !== what) return;
      if (now === "high") {
        called.resolve(undefined);
        await wake.promise;
      }
      appliedValues.push(now);
    });
    const id = await bench.begin("anna", "hello");
    await bench.settle();
    appliedValues.length = 0;
    await shown[what](bench, id, "high");
    await called.promise;
    await take(bench, "desk");
    await shown[what](bench, id, "urgent");
    // The other process shows both.
    appliedValues.push("high", "urgent");
    await end(bench, "desk");
    wake.resolve(undefined);
    await bench.until("it has brought the older one back", () => appliedValues.length > 2);
    await bench.until("the newest is shown again", () => appliedValues.length > 3, 5_000);
    await bench.settle();
    expect(appliedValues).toEqual(["high", "urgent", "high", "urgent"]);
    await bench.close();
  });

  it.each([204, 500])("sends no event after those of the other, answered with %i", async (status) => {
    const database = await open();
    const kept = async () => ({ url: database.url, remove: nothing });
    const bench = await openBench(kept, { file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
    const receiver = await openReceiver(() => bench.clock.now());
    const { store, clock, workspaceId } = bench;
    const secrets = createSecrets(benchSecret);
    const events = ["conversation.started", "conversation.resolved", "conversation.reopened"];
    await addWebhook(
      { store, clock, secrets, allowPrivate: ["127.0.0.1"] },
      { workspaceId, url: receiver.url, events },
    );
    const held = Promise.withResolvers<undefined>();
    receiver.behave((_, response) => void held.promise.then(() => response.writeHead(status).end()));
    const id = await bench.begin("anna", "hello");
    for (const to of ["resolved", "open"] as const) await bench.engine.update(workspaceId, id, { status: to }, anna);
    await bench.until("the first is under way", () => receiver.received.length === 1);
    await take(bench, "tell");
    // The other process has delivered the first one.
    const queued = () => store.read.selectFrom("webhook_queue").select(["id", "due_at"]).orderBy("id").execute();
    const [head, ...rest] = await queued();
    await store.write((tx) =>
      tx
        .deleteFrom("webhook_queue")
        .where("id", "=", head?.id ?? 0)
        .execute(),
    );
    held.resolve(undefined);
    await bench.close();
    expect(receiver.types()).toEqual(["conversation.started"]);
    const after = await openStore(bench.url);
    expect(await after.read.selectFrom("webhook_queue").select(["id", "due_at"]).orderBy("id").execute()).toEqual(rest);
    await after.close();
    await database.remove();
    await receiver.close();
  });
});
