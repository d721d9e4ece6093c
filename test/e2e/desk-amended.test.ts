import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeMessage } from "#adapters/slack/test/support/fake-messages.ts";
import type { AllChannels } from "../support/channels/all-channels.ts";
import { openAllChannels } from "../support/channels/all-channels.ts";
import { newSqlite } from "../support/database/databases.ts";
import { mia } from "../support/desk/world.ts";
import type { InboxUser } from "../support/http/inbox.ts";
import { addAgent, signIn } from "../support/http/inbox.ts";
import type { Line } from "../support/channels/line-up.ts";
import { lineUp } from "../support/channels/line-up.ts";
import { skipped } from "../support/skipped.ts";
import { markdownTable, tableIn } from "../support/markdown-table.ts";

const page = new URL("../../docs/desk.md", import.meta.url);

const plea = "I want to talk to a human";
const head = ["channel", "an edit", "a deletion"];
const isChanged = "is changed for the customer";
const isTakenBack = "is taken back from the customer";
const isDeclined = "the agent is told that it is not";

/** Whether a reply waits for the platform, so that customers see nothing before it is back. */
const waits = ({ channel }: Line): boolean => !["widget", "hosted", "api"].includes(channel);

describe("an agent's edit or deletion in Slack of a sent reply", () => {
  let all: AllChannels;
  let inbox: InboxUser;
  beforeAll(async () => {
    all = await openAllChannels(newSqlite);
    inbox = await signIn(all.app, await addAgent(all.app, "Mia", all.workspaceId));
  }, 120_000);
  afterAll(() => all.close());

  /** The card of a new customer of this channel, who has asked for a person. */
  async function claimed(line: Line, customer: string): Promise<FakeMessage> {
    const known = new Set(all.desk.cards());
    const found = () => all.desk.cards().find((card) => !known.has(card));
    expect(await line.platform.deliver({ customer, id: `${customer}-${line.channel}`, text: plea })).toBe(true);
    expect(await all.waitFor(() => found() !== undefined)).toBe(true);
    await all.settle();
    const card = found();
    if (card === undefined) throw new Error("there is no card");
    await all.desk.clicks(mia, card, "parley_claim");
    await all.settle();
    return card;
  }
  /** The sums that the customer sees. */
  const sums = async ({ platform }: Line, customer: string): Promise<readonly string[]> =>
    (await platform.shown(customer)).flatMap((text) => text.match(/\w+ euros/g) ?? []);
  const whispers = (): readonly string[] => all.desk.whispers(mia).map(({ text }) => text);
  const thread = (card: FakeMessage): string => all.desk.thread(card).join("\n");
  const marks = (ts: string): readonly string[] =>
    all.desk.slack.reactions.filter((each) => each.ts === ts).map(({ name }) => name);
  /** The ephemeral messages that Slack shows during `work`. */
  async function noticesDuring(work: () => Promise<void>): Promise<string> {
    const before = whispers().length;
    await work();
    await all.settle();
    return whispers().slice(before).join("\n");
  }

  async function row(line: Line): Promise<readonly string[]> {
    const customer = "ada";
    const card = await claimed(line, customer);
    const written = await all.desk.writes(mia, card.ts, "Five euros");
    expect(await all.waitFor(async () => (await sums(line, customer)).length > 0)).toBe(true);
    await all.settle();
    expect(marks(written.ts)).toEqual(["white_check_mark"]);
    const { id } = await all.app.store.read
      .selectFrom("conversations")
      .select("id")
      .where("account_id", "=", all.accountId(line))
      .orderBy("id", "desc")
      .executeTakeFirstOrThrow();
    const { amendable } = (await inbox.get(`conversations/${id}`)).body as {
      readonly amendable: { readonly edit: boolean; readonly remove: boolean };
    };

    const ofEdit = await noticesDuring(() => all.desk.edits(written, "Six euros"));
    const edited = await sums(line, customer);
    expect(edited).toEqual([amendable.edit ? "Six euros" : "Five euros"]);
    expect(ofEdit).toContain(amendable.edit ? "" : "lets nobody change a message once it is sent");
    const ofRemoval = await noticesDuring(() => all.desk.removes(written));
    expect(await sums(line, customer)).toEqual(amendable.remove ? [] : edited);
    expect(ofRemoval).toContain(amendable.remove ? "" : "lets nobody take back a message once it is sent");
    expect([ofEdit === "", ofRemoval === ""]).toEqual([amendable.edit, amendable.remove]);
    // The thread does not repeat the ephemeral message.
    expect(thread(card)).not.toContain("Note of Parley");
    return [line.name, amendable.edit ? isChanged : isDeclined, amendable.remove ? isTakenBack : isDeclined];
  }

  it("reaches the customer, or the agent gets a notice; inbox and documentation agree", async () => {
    const rows: (readonly string[])[] = [];
    for (const line of all.lines) rows.push(await row(line));
    const documented = tableIn(readFileSync(page, "utf8"), "channel");
    const made = `docs/desk.md has another table than:\n${markdownTable(head, rows)}`;
    expect(documented?.head, made).toEqual(head);
    expect(
      documented?.rows.map(([name]) => name),
      made,
    ).toEqual(lineUp.map(({ name }) => name));
    for (const each of rows) expect(documented?.rows, made).toContainEqual(each);
  }, 120_000);

  it("replaces the reply that waited for an unreachable platform, on any channel", async () => {
    for (const line of all.lines.filter(waits)) {
      const customer = "max";
      const card = await claimed(line, customer);
      await line.platform.away(customer);
      const notices = await noticesDuring(async () => {
        const edited = await all.desk.writes(mia, card.ts, "Five euros");
        const removed = await all.desk.writes(mia, card.ts, "Nine euros");
        await all.pass(2_000, 100);
        await all.desk.edits(edited, "Sixty euros");
        await all.desk.edits(edited, "Six euros");
        await all.desk.removes(removed);
        await all.pass(2_000, 100);
        expect(await sums(line, customer)).toEqual([]);
        await all.whileAdvancing(line.platform.back(customer));
        await all.settle();
        expect(marks(edited.ts), line.name).toEqual(["white_check_mark"]);
      });
      expect([line.name, notices, await sums(line, customer)]).toEqual([line.name, "", ["Six euros"]]);
      expect(thread(card)).not.toContain("Note of Parley");
    }
  }, 120_000);

  it("leaves a reply whose send may have succeeded, with a notice", async () => {
    const last = all.lines.filter(({ channel }) => channel === "email" || channel === "sms");
    for (const line of last) {
      const customer = "kim";
      const card = await claimed(line, customer);
      line.platform.misbehave("hang_up_after_commit");
      const notices = await noticesDuring(async () => {
        const written = await all.desk.writes(mia, card.ts, "Five euros");
        expect(await all.waitFor(async () => (await sums(line, customer)).length > 0)).toBe(true);
        await all.desk.edits(written, "Six euros");
      });
      const copies = (await (line.platform.transmitted ?? line.platform.shown)(customer)).join("\n");
      expect([copies.includes("Five"), copies.includes("Six")], line.name).toEqual([true, false]);
      const isSaid = await all.waitFor(() =>
        /customer, who (?:keeps|still sees) the text/u.test(`${notices}\n${thread(card)}`),
      );
      expect(isSaid, line.name).toBe(true);
    }
  }, 120_000);

  it("does not send a failed reply: the agent is asked to write again, and can delete it", async () => {
    for (const line of all.lines.filter(waits)) {
      const customer = "eva";
      const card = await claimed(line, customer);
      line.platform.misbehave("refuse");
      const written = await all.desk.writes(mia, card.ts, "Five euros");
      await all.settle();
      expect(marks(written.ts), line.name).toEqual(["x"]);
      const notices = await noticesDuring(() => all.desk.edits(written, "Six euros"));
      expect(notices, line.name).toContain("this reply has not reached the customer as a whole. Write it again");
      expect(await noticesDuring(() => all.desk.removes(written)), line.name).toBe("");
      expect(await sums(line, customer)).toEqual([]);
      expect(thread(card).match(/customer still sees/g)).toBeNull();
    }
  }, 120_000);

  it("leaves the reply if the platform refuses the change, with the reason in the thread", async () => {
    const refusing = all.lines.filter(({ platform }) => platform.refuseChange !== undefined);
    expect(refusing.map(({ name }) => name)).toEqual(["Telegram", "Slack", "Discord"]);
    for (const line of refusing) {
      const customer = "ole";
      const card = await claimed(line, customer);
      const written = await all.desk.writes(mia, card.ts, "Five euros");
      await all.settle();
      line.platform.refuseChange?.();
      await all.desk.edits(written, "Six euros");
      await all.settle();
      expect(await sums(line, customer)).toEqual(["Five euros"]);
      const note = "The change of this reply did not reach the customer, who still sees the text before it: ";
      await all.waitFor(() => thread(card).includes(note));
      expect(thread(card), line.name).toMatch(new RegExp(`${note}.*\\w`, "u"));
    }
  }, 120_000);

  for (const { name, target } of lineUp) if (target.missing !== undefined) skipped(name, target.missing);
});
