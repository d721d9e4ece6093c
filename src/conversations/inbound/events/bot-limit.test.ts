import { afterEach, beforeEach, expect, it } from "vitest";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, minuteMs, openBench } from "#test/support/engine-bench.ts";

eachDatabase("a customer who answers the bot faster than a person can read", (open) => {
  let bench: EngineBench;
  beforeEach(async () => {
    bench = await openBench(open);
  });
  afterEach(() => bench.close());

  let said = 0;
  async function write(times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      await bench.say("loop", "How much?", { id: `loop-${(said += 1)}` });
      await bench.settle();
    }
  }
  const answers = async (id: string) => (await bench.messages(id)).filter(({ role }) => role === "assistant").length;
  const warnings = async (id: string) =>
    (await bench.notes(id)).filter((note) => note.includes("another program may be answering it"));

  it("is left to agents, who read the reason once", async () => {
    const id = await bench.begin("loop", "How much?");
    await write(65);
    expect(await answers(id)).toBe(60);
    expect((await bench.row(id)).status).toBe("escalated");
    expect(await warnings(id)).toEqual([
      "The bot has answered this sender 60 times here within 10 minutes, and stops: another program may be answering it. Answer yourself if it is a person.",
    ]);
  });

  it("is answered by the bot again once agents have resolved it and the time is over", async () => {
    const id = await bench.begin("loop", "How much?");
    await write(61);
    await bench.engine.update(bench.workspaceId, id, { status: "resolved" }, anna);
    await write(1);
    expect([await answers(id), (await warnings(id)).length]).toEqual([60, 2]);
    await bench.engine.update(bench.workspaceId, id, { status: "resolved" }, anna);
    await bench.pass(11 * minuteMs);
    await write(1);
    expect(await answers(id)).toBe(61);
  });

  it("is left to agents within the hour where it writes more slowly", async () => {
    const id = await bench.begin("loop", "How much?");
    for (let i = 0; i < 125; i += 1) {
      await write(1);
      await bench.pass(minuteMs / 4);
    }
    expect(await answers(id)).toBe(120);
    expect(await warnings(id)).toEqual([
      expect.stringContaining("has answered this sender 120 times here within an hour"),
    ]);
  });

  it("does not silence the bot for the others in a group", async () => {
    const { conversationId } = await bench.say("loop", "How much?", { sender: { key: "somebody else" } });
    const id = conversationId ?? "";
    await bench.settle();
    for (let i = 0; i < 35; i += 1) {
      for (const key of ["one", "two"]) {
        await bench.say("loop", "How much?", { id: `${key}-${i}`, sender: { key } });
        await bench.settle();
      }
    }
    expect((await bench.row(id)).status).toBe("open");
    expect(await answers(id)).toBe(71);
  });

  it("is not meant by as many answers over a longer time", async () => {
    const id = await bench.begin("loop", "How much?");
    for (let i = 0; i < 65; i += 1) {
      await write(1);
      await bench.pass(minuteMs / 3);
    }
    expect((await bench.row(id)).status).toBe("open");
    expect(await warnings(id)).toEqual([]);
  });
});
