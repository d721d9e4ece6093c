import { afterEach, describe, expect, it } from "vitest";
import { answerFromDocuments, thumbsOf } from "#test/support/channels/opinions.ts";
import { reactAsAgent, storedReactions } from "#test/support/channels/reactions.ts";
import type { SlackAccount } from "./support/account.ts";
import { openSlackAccount } from "./support/account.ts";
import { reactionEvent } from "./support/events.ts";

let account: SlackAccount;
afterEach(() => account.close());

interface Place {
  readonly channel: string;
  readonly ts: string;
}

/** Ada asks in a thread of her direct messages, and the bot answers. */
async function begin(): Promise<{ readonly asked: Place; readonly answer: Place }> {
  account = await openSlackAccount();
  answerFromDocuments(account.bench);
  const [first, second] = [account.slack.nextTs(), account.slack.nextTs()];
  const [channel, text] = ["D0ADA", "When do you open?"];
  const written = { channel, text, ts: second, threadTs: first, user: "U0ADA" };
  account.slack.messages.push({ ...written, blocks: [], metadata: undefined, files: [], deleted: false });
  await account.say({ channel, text, ts: second, threadTs: first });
  await account.bench.settle();
  const ts = account.slack.shown(channel).at(-1)?.ts ?? "";
  return { asked: { channel, ts: second }, answer: { channel, ts } };
}
const react = (to: Place, name: string, isAdded = true, user = "U0ADA") =>
  account.deliver(reactionEvent(account.slack, { ...to, user, at: account.slack.nextTs() }, name, isAdded));

describe("a customer's reaction", () => {
  it("is stored at the message in its thread, and removed", async () => {
    const { asked, answer } = await begin();
    await react(asked, "heart");
    await react(answer, "party-parrot");
    await react(answer, "wave::skin-tone-3");
    expect((await storedReactions(account.bench)).toSorted()).toEqual(
      ["user ❤️ Ada L.", "user :party-parrot: Ada L.", "user 👋🏼 Ada L."].toSorted(),
    );
    await react(asked, "heart", false);
    await react(answer, "party-parrot", false);
    expect(await storedReactions(account.bench)).toEqual(["user 👋🏼 Ada L."]);
    expect(account.bench.asked).toHaveLength(1);
  });

  it("is an opinion where it is a thumb on an answer", async () => {
    const { answer } = await begin();
    await react(answer, "-1");
    expect([await thumbsOf(account.bench), await storedReactions(account.bench)]).toEqual([["down"], []]);
    await react(answer, "thumbsdown", false);
    expect(await thumbsOf(account.bench)).toEqual([null]);
  });

  it("is passed over where it is the app's own, a stranger's, or at another thing than a message of a conversation", async () => {
    const { asked } = await begin();
    await react(asked, "eyes", true, account.slack.botUserId);
    await react(asked, "eyes", true, "U0BOB");
    await react({ channel: "C0HELP", ts: "1.1" }, "eyes");
    for (const item of [null, {}, { type: "file", file: "F1" }, { type: "message", channel: "D0ADA" }]) {
      const event = { type: "reaction_added", user: "U0ADA", reaction: "eyes", item, event_ts: "1.1" };
      expect((await account.deliver(event)).status).toBe(200);
    }
    expect(await storedReactions(account.bench)).toEqual([]);
  });
});

describe("an agent's reaction", () => {
  it("is shown by the app, replaced and taken back", async () => {
    const { asked } = await begin();
    for (const [emoji, name] of [
      ["❤️", "heart"],
      ["👍", "+1"],
      [null, undefined],
    ] as const) {
      await reactAsAgent(account.bench, emoji);
      expect(account.slack.reactions).toEqual(
        name === undefined ? [] : [{ channel: asked.channel, ts: asked.ts, name }],
      );
    }
  });
});
