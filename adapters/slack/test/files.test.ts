import { hostWith } from "#test/support/channels/partial-host.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Attempt, ChannelAdapter, InboundEvent, OutboundFile, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { DeliveryError } from "#channels/errors.ts";
import slackModule from "../index.ts";
import { fileRef } from "../files.ts";
import { isSlackAddress } from "../client.ts";
import { envelopeOf, messageEvent } from "./support/events.ts";
import type { FakeSlack } from "./support/fake-slack.ts";
import { startFakeSlack } from "./support/fake-slack.ts";
import { describeFile } from "./support/fake-web-api.ts";

let slack: FakeSlack;
let adapter: ChannelAdapter;
let accepted: InboundEvent[];
const now = Date.UTC(2031, 4, 14);
const picture = Buffer.from("a picture, or so it says");

beforeEach(async () => {
  slack = await startFakeSlack();
  slack.follow(() => now);
  accepted = [];
  slack.users.set("U0ADA", { id: "U0ADA", name: "Ada L.", teamId: slack.teamId });
  slack.channels.set("D0ADA", { id: "D0ADA", kind: "im", name: "U0ADA", archived: false, member: true });
  const host = hostWith({
    webhookUrl: "https://parley.example/channels/slack/acc",
    clock: { now: () => now, timer: () => () => undefined },
    state: { get: async () => null },
    accept: async (event) => {
      accepted.push(event);
      return { duplicate: false, conversationId: null, messageId: null, seq: null };
    },
    threads: { get: async () => null },
  });
  adapter = slackModule.create(
    {
      id: "acc",
      workspaceId: "ws",
      channel: "slack",
      name: "slack",
      config: { bot_token: slack.botToken, signing_secret: slack.signingSecret, base_url: slack.url },
    },
    host,
  );
});
afterEach(() => slack.close());

/** The event that the host receives for a message with these files. */
async function received(
  files: readonly object[],
  text = "See this",
): Promise<Extract<InboundEvent, { kind: "message" }>> {
  const said = { channel: "D0ADA", user: "U0ADA", ts: slack.nextTs(), text };
  const event = { ...messageEvent(slack, said), subtype: "file_share", files };
  const body = Buffer.from(JSON.stringify(envelopeOf(slack, event)));
  const { inbound } = adapter;
  if (inbound.kind !== "webhook") throw new Error("it is no webhook");
  const headers = { "content-type": "application/json", ...slack.sign(body.toString(), now) };
  const { status } = await inbound.receive({ method: "POST", path: "/", query: {}, headers, body, remoteAddress: "" });
  expect(status).toBe(200);
  const last = accepted.at(-1);
  if (last?.kind !== "message") throw new Error("no message was taken");
  return last;
}

async function bytesOf(ref: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await adapter.fetchFile?.(ref, AbortSignal.timeout(5_000))) ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}
const failureOf = (work: Promise<unknown>): Promise<Partial<DeliveryError>> =>
  work.then(
    () => ({ message: "it did not fail" }),
    (error: unknown) => error as DeliveryError,
  );

describe("a customer's file in Slack", () => {
  it("arrives with the message, and is fetched with the token", async () => {
    const file = slack.addFile({ name: "screen.png", mimetype: "image/png", bytes: picture });
    const { files, text } = await received([describeFile(file, slack.url)]);
    expect(text).toBe("See this");
    expect(files).toMatchObject([{ name: "screen.png", mediaType: "image/png", bytes: picture.length }]);
    expect(await bytesOf(files?.[0]?.ref ?? "")).toEqual(picture);
    expect(JSON.stringify(files)).not.toContain(slack.botToken);
    expect(await received([describeFile(file, slack.url)], "")).toMatchObject({ text: "", files: [{}] });
  });

  it("of another workspace is looked up before it is fetched", async () => {
    const file = slack.addFile({ name: "shared.txt", mimetype: "text/plain", bytes: picture });
    const { files } = await received([{ id: file.id, name: "shared.txt", file_access: "check_file_info" }]);
    expect(await bytesOf(files?.[0]?.ref ?? "")).toEqual(picture);
    expect(slack.calls("files.info")).toMatchObject([{ file: file.id }]);
  });

  it("of another workspace has its name and type, if Slack returns them", async () => {
    const file = slack.addFile({ name: "screen.png", mimetype: "image/png", bytes: picture });
    const untold = { id: file.id, mode: "file_access", file_access: "check_file_info" };
    const { files } = await received([untold]);
    expect(files).toMatchObject([{ name: "screen.png", mediaType: "image/png", bytes: picture.length }]);
    expect(await bytesOf(files?.[0]?.ref ?? "")).toEqual(picture);
    slack.fail("files.info", { kind: "status", status: 500 });
    expect((await received([untold])).files).toMatchObject([{ name: "file", bytes: null }]);
  });

  it("outside of Slack is a line with its address, and its server gets no token", async () => {
    const { files, text } = await received([
      { id: "F1", name: "plan", is_external: true, external_url: "https://drive.example/plan" },
      { id: "F2", name: "old", mode: "tombstone" },
    ]);
    expect(files).toBeUndefined();
    expect(text).toBe(
      "See this\n\n[file: plan https://drive.example/plan]\n\n[a file that Slack does not have any more]",
    );
    for (const url of [
      "https://evil.example/files.slack.com/x",
      "http://files.slack.com/x",
      "https://files.slack.com.evil.example/x",
      "https://evilslack.com/x",
      "https://files.slack.com@evil.example/x",
      "https://files.slack.com:8443/x",
      "file:///etc/passwd",
      "x",
    ]) {
      expect(isSlackAddress(url, slack.url), url).toBe(false);
      const failed = await failureOf(bytesOf(JSON.stringify({ id: "F1", url })));
      expect(failed, url).toMatchObject({ outcome: "rejected", message: "the file does not lie with Slack" });
    }
    expect(isSlackAddress("https://files.slack.com/files-pri/T1-F1/a.png", slack.url)).toBe(true);
  });

  it("above a message's limit is counted in its text", async () => {
    const all = Array.from({ length: 22 }, (_, i) => ({
      id: `F${i}`,
      name: `${i}.png`,
      url_private: "https://files.slack.com/x",
    }));
    const { files, text } = await received(all);
    expect(files).toHaveLength(20);
    expect(text).toBe("See this\n\n[2 more files, which are in Slack alone]");
    expect((await received(all.slice(1), "")).text).toBe("[1 more file, which is in Slack alone]");
  });

  it("is not mistaken for Slack's sign-in page, and is retried when Slack fails", async () => {
    const file = slack.addFile({ name: "a.html", mimetype: "text/html", bytes: picture });
    const ref = fileRef({ id: file.id, url_private: slack.fileUrl(file) }) ?? "";
    expect(await bytesOf(ref)).toEqual(picture);
    slack.fail("download", { kind: "html" });
    expect(await failureOf(bytesOf(ref))).toMatchObject({ outcome: "rejected" });
    slack.fail("download", { kind: "status", status: 502 }, { kind: "limit", seconds: 7 });
    expect(await failureOf(bytesOf(ref))).toMatchObject({ outcome: "not_sent" });
    expect(await failureOf(bytesOf(ref))).toMatchObject({ outcome: "not_sent", retryAfterMs: 7_000 });
    slack.files.clear();
    expect(await failureOf(bytesOf(ref))).toMatchObject({ outcome: "rejected" });
    slack.fail("files.info", { kind: "hang_up" });
    expect(await failureOf(bytesOf(fileRef({ id: file.id }) ?? ""))).toMatchObject({ outcome: "not_sent" });
    expect(await failureOf(bytesOf("not what was given"))).toMatchObject({ outcome: "rejected" });
    await slack.goAway();
    expect(await failureOf(bytesOf(ref))).toMatchObject({ outcome: "not_sent" });
  });

  it("with a very long address is referenced without it", () => {
    const ref = fileRef({ id: "F1", url_private: `https://files.slack.com/${"x".repeat(5_000)}` });
    expect(ref).toBe('{"id":"F1"}');
    expect(fileRef({ name: "nothing to fetch it by" })).toBeUndefined();
  });
});

describe("an agent's file to Slack", () => {
  const file: OutboundFile = { id: "file_1", name: "offer.pdf", mediaType: "application/pdf", bytes: picture.length };
  const render = () =>
    adapter.render({ role: "agent", authorName: "Anna", markdown: "Here it is", sources: [], files: [file] });
  const context = (key: string, bytes: readonly Buffer[] = [picture]): SendContext => ({
    thread: "D0ADA:root",
    key,
    messageId: "msg",
    signal: AbortSignal.timeout(5_000),
    file: async () =>
      (async function* () {
        yield* bytes;
      })(),
  });

  it("is uploaded, and shared after the text", async () => {
    const [text, upload, ...rest] = render();
    if (text === undefined || upload === undefined) throw new Error("there is nothing to send");
    expect(rest).toEqual([]);
    await adapter.send(text, context("dlv_1"));
    await adapter.send(upload, context("dlv_2", [picture.subarray(0, 5), picture.subarray(5)]));
    const [, shared] = slack.shown("D0ADA");
    expect(slack.shown("D0ADA").map(({ text: shown }) => shown)).toEqual(["Anna:\nHere it is", "Anna: offer.pdf"]);
    expect(shared?.message.files).toMatchObject([{ name: "offer.pdf", bytes: picture }]);
  });

  it("is found after a connection lost during sharing, and uploaded again after an earlier failure", async () => {
    const upload = render()[1];
    if (upload === undefined) throw new Error("there is nothing to send");
    slack.fail("files.completeUploadExternal", { kind: "hang_up_after_commit" });
    expect(await failureOf(adapter.send(upload, context("dlv_3")))).toMatchObject({ outcome: "unknown" });
    expect(await adapter.reconcile?.("dlv_3", context("dlv_3"), attemptOf(upload))).toMatchObject({ state: "sent" });
    expect(await adapter.reconcile?.("dlv_4", context("dlv_4"), attemptOf(upload))).toBeNull();
    slack.fail("files.getUploadURLExternal", { kind: "hang_up" });
    expect(await failureOf(adapter.send(upload, context("dlv_4")))).toMatchObject({ outcome: "not_sent" });
    slack.fail("upload", { kind: "status", status: 500 });
    expect(await failureOf(adapter.send(upload, context("dlv_4")))).toMatchObject({ outcome: "not_sent" });
    expect(await failureOf(adapter.send(upload, context("dlv_4", [])))).toMatchObject({ outcome: "rejected" });
    expect(slack.shown("D0ADA")).toHaveLength(1);
  });
});

const attemptOf = (part: Part): Attempt => ({ part, startedAt: now, otherExternalIds: [] });

describe("a sent message", () => {
  const context: SendContext = {
    thread: "D0ADA:root",
    key: "dlv_9",
    messageId: "m",
    signal: AbortSignal.timeout(5_000),
  };
  const part = (markdown: string) => {
    const [first] = adapter.render({ role: "agent", authorName: null, markdown, sources: [] });
    if (first === undefined) throw new Error("there is nothing to send");
    return first;
  };

  it("is searched without reading older messages", async () => {
    const say = (at: number, threadTs?: string) => {
      slack.messages.push({
        channel: "D0ADA",
        ts: `${Math.floor(at / 1_000)}.${String(slack.messages.length).padStart(6, "0")}`,
        threadTs,
        user: "U0ADA",
        text: "Hello?",
        blocks: [],
        metadata: undefined,
        files: [],
        deleted: false,
      });
      return slack.messages.at(-1)?.ts;
    };
    const dayAgo = now - 86_400_000;
    const root = say(dayAgo);
    for (let i = 0; i < 1_100; i += 1) {
      say(dayAgo + i * 1_000);
      say(dayAgo + i * 1_000, root);
    }
    for (const thread of ["D0ADA:root", `D0ADA:${root}`]) {
      const there = { ...context, thread };
      expect(await adapter.reconcile?.("dlv_9", there, attemptOf(part("First")))).toBeNull();
      const { externalId } = await adapter.send(part("First"), { ...there, key: `dlv_${thread}` });
      expect(await adapter.reconcile?.(`dlv_${thread}`, there, attemptOf(part("First")))).toMatchObject({ externalId });
    }
    // The clocks of this machine and of Slack may differ.
    const late = { ...attemptOf(part("First")), startedAt: now + 20 * 60_000 };
    expect(await adapter.reconcile?.("dlv_D0ADA:root", context, late)).not.toBeNull();
  });

  it("is edited, and deleted once", async () => {
    const { externalId } = await adapter.send(part("Frist"), context);
    await adapter.edit?.(part("First"), externalId ?? "", context);
    expect(slack.shown("D0ADA").map(({ text }) => text)).toEqual(["First"]);
    expect(await adapter.reconcile?.("dlv_9", context, attemptOf(part("First")))).toEqual({
      externalId,
      state: "sent",
    });
    await adapter.remove?.(externalId ?? "", context);
    await adapter.remove?.(externalId ?? "", context);
    expect(slack.shown("D0ADA")).toEqual([]);
    expect(
      await failureOf(adapter.edit?.(part("Again"), externalId ?? "", context) ?? Promise.resolve()),
    ).toMatchObject({
      outcome: "rejected",
      message: "this message is no longer in Slack",
    });
  });
});

describe("the check of an account", () => {
  const check = () => adapter.check?.(AbortSignal.timeout(5_000)) ?? Promise.resolve("no check");

  it("names the app, and its missing scopes", async () => {
    expect(await check()).toBe(
      "@parley in Shop; the Request URL of its events and of Interactivity has to be https://parley.example/channels/slack/acc",
    );
    for (const scope of ["reactions:read", "assistant:write"]) slack.scopes.splice(slack.scopes.indexOf(scope), 1);
    expect(await check()).toMatch(
      /\/acc; lacking optional scopes: assistant:write \(threads .* no status\), reactions:read \(customers' reactions are not seen\): add them as Bot Token Scopes/,
    );
    slack.scopes.splice(slack.scopes.indexOf("files:read"), 1);
    expect(await failureOf(check())).toMatchObject({
      message:
        "@parley in Shop lacks files:read (to fetch what customers attach): add it as Bot Token Scopes under OAuth & Permissions, and install the app again",
    });
    slack.fail("auth.test", { kind: "error", error: "account_inactive" });
    expect((await failureOf(check())).message).toContain("the app was removed from the workspace: install the app");
    await slack.goAway();
    expect((await failureOf(check())).message).toMatch(/Slack cannot be reached|connection to Slack broke/);
  });

  it("reports two tokens of different apps in Socket Mode", async () => {
    const withToken = (app_token: string) =>
      slackModule.create(
        {
          id: "a",
          workspaceId: "w",
          channel: "slack",
          name: "s",
          config: { bot_token: slack.botToken, app_token, base_url: slack.url },
        },
        hostWith({}),
      );
    const checked = (app_token: string) =>
      withToken(app_token).check?.(AbortSignal.timeout(5_000)) ?? Promise.resolve("no check");
    const other = "xapp-1-A0OTHER01-1234567890";
    slack.otherApps.set(other, { id: "A0OTHER01", name: "Lunch" });
    const failure = await failureOf(checked(other));
    expect(failure.message).toBe(
      "app_token is of another app (Lunch) than bot_token, which is @parley's in Shop: take both from the same app",
    );
    expect(await checked(slack.appToken)).toBe("@parley in Shop, Socket Mode");
    // Servers that imitate Slack may not implement the method.
    slack.fail("bots.info", { kind: "error", error: "unknown_method" });
    expect(await checked(other)).toBe("@parley in Shop, Socket Mode");
  });

  it("requires the settings of the chosen transport at start", () => {
    const made = (config: object) => () =>
      slackModule.create(
        { id: "a", workspaceId: "w", channel: "slack", name: "s", config: { bot_token: slack.botToken, ...config } },
        hostWith({}),
      );
    expect(made({})).toThrow("signing_secret is required");
    expect(made({ transport: "socket", signing_secret: "x" })).toThrow("app_token is required for Socket Mode");
    expect(made({ transport: "webhook", app_token: slack.appToken })).toThrow("signing_secret is required");
  });
});
