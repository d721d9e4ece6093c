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

// What a process shows in place of something else, or sends after something else, while another process has its work: it
// was held up for longer than its lease, and would bring back what was.

const nothing = async (): Promise<void> => undefined;
const agent = { email: "anna@test.example", name: "Anna" };

eachDatabase("a process that slept while another did its work", (open) => {
  const take = ({ store }: EngineBench, kind: string) =>
    store.write((tx) => tx.updateTable("outbox").set({ lease_id: "ses_other" }).where("kind", "=", kind).execute());

  const end = ({ store }: EngineBench, kind: string) =>
    store.write((tx) => tx.deleteFrom("outbox").where("kind", "=", kind).execute());

  /** It sleeps when it has read all that it needs, before it makes its call. */
  function sleepBefore(bench: EngineBench, kind: string): { readonly slept: Promise<undefined> } {
    const { select } = bench.store;
    const slept = Promise.withResolvers<undefined>();
    let isOver = false;
    Object.assign(bench.store, {
      async select(query: Parameters<typeof select>[0]) {
        if (!isOver && /^select .lease_id. from .outbox. where .id. =/.test(query.sql)) {
          isOver = true;
          await take(bench, kind);
          slept.resolve(undefined);
        }
        return select(query);
      },
    });
    return { slept: slept.promise };
  }

  /** A platform with people of its own, on which everything can be changed. */
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
    const reply = { kind: "reply", content: "It is red.", files: [], clientId: "req_reply", anyway: true } as const;
    await bench.engine.postAgentMessage(bench.workspaceId, id, reply, agent);
    await bench.settle();
    const message = (await bench.messages(id)).at(-1);
    return { id, messageId: message?.id ?? "" };
  }

  for (const content of ["It is blue.", null]) {
    it(`does not ${content === null ? "take back" : "change"} a reply that the other has changed since`, async () => {
      const calls: string[] = [];
      const bench = await openPlatform(open, calls);
      const { id, messageId } = await replied(bench);
      const { slept } = sleepBefore(bench, "amend");
      await bench.engine.postAgentMessage(bench.workspaceId, id, { kind: "amend", messageId, content }, agent);
      await Promise.race([slept, bench.settle()]);
      await bench.close();
      expect(calls).toEqual([]);
    });
  }

  it("shows no note that the other shows", async () => {
    const calls: string[] = [];
    const bench = await openPlatform(open, calls);
    const id = await bench.begin("anna", "hello");
    await bench.settle();
    const { slept } = sleepBefore(bench, "note-there");
    await bench.engine.addNote(bench.workspaceId, id, { content: "Call him.", authorEmail: null }, anna);
    await Promise.race([slept, bench.settle()]);
    await bench.close();
    expect(calls).toEqual([]);
  });

  it("brings the platform's state in line again where it slept in the middle of a call", async () => {
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
    // The other closes it, and opens it again.
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

  it.each(["card", "text"] as const)("brings no older %s back at the agents' desk", async (what) => {
    const calls: string[] = [];
    const bench = await openDesk(async (...call) => void calls.push(call.join(" ")));
    const id = await bench.begin("anna", "hello");
    await bench.settle();
    calls.length = 0;
    const { slept } = sleepBefore(bench, "desk");
    await shown[what](bench, id, "high");
    await Promise.race([slept, bench.settle()]);
    await bench.close();
    expect(calls).toEqual([]);
  });

  it.each(["card", "text"] as const)(
    "shows the newest %s at the desk where it slept in the middle of a call",
    async (what) => {
      const called = Promise.withResolvers<undefined>();
      const wake = Promise.withResolvers<undefined>();
      const stood: string[] = [];
      const bench = await openDesk(async (of, now) => {
        if (of !== what) return;
        if (now === "high") {
          called.resolve(undefined);
          await wake.promise;
        }
        stood.push(now);
      });
      const id = await bench.begin("anna", "hello");
      await bench.settle();
      stood.length = 0;
      await shown[what](bench, id, "high");
      await called.promise;
      await take(bench, "desk");
      await shown[what](bench, id, "urgent");
      // The other shows both.
      stood.push("high", "urgent");
      await end(bench, "desk");
      wake.resolve(undefined);
      await bench.until("it has brought the older one back", () => stood.length > 2);
      await bench.until("the newest is shown again", () => stood.length > 3, 5_000);
      await bench.settle();
      expect(stood).toEqual(["high", "urgent", "high", "urgent"]);
      await bench.close();
    },
  );

  it.each([204, 500])("sends no event after those that the other has sent, answered with %i", async (status) => {
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
    // The other has delivered the first by now.
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
