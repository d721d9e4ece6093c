import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DeliveryError } from "#channels/errors.ts";
import type { InboundFile } from "#channels/contract.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { createCustomers } from "#conversations/retention/customers.ts";
import { newId } from "#domain/ids.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, hourMs, openBench } from "#test/support/engine-bench.ts";
import type { FileChannel } from "#test/support/channels/file-channel.ts";
import { bytesOf, fileChannel, inboundFile, png } from "#test/support/channels/file-channel.ts";
import { runStatement } from "#test/support/database/run-statement.ts";

const dayMs = 24 * hourMs;
const megabyte = 1_048_576;
const reserveBytes = 10 * megabyte;

eachDatabase("files of messages", (open) => {
  let bench: EngineBench;
  let channel: FileChannel;
  let freeBytes: number;

  /** Called at each checkpoint; throws to simulate a crash. */
  let passing: (point: string) => void;

  beforeEach(async () => {
    passing = () => undefined;
    freeBytes = 100 * reserveBytes;
    channel = fileChannel();
    bench = await openBench(open, {
      account: { channel: "telegram", load: channel.load, config: {} },
      files: { bytesMax: megabyte, reserveBytes },
      freeBytes: async () => freeBytes,
      checkpoint: (point) => passing(point),
    });
  });
  afterEach(() => bench.close());

  async function receive(files: readonly InboundFile[], text = "See this", thread = "one"): Promise<string> {
    const { conversationId } = await bench.accept({
      kind: "message",
      externalId: newId("evt", bench.clock.now()),
      thread,
      sender: { key: `customer of ${thread}` },
      sentAt: bench.clock.now(),
      text,
      files,
    });
    await bench.settle();
    if (conversationId === null) throw new Error("it led to no conversation");
    return conversationId;
  }
  const rows = () => bench.store.read.selectFrom("attachments").selectAll().orderBy("id").execute();
  /** The files on the disk, except incomplete ones. */
  const onDisk = async (): Promise<readonly string[]> => {
    const folder = join(bench.dataDir, "files", "stored");
    const workspaces = await readdir(folder).catch(() => []);
    return (await Promise.all(workspaces.map((name) => readdir(join(folder, name))))).flat();
  };
  const upload = (conversationId: string, name = "bill.txt", source = bytesOf("the bill")) =>
    bench.engine.upload(
      {
        workspaceId: bench.workspaceId,
        accountId: bench.accountId,
        conversationId,
        uploadedBy: "anna@test.example",
        name,
        mediaType: "text/plain",
      },
      source,
      new AbortController().signal,
    );
  const reply = (conversationId: string, content: string, files: readonly string[]) =>
    bench.engine.reply({
      workspaceId: bench.workspaceId,
      conversationId,
      content,
      authorEmail: "anna@test.example",
      files,
      uploadedBy: "anna@test.example",
      actor: anna,
    });

  it("are fetched after the message is stored, and get the media type of their bytes", async () => {
    channel.give = async (ref) => bytesOf(ref === "p" ? png : "<svg onload=alert(1)>");
    const id = await receive([
      inboundFile("p", { name: "../../etc/photo\u202Egpj.exe", mediaType: "text/html" }),
      inboundFile("s", { name: "drawing.svg", mediaType: "image/png" }),
    ]);
    expect(await bench.talk(id)).toEqual(["user: See this", "assistant: You asked: See this"]);
    expect(await rows()).toMatchObject([
      { name: "photogpj.exe", media_type: "image/png", bytes: png.length, state: "stored", ref: null, position: 0 },
      { name: "drawing.svg", media_type: "application/octet-stream", state: "stored", ref: null, position: 1 },
    ]);
    expect(await onDisk()).toHaveLength(2);
  });

  it("do not delay the conversation, and are retried until they are fetched", async () => {
    let times = 0;
    channel.give = async () => {
      times += 1;
      if (times < 3) throw new DeliveryError("not_sent", "the platform is busy", { retryAfterMs: 60_000 });
      return bytesOf("here it is");
    };
    const id = await receive([inboundFile("late")]);
    expect(await bench.talk(id)).toHaveLength(2);
    expect(await rows()).toMatchObject([{ state: "pending" }]);
    await bench.advance(hourMs);
    expect(times).toBe(3);
    expect(await rows()).toMatchObject([{ state: "stored", bytes: 10 }]);
  });

  it("are fetched again and stored once if the process died after storing the bytes", async () => {
    let ended = 0;
    passing = (point) => {
      if (point !== "file.stored" || (ended += 1) > 1) return;
      throw new Error("the process ends here");
    };
    await receive([inboundFile("again")]);
    expect([await rows(), await onDisk()]).toMatchObject([[{ state: "pending" }], [expect.any(String)]]);
    await bench.advance(hourMs);
    expect(channel.asked).toEqual(["again", "again"]);
    expect(await rows()).toMatchObject([{ state: "stored", bytes: 14 }]);
    expect(await onDisk()).toEqual((await rows()).map(({ id }) => id));
  });

  it("have a reason if the platform rejects them or all tries fail", async () => {
    channel.give = async (ref) => {
      throw ref === "no"
        ? new DeliveryError("rejected", "the file is too old")
        : new DeliveryError("not_sent", "the platform is away");
    };
    await receive([inboundFile("no"), inboundFile("never")]);
    expect(await rows()).toMatchObject([{ state: "failed", reason: "the file is too old" }, { state: "pending" }]);
    await bench.advance(dayMs);
    expect(await rows()).toMatchObject([
      { state: "failed" },
      { state: "failed", reason: "it could not be fetched: the platform is away", ref: null },
    ]);
  });

  it("are not read to the end if too large, even if declared smaller", async () => {
    let given = 0;
    channel.give = async () =>
      (async function* () {
        for (;;) {
          given += 65_536;
          yield new Uint8Array(65_536);
        }
      })();
    await receive([inboundFile("endless", { bytes: 10 }), inboundFile("honest", { bytes: 2 * megabyte })]);
    expect(channel.asked).toEqual(["endless"]);
    expect(given).toBeLessThan(2 * megabyte);
    expect(await rows()).toMatchObject([
      { state: "failed", reason: expect.stringContaining("larger than 1 MB") },
      { state: "failed", reason: expect.stringContaining("larger than 1 MB") },
    ]);
    expect(await onDisk()).toEqual([]);
  });

  it("have a limit in total", async () => {
    channel.give = async () => bytesOf(new Uint8Array(megabyte));
    await receive(Array.from({ length: 6 }, (_, i) => inboundFile(`f${i}`)));
    const states = Map.groupBy(await rows(), ({ state }) => state);
    expect(states.get("stored")).toHaveLength(4);
    expect(states.get("failed")?.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("more than 4 MB"),
      expect.stringContaining("more than 4 MB"),
    ]);
    expect(await onDisk()).toHaveLength(4);
  });

  it("without text get a reply by the bot, and the second time an escalation", async () => {
    const id = await receive([inboundFile("a")], "");
    expect(await bench.talk(id)).toEqual(["user: ", `assistant: ${defaultSettings.filesOnlyMessage}`]);
    await receive([inboundFile("b")], "");
    expect((await bench.talk(id)).at(-1)).toBe(`assistant: ${defaultSettings.handoverMessage}`);
    expect(await bench.row(id)).toMatchObject({ status: "escalated" });
    expect(bench.asked).toEqual([]);
  });

  it("do not expose the platform's references", async () => {
    let release: () => void = () => undefined;
    channel.give = () => new Promise((resolve) => (release = () => resolve(bytesOf("x"))));
    await bench.accept({
      kind: "message",
      externalId: "m1",
      thread: "one",
      sender: { key: "c" },
      sentAt: bench.clock.now(),
      text: "x",
      files: [inboundFile("the-secret-address", { name: "a.txt" })],
    });
    await bench.until("it is asked for", () => channel.asked.length > 0);
    const stored = JSON.stringify([
      await rows(),
      await bench.store.read.selectFrom("inbound_events").selectAll().execute(),
      await bench.store.read.selectFrom("outbox").selectAll().execute(),
    ]);
    release();
    expect(channel.asked).toEqual(["the-secret-address"]);
    expect(stored).not.toContain("the-secret-address");
    await bench.settle();
  });

  it("are deleted with their message or conversation, bytes included", async () => {
    const id = await receive([inboundFile("a")]);
    const message = (await bench.messages(id))[0];
    expect(await onDisk()).toHaveLength(1);
    await bench.accept({
      kind: "delete",
      externalId: "d1",
      thread: "one",
      sender: { key: "customer of one" },
      sentAt: bench.clock.now(),
      messageExternalId: message?.external_id ?? "",
    });
    await bench.settle();
    expect([await rows(), await onDisk()]).toEqual([[], []]);

    await receive([inboundFile("b")]);
    expect(await onDisk()).toHaveLength(1);
    await bench.engine.remove(bench.workspaceId, id, anna);
    await bench.settle();
    expect([await rows(), await onDisk()]).toEqual([[], []]);
  });

  it("are deleted with an erased customer and a deleted workspace before the command ends", async () => {
    await bench.accept({
      kind: "contact",
      externalId: "c1",
      thread: "one",
      sender: { key: "customer of one" },
      sentAt: bench.clock.now(),
      contact: { email: "ada@test.example" },
    });
    await receive([inboundFile("a")]);
    await receive([inboundFile("b")], "Another", "two");
    expect(await onDisk()).toHaveLength(2);
    const { store, search, files } = bench.app.services;
    const people = createCustomers({ store, clock: bench.clock, search, files });
    await people.erase(bench.workspaceId, { email: "ada@test.example" }, () => undefined);
    await bench.settle();
    expect(await onDisk()).toHaveLength(1);
    await people.removeWorkspace(bench.workspaceId, () => undefined);
    await bench.until("the bytes are gone", async () => (await onDisk()).length === 0);
    expect(await rows()).toEqual([]);
  });

  it("of an agent are sent as files if the channel carries them, otherwise as links", async () => {
    const id = await receive([], "Where is my bill?");
    const bill = await upload(id);
    expect(bill).toMatchObject({ name: "bill.txt", mediaType: "text/plain", bytes: 8 });
    await reply(id, "Here it is", [bill.id]);
    await bench.settle();
    const [, linked] = channel.sent;
    expect(linked).toMatchObject({
      file: null,
      text: expect.stringMatching(/^Here it is\n\n\[bill\\\.txt\]|^Here it is\n\n\[bill.txt\]/),
    });
    const link = /<http:\/\/parley\.test(\/files\/[^>]+)>/.exec(linked?.text ?? "")?.[1] ?? "";
    const server = await bench.app.listen();
    const opened = await fetch(`${server}${link}`);
    expect([opened.status, await opened.text()]).toEqual([200, "the bill"]);
    expect(opened.headers.get("content-disposition")).toContain("attachment");
    expect(opened.headers.get("content-type")).toBe("application/octet-stream");
    expect(opened.headers.get("content-security-policy")).toContain("sandbox");
    expect((await fetch(`${server}${link}x`)).status).toBe(404);
    await bench.pass(31 * dayMs);
    expect((await fetch(`${server}${link}`)).status).toBe(410);

    channel.fileBytesMax = 100;
    const again = await upload(id);
    await reply(id, "", [again.id]);
    await bench.settle();
    expect(channel.sent.at(-1)).toEqual({ text: "bill.txt", file: "bill.txt", bytes: Buffer.from("the bill") });
  });

  it("can be sent only by their uploader, once, and in their conversation", async () => {
    const one = await receive([], "One");
    const two = await receive([], "Two", "two");
    const bill = await upload(one);
    const refused = { code: "invalid_parameter" };
    await expect(reply(two, "x", [bill.id])).rejects.toMatchObject(refused);
    await expect(
      bench.engine.reply({
        workspaceId: bench.workspaceId,
        conversationId: one,
        content: "x",
        authorEmail: "bob@test.example",
        files: [bill.id],
        uploadedBy: "bob@test.example",
        actor: anna,
      }),
    ).rejects.toMatchObject(refused);
    await reply(one, "x", [bill.id]);
    await expect(reply(one, "x", [bill.id])).rejects.toMatchObject(refused);
    await expect(upload(newId("conv", 1))).rejects.toMatchObject({ code: "conversation_not_found" });
    await bench.settle();
    expect(await onDisk()).toHaveLength(1);
  });

  it("wait with a reason while the disk is full, and are not fetched meanwhile", async () => {
    freeBytes = reserveBytes + megabyte / 2;
    const id = await receive([inboundFile("waiting")]);
    expect(await bench.talk(id)).toHaveLength(2);
    for (let hours = 0; hours < 12; hours += 1) await bench.advance(hourMs);
    expect(channel.asked).toEqual([]);
    expect(await rows()).toMatchObject([{ state: "pending", reason: expect.stringMatching(/disk is nearly full/) }]);
    freeBytes = 100 * reserveBytes;
    await bench.advance(hourMs);
    expect(await rows()).toMatchObject([{ state: "stored", reason: null, bytes: 16 }]);
  });

  it("are given up with a reason after a week without room on the disk", async () => {
    freeBytes = 0;
    await receive([inboundFile("waiting")]);
    bench.clock.leap(8 * dayMs);
    for (let hours = 0; hours < 6; hours += 1) await bench.advance(hourMs);
    expect(await rows()).toMatchObject([{ state: "failed", reason: expect.stringMatching(/disk is nearly full/) }]);
  });

  it("are refused from agents too while the disk is full", async () => {
    const id = await receive([]);
    freeBytes = reserveBytes;
    await expect(upload(id)).rejects.toMatchObject({ code: "storage_full" });
    expect([await rows(), await onDisk()]).toEqual([[], []]);
  });

  it("are stored even if the refund of the daily quota fails", async () => {
    const id = await receive([]);
    const rename = (from: string, to: string) => runStatement(bench.url, `alter table ${from} rename to ${to}`);
    async function* breaking(): AsyncGenerator<Uint8Array> {
      await rename("counters", "away");
      yield Buffer.from("the bill");
    }
    const given = {
      workspaceId: bench.workspaceId,
      accountId: bench.accountId,
      conversationId: id,
      uploadedBy: "visitor",
      name: "bill.txt",
      mediaType: "text/plain",
      address: "203.0.113.1",
    };
    const stored = await bench.engine.upload(given, breaking(), new AbortController().signal);
    await rename("away", "counters");
    expect(stored).toMatchObject({ name: "bill.txt", bytes: 8 });
    expect(await rows()).toMatchObject([{ state: "stored", bytes: 8 }]);
  });

  it("reserve room on the disk before they are written, also when uploads are concurrent", async () => {
    const id = await receive([]);
    freeBytes = reserveBytes + 2.5 * megabyte;
    const begun = Promise.withResolvers<void>();
    async function* slowly(): AsyncGenerator<Uint8Array> {
      await begun.promise;
      yield Buffer.from("x");
    }
    let refused = 0;
    const uploads = [1, 2, 3, 4].map((n) => upload(id, `${n}.txt`, slowly()));
    for (const each of uploads) each.catch(() => (refused += 1));
    await expect.poll(() => refused).toBe(2);
    begun.resolve();
    const outcomes = await Promise.allSettled(uploads);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  });

  it("that were not sent, and bytes without a row, are removed after a day", async () => {
    const id = await receive([inboundFile("kept")]);
    await upload(id);
    const { files } = bench.app.services;
    const lost = { workspaceId: bench.workspaceId, id: newId("file", bench.clock.now()) };
    await files.store(lost, bytesOf("lost"), "text/plain", megabyte, new AbortController().signal);
    expect(await onDisk()).toHaveLength(3);
    bench.clock.leap(2 * dayMs);
    const { removeOrphanFiles } = await import("./remove-files.ts");
    await removeOrphanFiles(
      { store: bench.store, clock: bench.clock, files, log: { debug() {}, info() {}, warn() {}, error() {} } },
      new AbortController().signal,
    );
    bench.clock.advance(2_000);
    await bench.settle();
    expect((await rows()).map(({ name }) => name)).toEqual(["kept.bin"]);
    expect(await onDisk()).toHaveLength(1);
  });
});
