import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openStore } from "#database/open.ts";
import type { TestApp } from "../support/http/app.ts";
import { eachDatabase } from "../support/database/databases.ts";
import { deskChannel } from "../support/desk/world.ts";
import { dayMs, minuteMs } from "../support/engine-bench.ts";
import type { OldInstallation } from "../support/database/upgrade-fixture.ts";
import { openOldInstallation } from "../support/database/upgrade-fixture.ts";
import { verify } from "../support/servers/webhook-receiver.ts";

// An installation made by an older commit, with work of every kind in its outbox, is started on this version. The kinds
// of work keep their names of the older version; see test/fixtures/upgrade/README.md.

const kinds = [
  "amend crawl desk desk-erase desk-event desk-notice embed file forget-events handover-there housekeeping index",
  "ingest knowledge note-there purge recrawl redirect relink retime search send signout speak stand-there tell think",
  "timer unfile",
].flatMap((line) => line.split(" "));

/** The forms of those kinds of work that have several. */
const forms = [
  "desk changed, desk event, desk fate, desk file, desk message, desk note, desk-event asked archive",
  "desk-event asked claim, desk-event asked note, desk-event asked release, desk-event asked reopen",
  "desk-event asked resolve, desk-event asked snooze at, desk-event asked snooze hours",
  "desk-event asked snooze morning, desk-event asked snooze reply, desk-event asked tag, desk-event asked take_over",
  "desk-event chose note, desk-event chose send, desk-event chose take_over, desk-event edited, desk-event removed",
  "desk-event wrote, search build, search drop, search push",
].flatMap((line) => line.split(", "));

interface OldPayload {
  readonly kind?: string;
  readonly items?: readonly { readonly kind: string }[];
  readonly event?: {
    readonly kind: string;
    readonly choice?: string;
    readonly ask?: { readonly kind: string; readonly until?: { readonly kind: string } };
  };
  readonly collection?: string;
}

interface OldRow {
  readonly id: number;
  readonly kind: string;
  readonly payload: OldPayload;
}

function formsOf({ kind, payload: { items, event, kind: form } }: OldRow): readonly string[] {
  if (items !== undefined) return items.map((item) => `${kind} ${item.kind}`);
  const parts = event === undefined ? [form] : [event.kind, event.ask?.kind, event.ask?.until?.kind, event.choice];
  const words = parts.filter((word) => word !== undefined);
  return words.length === 0 ? [] : [`${kind} ${words.join(" ")}`];
}

const handover = expect.stringContaining("A person will reply to you here.");
const handedOver = [expect.stringContaining("I want to talk to a human"), expect.stringContaining("Handed to people")];
const claimed = [...handedOver, "Mia Meyer claimed it."];

eachDatabase("an installation of an older version", (open) => {
  let old: OldInstallation;
  let app: TestApp;
  let waiting: readonly OldRow[];
  let unsent: readonly string[];

  beforeAll(async () => {
    old = await openOldInstallation(open);
    const store = await openStore(old.databaseUrl);
    const rows = await store.read.selectFrom("outbox").selectAll().orderBy("id").execute();
    waiting = rows.map(({ id, kind, payload }) => ({ id, kind, payload: JSON.parse(payload) as OldPayload }));
    const queue = await store.read.selectFrom("webhook_queue").select("event_id").execute();
    unsent = queue.map(({ event_id: id }) => id);
    await store.close();
    for (const name of abandoned()) await createCollection(name);
    app = await old.start();
    await finish(old.left.stoppedAt + 12 * minuteMs);
  });
  afterAll(async () => {
    await app.close();
    await old.close();
  });

  const dueRows = () =>
    app.store.read
      .selectFrom("outbox")
      .select(["id", "kind", "last_error"])
      .where("due_at", "<=", app.clock.now())
      .where("dead_at", "is", null)
      .execute();

  /** Moves the clock to `end`, and further until no work is due. */
  async function finish(end: number): Promise<void> {
    const patience = performance.now() + 60_000;
    for (let due = await dueRows(); due.length > 0 || app.clock.now() < end; due = await dueRows()) {
      if (performance.now() > patience) throw new Error(`still due: ${JSON.stringify(due)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      app.clock.advance(due.length > 0 ? 100 : 2_000);
    }
  }

  const abandoned = (): readonly string[] =>
    waiting.flatMap(({ kind, payload: { kind: form, collection } }) =>
      kind === "search" && form === "drop" && collection !== undefined ? [collection] : [],
    );
  /** The older version had begun to fill another collection. */
  async function createCollection(name: string): Promise<void> {
    const { url, apiKey } = old.typesense;
    const response = await fetch(`${url}/collections`, {
      method: "POST",
      headers: { "x-typesense-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify({ name, fields: [{ name: "text", type: "string" }] }),
    });
    expect(response.status).toBe(201);
  }
  const idOf = (story: string): string => old.left.conversations[story] ?? "";
  const get = async (path: string) => (await app.get(path, { key: old.left.key })).body;
  const conversation = (story: string) => get(`/v1/conversations/${idOf(story)}`);
  const sees = (story: string): readonly string[] => old.world.telegramSees(old.left.chats[story] ?? 0);
  const cardOf = (story: string) =>
    old.world.slack.messages.find(({ channel, ts }) => channel === deskChannel && ts === old.left.cards[story]);
  function thread(story: string): readonly string[] {
    const card = cardOf(story);
    if (card === undefined) throw new Error(`there is no card of ${story}`);
    return old.world.thread(card);
  }
  async function ask(question: string): Promise<string> {
    const body = { workspace_id: old.left.workspaceId, query: question };
    return (await app.post("/v1/query", body, { key: old.left.key })).body.answer;
  }
  const intercomParts = (contact: string) =>
    [...old.intercom.conversations.values()]
      .filter((each) => each.contact.name === contact)
      .flatMap(({ parts }) => parts.map(({ part_type: type, body }) => `${type} ${body ?? ""}`.trim()));

  it("has work of every kind, in every form", () => {
    expect([...new Set(waiting.map(({ kind }) => kind))].toSorted()).toEqual(kinds);
    expect([...new Set(waiting.flatMap(formsOf))].toSorted()).toEqual(forms);
  });

  it("keeps no work of the older version but later timers, and no dead row", async () => {
    const ids = new Set(waiting.map(({ id }) => id));
    const rows = await app.store.read.selectFrom("outbox").selectAll().execute();
    expect(rows.filter(({ dead_at: deadAt }) => deadAt !== null)).toEqual([]);
    expect(rows.filter(({ due_at: dueAt }) => dueAt <= app.clock.now())).toEqual([]);
    const left = rows.filter(({ id }) => ids.has(id)).map(({ kind, last_error: error }) => error ?? kind);
    expect([...new Set(left)]).toEqual(["timer"]);
    expect(app.logged.filter((line) => /^\{"level":[56]0/.test(line))).toEqual([]);
  });

  it("answers, replies, edits and deletes exactly once", () => {
    expect(sees("think")).toEqual([expect.stringContaining("costs 4 euros")]);
    expect(sees("send")).toEqual(["Mia Meyer:\nYes, we have blue lamps.", "Mia Meyer:\nAnd green ones."]);
    expect(sees("amend_edit")).toEqual([handover, "Mia Meyer:\nSixty-six lamps"]);
    expect(sees("amend_remove")).toEqual([handover]);
    expect(sees("speak").filter((text) => text === "We wrap your gift for free.")).toHaveLength(1);
  });

  it("answers the API question that the process died on", async () => {
    const { messages } = await get(`/v1/conversations/${idOf("query")}/messages`);
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      expect.stringMatching(/^user: /),
      expect.stringMatching(/^assistant: .*30 days/),
    ]);
  });

  it("applies agents' actions at the desk", async () => {
    expect(sees("wrote")).toEqual([handover, "Mia Meyer:\nHere is the guide"]);
    expect(old.world.telegram.shown.flatMap(({ file }) => (file === undefined ? [] : [file.name]))).toEqual([
      "guide.pdf",
    ]);
    expect(sees("edited")).toEqual([handover, "Mia Meyer:\nIt costs six euros"]);
    expect(sees("removed")).toEqual([handover]);
    expect(sees("chose_send")).toEqual([handover, "Ben Bauer:\nBen has an idea: chose_send"]);
    expect(sees("chose_take_over")).toEqual([handover, "Ben Bauer:\nBen has an idea: chose_take_over"]);
    expect(sees("chose_note")).toEqual([handover]);
    const stories = {
      claim: "claimed mia",
      release: "open",
      resolve: "resolved mia",
      archive: "archived mia",
      reopen: "open",
      snooze_h1: "snoozed",
      snooze_morning: "snoozed",
      snooze_reply: "snoozed",
      snooze_at: "snoozed",
      take_over: "claimed ben",
      chose_take_over: "claimed ben",
      chose_send: "claimed mia",
      stranger: "claimed mia",
      mirror: "resolved",
    };
    const rows = await app.store.read.selectFrom("conversations").selectAll().execute();
    const statuses = Object.keys(stories).map((story) => {
      const row = rows.find(({ id }) => id === idOf(story));
      return [story, `${row?.status} ${row?.assigned_to?.replace("@shop.example", "") ?? ""}`.trim()];
    });
    expect(Object.fromEntries(statuses)).toEqual(stories);
    const ends = ["snooze_h1", "snooze_morning", "snooze_reply", "snooze_at"].map(
      (story) => rows.find(({ id }) => id === idOf(story))?.snoozed_until ?? null,
    );
    expect(ends).toEqual([
      expect.any(Number),
      Date.UTC(2031, 4, 15, 7),
      null,
      Math.floor(old.left.stoppedAt / 1_000) * 1_000 - 3_000 + 2 * 60 * minuteMs,
    ]);
    expect((await conversation("tag")).tags).toEqual(["refund", "vip"]);
    expect((await conversation("note")).internal_notes).toMatchObject([
      { content: "Call them back", author: "mia@shop.example" },
    ]);
  });

  it("shows events at the desk once, and removes the posts of deleted conversations", () => {
    expect(thread("mirror")).toEqual([
      ...handedOver,
      expect.stringContaining("My parcel is blue"),
      expect.stringContaining("A regular customer"),
      "Resolved by Mia Meyer.",
    ]);
    const notices = ["Mia Meyer\nAre you there?", "Nothing that you write here arrives", "could not be delivered"];
    expect(thread("fate")).toEqual([...claimed, ...notices.map((text) => expect.stringContaining(text))]);
    expect(thread("changed")).toEqual([...claimed, expect.stringContaining("Eighty lamps")]);
    expect(thread("file_shown")).toEqual([...claimed, expect.any(String), expect.stringContaining("photo.jpg")]);
    expect(thread("claim")).toEqual(claimed);
    expect(thread("take_over").at(-1)).toBe("Ben Bauer took it over from Mia Meyer.");
    expect(old.world.slack.ephemerals).toMatchObject([
      { user: "U0GUEST01", text: "Nothing was done: guests are no agents." },
    ]);
    expect(cardOf("erase")?.deleted).toBe(true);
    expect(old.world.slack.messages.filter((each) => each.threadTs === old.left.cards["erase"])).not.toContainEqual(
      expect.objectContaining({ deleted: false }),
    );
  });

  it("updates Intercom once", () => {
    expect(intercomParts("stand")).toEqual(["close"]);
    expect(intercomParts("note").filter((part) => part.includes("Knows Carla"))).toHaveLength(1);
    expect(intercomParts("handover").filter((part) => part.includes("Mia Meyer has handed"))).toHaveLength(1);
  });

  it("creates a task for a reply that WhatsApp no longer accepts", async () => {
    const { tags, internal_notes: notes } = await conversation("parcel");
    expect(old.twilio.taken).toEqual([]);
    expect(tags).toContain("needs_action");
    expect(notes.map(({ content }) => content)).toEqual([expect.stringContaining("Needs action")]);
  });

  it("sends every waiting event to the webhook once, and later ones", async () => {
    const { received } = old.receiver;
    const ids = received.map(({ event }) => event.data.event_id);
    expect(ids).toHaveLength(new Set(ids).size);
    expect(unsent.length).toBeGreaterThan(50);
    expect(unsent.filter((id) => !ids.includes(id))).toEqual([]);
    expect(received.map(({ event }) => event.type)).toContain("document.indexed");
    for (const request of received.slice(0, 3)) verify("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", request);
  });

  it("fetches waiting files, and removes erased ones", async () => {
    const folder = join(old.dataDir, "files", "stored", old.left.workspaceId);
    const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "latin1")));
    expect(files.map((bytes) => bytes.slice(0, 4)).toSorted()).toEqual(["%PDF", "\u0089PNG", "\u0089PNG"]);
  });

  it("keeps timers, merges customers, and purges deleted data", async () => {
    const { store } = app;
    const { contact_id: contact } = await row("rita");
    expect(await row("rita_web")).toMatchObject({ contact_id: contact, previous_conversation_id: idOf("rita") });
    expect(await row("timer")).toMatchObject({ status: "escalated", snoozed_until: null });
    expect(await row("late")).toMatchObject({ sla_state: "breached" });
    const { conversations } = await get(
      `/v1/conversations?workspace_id=${old.left.workspaceId}&sla_state=breached&limit=100`,
    );
    expect(conversations.map(({ id }) => id)).toContain(idOf("late"));
    for (const table of ["conversations", "accounts", "contacts", "agents"] as const) {
      const kept = store.read.selectFrom(table).select("id").where("workspace_id", "=", old.left.outletId);
      expect(await kept.execute()).toEqual([]);
    }
    const monthAgo = app.clock.now() - 30 * dayMs;
    const events = store.read.selectFrom("events").select("id").where("created_at", "<", monthAgo);
    expect(await events.execute()).toEqual([]);
    expect(await store.read.selectFrom("idempotency").select("path").execute()).toEqual([]);

    function row(story: string) {
      return store.read.selectFrom("conversations").selectAll().where("id", "=", idOf(story)).executeTakeFirstOrThrow();
    }
  });

  it("reads the waiting document and websites, and answers from them", async () => {
    const { documents } = await get(`/v1/documents?workspace_id=${old.left.workspaceId}`);
    expect(documents.map(({ status }) => status)).toEqual(documents.map(() => "indexed"));
    expect(old.blog.paths().filter((path) => path === "/")).toHaveLength(1);
    expect(old.site.paths().filter((path) => path === "/bulbs")).toHaveLength(1);
    expect(await ask("How long is a gift card valid?")).toContain("ten years");
    expect(await ask("When was the shop founded?")).toContain("1931");
    expect(await ask("Which bulbs do floor lamps use?")).toContain("60 watts");
  });

  it("fills the search engine, computes vectors for passages, and finds messages", async () => {
    const { typesense, embedding, left } = old;
    const knowledge = (await typesense.collections()).filter((name) => name.includes(`knowledge_${left.workspaceId}`));
    expect(knowledge).toHaveLength(1);
    for (const name of abandoned()) expect(await typesense.documents(name)).toBeUndefined();
    const passages = embedding.asked.flat().filter((text) => text.startsWith("Gift cards") || text.includes("E27"));
    expect(passages).toHaveLength(2);
    const found = async () =>
      (await get(`/v1/conversations?workspace_id=${left.workspaceId}&q=${encodeURIComponent("blue lamps")}`))
        .conversations;
    expect((await found()).map(({ id }) => id)).toEqual([idOf("send")]);
    await app.close();
    // The database's own index has the messages, too.
    app = await old.start(false);
    expect((await found()).map(({ id }) => id)).toEqual([idOf("send")]);
  });
});
