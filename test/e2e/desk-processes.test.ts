import { afterEach, expect, it } from "vitest";
import { onMysql } from "../support/database/databases.ts";
import type { DeskBench } from "../support/desk/bench.ts";
import { openDeskBench } from "../support/desk/bench.ts";
import { createAgentSteps } from "../support/desk/agent-steps.ts";
import { playWholeConversation, shownIn, sideOf, wholeConversation, wholeThread } from "../support/desk/walkthrough.ts";
import type { DeskWorld } from "../support/desk/world.ts";
import { ben, mia } from "../support/desk/world.ts";
import { createEndlessBurst } from "../support/endless-burst.ts";

let bench: DeskBench;
let world: DeskWorld;
const steps = createAgentSteps(() => bench);

const timeout = 120_000;

async function begin(open: Parameters<typeof openDeskBench>[0], transport: "webhook" | "socket"): Promise<void> {
  bench = await openDeskBench(open, { transport, processes: 2 });
  ({ world } = bench);
}

/** Agents' replies as the customer reads them. */
const replied = () => steps.sees().filter((text) => /^(?:Mia Meyer|Ben Bauer):/.test(text));

onMysql("two processes with one desk", (open) => {
  afterEach(() => bench.close());

  for (const transport of ["webhook", "socket"] as const) {
    for (const channel of ["Telegram", "Slack"]) {
      it(`show everything once and in order: over a ${transport}, customer on ${channel}`, { timeout }, async () => {
        await begin(open, transport);
        const side = sideOf(world, channel);
        await playWholeConversation(bench, side);
        expect(world.cards()).toHaveLength(1);
        const [card] = world.cards();
        expect(card === undefined ? [] : shownIn(world, card)).toEqual(wholeThread);
        expect(side.sees()).toEqual(wholeConversation);
      });
    }
  }

  it("apply an event once that Slack delivers to both, and one of two claims", { timeout }, async () => {
    await begin(open, "webhook");
    const cards = [await steps.escalated(), await steps.escalated(), await steps.escalated()];
    const last = cards.at(-1) ?? never();
    const clicks = [mia, ben, mia, ben].map((user) => world.clicks(user, last, "parley_claim"));
    expect((await Promise.all(clicks)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await bench.settle();
    expect(world.thread(last).filter((text) => text.includes("claimed it"))).toHaveLength(1);
    const { assigned_to: holder } = await bench.conversation();
    const winner = holder === "mia@shop.example" ? mia : ben;
    const expected: string[] = [];
    for (let i = 1; i <= 8; i += 1) {
      const written = await world.writes(winner, last.ts, `Reply ${i}`);
      await Promise.all([world.writesLate(written), world.writesLate(written)]);
      expected.push(`${winner === mia ? "Mia Meyer" : "Ben Bauer"}:\nReply ${i}`);
    }
    // Claims in other conversations at the same time.
    await Promise.all(cards.slice(0, 2).map((card) => world.writes(ben, card.ts, "Elsewhere")));
    await bench.settle();
    expect(replied()).toEqual(expected);
    for (const card of cards.slice(0, 2)) {
      expect(world.thread(card).filter((text) => text.includes("Ben Bauer claimed it"))).toHaveLength(1);
    }
  });

  it("lose nothing when Slack asks to reconnect, and when the connected process ends", { timeout }, async () => {
    await begin(open, "socket");
    const card = await steps.claimed();
    const expected: string[] = [];
    for (let i = 1; i <= 6; i += 1) {
      if (i === 2) world.slack.refreshSockets();
      if (i === 3) world.slack.dropSockets();
      if (i === 4) await bench.other?.close();
      await world.writes(mia, card.ts, `Reply ${i}`);
      expected.push(`Mia Meyer:\nReply ${i}`);
    }
    await bench.settle();
    expect(replied()).toEqual(expected);
    expect(world.slack.sockets()).toBe(1);
    expect((await world.command(mia, "mine")).status).toBe(200);
  });
});

onMysql("a desk", (open) => {
  it("applies agents' actions during an inbound burst", { timeout }, async () => {
    const burst = createEndlessBurst();
    bench = await openDeskBench(open, { burst });
    ({ world } = bench);
    const card = await steps.escalated();
    await bench.settle();
    burst.begin();
    await world.clicks(mia, card, "parley_claim");
    await expect.poll(async () => (await bench.conversation()).status).toBe("claimed");
    await bench.close();
  });
});

function never(): never {
  throw new Error("there is no card");
}
