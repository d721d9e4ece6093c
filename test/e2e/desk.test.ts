import { afterEach, expect, it } from "vitest";
import type { Fault } from "#adapters/slack/test/support/fake-slack.ts";
import { eachDatabase } from "../support/database/databases.ts";
import type { DeskBench } from "../support/desk/bench.ts";
import { openDeskBench } from "../support/desk/bench.ts";
import { playWholeConversation, shownIn, sideOf, wholeConversation, wholeThread } from "../support/desk/walkthrough.ts";

let bench: DeskBench;
afterEach(() => bench.close());

const timeout = 120_000;

eachDatabase("a conversation at the desk", (open) => {
  for (const channel of ["Telegram", "Slack"]) {
    it(
      `passes from a customer on ${channel} through the bot to an agent in Slack and back, twice`,
      { timeout },
      async () => {
        bench = await openDeskBench(open);
        const { world } = bench;
        const side = sideOf(world, channel);
        const written = await playWholeConversation(bench, side);
        const [card] = world.cards();
        expect(world.cards()).toHaveLength(1);
        expect(shownIn(world, card ?? never())).toEqual(wholeThread);
        expect(shownIn(world, card ?? never())[0]).toContain("Handbook");
        expect(side.sees()).toEqual(wholeConversation);
        expect(world.slack.reactions.toSorted((a, b) => a.ts.localeCompare(b.ts))).toEqual(
          written.map(({ channel: at, ts }) => ({ channel: at, ts, name: "white_check_mark" })),
        );
      },
    );

    it(
      `shows everything once and in order although Slack refuses and fails for a minute: customer on ${channel}`,
      { timeout },
      async () => {
        bench = await openDeskBench(open);
        const { world, app } = bench;
        const side = sideOf(world, channel);
        const began = app.clock.now();
        let calls = 0;
        const faults: readonly Fault[] = [
          { kind: "limit", seconds: 2 },
          { kind: "status", status: 500 },
          { kind: "status", status: 500, afterCommit: true },
          { kind: "hang_up_after_commit" },
        ];
        world.slack.trouble(() =>
          app.clock.now() - began < 60_000 ? faults[(calls += 1) % faults.length] : undefined,
        );
        await playWholeConversation(bench, side);
        expect(calls).toBeGreaterThan(5);
        expect(world.cards()).toHaveLength(1);
        expect(shownIn(world, world.cards()[0] ?? never())).toEqual(wholeThread);
        expect(side.sees()).toEqual(wholeConversation);
      },
    );
  }
});

function never(): never {
  throw new Error("there is no card");
}
