import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadAdapter } from "#channels/load-adapter.ts";
import {
  answerFromDocuments,
  resolveWithSurvey,
  scoresOf,
  surveysOn,
  thumbsOf,
} from "#test/support/channels/opinions.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { runStatement } from "#test/support/database/run-statement.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";
import type { FakeDiscord, FakeMessage } from "./support/fake-discord.ts";
import { startFakeDiscord } from "./support/fake-discord.ts";

let discord: FakeDiscord;
let bench: EngineBench;

beforeEach(async () => {
  discord = await startFakeDiscord();
  const config = { token: discord.token, base_url: discord.url, guilds: "threads", person_button: "A person, please" };
  bench = await openBench(newSqlite, {
    account: { channel: "discord", load: loadAdapter, config },
    settings: surveysOn,
  });
  answerFromDocuments(bench);
  await bench.app.listen();
  await bench.advance(10_000);
  await bench.until("the program has connected", () => discord.connected());
});
afterEach(async () => {
  await discord.close();
  await bench.close();
});

const own = (channelId: string) => discord.messages(channelId).filter(({ author }) => author.bot === true);
const labels = ({ components = [] }: FakeMessage) =>
  components.map((row) => row.components.map(({ label }) => label).join(" "));

async function answerTo(text: string, channelId = discord.direct("ada"), mentionsBot = false): Promise<FakeMessage> {
  const asked = discord.write({ channelId, from: "ada", text, mentionsBot });
  const thread = mentionsBot ? asked.id : channelId;
  const before = own(thread).length;
  await bench.until("it is answered", async () => {
    await bench.settle();
    return own(thread).length > before;
  });
  const answer = own(thread).at(-1);
  if (answer === undefined) throw new Error("there is no answer");
  return answer;
}

const acknowledged = (): number => discord.calls("POST /interactions/:id/:token/callback").length;

/** Presses a button, and waits for the acknowledgement. */
async function press(message: FakeMessage, label: string, from = "ada"): Promise<void> {
  const all = (message.components ?? []).flatMap((row) => row.components);
  const customId = all.find((each) => each.label === label)?.custom_id;
  if (customId === undefined) throw new Error(`there is no button ${label}`);
  const before = acknowledged();
  discord.press(message, from, customId);
  await bench.until("the press is acknowledged", () => acknowledged() > before, 5_000);
}

describe("thumbs below an answer", () => {
  it("are in one row with the button for a person, and can be changed and taken back", async () => {
    const answer = await answerTo("When do you open?");
    expect(labels(answer)).toEqual(["👍 👎 A person, please"]);
    await press(answer, "👍");
    expect(labels(answer)).toEqual(["👍 ✓ 👎 A person, please"]);
    expect(await thumbsOf(bench)).toEqual(["up"]);
    await press(answer, "👎");
    expect(labels(answer)).toEqual(["👍 👎 ✓ A person, please"]);
    expect(await thumbsOf(bench)).toEqual(["down"]);
    await press(answer, "👎 ✓");
    expect(labels(answer)).toEqual(["👍 👎 A person, please"]);
    expect(await thumbsOf(bench)).toEqual([null]);
  });

  it("count once when pressed twice, stay without the button for a person, and count below older answers", async () => {
    const answer = await answerTo("When do you open?");
    const up = answer.components?.[0]?.components[0]?.custom_id;
    await answerTo("And on Sunday?");
    discord.press(answer, "ada", up);
    discord.press(answer, "ada", up);
    await bench.until("both are acknowledged", () => acknowledged() === 2);
    await press(answer, "A person, please");
    expect(labels(answer)).toEqual(["👍 ✓ 👎"]);
    const rows = await bench.store.read.selectFrom("answer_feedback").select(["message_id", "value"]).execute();
    expect(rows).toEqual([{ message_id: up?.split(":")[2], value: "up" }]);
  });

  it("count only from those who wrote in the thread", async () => {
    const answer = await answerTo(`<@${discord.botId}> when?`, discord.guildChannel, true);
    await press(answer, "👎", "eve");
    expect(await thumbsOf(bench)).toEqual([]);
    expect(labels(answer)).toEqual(["👍 👎 A person, please"]);
    await press(answer, "👎");
    expect(await thumbsOf(bench)).toEqual(["down"]);
  });

  it("are acknowledged only when the press is stored", async () => {
    const answer = await answerTo("When do you open?");
    await runStatement(bench.url, "alter table inbound_events rename to away");
    discord.press(answer, "ada");
    await bench.until("it fails", () => bench.logged.join().includes("storing a message failed"));
    expect(acknowledged()).toBe(0);
    await runStatement(bench.url, "alter table away rename to inbound_events");
    await bench.advance(1_000);
    await bench.until("it is stored", async () => (await thumbsOf(bench)).join() === "up");
    await bench.until("it is acknowledged", () => labels(answer).join().includes("✓"));
  });
});

describe("a survey", () => {
  it("has five stars, of which the first pressed one counts", async () => {
    await answerTo("When do you open?");
    await resolveWithSurvey(bench);
    // The minute's jump of the clock ended the lease of the connection.
    await bench.advance(10_000);
    await bench.until("the program has reconnected", () => discord.connected());
    const survey = own(discord.direct("ada")).at(-1);
    if (survey === undefined) throw new Error("there is no survey");
    expect(labels(survey)).toEqual(["1 ★ 2 ★ 3 ★ 4 ★ 5 ★", "A person, please"]);
    const second = survey.components?.[0]?.components[1]?.custom_id;
    await press(survey, "4 ★");
    expect(labels(survey)).toEqual(["4 ★ ✓ A person, please"]);
    discord.press(survey, "ada", second);
    await press(survey, "4 ★ ✓");
    expect(labels(survey)).toEqual(["4 ★ ✓ A person, please"]);
    expect(await scoresOf(bench)).toEqual([4]);
  });
});
