import { afterAll, beforeAll, expect, it } from "vitest";
import { randomCases } from "#test/support/tier.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";
import type { DeskBench } from "#test/support/desk/bench.ts";
import { openDeskBench } from "#test/support/desk/bench.ts";
import { createAgentSteps, newest } from "#test/support/desk/agent-steps.ts";
import { deskChannel, mia } from "#test/support/desk/world.ts";
import type { FuzzedDeliveries } from "#test/support/channels/webhook-signers.ts";
import { sendFuzzedDeliveries } from "#test/support/channels/webhook-signers.ts";
import { changedEvent, deletedEvent, envelopeOf, mentionEvent, messageEvent } from "./support/events.ts";
import type { FakeMessage } from "./support/fake-messages.ts";

/** Several tests, so that a failure is narrowed down and none takes long. */
const slices = { SQLite: 18, MySQL: 2 };
/** Ten thousand for each endpoint, repeated deliveries included. */
const perSlice = 420;
const seed = 20_310_515;

/** The three kinds of deliveries, which share one address. */
const endpoints = ["events", "interactions", "commands"] as const;

eachDatabase("ten thousand malformed deliveries for each endpoint", (open) => {
  let bench: DeskBench;
  let card: FakeMessage;
  let accountId: string;
  const steps = createAgentSteps(() => bench);

  beforeAll(async () => {
    bench = await openDeskBench(open);
    bench.world.slack.users.set("U0ADA", { id: "U0ADA", name: "Ada L.", teamId: bench.world.slack.teamId });
    card = await steps.escalated();
    const account = bench.app.store.read.selectFrom("accounts").select("id").where("name", "=", "slack");
    accountId = (await account.executeTakeFirstOrThrow()).id;
  }, 60_000);
  afterAll(() => bench.close());

  function events(): readonly object[] {
    const { slack } = bench.world;
    const said = { channel: "D0ADA", user: "U0ADA", ts: slack.nextTs(), text: "Hello <you> & :wave: <@U0BOB>" };
    const inDesk = { channel: deskChannel, user: mia, ts: slack.nextTs(), text: "// a *note*", threadTs: card.ts };
    const emoji = [{ type: "emoji", name: "wave", unicode: "1f44b" }];
    const blocks = [{ type: "rich_text", elements: [{ elements: emoji }] }];
    const files = [
      { id: "F1", name: "a.png", mimetype: "image/png", size: 5, url_private: "https://files.slack.com/a" },
    ];
    const text = "&lt;b&gt; :wave: <@U0BOB> <https://a.example|here> <!here>";
    return [
      messageEvent(slack, { ...said, more: { blocks, text } }),
      messageEvent(slack, { ...said, ts: slack.nextTs(), threadTs: said.ts, more: { subtype: "file_share", files } }),
      mentionEvent(slack, { ...said, channel: "C0HELP" }),
      changedEvent(slack, said, slack.nextTs()),
      deletedEvent(slack, said, slack.nextTs()),
      messageEvent(slack, inDesk),
      messageEvent(slack, { ...inDesk, ts: slack.nextTs(), more: { subtype: "file_share", files } }),
      changedEvent(slack, inDesk, slack.nextTs()),
      deletedEvent(slack, inDesk, slack.nextTs()),
      { type: "channel_rename", channel: { id: "C0HELP", name: "x" } },
    ].map((event) => envelopeOf(slack, event));
  }

  function interactions(): readonly Readonly<Record<string, string>>[] {
    const { slack } = bench.world;
    const { block_id: block } = card.blocks.find((each) => (each as { type?: string }).type === "actions") as {
      readonly block_id: string;
    };
    const [, conversation = ""] = /(conv_[0-9a-z]{26})/.exec(block) ?? [];
    const base = {
      user: { id: mia, team_id: slack.teamId },
      trigger_id: "t",
      container: { type: "message", channel_id: deskChannel, message_ts: card.ts },
      channel: { id: deskChannel },
      message: { ts: card.ts, text: "" },
    };
    const clicks = ["claim", "release", "resolve", "tag", "note", "snooze", "choose_send"].map((action) => ({
      ...base,
      type: "block_actions",
      actions: [
        {
          action_id: `parley_${action}`,
          block_id: action.startsWith("choose") ? `choose|${conversation}|${deskChannel}:1.1` : block,
          action_ts: slack.nextTs(),
          ...(action === "snooze" ? { selected_option: { value: "h1" } } : {}),
        },
      ],
    }));
    const dialogs = ["note", "tag", "snooze", "message", "reply"].map((dialog) => ({
      ...base,
      type: "view_submission",
      view: {
        id: `V${slack.nextTs()}`,
        callback_id: `parley_${dialog}`,
        private_metadata: JSON.stringify({ conversationId: conversation, seen: { status: "escalated" }, place: "C:1" }),
        state: { values: { value: { value: { value: "words", selected_date_time: 2_000_000_000 } } } },
      },
    }));
    const shortcuts = ["parley_message", "parley_reply"].map((id) => ({
      ...base,
      type: "message_action",
      callback_id: id,
    }));
    return [...clicks, ...dialogs, ...shortcuts, { ...base, type: "view_closed" }].map((payload) => ({
      payload: JSON.stringify(payload),
    }));
  }

  const commands = () =>
    ["mine", "open", "search human refund", "claim conv_00000000000000000000000000", "help", "dance"].map((text) => ({
      command: "/parley",
      text,
      team_id: bench.world.slack.teamId,
      channel_id: deskChannel,
      user_id: mia,
      trigger_id: "t",
      response_url: bench.world.slack.responseUrl("fuzz"),
    }));

  const request: FuzzedDeliveries["request"] = (body, signer, late) => {
    const { slack } = bench.world;
    const now = bench.app.clock.now();
    const time = late ? now + (body.length % 2 === 0 ? 400_000 : -400_000) : now;
    const isForm = !/^\s*[{[]/.test(body.subarray(0, 50).toString());
    return {
      url: `${bench.app.url}/channels/slack/${accountId}`,
      init: {
        headers: {
          "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
          ...(signer === "nobody" ? {} : slack.sign(body, time, signer === "forger" ? "another" : undefined)),
        },
      },
    };
  };

  const slicesHere = randomCases(open === newSqlite ? slices.SQLite : slices.MySQL);
  for (const endpoint of endpoints) {
    for (let slice = 0; slice < slicesHere; slice += 1) {
      it(`are answered at once, and never with an internal error: ${endpoint} (${slice + 1} of ${slicesHere})`, async () => {
        const seen = await sendFuzzedDeliveries({
          samples: endpoint === "events" ? events() : endpoint === "interactions" ? interactions() : commands(),
          as: endpoint === "events" ? "json" : "form",
          count: perSlice,
          seed: seed + slice,
          refusesLate: true,
          request,
        });
        // A broad mix of outcomes shows that the inputs reached the parser.
        for (const answer of ["platform 200", "forger 401", "nobody 401"]) {
          expect(seen.get(answer), answer).toBeGreaterThan(0);
        }
        if (endpoint !== "commands") expect(seen.get("platform 400"), "platform 400").toBeGreaterThan(0);
      }, 120_000);
    }
  }

  it("do not affect the next customer", async () => {
    const { world } = bench;
    const user = "U0BOB";
    world.slack.users.set(user, { id: user, name: "Bob", teamId: world.slack.teamId });
    await world.slackSays(user, "Are you well?");
    await bench.until("it is answered", () => world.slackSees(user).length > 0);
    // Does not wait for all work: fetches of the inputs' missing files are retried for hours.
    const cards = world.cards().length;
    await world.telegramSays(steps.nextChat(), 1, "I want to talk to a human");
    await bench.until("the card is shown", () => world.cards().length > cards);
    const next = newest(world.cards());
    expect((await world.clicks(mia, next, "parley_claim")).status).toBe(200);
    await bench.until("it is claimed", async () => (await bench.conversation()).status === "claimed");
    await world.writes(mia, next.ts, "Here I am");
    await bench.until("it has arrived", () => steps.sees().at(-1) === "Mia Meyer:\nHere I am");
    expect(bench.app.logged.filter((line) => line.includes(": storing"))).toEqual([]);
  }, 120_000);
});
