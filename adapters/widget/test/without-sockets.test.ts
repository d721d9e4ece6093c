import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { skipped } from "#test/support/skipped.ts";
import { isFullTier } from "#test/support/tier.ts";
import type { ExchangeAnswer, ServerFrame } from "../frames.ts";
import { openPage } from "./support/browser.ts";
import { newClientId, texts } from "./support/client.ts";
import type { TestSite } from "./support/site.ts";
import { embedding, startSite, workspaceId } from "./support/site.ts";

let site: TestSite;
afterEach(() => site?.close());

const answersAll = (): void => {
  site.host.answer = (thread, text) => site.host.say(thread, { role: "assistant", markdown: `Answer to ${text}` });
};

describe("frames over HTTP", () => {
  const exchange = async (frames: readonly object[], wait = false, headers: Record<string, string> = {}) =>
    fetch(`${site.origin}/widget/exchange?workspace=${workspaceId}&channel=widget${wait ? "&wait=1" : ""}`, {
      method: "POST",
      headers,
      body: frames.map((frame) => JSON.stringify(frame)).join("\n"),
    });
  const answerTo = async (...given: Parameters<typeof exchange>) =>
    (await (await exchange(...given)).json()) as ExchangeAnswer;
  const readyIn = ({ frames }: ExchangeAnswer) => {
    const ready = frames.find((frame): frame is Extract<ServerFrame, { kind: "ready" }> => frame.kind === "ready");
    if (ready === undefined) throw new Error("there is no ready");
    return ready;
  };
  const hello = { kind: "hello", lastSeq: 0 };

  it("store a message once, however often it is sent, and bring the answer to the request that waits", async () => {
    site = await startSite();
    const { token } = readyIn(await answerTo([hello]));
    const send = { kind: "send", clientId: newClientId(), text: "Where is it?" };
    const first = await answerTo([{ ...hello, token }, send]);
    expect(first.frames.map(({ kind }) => kind)).toContain("ack");
    await answerTo([{ ...hello, token }, send]);
    expect(site.host.events.filter(({ kind }) => kind === "message")).toHaveLength(1);
    const { conversation } = readyIn(await answerTo([{ ...hello, token }]));
    const [own] = first.frames.filter((frame) => frame.kind === "message");
    const waiting = answerTo([{ ...hello, token, conversation, lastSeq: own?.seq ?? 0 }], true);
    await expect.poll(() => site.host.watchers()).toBe(1);
    site.host.say(site.host.thread1(), { role: "assistant", markdown: "On its way." });
    expect(texts((await waiting).frames)).toEqual(["On its way."]);
    await expect.poll(() => site.host.watchers()).toBe(0);
  });

  it("bring an edit to the request that waits, and report what was read", async () => {
    site = await startSite();
    answersAll();
    const { token } = readyIn(await answerTo([hello]));
    await answerTo([
      { ...hello, token },
      { kind: "send", clientId: newClientId(), text: "Where?" },
    ]);
    const all = await answerTo([{ ...hello, token }]);
    const answer = all.frames.findLast((frame) => frame.kind === "message");
    if (answer === undefined) throw new Error("there is no answer");
    const position = { ...hello, token, conversation: readyIn(all).conversation, lastSeq: answer.seq };
    const waiting = answerTo([position], true);
    await expect.poll(() => site.host.watchers()).toBe(1);
    site.host.amend(site.host.thread1(), answer.id, { markdown: "Here." });
    expect((await waiting).frames.map(({ kind }) => kind)).toContain("changed");
    await answerTo([position, { kind: "seen", seq: answer.seq }]);
    const read = site.host.events.flatMap((event) => (event.kind === "delivery" ? [event.partExternalId] : []));
    expect(read).toEqual([answer.id]);
  });

  it("bring a long history in parts, and store a message meanwhile", async () => {
    site = await startSite();
    const { token } = readyIn(await answerTo([hello]));
    const send = (text: string) => ({ kind: "send", clientId: newClientId(), text });
    await answerTo([{ ...hello, token }, send("Tell me all.")]);
    const thread = site.host.thread1();
    for (let n = 0; n < 150; n += 1)
      site.host.say(thread, { role: "assistant", markdown: `${n} ${"x ".repeat(2_000)}` });
    const first = await answerTo([{ ...hello, token }, send("And now?")]);
    expect(first.frames.map(({ kind }) => kind)).toContain("ack");
    const { conversation } = readyIn(first);
    const got = new Set<string>();
    let requests = 0;
    for (let lastSeq = 0; got.size < 152 && requests < 10; requests += 1) {
      const { frames } = await answerTo([{ ...hello, token, conversation, lastSeq }], true);
      for (const frame of frames) {
        if (frame.kind !== "message") continue;
        expect(got.has(frame.id)).toBe(false);
        got.add(frame.id);
        lastSeq = frame.seq;
      }
    }
    expect(got.size).toBe(152);
    expect(requests).toBeGreaterThan(1);
    await expect.poll(() => site.host.watchers()).toBe(0);
  });

  it("end with the code that closes a socket", async () => {
    site = await startSite();
    expect(await answerTo([{ ...hello, token: "made.up" }])).toEqual({ frames: [], close: 4401 });
  });

  it("are refused to other pages, without a hello, and where they are too large", async () => {
    site = await startSite();
    site.host.face = { ...site.host.face, allowedOrigins: ["https://shop.example"] };
    expect((await exchange([hello], false, { origin: "https://other.example" })).status).toBe(403);
    expect((await exchange([hello], false, { origin: "https://shop.example" })).status).toBe(200);
    site.host.face = { ...site.host.face, allowedOrigins: [] };
    expect((await exchange([{ kind: "ping" }])).status).toBe(400);
    expect((await exchange([hello, { kind: "send", clientId: newClientId(), text: "x".repeat(140_000) }])).status).toBe(
      400,
    );
    expect(site.host.events).toEqual([]);
  });

  it("answer the requests that wait when the server ends", async () => {
    site = await startSite();
    const waiting = answerTo([hello], true);
    await expect.poll(() => site.host.watchers()).toBe(1);
    await site.adapter.close();
    expect((await waiting).close).toBeNull();
  });
});

const name = "the widget behind a proxy without WebSockets";

if (noBrowser === undefined) describe(name, inBrowser);
else skipped(name, noBrowser);

function inBrowser(): void {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(() => page.context().close());

  async function chat(sockets: "refuse" | "hang"): Promise<{ sockets: "pass" | "refuse" | "hang" }> {
    const proxy: { sockets: "pass" | "refuse" | "hang" } = { sockets };
    site = await startSite({ proxy });
    answersAll();
    site.pages.set("/", embedding(site.origin));
    ({ page } = await openPage(await browser.newContext({ locale: "en-GB" }), site.origin));
    await page.getByRole("button", { name: /^Open chat/u }).click();
    return proxy;
  }
  const write = async (text: string): Promise<void> => {
    await page.getByRole("textbox", { name: /message/iu }).fill(text);
    await page.keyboard.press("Enter");
  };
  const answer = (text: string) => page.getByRole("log", { name: "Messages" }).getByText(`Answer to ${text}`);
  const isOnline = () => page.locator("[data-connection=online]").count();

  it("says that it is connecting, and then sends and gets messages over HTTP", async () => {
    await chat("refuse");
    await page.getByText("Connecting…").waitFor();
    await write("One");
    await answer("One").waitFor();
    expect(await isOnline()).toBe(1);
    await write("Two");
    await answer("Two").waitFor();
    site.host.say(site.host.thread1(), { role: "agent", markdown: "A person writes." });
    await page.getByText("A person writes.").waitFor();
    expect(await page.getByText("Connecting…").count()).toBe(0);
    const sent = site.host.events.flatMap((event) => (event.kind === "message" ? [event.text] : []));
    expect(sent).toEqual(["One", "Two"]);
    // The next page of the tab does not try in vain first.
    await page.reload();
    await answer("Two").waitFor();
    expect(site.requested.filter((path) => path === "/widget/ws")).toEqual([]);
  });

  it.runIf(isFullTier)("does so too where the proxy lets WebSockets hang", async () => {
    await chat("hang");
    await write("One");
    await answer("One").waitFor();
  });
}
