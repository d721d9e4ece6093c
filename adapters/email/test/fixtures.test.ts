import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ChannelHost, InboundEvent } from "#channels/contract.ts";
import { createEvents } from "../events.ts";
import type { MailRecord, MailOutcome } from "../events.ts";
import { createMessageIds } from "../message-ids.ts";
import { readMail } from "../mime/parse.ts";
import { renderMail } from "../render.ts";

/** What becomes of a mail of fixtures/. */
interface Expected {
  readonly kind: "message" | "notice" | "delivery" | "agent" | "ignored";
  /** Of messages and agents the whole text, of others a part of it. */
  readonly text?: string;
  readonly thread?: "known" | "new";
  readonly proven?: boolean;
  readonly from?: string;
  readonly name?: string;
  readonly subject?: string;
  readonly reply_to?: string;
  readonly cc?: readonly string[];
  readonly files?: readonly string[];
  /** Whether all of it is kept beside the text. */
  readonly original?: boolean;
  readonly reason?: string;
  readonly state?: string;
  /** The customer has got it already. */
  readonly sent?: boolean;
}

const folder = new URL("fixtures/", import.meta.url);
const expected = JSON.parse(readFileSync(new URL("fixtures.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Expected>
>;
const names = readdirSync(folder).map((file) => file.replace(/\.eml$/, ""));

/** A conversation of this customer, in which one mail was sent and one received. */
const thread = "thread0000000001";
const customer = "anna@customers.example";
const marks = new Set(["<msg_1.0.eqkcjpgftwgcd@shop.example>", "<first@customers.example>"]);

const notUsed = (): never => {
  throw new Error("the intake does not use this");
};

async function take(
  name: string,
): Promise<{ readonly outcome: MailOutcome; readonly event: InboundEvent | undefined }> {
  const events: InboundEvent[] = [];
  const host: ChannelHost = {
    webhookUrl: "",
    accept: async (event) => {
      events.push(event);
      return { duplicate: false, conversationId: "conv_1", messageId: "msg_2", seq: 2 };
    },
    customerTyping: notUsed,
    history: notUsed,
    amended: notUsed,
    thread: notUsed,
    recentThreads: notUsed,
    threadsBeginning: notUsed,
    watch: notUsed,
    announce: notUsed,
    workspace: notUsed,
    verifyUser: notUsed,
    checkUserToken: notUsed,
    signToken: (value) => `sealed ${value}`,
    verifyToken: notUsed,
    fileBytesMax: 0,
    upload: notUsed,
    prefetchFiles: notUsed,
    dropUpload: notUsed,
    keeps: true,
    remember: notUsed,
    exchange: notUsed,
    recall: notUsed,
    rememberSecret: notUsed,
    recallSecret: notUsed,
    threadOf: async (given) => (given.some((mark) => marks.has(mark)) ? thread : null),
    correspondence: async (of) =>
      of === thread ? { email: customer, name: "Anna", wroteAt: null, messages: [] } : null,
    agent: async (email) => (email === "lee@shop.example" ? { email, name: "Lee" } : null),
    botMessagesTo: async () => 0,
    botMessagesIn: notUsed,
    allow: notUsed,
    clock: { now: () => 0, timer: notUsed },
    log: { debug: notUsed, info: notUsed, warn: notUsed, error: notUsed },
  };
  const config = {
    address: "support@shop.example",
    imap_host: "",
    smtp_host: "",
    authserv_id: "mx.shop.example",
    forms: ["forms@shop.example"],
  };
  const intake = createEvents({
    host,
    config,
    names: createMessageIds(host, config.address),
    relay: notUsed,
    render: ({ name: author, markdown }) => renderMail({ role: "agent", authorName: author, markdown, sources: [] }),
  });
  const { signal } = new AbortController();
  const raw = readFileSync(new URL(`${name}.eml`, folder));
  const mail = await readMail({ raw, bytes: raw.length });
  const outcome = await intake.take(
    mail,
    { folder: "INBOX", uidValidity: "1", uid: 5, receivedAt: 9, sent: false },
    signal,
  );
  expect(events.length).toBeLessThan(2);
  return { outcome, event: events[0] };
}

describe("a mail of every kind that we know of", () => {
  it("has its own file, and an expectation", () => {
    expect(names.toSorted()).toEqual(Object.keys(expected).toSorted());
    expect(names.length).toBeGreaterThanOrEqual(60);
  });

  for (const [name, wanted] of Object.entries(expected)) {
    it(`${name.replaceAll("-", " ")}: becomes ${wanted.kind}`, async () => {
      const { outcome, event } = await take(name);
      if (wanted.kind === "ignored") {
        expect(event).toBeUndefined();
        expect(outcome).toEqual({ kind: "ignored", reason: expect.stringContaining(wanted.reason ?? "") });
        return;
      }
      expect(event?.kind).toBe(wanted.kind);
      switch (event?.kind) {
        case "message": {
          const mail = event.metadata?.["mail"] as MailRecord;
          expect(event.text).toBe(wanted.text);
          if (wanted.thread !== undefined) expect(event.thread === thread ? "known" : "new").toBe(wanted.thread);
          const address = wanted.from ?? customer;
          if (wanted.proven !== undefined) {
            expect(event.sender.proven).toEqual(wanted.proven ? { email: address } : undefined);
            expect(event.sender.key.includes("unverified")).toBe(!wanted.proven);
          }
          if (wanted.from !== undefined) expect((event.sender.proven ?? event.sender.claimed)?.email).toBe(wanted.from);
          if (wanted.name !== undefined) expect(event.sender.name).toBe(wanted.name);
          if (wanted.subject !== undefined) expect(mail.subject).toBe(wanted.subject);
          if (wanted.reply_to !== undefined) expect(mail.reply_to).toBe(wanted.reply_to);
          if (wanted.cc !== undefined) expect(mail.cc).toEqual(wanted.cc);
          if (wanted.original !== undefined) expect(mail.original !== undefined).toBe(wanted.original);
          if (wanted.files !== undefined) {
            expect((event.files ?? []).map((file) => `${file.name} ${file.mediaType}`)).toEqual(wanted.files);
          }
          return;
        }
        case "agent":
          expect(event.text).toBe(wanted.text);
          expect(event.author.email).toBe("lee@shop.example");
          expect(event.parts === undefined).toBe(wanted.sent);
          return;
        case "notice":
          expect(event.thread).toBe(thread);
          expect(event.text).toContain(wanted.text);
          return;
        case "delivery":
          expect(event.partExternalId).toBe("<msg_1.0.eqkcjpgftwgcd@shop.example>");
          expect(event.state).toBe(wanted.state);
          expect(event.error ?? "").toContain(wanted.text ?? "");
          return;
        default:
          throw new Error(`nothing was expected to become ${String(event?.kind)}`);
      }
    });
  }
});
