import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DeliveryError } from "#channels/errors.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { minuteMs, openBench } from "#test/support/engine-bench.ts";
import { fileChannel } from "#test/support/channels/file-channel.ts";
import { fetchPart } from "../files.ts";
import { relayFiles } from "../inbound/relayed-files.ts";

const channel = fileChannel();
let bench: EngineBench;
beforeAll(async () => {
  bench = await openBench(newSqlite, {
    account: { channel: "telegram", load: channel.load, config: {} },
    files: { bytesMax: 40 },
  });
});
afterAll(() => bench.close());

/** A conversation, and a mailbox whose files have ten bytes unless their ref says otherwise. */
async function world(thread: string) {
  await bench.begin(thread, "hello");
  await bench.settle();
  const { host } = channel;
  if (host === undefined) throw new Error("the account was not used yet");
  const fetched: string[] = [];
  const open = new Set<object>();
  const away = new Set<string>();
  async function* content(ref: string): AsyncGenerator<Uint8Array> {
    const connection = {};
    open.add(connection);
    try {
      yield Buffer.alloc(5, ref);
      if (away.has(ref)) throw new DeliveryError("not_sent", "the mailbox cannot be reached");
      yield Buffer.alloc(ref === "huge" ? 90 : 5, ref);
    } finally {
      open.delete(connection);
    }
  }
  const fetch = async (ref: string) => {
    fetched.push(ref);
    if (ref === "gone") throw new DeliveryError("rejected", "the e-mail is not in the mailbox any more");
    return content(ref);
  };
  const relay = (refs: readonly string[], { sentBytesMax = 1_000, mail = `mail:${thread}` } = {}) =>
    relayFiles(
      { host, fetch, sentBytesMax },
      thread,
      mail,
      refs.map((ref) => ({ name: `${ref}.txt`, ref, mediaType: "text/plain", bytes: null })),
      new AbortController().signal,
    );
  const uploads = () =>
    bench.store.read
      .selectFrom("attachments")
      .select(["id", "name"])
      .where("uploaded_by", "=", thread)
      .orderBy("name")
      .execute();
  return { relay, fetched, open, away, uploads };
}

describe("files of an agent's mail that is sent on to the customer", () => {
  it("are sent up to the size limit, and agents see which are not", async () => {
    const { relay, uploads, open } = await world("bounds");
    const relayed = await relay(["a", "huge", "b", "gone", "c"], { sentBytesMax: 25 });
    expect(relayed.outbound.map(({ name }) => name)).toEqual(["a.txt", "b.txt"]);
    // The inbox has all of them.
    const names = new Map((await uploads()).map(({ id, name }) => [id, name]));
    expect(relayed.stored.map(({ ref }) => names.get(ref))).toEqual(["a.txt", "b.txt", "c.txt"]);
    expect(relayed.left).toEqual([
      expect.stringMatching(/^huge\.txt: it is larger than .*\.$/),
      "gone.txt: the e-mail is not in the mailbox any more.",
      "c.txt is too large for it: it can be had in the inbox.",
    ]);
    expect(open.size).toBe(0);
    await relayed.drop();
    expect(await uploads()).toEqual([]);
  });

  it("are complete after the process ended before the mail was taken", async () => {
    const { relay, fetched, uploads } = await world("ended");
    const refs = Array.from({ length: 12 }, (_, at) => `f${at}`);
    const first = await relay(refs);
    const again = await relay(refs);
    expect(again.stored).toEqual(first.stored);
    expect(again.outbound).toHaveLength(12);
    expect(fetched).toEqual(refs);
    // Files of another mail are separate.
    expect((await relay(refs, { mail: "mail:2" })).left).toEqual([]);
    expect(await uploads()).toHaveLength(24);
  });

  it("are awaited, each fetched once, then the mail is sent without missing ones", async () => {
    const { relay, fetched, open, away } = await world("away");
    away.add("b");
    const began = bench.clock.now();
    let tries = 0;
    const goesOn = async () => {
      tries += 1;
      return relay(["a", "b", "c"]).catch(() => undefined);
    };
    let relayed = await goesOn();
    for (; relayed === undefined && tries < 20; relayed = await goesOn()) bench.clock.leap(minuteMs);
    expect(bench.clock.now() - began).toBe(5 * minuteMs);
    expect(relayed?.outbound.map(({ name }) => name)).toEqual(["a.txt", "c.txt"]);
    expect(relayed?.left).toEqual([
      "b.txt: the mailbox cannot be reached, and was not waited for: it is in the inbox when it can be had.",
    ]);
    expect(relayed?.stored.map(({ ref }) => ref)).toContain("b");
    expect(fetched.filter((ref) => ref !== "b")).toEqual(["a", "c"]);
    expect(open.size).toBe(0);
  });

  it("are tried several times even after the computer was suspended", async () => {
    const { relay, away } = await world("slept");
    away.add("a");
    await expect(relay(["a"])).rejects.toThrow("the mailbox cannot be reached");
    bench.clock.leap(60 * minuteMs);
    for (const _ of [2, 3]) await expect(relay(["a"])).rejects.toThrow("the mailbox cannot be reached");
    expect((await relay(["a"])).left).toHaveLength(1);
  });

  it("open no connection to the mailbox before they are read", async () => {
    let signIns = 0;
    const credentials = async () => {
      signIns += 1;
      throw new Error("nobody is let in");
    };
    const ref = JSON.stringify({ folder: "INBOX", v: "1", uid: 1, part: "2", id: null });
    const config = { address: "a@shop.example", imap_host: "127.0.0.1", smtp_host: "127.0.0.1" };
    const { signal } = new AbortController();
    const source = fetchPart({ host: {}, config, credentials }, ref, signal);
    expect(signIns).toBe(0);
    await expect(source.next()).rejects.toMatchObject({ outcome: "not_sent", message: "nobody is let in" });
    expect(signIns).toBe(1);
  });
});
