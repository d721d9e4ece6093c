import { afterAll, beforeAll, expect, it } from "vitest";
import { describeFile } from "#adapters/slack/test/support/fake-web-api.ts";
import { eachDatabase } from "../support/database/databases.ts";
import type { DeskBench } from "../support/desk/bench.ts";
import { openDeskBench } from "../support/desk/bench.ts";
import { createAgentSteps, newest } from "../support/desk/agent-steps.ts";
import type { DeskWorld, Written } from "../support/desk/world.ts";
import { ben, deskChannel, mia } from "../support/desk/world.ts";

let bench: DeskBench;
let world: DeskWorld;

const steps = createAgentSteps(() => bench);
const { escalated, claimed, write, sees, lastNotice, notes } = steps;

const pdf = Buffer.from("%PDF-1.7 an invoice");

/** A file uploaded to Slack, as it appears in an event. */
function inSlack(name: string, bytes = pdf): Readonly<Record<string, unknown>> {
  const file = world.slack.addFile({ name, mimetype: "application/pdf", bytes });
  return describeFile(file, world.slack.url);
}

const writesFiles = (user: string, card: { readonly ts: string }, text: string, files: readonly object[]) =>
  write(user, card as Parameters<typeof write>[1], text, { subtype: "file_share", files });

/** The messages of the Telegram customer, with the names of files. */
const telegramMessages = () =>
  world.telegram.shown
    .filter(({ chatId }) => chatId === steps.chat())
    .map(({ text, file }) => ({ text, file: file?.name, bytes: file?.bytes.toString() }));

/** The files that the app has posted in the thread. */
const filesIn = (card: { readonly ts: string }) =>
  world.slack.messages
    .filter((each) => each.threadTs === card.ts && each.channel === deskChannel && !each.deleted)
    .flatMap(({ files }) => files);

async function slackCustomer(): Promise<{ readonly user: string; readonly card: ReturnType<typeof newest> }> {
  const user = `U0SAM${steps.nextChat()}`;
  world.slack.users.set(user, { id: user, name: "Sam", teamId: world.slack.teamId });
  const before = world.cards().length;
  await world.slackSays(user, "I want to talk to a human");
  await bench.until("the card is shown", () => world.cards().length > before);
  await bench.settle();
  return { user, card: newest(world.cards()) };
}

/** The customer's direct messages with the app. */
const dmOf = (user: string) =>
  world.slack.messages.filter((each) => each.channel === user.replace(/^U/, "D") && !each.deleted);

async function reacted(written: Written, name: string): Promise<void> {
  await bench.until(`there is a ${name}`, () =>
    world.slack.reactions.some((each) => each.ts === written.ts && each.name === name),
  );
}

eachDatabase("files at the desk", (open) => {
  beforeAll(async () => {
    bench = await openDeskBench(open);
    ({ world } = bench);
  });
  afterAll(() => bench.close());

  it("posts a customer's file in the thread once, although Slack fails midway", async () => {
    const card = await escalated();
    const document = { file_id: world.telegram.keep(pdf), file_name: "invoice.pdf", file_size: pdf.length };
    world.slack.fail("files.completeUploadExternal", { kind: "status", status: 500, afterCommit: true });
    world.slack.fail("files.getUploadURLExternal", { kind: "status", status: 503 });
    await world.telegramSays(steps.chat(), 2, "", { document, caption: "Here it is" });
    await bench.settle();
    expect(world.thread(card).slice(-2)).toEqual(["👤 Ada L.\nHere it is\n📎 invoice.pdf", "👤 Ada L.: invoice.pdf"]);
    expect(filesIn(card).map(({ name, bytes }) => [name, bytes.toString()])).toEqual([["invoice.pdf", pdf.toString()]]);
  });

  it("posts files of earlier messages in a thread that starts later", async () => {
    const document = { file_id: world.telegram.keep(pdf), file_name: "before.pdf", file_size: pdf.length };
    await world.telegramSays(steps.nextChat(), 1, "", { document, caption: "How much is it?" });
    await bench.settle();
    const before = world.cards().length;
    await world.telegramSays(steps.chat(), 2, "I want to talk to a human");
    await bench.until("the card is shown", () => world.cards().length > before);
    await bench.settle();
    expect(filesIn(newest(world.cards())).map(({ name }) => name)).toEqual(["before.pdf"]);
  });

  it("reports in the thread that a file could not be fetched", async () => {
    const card = await escalated();
    const document = { file_id: "gone", file_name: "lost.pdf", file_size: 9 };
    await world.telegramSays(steps.chat(), 2, "", { document, caption: "Here" });
    await bench.settle();
    expect(world.thread(card).at(-1)).toContain("The file lost.pdf is not here:");
  });

  it("sends an agent's files to a customer on Telegram, with the text, and marks the reply", async () => {
    const card = await claimed();
    const written = await writesFiles(mia, card, "Your invoice", [inSlack("invoice.pdf"), inSlack("terms.pdf")]);
    expect(telegramMessages().slice(-2)).toEqual([
      { text: "Mia Meyer:\nYour invoice", file: "invoice.pdf", bytes: pdf.toString() },
      { text: "", file: "terms.pdf", bytes: pdf.toString() },
    ]);
    expect(filesIn(card)).toEqual([]);
    await reacted(written, "white_check_mark");
  });

  it("sends a file without text, and the address of a file hosted elsewhere", async () => {
    const card = await claimed();
    await writesFiles(mia, card, "", [inSlack("alone.pdf")]);
    expect(telegramMessages().at(-1)).toMatchObject({ file: "alone.pdf" });
    const external = { id: "F0EXT", name: "Plan", is_external: true, external_url: "https://docs.example/plan" };
    await writesFiles(mia, card, "See", [external]);
    expect(sees().at(-1)).toContain("Plan: https://docs.example/plan");
  });

  it("sends an agent's file to a customer in Slack, keeps it when the text is edited, and deletes both", async () => {
    const { user, card } = await slackCustomer();
    const written = await writesFiles(mia, card, "Your invoice", [inSlack("invoice.pdf")]);
    const shown = () => dmOf(user).filter((each) => each.user === undefined);
    expect(
      shown()
        .at(-1)
        ?.files.map(({ name }) => name),
    ).toEqual(["invoice.pdf"]);
    await world.edits(written, "Your new invoice");
    await bench.settle();
    expect(world.slackSees(user).slice(-2)).toEqual(["Mia Meyer:\nYour new invoice", "Mia Meyer: invoice.pdf"]);
    await world.removes(written);
    await bench.settle();
    expect(world.slackSees(user).join("\n")).not.toContain("invoice");
    expect(shown().flatMap(({ files }) => files)).toEqual([]);
  });

  it("edits the caption of a file on Telegram, and deletes the file with it", async () => {
    const card = await claimed();
    const written = await writesFiles(mia, card, "Five euros", [inSlack("offer.pdf")]);
    await world.edits(written, "Six euros");
    await bench.settle();
    expect(telegramMessages().at(-1)).toMatchObject({ text: "Mia Meyer:\nSix euros", file: "offer.pdf" });
    await world.removes(written);
    await bench.settle();
    expect(telegramMessages().map(({ file }) => file)).not.toContain("offer.pdf");
  });

  it("sends a held reply with its file once its author confirms", async () => {
    const card = await claimed();
    const before = telegramMessages().length;
    await writesFiles(ben, card, "Perhaps this?", [inSlack("idea.pdf")]);
    expect(telegramMessages()).toHaveLength(before);
    expect((await notes()).map(({ content }) => content)).toEqual(["Perhaps this?\n📎 idea.pdf"]);
    const whisper = world.whispers(ben).at(-1);
    if (whisper === undefined) throw new Error("there is no question");
    await world.clicksPrivately(ben, whisper, "parley_choose_send");
    await bench.settle();
    expect(telegramMessages().slice(before)).toEqual([
      { text: "Ben Bauer:\nPerhaps this?", file: "idea.pdf", bytes: pdf.toString() },
    ]);
  });

  it("keeps files of a note internal", async () => {
    const card = await claimed();
    const before = telegramMessages().length;
    await writesFiles(mia, card, "// for us", [inSlack("secret.pdf")]);
    expect(telegramMessages()).toHaveLength(before);
    expect((await notes()).map(({ content }) => content)).toEqual(["for us\n📎 secret.pdf"]);
  });

  it("tells an agent which file was not sent and why, and sends the rest", async () => {
    const card = await claimed();
    const large = { ...inSlack("film.mp4"), size: 500 * 1_048_576 };
    const gone = { ...inSlack("gone.pdf"), url_private_download: `${world.slack.url.replace("/api", "")}/files/F0/x` };
    await writesFiles(mia, card, "All of it", [large, gone, inSlack("small.pdf")]);
    expect(telegramMessages().at(-1)).toMatchObject({ text: "Mia Meyer:\nAll of it", file: "small.pdf" });
    expect(lastNotice(mia)).toMatch(
      /film\.mp4 was not sent: it is larger than 25 MB.*gone\.pdf was not sent: .*not in Slack/,
    );
    await writesFiles(mia, card, "", [large]);
    expect(lastNotice(mia)).toContain("Nothing was sent. The file film.mp4");
  });

  it("sends the text of a message whose file is empty, with a notice", async () => {
    const card = await claimed();
    const written = await writesFiles(mia, card, "Here it is", [inSlack("empty.pdf", Buffer.alloc(0))]);
    expect(lastNotice(mia)).toBe("The file empty.pdf was not sent: it is empty.");
    expect(telegramMessages().at(-1)).toEqual({ text: "Mia Meyer:\nHere it is", file: undefined, bytes: undefined });
    await reacted(written, "white_check_mark");
  });

  it("tells an agent which files exceed the limit", async () => {
    const card = await claimed();
    const files = Array.from({ length: 22 }, (_, i) => inSlack(`page-${i}.pdf`));
    await writesFiles(ben, card, "All pages", files);
    expect(lastNotice(ben)).toContain(
      "A message takes 20 files at most, so these were not sent: page-20.pdf, page-21.pdf.",
    );
    expect((await notes()).at(-1)?.content).toMatch(/page-19\.pdf$/u);
  });

  it("waits for a file that Slack does not return yet, and keeps the order of the replies", async () => {
    const card = await claimed();
    const before = telegramMessages().length;
    world.slack.fail("download", { kind: "status", status: 503 }, { kind: "limit", seconds: 3 });
    await world.writes(mia, card.ts, "First", { subtype: "file_share", files: [inSlack("first.pdf")] });
    await world.writes(mia, card.ts, "Second");
    await bench.settle();
    expect(telegramMessages().slice(before)).toMatchObject([
      { text: "Mia Meyer:\nFirst", file: "first.pdf" },
      { text: "Mia Meyer:\nSecond" },
    ]);
  });

  it("applies a click after a reply once the reply is sent, although it waits for its file", async () => {
    const card = await claimed();
    const before = telegramMessages().length;
    world.slack.fail("download", { kind: "status", status: 503 }, { kind: "limit", seconds: 3 });
    await world.writes(mia, card.ts, "All yours", { subtype: "file_share", files: [inSlack("last.pdf")] });
    expect((await world.clicks(mia, card, "parley_release")).status).toBe(200);
    await bench.settle();
    expect(telegramMessages().slice(before)).toMatchObject([{ text: "Mia Meyer:\nAll yours", file: "last.pdf" }]);
    expect((await bench.conversation()).status).toBe("open");
  });

  it("tells an agent that the customer got a link, since the channel carries no files", async () => {
    const { store, clock, engine } = bench.app;
    const config = { account_sid: `AC${"0".repeat(32)}`, auth_token: "f".repeat(32), from: "+15550001111", mms: false };
    await store.write((tx) =>
      tx
        .insertInto("accounts")
        .values({
          id: "acc_sms",
          workspace_id: bench.workspaceId,
          channel: "sms",
          name: "sms",
          // Nothing listens there: whether the send succeeds does not matter here.
          config: JSON.stringify({ ...config, base_url: "http://127.0.0.1:9" }),
          credentials: null,
          managed_by: "file",
          enabled: 1,
          created_at: clock.now(),
        })
        .execute(),
    );
    const before = world.cards().length;
    const { conversationId } = await engine.ingest("acc_sms", {
      kind: "message",
      externalId: "SM1",
      messageExternalId: "SM1",
      thread: "+15550001111:+15550002222",
      sender: { key: "+15550002222" },
      sentAt: clock.now(),
      text: "I want to talk to a human",
    });
    await bench.until("the card is shown", () => world.cards().length > before);
    const more = { subtype: "file_share", files: [inSlack("plan.pdf")] };
    await world.writes(mia, newest(world.cards()).ts, "Here", more);
    await bench.until("the agent gets the notice", () => lastNotice(mia)?.includes("sms carries no files") === true);
    expect(lastNotice(mia)).toContain("The customer got an address that opens plan.pdf");
    const parts = await store.read
      .selectFrom("deliveries")
      .select("payload")
      .where("conversation_id", "=", conversationId ?? "")
      .execute();
    expect(parts.map(({ payload }) => payload).join()).toContain("/files/");
    await engine.remove(bench.workspaceId, conversationId ?? "", { type: "system", id: "test", name: null });
    await bench.settle();
  });

  it("removes files from Slack when the customer deletes the message, and when the conversation is deleted", async () => {
    const { user, card } = await slackCustomer();
    const files = [inSlack("mine.pdf")];
    const message = { channel: user.replace(/^U/, "D"), user, ts: world.slack.nextTs(), text: "Look" };
    await world.slackDelivers({ ...message, more: { subtype: "file_share", files } });
    await bench.settle();
    expect(filesIn(card).map(({ name }) => name)).toEqual(["mine.pdf"]);
    const [shown] = filesIn(card);
    await world.removes(message);
    await bench.settle();
    expect(filesIn(card)).toEqual([]);
    expect(world.slack.files.has(shown?.id ?? "")).toBe(false);

    const again = { ...message, ts: world.slack.nextTs() };
    await world.slackDelivers({ ...again, more: { subtype: "file_share", files } });
    await bench.settle();
    const [kept] = filesIn(card);
    expect(world.slack.files.has(kept?.id ?? "")).toBe(true);
    const { id } = await bench.conversation();
    await bench.app.engine.remove(bench.workspaceId, id, { type: "system", id: "test", name: null });
    await bench.settle();
    expect(world.slack.files.has(kept?.id ?? "")).toBe(false);
    expect(filesIn(card)).toEqual([]);
  });
});
