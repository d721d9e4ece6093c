import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newSqlite } from "../support/database/databases.ts";
import type { DeskBench } from "../support/desk/bench.ts";
import { openDeskBench } from "../support/desk/bench.ts";
import { createAgentSteps, newest } from "../support/desk/agent-steps.ts";
import type { DeskWorld, Written } from "../support/desk/world.ts";
import { ben, deskChannel, mia } from "../support/desk/world.ts";
import type { FakeMessage } from "#adapters/slack/test/support/fake-messages.ts";

let bench: DeskBench;
let world: DeskWorld;

const steps = createAgentSteps(() => bench);
const { escalated, claimed, write, sees, lastNotice, notes, view } = steps;

/** A message of an agent whose event has not arrived. */
const undelivered = (card: FakeMessage, text: string, user = mia): Written => ({
  channel: deskChannel,
  user,
  ts: world.slack.nextTs(),
  text,
  threadTs: card.ts,
});

/** Two edits whose events arrive in reverse order. */
async function editsInReverse(written: Written, first: string, second: string): Promise<void> {
  const [before, after] = [world.slack.nextTs(), world.slack.nextTs()];
  for (const [text, at] of [
    [second, after],
    [first, before],
  ] as const) {
    await world.edits(written, text, at);
    await bench.settle();
  }
}

/** An agent who is not stored yet, and whom Slack does not return for now. */
async function unknown(id: string): Promise<string> {
  world.slack.users.set(id, { id, name: "Dan", teamId: world.slack.teamId, email: `${id.toLowerCase()}@shop.example` });
  world.slack.trouble((method) => (method === "users.info" ? { kind: "status", status: 500 } : undefined));
  return id;
}

const asked = (text: string): number =>
  world.telegram.calls("sendMessage").filter((call) => JSON.stringify(call).includes(text)).length;
const until = (work: () => boolean): Promise<void> => bench.until("it is tried", work);

describe("late events at the desk", () => {
  beforeAll(async () => {
    bench = await openDeskBench(newSqlite);
    ({ world } = bench);
  });
  afterAll(() => bench.close());

  it("apply the last edit, in any order of arrival", async () => {
    const card = await claimed();
    await editsInReverse(await write(mia, card, "Five euros"), "Six euros", "Seven euros");
    expect(sees().at(-1)).toBe("Mia Meyer:\nSeven euros");
    await editsInReverse(await write(mia, card, "// Five"), "// Six", "// Seven");
    expect((await notes()).map(({ content }) => content)).toEqual(["Seven"]);
  });

  it("apply the last edit, also if the message arrives after its edits", async () => {
    const card = await claimed();
    const written = undelivered(card, "Five euros");
    await editsInReverse(written, "Six euros", "Seven euros");
    await world.writesLate(written);
    await bench.settle();
    expect(sees().at(-1)).toBe("Mia Meyer:\nSeven euros");
    // Slack repeats the superseded edit.
    await world.edits(written, "Eight euros");
    await bench.settle();
    expect(sees().at(-1)).toBe("Mia Meyer:\nEight euros");
  });

  it("keep a note internal if its // was removed before it arrived", async () => {
    const card = await claimed();
    const before = sees().length;
    const written = undelivered(card, "// They never pay");
    await world.edits(written, "They never pay");
    await bench.settle();
    await world.writesLate(written);
    await bench.settle();
    expect(sees()).toHaveLength(before);
    expect(await notes()).toEqual([{ content: "They never pay", author: "mia@shop.example" }]);
    expect(lastNotice(mia)).toContain("This stays an internal note");
  });

  it("send no message that was deleted while its author's name was looked up", async () => {
    const card = await escalated();
    const written = await world.writes(await unknown("U0DAN0001"), card.ts, "To the wrong customer");
    const edited = await world.writes("U0DAN0001", card.ts, "A frist try");
    await until(() => world.slack.calls("users.info").some(({ user }) => user === "U0DAN0001"));
    await world.removes(written);
    await world.edits(edited, "A second try");
    await world.edits(edited, "A third try");
    world.slack.trouble(undefined);
    await bench.settle();
    expect([asked("wrong customer"), asked("frist"), asked("second"), asked("third")]).toEqual([0, 0, 0, 1]);
    expect(sees().at(-1)).toBe("Dan:\nA third try");
  });

  it("send no message that was deleted while its file was fetched", async () => {
    const card = await claimed();
    const file = world.slack.addFile({ name: "a.pdf", mimetype: "application/pdf", bytes: Buffer.from("%PDF-1.7") });
    const files = [{ id: file.id, name: "a.pdf", mimetype: "application/pdf", url_private: world.slack.fileUrl(file) }];
    world.slack.fail("download", ...Array.from({ length: 6 }, () => ({ kind: "status", status: 500 }) as const));
    const written = await world.writes(mia, card.ts, "Here it is", { subtype: "file_share", files });
    await world.removes(written);
    await bench.settle();
    world.slack.heal();
    const { id } = await bench.conversation();
    const said = bench.app.store.read.selectFrom("messages").select("content").where("conversation_id", "=", id);
    expect(await said.where("role", "=", "agent").execute()).toEqual([]);
    expect(asked("Here it is")).toBe(0);
  });

  it("delete a message whose author has left the team", async () => {
    const id = "U0LEO0001";
    world.slack.users.set(id, { id, name: "Leo", teamId: world.slack.teamId, email: "leo@shop.example" });
    const card = await escalated();
    const written = await write(id, card, "The password is 1234");
    expect(sees().at(-1)).toContain("1234");
    world.slack.users.delete(id);
    bench.app.clock.advance(11 * 60_000);
    await world.edits(written, "The password is 12345");
    await bench.settle();
    expect(sees().at(-1)).toContain("is 1234");
    await world.removes(written);
    await bench.settle();
    expect(sees().join()).not.toContain("1234");
  });

  it("report that an edit does not send a refused message", async () => {
    const card = await claimed();
    const written = await write(mia, card, "x".repeat(10_001));
    expect(lastNotice(mia)).toContain("Nothing was sent");
    await world.edits(written, "Shorter");
    await bench.settle();
    expect(lastNotice(mia)).toBe("This text was not sent, and an edit does not send it. Write it again.");
    expect(sees().at(-1)).not.toContain("Shorter");
  });

  it("send no empty message for a note with only a file, and report which files stay", async () => {
    const card = await claimed();
    const before = sees().length;
    const files = [{ id: "F0NOTE001", name: "a.pdf", mimetype: "application/pdf" }];
    const send = async (text: string): Promise<void> => {
      const written = await write(mia, card, text, { subtype: "file_share", files });
      await world.shortcut(mia, written);
      await world.submits(mia, view(), { selected_option: { value: "send" } });
      await bench.settle();
    };
    await send("//");
    expect(lastNotice(mia)).toMatch(/^Nothing was sent: files of a note stay at the desk \(a\.pdf\)/u);
    expect(await notes()).toHaveLength(1);
    await send("// Have a look");
    expect(lastNotice(mia)).toMatch(/^The text was sent without its files: .*a\.pdf/u);
    expect(sees().slice(before)).toEqual(["Mia Meyer:\nHave a look"]);
  });
});

describe("messages in a thread whose card is deleted", () => {
  beforeAll(async () => {
    bench = await openDeskBench(newSqlite);
    ({ world } = bench);
  });
  afterAll(() => bench.close());

  it("move to the new thread, and are edited there", async () => {
    const card = await claimed();
    // Slack refuses our posts for now, but delivers people's messages.
    world.slack.trouble((method) => (method === "chat.postMessage" ? { kind: "limit", seconds: 60 } : undefined));
    await world.telegramSays(steps.chat(), 2, "Is it in stock?");
    await until(() => world.slack.calls("chat.postMessage").some(({ text = "" }) => text.includes("in stock")));
    const reply = await world.writes(mia, card.ts, "It is");
    const note = await world.writes(mia, card.ts, "// Order more of it");
    await until(() => sees().at(-1) === "Mia Meyer:\nIt is");
    card.deleted = true;
    world.slack.trouble(undefined);
    await bench.settle();
    const newCard = newest(world.cards());
    expect(newCard.ts).not.toBe(card.ts);
    const [transcript, ...after] = world.thread(newCard);
    expect(transcript).toContain("Is it in stock?");
    expect(after).toEqual(["💬 Mia Meyer\nIt is", "📝 Note of Mia Meyer\nOrder more of it"]);
    await world.edits(reply, "It was");
    await bench.settle();
    expect(sees().at(-1)).toBe("Mia Meyer:\nIt was");
    expect(world.thread(newCard)).toContain("💬 Mia Meyer\nIt was (edited)");
    const long = `// ${"Order many more of it. ".repeat(300)}`;
    for (const text of [long, "// Order two"]) {
      await world.edits(note, text);
      await bench.settle();
      const shown = world.thread(newCard).slice(2).join(" ").split(/\s+/);
      expect(shown).toEqual(["📝", "Note", "of", "Mia", "Meyer", ...text.slice(3).trim().split(/\s+/)]);
    }
    await world.removes(note);
    await bench.settle();
    expect(world.thread(newCard)).toHaveLength(2);
  });
});

describe("late events at a desk with a Send button", () => {
  beforeAll(async () => {
    bench = await openDeskBench(newSqlite, { replyMode: "explicit" });
    ({ world } = bench);
  });
  afterAll(() => bench.close());

  it("send the last edit, and no deleted message", async () => {
    const card = await claimed(ben);
    const before = sees().length;
    const written = await write(ben, card, "Five euros");
    const question = world.whispers(ben).at(-1);
    await editsInReverse(written, "Six euros", "Seven euros");
    if (question === undefined) throw new Error("there is no question");
    await world.clicksPrivately(ben, question, "parley_choose_send");
    await bench.settle();
    expect(sees().slice(before)).toEqual(["Ben Bauer:\nSeven euros"]);
    const deletedLater = undelivered(card, "Nine euros", ben);
    await world.removes(deletedLater);
    await bench.settle();
    await world.writesLate(deletedLater);
    await bench.settle();
    expect(await notes()).toEqual([]);
    expect(world.whispers(ben).at(-1)).toBe(question);
  });

  it("change the sent text only after its author has pressed Send again", async () => {
    const press = async (): Promise<void> => {
      const question = world.whispers(ben).at(-1);
      if (question === undefined) throw new Error("there is no question");
      await world.clicksPrivately(ben, question, "parley_choose_send");
      await bench.settle();
    };
    const card = await claimed(ben);
    const before = sees().length;
    const written = await write(ben, card, "Five euros");
    await press();
    for (const text of ["Five euros, or did he pay?", "Six euros"]) {
      await world.edits(written, text);
      await bench.settle();
      expect(sees().slice(before)).toEqual(["Ben Bauer:\nFive euros"]);
      expect(lastNotice(ben)).toBe("The customer sees your reply as it was. Send them the change?");
    }
    await press();
    await press();
    expect(sees().slice(before)).toEqual(["Ben Bauer:\nSix euros"]);
    // Equal to the sent text, so there is nothing to send.
    await world.edits(written, "Seven euros");
    await bench.settle();
    await world.edits(written, "Six euros");
    await bench.settle();
    await press();
    expect(sees().slice(before)).toEqual(["Ben Bauer:\nSix euros"]);
    await world.edits(written, "Eight euros");
    await bench.settle();
    await world.removes(written);
    await bench.settle();
    await press();
    expect(sees().slice(before)).toEqual([]);
  });
});
