import { expect } from "vitest";
import type { FakeMessage } from "#adapters/slack/test/support/fake-messages.ts";
import type { DeskBench } from "./bench.ts";
import type { DeskWorld } from "./world.ts";
import { mia } from "./world.ts";

const chat = 4_711;
const customer = "U0ADA0001";

/** Sends and reads a customer's messages on one platform. */
export interface CustomerSide {
  says(text: string): Promise<void>;
  sees(): readonly string[];
}

export function sideOf(world: DeskWorld, channel: string): CustomerSide {
  let message = 0;
  if (channel === "Telegram") {
    return {
      says: (text) => world.telegramSays(chat, (message += 1), text),
      sees: () => world.telegramSees(chat),
    };
  }
  const { teamId } = world.slack;
  world.slack.users.set(customer, { id: customer, name: "Ada L.", teamId });
  return { says: (text) => world.slackSays(customer, text), sees: () => world.slackSees(customer) };
}

const replies = ["Hello!", "It costs *5* euros.", "Anything else?"];

/** The program's posts in the thread; the agents' own messages are left out. */
export const wholeThread = [
  expect.stringContaining("How much is <!here> & *shipping*?"),
  "Handed to people: the customer asked for a person.",
  "Mia Meyer claimed it.",
  "Resolved by Mia Meyer.",
  // Slack may not return the name in time.
  expect.stringMatching(/^Reopened by (?:Ada L|The customer)\.$/),
  expect.stringContaining("One more question"),
  expect.stringContaining("You asked: One more question"),
];

export const wholeConversation = [
  // The answer is Markdown.
  expect.stringContaining("You asked: How much is <!here> & shipping?"),
  expect.stringContaining("A person will reply to you here."),
  "Mia Meyer:\nHello!",
  "Mia Meyer:\nIt costs 5 euros.",
  "Mia Meyer:\nAnything else?",
  expect.stringContaining("You asked: One more question"),
];

async function cardOf({ world, until }: DeskBench) {
  await until("the card is shown", () => world.cards().length > 0);
  const [card] = world.cards();
  if (card === undefined) throw new Error("there is no card");
  return card;
}

export const shownIn = (world: DeskWorld, card: FakeMessage): readonly string[] =>
  world.thread(card).filter((text) => !text.startsWith(mia));

const stateIs = ({ until, conversation }: DeskBench, status: string) =>
  until(`it is ${status}`, async () => (await conversation()).status === status);

/** Plays a full conversation: bot, handover, claim, three replies, resolved, reopened. */
export async function playWholeConversation(
  bench: DeskBench,
  side: CustomerSide,
): Promise<readonly { readonly channel: string; readonly ts: string }[]> {
  const { world } = bench;
  await side.says("How much is <!here> & *shipping*?");
  await bench.until("the bot has answered", async () => (await bench.conversation()).last_seq === 2);
  await side.says("I want to talk to a human");
  const card = await cardOf(bench);
  expect((await world.clicks(mia, card, "parley_claim")).status).toBe(200);
  await stateIs(bench, "claimed");
  const written = [];
  for (const text of replies) written.push(await world.writes(mia, card.ts, text));
  await bench.until("the replies are stored", async () => (await bench.conversation()).last_seq === 7);
  await bench.until("the card is up to date", () => JSON.stringify(card.blocks).includes("Claimed by Mia"));
  expect((await world.clicks(mia, card, "parley_resolve")).status).toBe(200);
  await stateIs(bench, "resolved");
  await side.says("One more question");
  await stateIs(bench, "open");
  await bench.settle();
  return written;
}
