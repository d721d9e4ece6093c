import { hostWith } from "#test/support/channels/partial-host.ts";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Correspondence } from "#channels/channel-host.ts";
import type { Forwarded, InboundEvent } from "#channels/contract.ts";
import { createEvents } from "../events.ts";
import type { MailOutcome } from "../inbound/outcome.ts";
import type { MailRecord } from "../inbound/record.ts";
import { createMessageIds } from "../mime/message-ids.ts";
import { readMail } from "../mime/parse.ts";
import { renderMail } from "../render.ts";

/** The expected result for a mail of fixtures/. */
interface Expected {
  readonly kind: "message" | "notice" | "delivery" | "agent" | "ignored";
  /** The whole text of messages and agents' replies, a part of other texts. */
  readonly text?: string;
  /** Absent: all of the text is the sender's own. */
  readonly forwarded?: Forwarded;
  readonly thread?: "known" | "new";
  readonly proven?: boolean;
  readonly from?: string;
  readonly name?: string;
  readonly subject?: string;
  readonly reply_to?: string;
  readonly cc?: readonly string[];
  readonly files?: readonly string[];
  /** The original is stored in addition to the text. */
  readonly original?: boolean;
  readonly reason?: string;
  readonly state?: string;
  /** The subject of the customer's mail before this one. */
  readonly earlier_subject?: string;
  /** The customer already has the mail. */
  readonly sent?: boolean;
}

const folder = new URL("fixtures/", import.meta.url);
const expected = JSON.parse(readFileSync(new URL("fixtures.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Expected>
>;
const names = readdirSync(folder).map((file) => file.replace(/\.eml$/, ""));

/** This customer's conversation, with one mail sent and one received. */
const thread = "thread0000000001";
const customer = "anna@customers.example";
const messageRefs = new Set(["<msg_1.0.eqkcjpgftwgcd@shop.example>", "<first@customers.example>"]);

const notUsed = (): never => {
  throw new Error("the intake does not use this");
};

function earlierMails(name: string): Correspondence["messages"] {
  const subject = expected[name]?.earlier_subject;
  if (subject === undefined) return [];
  const message = { id: "msg_0", role: "user", externalId: null, content: "", createdAt: 0, guest: false } as const;
  return [{ ...message, metadata: { mail: { subject } } }];
}

async function take(
  name: string,
): Promise<{ readonly outcome: MailOutcome; readonly event: InboundEvent | undefined }> {
  const events: InboundEvent[] = [];
  const host = hostWith({
    accept: async (event) => {
      events.push(event);
      return { duplicate: false, conversationId: "conv_1", messageId: "msg_2", seq: 2 };
    },
    signToken: (value) => `sealed ${value}`,
    threads: {
      findByMessageRef: async (given) => (given.some((ref) => messageRefs.has(ref)) ? thread : null),
      correspondence: async (of) =>
        of === thread ? { email: customer, name: "Anna", wroteAt: null, messages: earlierMails(name) } : null,
    },
    people: { agent: async (email) => (email === "lee@shop.example" ? { email, name: "Lee" } : null) },
    clock: { now: () => 0, timer: () => () => undefined },
  });
  const config = {
    address: "support@shop.example",
    imap_host: "",
    smtp_host: "",
    authserv_id: "mx.shop.example",
    forms: ["forms@shop.example"],
  };
  const mailEvents = createEvents({
    host,
    config,
    names: createMessageIds(host, config.address),
    relay: notUsed,
    render: ({ name: author, markdown }) => renderMail({ role: "agent", authorName: author, markdown, sources: [] }),
  });
  const { signal } = new AbortController();
  const raw = readFileSync(new URL(`${name}.eml`, folder));
  const mail = await readMail({ raw, bytes: raw.length });
  const outcome = await mailEvents.take(
    mail,
    { folder: "INBOX", uidValidity: "1", uid: 5, receivedAt: 9, sent: false },
    signal,
  );
  expect(events.length).toBeLessThan(2);
  return { outcome, event: events[0] };
}

describe("a mail of every known kind", () => {
  it("has a file and an expected result", () => {
    expect(names.toSorted()).toEqual(Object.keys(expected).toSorted());
    expect(names.length).toBeGreaterThanOrEqual(60);
  });

  for (const [name, result] of Object.entries(expected)) {
    it(`${name.replaceAll("-", " ")}: becomes ${result.kind}`, async () => {
      const { outcome, event } = await take(name);
      if (result.kind === "ignored") {
        expect(event).toBeUndefined();
        expect(outcome).toMatchObject({ kind: "ignored", reason: expect.stringContaining(result.reason ?? "") });
        return;
      }
      expect(event?.kind).toBe(result.kind);
      switch (event?.kind) {
        case "message": {
          const mail = event.metadata?.["mail"] as MailRecord;
          expect(event.text).toBe(result.text);
          expect(event.forwarded).toEqual(result.forwarded);
          if (result.thread !== undefined) expect(event.thread === thread ? "known" : "new").toBe(result.thread);
          const address = result.from ?? customer;
          if (result.proven !== undefined) {
            expect(event.sender.proven).toEqual(result.proven ? { email: address } : undefined);
            expect(event.sender.key.includes("unverified")).toBe(!result.proven);
          }
          if (result.from !== undefined) expect((event.sender.proven ?? event.sender.claimed)?.email).toBe(result.from);
          if (result.name !== undefined) expect(event.sender.name).toBe(result.name);
          if (result.subject !== undefined) expect(mail.subject).toBe(result.subject);
          if (result.reply_to !== undefined) expect(mail.reply_to).toBe(result.reply_to);
          if (result.cc !== undefined) expect(mail.cc).toEqual(result.cc);
          if (result.original !== undefined) expect(mail.original !== undefined).toBe(result.original);
          if (result.files !== undefined) {
            expect((event.files ?? []).map((file) => `${file.name} ${file.mediaType}`)).toEqual(result.files);
          }
          return;
        }
        case "agent":
          expect(event.text).toBe(result.text);
          expect(event.author.email).toBe("lee@shop.example");
          expect(event.parts === undefined).toBe(result.sent);
          return;
        case "notice":
          expect(event.thread).toBe(thread);
          expect(event.text).toContain(result.text);
          return;
        case "delivery":
          expect(event.partExternalId).toBe("<msg_1.0.eqkcjpgftwgcd@shop.example>");
          expect(event.state).toBe(result.state);
          expect(event.error ?? "").toContain(result.text ?? "");
          return;
        default:
          throw new Error(`nothing was expected to become ${String(event?.kind)}`);
      }
    });
  }
});
