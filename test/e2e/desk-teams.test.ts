import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkChannels } from "#app/channels/checks.ts";
import { loadConfig } from "#config/environment.ts";
import { newSqlite } from "../support/database/databases.ts";
import { createAgentSteps, newest } from "../support/desk/agent-steps.ts";
import type { DeskBench } from "../support/desk/bench.ts";
import { openDeskBench } from "../support/desk/bench.ts";
import type { DeskWorld } from "../support/desk/world.ts";
import { ben, billingChannel, deskChannel, mia } from "../support/desk/world.ts";

let bench: DeskBench;
let world: DeskWorld;

const steps = createAgentSteps(() => bench);
const { escalated, claimed, write, sees, lastNotice } = steps;

const agent = { type: "agent", id: "ben@shop.example", name: "Ben" } as const;

/** A new customer asks for a person about an invoice. */
async function asksAboutInvoice(): Promise<void> {
  await world.telegramSays(steps.nextChat(), 1, "I want to talk to a human about my invoice");
  await bench.settle();
}

async function tag(change: { readonly addTags?: readonly string[]; readonly removeTags?: readonly string[] }) {
  const { id } = await bench.conversation();
  await bench.app.engine.update(bench.workspaceId, id, change, agent);
  await bench.settle();
}

describe("a desk with a channel for one team", () => {
  beforeAll(async () => {
    bench = await openDeskBench(newSqlite, { hasBilling: true });
    ({ world } = bench);
  });
  afterAll(() => bench.close());

  it("shows a conversation with the team's tag in its channel alone, and sends what is written there", async () => {
    await asksAboutInvoice();
    const card = newest(world.cards(billingChannel));
    expect(world.cards(deskChannel)).toEqual([]);
    expect(world.thread(card).join()).toContain("about my invoice");
    const written = await write(mia, card, "I will look at it.");
    expect(sees().at(-1)).toBe("Mia Meyer:\nI will look at it.");
    expect(world.slack.reactions).toContainEqual({
      channel: billingChannel,
      ts: written.ts,
      name: "white_check_mark",
    });
    await escalated();
    expect(world.cards(deskChannel)).toHaveLength(1);
    expect(world.cards(billingChannel)).toHaveLength(1);
  });

  it("moves a thread with its conversation's tags, there and back", async () => {
    const before = world.cards(billingChannel).length;
    const card = await claimed();
    await write(mia, card, "Five euros");
    await tag({ addTags: ["billing"] });
    const moved = newest(world.cards(billingChannel));
    expect(world.cards(billingChannel)).toHaveLength(before + 1);
    expect(world.cards(deskChannel)).not.toContain(card);
    expect(world.thread(moved).join()).toContain("Five euros");
    const seen = sees().length;
    await write(mia, card, "Is it gone?");
    expect(sees()).toHaveLength(seen);
    expect(lastNotice(mia)).toBe("Nothing was sent: this conversation has a new thread by now, and goes on there.");
    await write(mia, moved, "Here it goes on.");
    expect(sees().at(-1)).toBe("Mia Meyer:\nHere it goes on.");
    await tag({ removeTags: ["billing"] });
    expect(world.cards(billingChannel)).toHaveLength(before);
    expect(world.thread(newest(world.cards(deskChannel))).join()).toContain("Here it goes on.");
  });

  it("opens a thread once although Slack does not say that it did, and the tags change meanwhile", async () => {
    const before = { billing: world.cards(billingChannel).length, desk: world.cards(deskChannel).length };
    world.slack.fail("chat.postMessage", { kind: "status", status: 500, afterCommit: true });
    await world.telegramSays(steps.nextChat(), 1, "I want to talk to a human about my invoice");
    await bench.until("Slack shows the card", () => world.cards(billingChannel).length > before.billing);
    await tag({ removeTags: ["billing"] });
    expect(world.cards(billingChannel)).toHaveLength(before.billing);
    expect(world.cards(deskChannel)).toHaveLength(before.desk + 1);
  });

  it("opens a thread where its conversation belongs by now, after a call that opened none", async () => {
    const before = { billing: world.cards(billingChannel).length, desk: world.cards(deskChannel).length };
    const asked = world.slack.calls("chat.postMessage").length;
    world.slack.fail("chat.postMessage", { kind: "status", status: 500 });
    await world.telegramSays(steps.nextChat(), 1, "I want to talk to a human about my invoice");
    await bench.until("Slack was called", () => world.slack.calls("chat.postMessage").length > asked);
    await tag({ removeTags: ["billing"] });
    expect(world.cards(billingChannel)).toHaveLength(before.billing);
    expect(world.cards(deskChannel)).toHaveLength(before.desk + 1);
    const card = newest(world.cards(deskChannel));
    await write(mia, card, "Here I am.");
    expect(sees().at(-1)).toBe("Mia Meyer:\nHere I am.");
  });

  it("opens a thread where its conversation belongs by now, after the app has left the channel of a call", async () => {
    const before = { billing: world.cards(billingChannel).length, desk: world.cards(deskChannel).length };
    const billing = world.slack.channels.get(billingChannel) ?? never();
    world.slack.fail("chat.postMessage", { kind: "status", status: 500, afterCommit: true });
    await world.telegramSays(steps.nextChat(), 1, "I want to talk to a human about my invoice");
    await bench.until("Slack shows the card", () => world.cards(billingChannel).length > before.billing);
    billing.member = false;
    try {
      await tag({ removeTags: ["billing"] });
    } finally {
      billing.member = true;
    }
    expect(world.cards(deskChannel)).toHaveLength(before.desk + 1);
    await write(mia, newest(world.cards(deskChannel)), "Here I am.");
    expect(sees().at(-1)).toBe("Mia Meyer:\nHere I am.");
  });

  it("answers commands of members of either channel, and of no one else", async () => {
    const { channels, users, teamId } = world.slack;
    users.set("U0SALES01", { id: "U0SALES01", name: "Sal", teamId, email: "sal@shop.example" });
    const [desk, billing] = [deskChannel, billingChannel].map((id) => channels.get(id) ?? never());
    if (desk === undefined || billing === undefined) return never();
    [desk.people, billing.people] = [[mia], [ben]];
    for (const user of [mia, ben]) expect(await (await world.command(user, "open")).text()).toContain("conv_");
    const refused = await (await world.command("U0SALES01", "open")).text();
    expect(refused).toContain("you are not in a channel where agents work");
    expect(refused).not.toContain("conv_");
    bench.app.clock.advance(11 * 60_000);
    world.slack.fail("conversations.members", { kind: "error", error: "channel_not_found", channel: deskChannel });
    expect(await (await world.command(ben, "open")).text()).toContain("conv_");
  });

  it("names the channel that the doctor cannot use", async () => {
    const config = loadConfig({
      DATABASE_URL: bench.databaseUrl,
      PARLEY_DATA_DIR: await mkdtemp(join(tmpdir(), "parley-doctor-")),
      PARLEY_SECRET: "a secret for tests, of more than thirty-two characters",
    });
    const billing = world.slack.channels.get(billingChannel) ?? never();
    const checked = () => checkChannels(config, { clock: bench.app.clock, log: pino({ level: "silent" }) });
    const said = async () => (await checked()).find(({ name }) => name === "desk slack");
    try {
      expect(await said()).toEqual({ name: "desk slack", ok: true, detail: "#support, #billing" });
      billing.member = false;
      expect(await said()).toMatchObject({ ok: false, detail: expect.stringContaining(billingChannel) });
    } finally {
      await rm(config.dataDir, { recursive: true, force: true });
    }
  });
});

function never(): never {
  throw new Error("there is no channel");
}
