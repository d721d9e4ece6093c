import { afterEach, describe, expect, it } from "vitest";
import { loadAdapter } from "#channels/load-adapter.ts";
import { answerFromDocuments, thumbsOf } from "#test/support/channels/opinions.ts";
import { reactAsAgent, storedReactions } from "#test/support/channels/reactions.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";
import type { FakeDiscord, FakeMessage } from "./support/fake-discord.ts";
import { startFakeDiscord } from "./support/fake-discord.ts";

let discord: FakeDiscord;
let bench: EngineBench;

afterEach(async () => {
  await discord.close();
  await bench.close();
});

/** Writes a message, and waits for the bot's answer. */
async function begin(where: "direct" | "server"): Promise<{ asked: FakeMessage; answer: FakeMessage }> {
  discord = await startFakeDiscord();
  const guilds = where === "server" ? "threads" : "off";
  const config = { token: discord.token, base_url: discord.url, guilds };
  bench = await openBench(newSqlite, { account: { channel: "discord", load: loadAdapter, config } });
  answerFromDocuments(bench);
  await bench.app.listen();
  await bench.advance(10_000);
  await bench.until("the program has connected", () => discord.connected());
  const channelId = where === "server" ? discord.guildChannel : discord.direct("ada");
  const asked = discord.write({ channelId, from: "ada", text: "When do you open?", mentionsBot: true });
  const place = where === "server" ? asked.id : channelId;
  const own = () => discord.messages(place).find(({ author }) => author.bot === true);
  await bench.until("it is answered", async () => {
    await bench.settle();
    return own() !== undefined;
  });
  const answer = own();
  if (answer === undefined) throw new Error("there is no answer");
  return { asked, answer };
}
const areStored = async (expected: readonly string[]): Promise<void> => {
  await expect.poll(async () => (await storedReactions(bench)).toSorted()).toEqual(expected.toSorted());
};

describe("a customer's reaction", () => {
  it("is stored at the message, and removed", async () => {
    const { asked, answer } = await begin("direct");
    discord.react(asked, "ada", "❤️");
    discord.react(answer, "ada", "party");
    await areStored(["user ❤️ ada", "user :party: ada"]);
    discord.react(asked, "ada", "❤️", false);
    await areStored(["user :party: ada"]);
  });

  it("in a server is that of a customer, and no one else's", async () => {
    const { asked, answer } = await begin("server");
    discord.react(answer, "eve", "🎉");
    discord.react(answer, "ada", "🔥");
    // The first message is in the channel above the thread.
    discord.react(asked, "ada", "👀");
    await areStored(["user 🔥 ada", "user 👀 ada"]);
  });

  it("is an opinion where it is a thumb on an answer", async () => {
    const { answer } = await begin("direct");
    discord.react(answer, "ada", "👍");
    await expect.poll(() => thumbsOf(bench)).toEqual(["up"]);
    discord.react(answer, "ada", "👍", false);
    await expect.poll(() => thumbsOf(bench)).toEqual([null]);
    expect(await storedReactions(bench)).toEqual([]);
  });
});

describe("an agent's reaction", () => {
  it.each(["direct", "server"] as const)("is shown by the bot, replaced and taken back (%s)", async (where) => {
    const { asked } = await begin(where);
    for (const emoji of ["❤️", "👍", null]) {
      await reactAsAgent(bench, emoji);
      expect(discord.reactions(asked.id)).toEqual(emoji === null ? [] : [emoji]);
    }
  });
});
