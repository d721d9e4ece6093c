import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "#config/environment.ts";
import { readConfigFile } from "#config/file.ts";
import { checkChannels } from "#app/channels/checks.ts";
import { manifestScopes } from "#adapters/slack/test/support/fake-web-api.ts";
import { startApp } from "../support/http/app.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DeskBench } from "../support/desk/bench.ts";
import { openDeskBench } from "../support/desk/bench.ts";
import { createAgentSteps, newest } from "../support/desk/agent-steps.ts";
import type { DeskWorld } from "../support/desk/world.ts";
import { ben, deskChannel, mia } from "../support/desk/world.ts";

/** Without these the desk works. */
const optionalScopes: ReadonlySet<string> = new Set(["assistant:write", "reactions:read", "reactions:write"]);

let bench: DeskBench;
let world: DeskWorld;
const steps = createAgentSteps(() => bench);
const { escalated, claimed, click, write, sees, lastNotice } = steps;

async function begin(options: Parameters<typeof openDeskBench>[1] = {}): Promise<void> {
  bench = await openDeskBench(newSqlite, options);
  ({ world } = bench);
}

describe("doctor on a desk", () => {
  beforeAll(() => begin());
  afterAll(() => bench.close());

  it("names the channel, its faults and their fixes", async () => {
    const config = loadConfig({
      DATABASE_URL: bench.databaseUrl,
      PARLEY_DATA_DIR: await mkdtemp(join(tmpdir(), "parley-doctor-")),
      PARLEY_SECRET: "a secret for tests, of more than thirty-two characters",
    });
    const channel = world.slack.channels.get(deskChannel) ?? never();
    const checked = () => checkChannels(config, { clock: bench.app.clock, log: pino({ level: "silent" }) });
    const said = async () => (await checked()).find(({ name }) => name === "desk slack");
    try {
      expect(await said()).toEqual({ name: "desk slack", ok: true, detail: "#support" });
      channel.member = false;
      expect(await said()).toMatchObject({ ok: false, detail: expect.stringContaining("invite it with /invite") });
      channel.member = true;
      channel.archived = true;
      expect(await said()).toMatchObject({
        ok: false,
        detail: expect.stringContaining("the desk channel is archived"),
      });
      channel.archived = false;
      world.slack.channels.set(deskChannel, { ...channel, kind: "group" });
      expect(await said()).toEqual({ name: "desk slack", ok: true, detail: "#support" });
      world.slack.channels.set(deskChannel, channel);
      // Doctor reports each scope of the manifest that is missing, without which something fails.
      for (const scope of manifestScopes.filter((each) => !optionalScopes.has(each))) {
        world.slack.scopes.splice(world.slack.scopes.indexOf(scope), 1);
        const wrong = (await checked()).filter(({ ok }) => !ok);
        expect(wrong.map(({ detail }) => detail).join(), scope).toMatch(new RegExp(`\\b${scope}\\b`));
        world.slack.scopes.push(scope);
      }
    } finally {
      await rm(config.dataDir, { recursive: true, force: true });
    }
  });

  it("shows everything once the app is back in the channel", async () => {
    const card = await claimed();
    const channel = world.slack.channels.get(deskChannel) ?? never();
    channel.member = false;
    for (const [i, text] of ["One", "Two", "Three"].entries()) await world.telegramSays(steps.chat(), 2 + i, text);
    await bench.until("the work has failed", async () => {
      const row = await bench.app.store.read
        .selectFrom("outbox")
        .select("last_error")
        .where("kind", "=", "desk")
        .where("last_error", "like", "%invite it with /invite%")
        .executeTakeFirst();
      return row !== undefined;
    });
    channel.member = true;
    await bench.settle();
    expect(world.thread(card).slice(-3)).toEqual(["👤 Ada L.\nOne", "👤 Ada L.\nTwo", "👤 Ada L.\nThree"]);
  });
});

describe("a desk with a Send button", () => {
  beforeAll(() => begin({ replyMode: "explicit", mirror: "every" }));
  afterAll(() => bench.close());

  it("sends nothing before the button is pressed", async () => {
    const card = await claimed();
    const before = sees().length;
    const written = await write(mia, card, "Draft");
    expect(sees()).toHaveLength(before);
    await world.edits(written, "Better draft");
    await bench.settle();
    const whisper = world.whispers(mia).at(-1);
    if (whisper === undefined) throw new Error("there is no question");
    await world.clicksPrivately(mia, whisper, "parley_choose_send");
    await bench.settle();
    expect(sees().slice(before)).toEqual(["Mia Meyer:\nBetter draft"]);
  });

  it("asks again if a colleague has claimed the conversation meanwhile", async () => {
    const card = await escalated();
    const before = sees().length;
    await write(mia, card, "Five euros");
    const send = (of: number) =>
      world.clicksPrivately(mia, world.whispers(mia).at(of) ?? never(), "parley_choose_send");
    await click(ben, card, "parley_claim");
    await send(-1);
    await bench.settle();
    expect(sees()).toHaveLength(before);
    expect(lastNotice(mia)).toContain("Ben Bauer has this conversation");
    await Promise.all([send(-1), send(-1)]);
    await bench.settle();
    expect(sees().slice(before)).toEqual(["Mia Meyer:\nFive euros"]);
    expect((await bench.conversation()).assigned_to).toBe("ben@shop.example");
  });

  it("shows every conversation from its beginning if configured", async () => {
    await world.telegramSays(steps.nextChat(), 1, "How much?");
    await bench.settle();
    const card = newest(world.cards());
    expect(world.thread(newest(world.cards()))).toEqual([
      "👤 Ada L.\nHow much?",
      expect.stringContaining("You asked: How much?"),
    ]);
    expect(JSON.stringify(card.blocks)).toContain("the bot answers");
  });
});

describe("a desk in a new channel", () => {
  it("sends notices to authors in its old threads, applies edits of sent replies, and takes no message there for a customer's", async () => {
    await begin();
    const old = await claimed();
    const quiet = await claimed();
    const [chat, { slack }] = [steps.chat() - 1, world];
    const reply = await write(mia, old, "Five euros");
    const other = "C0DESK002";
    const channel = { id: other, kind: "channel", name: "agents", archived: false, member: true } as const;
    slack.channels.set(other, channel);
    await bench.app.app.close();
    // All messages in other channels are customers'.
    const yaml = world.yaml
      .replace(deskChannel, other)
      .replace(`base_url: ${slack.url}`, `base_url: ${slack.url}\n        channel_messages: all`);
    const later = await startApp(newSqlite, {
      file: readConfigFile("test.yaml", yaml, {}),
      databaseUrl: bench.databaseUrl,
      clock: bench.app.clock,
    });
    try {
      world.reach({ url: later.url, now: () => later.clock.now(), accounts: bench.accounts });
      const shown = () => slack.shown(other).map(({ text }) => text);
      await world.telegramSays(chat, 7, "Hello?");
      await bench.until("it is shown in the new channel", () => shown().some((text) => text.includes("Hello?")));
      await world.writes(mia, old.ts, "I am here");
      await world.writes(mia, quiet.ts, "So am I");
      const whispers = () => world.whispers(mia).map(({ text, channel: where }) => ({ text, where }));
      await bench.until("both authors get a notice", () => whispers().length === 2);
      const text = "Nothing was sent: this conversation has a new thread by now, and goes on there.";
      expect(whispers()).toEqual([1, 2].map(() => ({ text, where: deskChannel })));
      await bench.until(
        "the other has one, too",
        () => slack.shown(other).filter(({ threadTs }) => threadTs === undefined).length === 2,
      );
      await world.edits(reply, "Six euros");
      await bench.until("it is changed", () => world.telegramSees(chat).includes("Mia Meyer:\nSix euros"));
      await world.removes(reply);
      await bench.until("it is taken back", () => !world.telegramSees(chat).join().includes("euros"));
      const said = await later.store.read.selectFrom("messages").select("content").where("role", "=", "user").execute();
      expect(said.map(({ content }) => content).join()).not.toMatch(/I am here|So am I/);
    } finally {
      await later.close();
      await bench.close();
    }
  });
});

function never(): never {
  throw new Error("there is no channel");
}
