import { randomBytes } from "node:crypto";
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from "undici";
import { expect, it, onTestFinished } from "vitest";
import { createCalls, createRest } from "../client.ts";
import { startFakeDiscord } from "./support/fake-discord.ts";

/** All versions of undici in a process share the dispatcher under this symbol. */
const shared = Symbol.for("undici.globalDispatcher.1");

it("sends files when another version of undici has set the shared dispatcher", async () => {
  const discord = await startFakeDiscord();
  onTestFinished(() => discord.close());
  const [before, ours] = [Reflect.get(globalThis, shared) as unknown, getGlobalDispatcher()];
  onTestFinished(() => {
    setGlobalDispatcher(ours);
    if (before !== undefined) Reflect.set(globalThis, shared, before);
  });
  setGlobalDispatcher(new Agent());
  expect(Reflect.get(globalThis, shared)).not.toBe(before);
  const calls = createCalls(createRest(discord.token, discord.url), discord.token);
  const channel = discord.direct("ada");
  const data = randomBytes(150_000);
  await calls.post(
    `/channels/${channel}/messages`,
    { content: "Here it is", nonce: "1", allowed_mentions: { parse: [], replied_user: false } },
    undefined,
    [{ name: "Rechnung Nr. 1.pdf", data, contentType: "application/pdf" }],
  );
  const [message] = discord.messages(channel);
  const [file] = message?.attachments ?? [];
  if (file === undefined) throw new Error("no file has come");
  expect([message?.content, file.filename, file.content_type]).toEqual([
    "Here it is",
    "Rechnung Nr. 1.pdf",
    "application/pdf",
  ]);
  expect(discord.bytesOf(file).equals(data)).toBe(true);
});
