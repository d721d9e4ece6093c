import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eachDatabase, newSqlite } from "../../../test/support/databases.ts";
import { brokenDelivery } from "../../../test/support/fuzz.ts";
import type { SlackAccount } from "./support/account.ts";
import { openSlackAccount } from "./support/account.ts";
import { changedEvent, deletedEvent, envelopeOf, mentionEvent } from "./support/events.ts";

/** In slices, so that a failure says roughly where, and none takes long. */
const slices = { SQLite: 18, MySQL: 2 };
const perSlice = 500;
const seed = 20_310_515;

eachDatabase("ten thousand deliveries that are not what Slack would send", (open) => {
  let account: SlackAccount;
  beforeAll(async () => {
    account = await openSlackAccount(() => ({ channel_messages: "all" }), open);
  });
  afterAll(() => account.close());

  /** Of every kind that is read, and some that are not. */
  function samples(): readonly object[] {
    const { slack } = account;
    const said = { channel: "D0ADA", user: "U0ADA", ts: slack.nextTs(), text: "Hello <you> & :wave: <@U0BOB>" };
    const blocks = [
      { type: "rich_text", elements: [{ elements: [{ type: "emoji", name: "wave", unicode: "1f44b" }] }] },
    ];
    const files = [
      { id: "F1", name: "a.png", mimetype: "image/png", size: 5, url_private: "https://files.slack.com/a" },
    ];
    return [
      account.said({ ...said, more: { blocks, text: "&lt;b&gt; :wave: <@U0BOB> <https://a.example|here> <!here>" } }),
      account.said({ ...said, ts: slack.nextTs(), threadTs: said.ts, more: { subtype: "file_share", files } }),
      mentionEvent(slack, { ...said, channel: "C0HELP" }),
      changedEvent(slack, said, slack.nextTs()),
      deletedEvent(slack, said, slack.nextTs()),
      { type: "channel_rename", channel: { id: "C0HELP", name: "x" } },
    ].map((event) => envelopeOf(slack, event));
  }

  const interactions = [
    {
      type: "block_actions",
      user: { id: "U0ADA", team_id: "T1" },
      container: { channel_id: "C0HELP", message_ts: "1.1" },
      actions: [{ action_id: "a", value: "b" }],
      view: { id: "V1", state: { values: {} } },
    },
  ];

  const slicesHere = open === newSqlite ? slices.SQLite : slices.MySQL;
  for (let slice = 0; slice < slicesHere; slice += 1) {
    it(`are answered at once, and by no failure of ours (${slice + 1} of ${slicesHere})`, async () => {
      const { slack, bench } = account;
      const bodies = fc.sample(fc.tuple(brokenDelivery(samples()), fc.nat(99)), {
        numRuns: perSlice,
        seed: seed + slice,
      });
      const odd = fc.sample(brokenDelivery(interactions), { numRuns: perSlice, seed: seed + slice });
      const statuses = new Set<number>();
      let next = 0;
      const post = async (): Promise<void> => {
        for (let at = next++; at < bodies.length; at = next++) {
          const [body = Buffer.alloc(0), dice = 0] = bodies[at] ?? [];
          const asForm = dice < 15;
          const sent = asForm ? Buffer.from(`payload=${encodeURIComponent(String(odd[at]))}`) : body;
          const time = bench.clock.now() + (dice >= 95 ? (dice % 2 === 0 ? 400_000 : -400_000) : 0);
          const secret = dice >= 80 && dice < 95 ? "somebody-elses-secret" : slack.signingSecret;
          const response = await fetch(account.url, {
            method: "POST",
            headers: {
              "content-type": asForm ? "application/x-www-form-urlencoded" : "application/json",
              ...slack.sign(sent, time, secret),
            },
            body: new Uint8Array(sent),
            signal: AbortSignal.timeout(30_000),
          });
          await response.text();
          statuses.add(response.status);
          expect([200, 400, 401], `${dice}: ${sent.toString().slice(0, 2_000)}`).toContain(response.status);
          if (dice >= 80) expect(response.status).toBe(401);
        }
      };
      await Promise.all(Array.from({ length: 8 }, post));
      // Were nearly all of them refused for the same reason, little would have been tried.
      expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 400, 401]);
    }, 120_000);
  }

  it("leave everything as it was for who writes next", async () => {
    const said = { channel: "D0BOB", user: "U0BOB", ts: account.slack.nextTs(), text: "Are you well?" };
    expect((await account.deliver(account.said(said))).status).toBe(200);
    expect((await account.deliver(account.said(said))).status).toBe(200);
    await account.bench.until("it is answered", () => account.texts("D0BOB").length > 0, 60_000);
    expect((await account.stored()).filter((text) => text === said.text)).toHaveLength(1);
    const failed = account.bench.logged.filter((line) => line.includes("could not be stored"));
    expect(failed).toEqual([]);
  }, 120_000);
});
