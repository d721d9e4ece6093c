import { expect } from "vitest";
import type { FakeMessage } from "#adapters/slack/test/support/fake-messages.ts";
import type { DeskBench } from "./bench.ts";
import type { Written } from "./world.ts";
import { mia } from "./world.ts";

/** Actions of agents at the desk; each waits until no work is left. They act on the newest customer's chat. */
export function createAgentSteps(bench: () => DeskBench) {
  let chat = 100;

  const steps = {
    chat: (): number => chat,
    /** Switches to a new customer. */
    nextChat: (): number => (chat += 1),
    /** Starts a conversation of a new customer that waits for an agent, and returns its card. */
    async escalated(text = "I want to talk to a human"): Promise<FakeMessage> {
      const { world, until, settle } = bench();
      const before = world.cards().length;
      await world.telegramSays(steps.nextChat(), 1, text);
      await until("the card is shown", () => world.cards().length > before);
      await settle();
      return newest(world.cards());
    },
    async claimed(by = mia): Promise<FakeMessage> {
      const card = await steps.escalated();
      await steps.click(by, card, "parley_claim");
      return card;
    },
    async click(user: string, card: FakeMessage, action: string, option?: string): Promise<void> {
      const { world, settle } = bench();
      expect((await world.clicks(user, card, action, option)).status).toBe(200);
      await settle();
    },
    async write(user: string, card: FakeMessage, text: string, more?: object): Promise<Written> {
      const { world, settle } = bench();
      const written = await world.writes(user, card.ts, text, more, card.channel);
      await settle();
      return written;
    },
    sees: (): readonly string[] => bench().world.telegramSees(chat),
    lastNotice: (user: string) => bench().world.whispers(user).at(-1)?.text,
    async notes(): Promise<readonly { readonly content: string; readonly author: string }[]> {
      const { id } = await bench().conversation();
      return bench()
        .app.store.read.selectFrom("notes")
        .select(["content", "author"])
        .where("conversation_id", "=", id)
        .orderBy("id")
        .execute();
    },
    /** The dialog that was opened last. */
    view: () => bench().world.slack.views.at(-1) as Readonly<Record<string, unknown>>,
  };
  return steps;
}

export function newest(cards: readonly FakeMessage[]): FakeMessage {
  const card = cards.at(-1);
  if (card === undefined) throw new Error("there is no card");
  return card;
}
