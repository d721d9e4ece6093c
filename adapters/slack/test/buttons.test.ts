import { afterEach, describe, expect, it } from "vitest";
import {
  answerFromDocuments,
  resolveWithSurvey,
  scoresOf,
  surveysOn,
  thumbsOf,
} from "#test/support/channels/opinions.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { runStatement } from "#test/support/database/run-statement.ts";
import { createSlackApi } from "../client.ts";
import type { SlackPart } from "../render.ts";
import { renderParts } from "../render.ts";
import { createSending, editPart } from "../send.ts";
import type { SlackAccount } from "./support/account.ts";
import { openSlackAccount } from "./support/account.ts";
import { envelopeOf } from "./support/events.ts";
import type { FakeMessage } from "./support/fake-messages.ts";

interface Button {
  readonly text: { readonly text: string };
  readonly action_id: string;
  readonly value: string;
  readonly accessibility_label: string;
}
interface Row {
  readonly type: string;
  readonly block_id: string;
  readonly elements: readonly Button[];
}
interface Feedback extends Omit<Row, "elements"> {
  readonly elements: readonly {
    readonly action_id: string;
    readonly positive_button: Omit<Button, "action_id">;
    readonly negative_button: Omit<Button, "action_id">;
  }[];
}

let account: SlackAccount;
let presses = 0;
afterEach(() => account.close());

async function open(config: Readonly<Record<string, unknown>> = {}): Promise<void> {
  account = await openSlackAccount(() => config, newSqlite, surveysOn);
  answerFromDocuments(account.bench);
}

function last(channel = "D0ADA"): FakeMessage {
  const message = account.slack.shown(channel).at(-1)?.message;
  if (message === undefined) throw new Error("nothing was sent");
  return message;
}

async function answerTo(text: string, more: object = {}): Promise<FakeMessage> {
  await account.say({ channel: "D0ADA", text, ...more });
  await account.bench.settle();
  return last("channel" in more ? String(more.channel) : undefined);
}

/** The buttons of a message: those of a row, or Slack's own thumbs. */
function rowOf({ blocks }: FakeMessage): Row | undefined {
  const found = (blocks as readonly (Row | Feedback)[]).find(({ type }) => /^(?:context_)?actions$/.test(type));
  if (found?.type !== "context_actions") return found as Row | undefined;
  const [{ action_id, positive_button: up, negative_button: down } = fail()] = (found as Feedback).elements;
  return { ...found, elements: [up, down].map((button) => ({ ...button, action_id })) };
}
function fail(): never {
  throw new Error("there are no feedback buttons");
}
const labels = (message: FakeMessage) =>
  rowOf(message)
    ?.elements.map(({ text }) => text.text)
    .join(" ");
const buttonOf = (message: FakeMessage, label: string) =>
  rowOf(message)?.elements.find(({ text }) => text.text === label);

/** The payload of a press, as Slack sends it over both transports. */
function pressed(message: FakeMessage, button: Button | undefined, user = "U0ADA"): object {
  const { ts, threadTs, channel, text, blocks } = message;
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
  return {
    type: "block_actions",
    user: { id: user, username: "someone", team_id: account.slack.teamId },
    team: { id: account.slack.teamId, domain: "shop" },
    trigger_id: "1.2.3",
    response_url: account.slack.responseUrl(ts),
    container: { type: "message", message_ts: ts, channel_id: channel, is_ephemeral: false, ...thread },
    channel: { id: channel, name: "directmessage" },
    message: {
      type: "message",
      ts,
      text,
      blocks,
      bot_id: account.slack.botId,
      user: account.slack.botUserId,
      ...thread,
    },
    actions: [
      {
        type: rowOf(message)?.type === "context_actions" ? "feedback_buttons" : "button",
        action_id: button?.action_id,
        block_id: rowOf(message)?.block_id,
        value: button?.value,
        action_ts: `1934000000.${String((presses += 1)).padStart(6, "0")}`,
      },
    ],
  };
}

const deliver = (payload: object) =>
  account.post(`payload=${encodeURIComponent(JSON.stringify(payload))}`, {
    "content-type": "application/x-www-form-urlencoded",
  });
const press = (message: FakeMessage, label: string, user?: string) =>
  deliver(pressed(message, buttonOf(message, label), user));

describe("thumbs below an answer", () => {
  it("can be changed and taken back", async () => {
    await open();
    const answer = await answerTo("When do you open?");
    expect(labels(answer)).toBe("👍 👎");
    expect(rowOf(answer)?.elements.map((each) => each.accessibility_label)).toEqual(["up", "down"]);
    for (const [label, shown, stored] of [
      ["👍", "👍 ✓ 👎", "up"],
      ["👎", "👍 👎 ✓", "down"],
      ["👎 ✓", "👍 👎", null],
    ] as const) {
      const response = await press(answer, label);
      expect([response.status, await response.text()]).toEqual([200, ""]);
      expect(labels(answer)).toBe(shown);
      expect(await thumbsOf(account.bench)).toEqual([stored]);
    }
    expect(account.texts("D0ADA")).toEqual(["Every day."]);
  });

  it("are Slack's own, and a row of buttons where Slack refuses those", async () => {
    await open();
    const own = await answerTo("When do you open?");
    expect(rowOf(own)?.type).toBe("context_actions");
    account.slack.fail("chat.postMessage", { kind: "error", error: "invalid_blocks" });
    const answer = await answerTo("And on Sunday?");
    expect([rowOf(answer)?.type, labels(answer)]).toEqual(["actions", "👍 👎"]);
    await press(answer, "👎");
    expect([rowOf(answer)?.type, labels(answer)]).toEqual(["actions", "👍 👎 ✓"]);
    const refused = { kind: "error", error: "invalid_blocks" } as const;
    account.slack.fail("chat.postMessage", refused, refused);
    expect((await answerTo("And on Monday?")).blocks).toEqual([]);
    expect(account.texts("D0ADA")).toEqual(["Every day.", "Every day.", "Every day."]);
  });

  it("count once when pressed or delivered twice, and below older answers", async () => {
    await open();
    const answer = await answerTo("When do you open?");
    await answerTo("And on Sunday?");
    const up = buttonOf(answer, "👍");
    const payload = pressed(answer, up);
    await Promise.all([deliver(payload), deliver(payload)]);
    await deliver(pressed(answer, up));
    expect(labels(answer)).toBe("👍 ✓ 👎");
    const rows = await account.bench.store.read.selectFrom("answer_feedback").select(["message_id", "value"]).execute();
    expect(rows).toEqual([{ message_id: up?.value.split(":")[2], value: "up" }]);
  });

  it("count in a channel's thread only from those who wrote there", async () => {
    await open();
    const more = { text: `<@${account.slack.botUserId}> when?` };
    const answer = await answerTo("", { channel: "C0HELP", more });
    expect(answer.threadTs).toBeDefined();
    await press(answer, "👎", "U0BOB");
    expect(await thumbsOf(account.bench)).toEqual([]);
    expect(labels(answer)).toBe("👍 👎");
    await press(answer, "👎");
    expect(await thumbsOf(account.bench)).toEqual(["down"]);
  });

  it("are acknowledged only when the press is stored, and a button that cannot be marked loses nothing", async () => {
    await open();
    const answer = await answerTo("When do you open?");
    const payload = pressed(answer, buttonOf(answer, "👍"));
    await runStatement(account.bench.url, "alter table inbound_events rename to away");
    expect((await deliver(payload)).status).toBe(503);
    expect(account.slack.responses).toEqual([]);
    await runStatement(account.bench.url, "alter table away rename to inbound_events");
    account.slack.fail("response", { kind: "status", status: 500 });
    expect((await deliver(payload)).status).toBe(200);
    expect(await thumbsOf(account.bench)).toEqual(["up"]);
    expect(labels(answer)).toBe("👍 👎");
  });

  it("send nothing to an address outside of Slack", async () => {
    await open();
    const answer = await answerTo("When do you open?");
    // Another origin, which would reach the same server.
    const url = account.slack.responseUrl(answer.ts).replace("127.0.0.1", "localhost");
    const elsewhere = { ...pressed(answer, buttonOf(answer, "👍")), response_url: url };
    expect((await deliver(elsewhere)).status).toBe(200);
    expect(await thumbsOf(account.bench)).toEqual(["up"]);
    expect(account.slack.responses).toEqual([]);
  });

  it("do not hide a message from the search for one that may have arrived", async () => {
    await open();
    account.slack.fail("chat.postMessage", { kind: "hang_up_after_commit" });
    await account.say({ channel: "D0ADA", text: "When do you open?" });
    await account.bench.until("it is sent", () => account.slack.shown("D0ADA").length === 1);
    const answer = last();
    await press(answer, "👍");
    expect(answer.metadata).toBeUndefined();
    await account.bench.advance(60_000);
    expect(account.slack.shown("D0ADA")).toHaveLength(1);
    const deliveries = account.bench.store.read.selectFrom("deliveries").select("external_id");
    expect(await deliveries.execute()).toEqual([{ external_id: `D0ADA:${answer.ts}` }]);
  });

  it("stay below a message that is edited, and are below the last part alone", async () => {
    await open();
    const answer = await answerTo("When do you open?");
    const message = { role: "assistant", authorName: null, sources: [], kind: "answer" } as const;
    const [part] = renderParts({ ...message, markdown: "Never." });
    if (part === undefined) throw new Error("nothing is rendered");
    const { bench, slack } = account;
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const sending = createSending(createSlackApi(slack.botToken, slack.url, log), { clock: bench.clock, log });
    const value = buttonOf(answer, "👍")?.value ?? "";
    const { signal } = new AbortController();
    const context = { thread: "D0ADA:root", key: "k", messageId: value.split(":")[2] ?? "", signal };
    await editPart(sending, part, `D0ADA:${answer.ts}`, context);
    expect(account.texts("D0ADA")).toEqual(["Never."]);
    expect([labels(answer), buttonOf(answer, "👍")?.value]).toEqual(["👍 👎", value]);
    const parts = renderParts({ ...message, markdown: "word ".repeat(1_500) });
    expect(parts.map(({ payload }) => "opinion" in (payload as SlackPart))).toEqual([false, true]);
  });

  it("count over Socket Mode", async () => {
    account = await openSlackAccount((slack) => ({ app_token: slack.appToken, signing_secret: undefined }));
    answerFromDocuments(account.bench);
    await account.bench.advance(10_000);
    await account.bench.until("it is connected", () => account.slack.sockets() === 1);
    const said = account.said({ channel: "D0ADA", text: "When do you open?" });
    await account.slack.push("events_api", envelopeOf(account.slack, said));
    await account.bench.settle();
    const answer = last();
    expect(await account.slack.push("interactive", pressed(answer, buttonOf(answer, "👎")))).toMatchObject({
      acknowledged: true,
    });
    expect(labels(answer)).toBe("👍 👎 ✓");
    expect(await thumbsOf(account.bench)).toEqual(["down"]);
  });
});

describe("a survey", () => {
  it("has five stars, of which the first pressed one counts", async () => {
    await open();
    await answerTo("When do you open?");
    await resolveWithSurvey(account.bench);
    const survey = last();
    expect(labels(survey)).toBe("1 ★ 2 ★ 3 ★ 4 ★ 5 ★");
    const second = buttonOf(survey, "2 ★");
    await press(survey, "4 ★");
    expect(labels(survey)).toBe("4 ★ ✓");
    await deliver(pressed(survey, second));
    expect(labels(survey)).toBe("4 ★ ✓");
    expect(await scoresOf(account.bench)).toEqual([4]);
  });
});
