import type { KyselyPlugin } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conversationAt } from "#agent-desk/incoming/conversation-of-thread.ts";
import { createCustomers } from "#conversations/retention/customers.ts";
import { createConversationSearch } from "#database/search/open.ts";
import { openStore } from "#database/open.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { connect, newClientId } from "#adapters/widget/test/support/client.ts";
import { startApp } from "../support/http/app.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DeskBench } from "../support/desk/bench.ts";
import { openDeskBench } from "../support/desk/bench.ts";
import { createAgentSteps, newest } from "../support/desk/agent-steps.ts";
import type { DeskWorld } from "../support/desk/world.ts";
import { ben, mia } from "../support/desk/world.ts";

let bench: DeskBench;
let world: DeskWorld;

const steps = createAgentSteps(() => bench);
const { escalated, claimed, click, write, sees, lastNotice, notes } = steps;

/** Starts a conversation of a visitor that waits for an agent, and returns its id. */
async function visitor(name: string): Promise<string> {
  const { store, engine, clock } = bench.app;
  const widget = await store.read
    .selectFrom("accounts")
    .select("id")
    .where("workspace_id", "=", bench.workspaceId)
    .where("channel", "=", "widget")
    .executeTakeFirstOrThrow();
  const before = world.cards().length;
  const text = "I want to talk to a human";
  const base = { externalId: name, thread: `web:${name}`, sender: { key: name }, sentAt: clock.now() };
  const { conversationId } = await engine.ingest(widget.id, { ...base, kind: "message", text });
  await bench.until("the card is shown", () => world.cards().length > before);
  await bench.settle();
  return conversationId ?? "";
}

describe("the desk", () => {
  beforeAll(async () => {
    bench = await openDeskBench(newSqlite);
    ({ world } = bench);
  });
  afterAll(() => bench.close());

  it("edits and deletes replies on the website while the page is open", async () => {
    const socketUrl = `${bench.app.url.replace("http", "ws")}/widget/ws?workspace=${bench.workspaceId}&channel=widget`;
    const page = await connect({ socketUrl });
    page.send({ kind: "hello", lastSeq: 0 });
    await page.next("ready");
    const before = world.cards().length;
    page.send({ kind: "send", clientId: newClientId(), text: "I want to talk to a human" });
    await bench.until("the card is shown", () => world.cards().length > before);
    await bench.settle();
    const written = await write(mia, newest(world.cards()), "Five euros");
    const content = (text: string) => [{ t: "p", c: [text] }];
    const shown = async () => {
      for (;;) {
        const frame = await page.next("message");
        if (frame.role === "agent") return frame;
      }
    };
    const reply = await shown();
    expect(reply.content).toEqual(content("Five euros"));
    await world.edits(written, "Six euros");
    await bench.settle();
    const { id, seq } = reply;
    expect(await page.next("changed")).toMatchObject({ message: { id, seq, content: content("Six euros") } });
    await world.removes(written);
    await bench.settle();
    expect(await page.next("changed")).toMatchObject({ message: { id, seq, content: [], deleted: true } });
    page.close();
  });

  it("reports in the thread how a reply changes in the inbox", async () => {
    const card = await claimed();
    const first = await write(mia, card, "Five *euros*");
    const { id } = await bench.conversation();
    const replies = bench.app.store.read.selectFrom("messages").select("id").where("conversation_id", "=", id);
    const { id: messageId } = await replies.where("role", "=", "agent").executeTakeFirstOrThrow();
    const agent = { email: "mia@shop.example", name: "Mia Meyer" };
    const amend = async (content: string | null): Promise<void> => {
      await bench.app.engine.postAgentMessage(bench.workspaceId, id, { kind: "amend", messageId, content }, agent);
      await bench.settle();
    };
    // An edit in the thread itself is shown there already.
    await world.edits(first, "Five euros");
    await bench.settle();
    expect(world.thread(card).at(-1)).toBe(`${mia}: Five *euros*`);
    await amend("Six euros");
    expect(sees().at(-1)).toBe("Mia Meyer:\nSix euros");
    expect(world.thread(card).at(-1)).toBe("Mia Meyer changed a message. It reads now: Six euros");
    await amend(null);
    expect(world.thread(card).at(-1)).toBe("Mia Meyer took back a message.");
    const shown = world.thread(card).length;
    const second = await write(mia, card, "Seven euros");
    await world.removes(second);
    await bench.settle();
    expect(world.thread(card)).toHaveLength(shown + 1);
  });

  it("names customers' files, also those of an album that arrive one by one", async () => {
    const card = await escalated();
    const file = (name: string) => ({
      document: { file_id: world.telegram.keep(Buffer.from("%PDF-1.7")), file_name: name, file_size: 8 },
    });
    await world.telegramSays(steps.chat(), 2, "", file("invoice.pdf"));
    await bench.settle();
    expect(world.thread(card).slice(-2)).toEqual(["👤 Ada L.\n📎 invoice.pdf", "👤 Ada L.: invoice.pdf"]);
    const album = { media_group_id: "album" };
    await world.telegramSays(steps.chat(), 3, "", { ...file("front.pdf"), ...album, caption: "Look at these" });
    await bench.settle();
    await world.telegramSays(steps.chat(), 4, "", { ...file("back.pdf"), ...album });
    await bench.settle();
    expect(world.thread(card).slice(-3)).toEqual([
      "👤 Ada L.\nLook at these\n📎 front.pdf\n📎 back.pdf",
      "👤 Ada L.: front.pdf",
      "👤 Ada L.: back.pdf",
    ]);
  });

  it("keeps a sent reply that is edited into a note, and a note edited into a reply, with a notice", async () => {
    const card = await claimed();
    const reply = await write(mia, card, "They never pay");
    await world.edits(reply, "// They never pay");
    await bench.settle();
    expect(sees().at(-1)).toBe("Mia Meyer:\nThey never pay");
    expect(lastNotice(mia)).toContain("Delete your message to take it back");
    const note = await write(mia, card, "// Ask Ben");
    await world.edits(note, "Ask Ben first");
    await bench.settle();
    expect(await notes()).toEqual([{ content: "Ask Ben first", author: "mia@shop.example" }]);
    expect(sees().at(-1)).toBe("Mia Meyer:\nThey never pay");
    expect(lastNotice(mia)).toContain("This stays an internal note");
  });

  it("snoozes once for two clicks, does not take an agent's own click for a colleague's, and shows the assignee", async () => {
    const card = await claimed();
    const old = { ...card, blocks: [...card.blocks] };
    const before = world.whispers(mia).length;
    await Promise.all([1, 2].map(() => world.clicks(mia, old, "parley_snooze", "h1")));
    await bench.settle();
    await click(mia, old, "parley_resolve");
    expect(world.whispers(mia)).toHaveLength(before);
    expect(world.thread(card).slice(-2)).toEqual(["Mia Meyer snoozed it.", "Resolved by Mia Meyer."]);

    const other = await claimed();
    const seen = { ...other, blocks: [...other.blocks] };
    await click(ben, other, "parley_snooze", "reply");
    expect(JSON.stringify(other.blocks)).toContain("Snoozed until the customer replies, assigned to Mia Meyer");
    await click(mia, seen, "parley_resolve");
    expect(lastNotice(mia)).toBe("Ben Bauer already snoozed this conversation.");
  });

  it("shows a customer's name on the card once Slack returns it", async () => {
    const user = "U0LATE001";
    const before = world.cards().length;
    await world.slackSays(user, "I want to talk to a human");
    await bench.until("the card is shown", () => world.cards().length > before);
    const card = newest(world.cards());
    expect(JSON.stringify(card.blocks)).toContain("Visitor");
    world.slack.users.set(user, { id: user, name: "Lea Late", teamId: world.slack.teamId, email: "lea@shop.example" });
    bench.app.clock.advance(3_600_000);
    await world.slackSays(user, "Still here");
    await bench.settle();
    expect(JSON.stringify(card.blocks)).toContain("Lea Late, lea@shop.example (verified)");
    expect(world.thread(card).at(-1)).toBe("👤 Lea Late\nStill here");
  });

  it("removes the rest of a thread whose card was deleted, and points authors there to the new one", async () => {
    const card = await claimed();
    const reply = await write(mia, card, "Five euros");
    card.deleted = true;
    await world.telegramSays(steps.chat(), 2, "Are you there?");
    await bench.settle();
    expect(world.thread(card)).toEqual([`${mia}: Five euros`]);
    await write(mia, card, "I am");
    expect(sees().at(-1)).toBe("Mia Meyer:\nFive euros");
    expect(lastNotice(mia)).toContain("this conversation has a new thread by now");
    await world.edits(reply, "Six euros");
    await bench.settle();
    expect(sees().at(-1)).toBe("Mia Meyer:\nSix euros");
  });

  it("finds the conversation of a card whose id is stored during the lookup", async () => {
    await escalated();
    const { store } = bench.app;
    const { id } = await bench.conversation();
    const threads = () => store.read.selectFrom("desk_threads").selectAll().where("conversation_id", "=", id);
    const { account_id: accountId, external_id: thread } = await threads().executeTakeFirstOrThrow();
    const know = (externalId: string | null) =>
      store.write((tx) =>
        tx
          .updateTable("desk_threads")
          .set({ external_id: externalId, state: externalId === null ? "opening" : "open" })
          .where("conversation_id", "=", id)
          .execute(),
      );
    await know(null);
    await expect(conversationAt(store.read, accountId ?? "", thread ?? "")).rejects.toThrow("being begun");
    let looks = 0;
    const meanwhile: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        looks += 1;
        if (looks === 1) await know(thread);
        return result;
      },
    };
    expect(await conversationAt(store.read.withPlugin(meanwhile), accountId ?? "", thread ?? "")).toBe(id);
    expect(await conversationAt(store.read, accountId ?? "", "C0DESK001:1.1")).toBeUndefined();
  });

  it("shows notes and assignments of rules", async () => {
    const card = await escalated();
    const { store, clock, engine } = bench.app;
    const row = { id: "agt_2", workspace_id: bench.workspaceId, email: "ben@shop.example", name: "Ben Bauer" };
    await store.write((tx) =>
      tx
        .insertInto("agents")
        .values({ ...row, role: "agent", password: null, created_at: clock.now() })
        .execute(),
    );
    const { id } = await bench.conversation();
    await engine.update(bench.workspaceId, id, { addTags: ["gift"] }, { type: "api_key", id: "key", name: "shop" });
    await bench.settle();
    const shown = world.thread(card).join("\n");
    expect(shown).toContain("Note of the rule gifts\nWrap it nicely.");
    expect(shown).toContain("Parley gave it to Ben Bauer.");
  });

  it("removes its cards when its workspace is deleted while the program is stopped", async () => {
    const own = await openDeskBench(newSqlite);
    const at = createAgentSteps(() => own);
    const card = await at.claimed();
    await own.app.app.close();
    const store = await openStore(own.databaseUrl);
    try {
      const { clock } = own.app;
      const search = createConversationSearch(store);
      const { files } = own.app.app.services;
      await createCustomers({ store, clock, search, files }).removeWorkspace(own.workspaceId, () => undefined);
      expect(own.world.cards()).toContain(card);
      const later = await startApp(newSqlite, { databaseUrl: own.databaseUrl, clock });
      try {
        const left = () => store.read.selectFrom("accounts").select("id").where("name", "=", "slack").execute();
        const name = store.read.selectFrom("workspaces").select("name").where("id", "=", own.workspaceId);
        await own.until("the cards are gone", () => own.world.cards().length === 0);
        await own.until("the account is gone", async () => (await left()).length === 0);
        await own.until("all is gone", async () => (await name.executeTakeFirstOrThrow()).name === "");
        expect(own.world.thread(card).filter((text) => !text.startsWith(mia))).toEqual([]);
      } finally {
        await later.close();
      }
    } finally {
      await store.close();
      await own.close();
    }
  }, 60_000);

  it("marks a reply once its follow-up e-mail is not needed", async () => {
    const { store, clock } = bench.app;
    const id = await visitor("follow");
    await write(mia, newest(world.cards()), "Five euros");
    const message = await store.read
      .selectFrom("messages")
      .select("id")
      .where("conversation_id", "=", id)
      .where("role", "=", "agent")
      .executeTakeFirstOrThrow();
    const posts = store.read.selectFrom("desk_posts").select("mark").where("ref_id", "=", message.id);
    const { account_id } = await bench.conversation();
    // The state while an e-mail waits for the customer to look at the reply.
    await store.write(async (tx) => {
      await tx.updateTable("desk_posts").set({ mark: null }).where("ref_id", "=", message.id).execute();
      await tx.updateTable("deliveries").set({ state: "read" }).where("message_id", "=", message.id).execute();
      const first = await tx
        .selectFrom("deliveries")
        .selectAll()
        .where("message_id", "=", message.id)
        .executeTakeFirstOrThrow();
      const follow = { id: `${message.id}.1`, part: 1, account_id, thread: id, unless_seen: first.id };
      await tx
        .insertInto("deliveries")
        .values({ ...first, ...follow, state: "queued", external_id: null })
        .execute();
      await insertWork(
        tx,
        [{ lane: `follow:${id}`, kind: "send", payload: { deliveryId: follow.id }, dueAt: clock.now() }],
        clock.now(),
      );
    });
    await bench.until("the reply is marked", async () => (await posts.executeTakeFirst())?.mark === "arrived");
  });
});
