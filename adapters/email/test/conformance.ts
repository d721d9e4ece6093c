import type { ConformanceTarget, CustomerMessage, FakePlatform } from "#test/support/channels/conformance-target.ts";
import { dovecotProgram } from "./support/dovecot.ts";
import { whileConnecting } from "./support/mail-bench.ts";
import type { SentMail } from "./support/mail-world.ts";
import { letter, startMailWorld } from "./support/mail-world.ts";

const target: ConformanceTarget = {
  channel: "email",
  cannot: {},
  missing: dovecotProgram === undefined ? "install dovecot-imapd and dovecot-lmtpd" : undefined,
  start,
};
export default target;

/** Longer than a refused connection takes. */
const awayMs = 300;
/** The wait for a mail that cannot be stored to be taken nevertheless. */
const patienceMs = 8_000;

async function start(): Promise<FakePlatform> {
  const world = await startMailWorld();
  let tick = async (): Promise<void> => undefined;
  /** The Message-IDs of each customer's mails, oldest first. */
  const written = new Map<string, string[]>();
  const taken = (messageId: string): Promise<boolean> =>
    whileConnecting(world.taken(messageId, patienceMs), world.listening, () => tick());
  const addressOf = (customer: string): string => `${customer}@customers.example`;
  const idOf = ({ id }: CustomerMessage): string => `<${id}@customers.example>`;

  const mailsTo = (customer: string): readonly SentMail[] => {
    const all = world.sent.filter(({ to }) => to.includes(addressOf(customer)));
    // Mailboxes show mails with the same Message-ID once.
    return all.filter(({ parsed }, at) => all.findIndex((other) => other.parsed.messageId === parsed.messageId) === at);
  };

  function mailOf(message: CustomerMessage, dmarc: "pass" | "fail"): { readonly raw: string; readonly to: string } {
    const { customer, text, files = [], answers } = message;
    const id = idOf(message);
    const last = mailsTo(customer).findLast(({ parsed }) => (parsed.text ?? "").includes(answers ?? ""))?.parsed;
    const to = last?.replyTo?.value[0]?.address ?? world.address;
    const before = (written.get(customer) ?? []).filter((each) => each !== id);
    const references = last?.messageId === undefined ? before.slice(0, 1) : [...before, last.messageId];
    if (!(written.get(customer) ?? []).includes(id)) written.set(customer, [...(written.get(customer) ?? []), id]);
    return { raw: letter({ from: addressOf(customer), to, id, text, references, dmarc, files }), to };
  }

  return {
    config: { ...world.config, dmarc_fail: "ignore", bot_mails_per_hour: 1_000 },
    secrets: () => [world.dovecot.password],
    retryAfterMs: 60_000,
    async connect(program) {
      ({ tick } = program);
      world.liveBy(program.now());
    },
    connected: world.listening,
    async deliver(message) {
      const { raw, to } = mailOf(message, "pass");
      await world.deliver(raw, to);
      return taken(idOf(message));
    },
    async write(message) {
      const { raw, to } = mailOf(message, "pass");
      await world.deliver(raw, to);
    },
    async forge(message) {
      const { raw, to } = mailOf(message, "fail");
      await world.deliver(raw, to);
      // The mail is read and skipped, so only the stored messages count.
      await taken(idOf(message));
      return false;
    },
    async echo(customer) {
      for (const { raw, parsed } of mailsTo(customer)) {
        await world.deliver(raw);
        await taken(parsed.messageId ?? "");
      }
    },
    shown: async (customer) =>
      // The agent's name, and the customer's mail as a quote, follow the text.
      mailsTo(customer).map(({ parsed }) =>
        (parsed.text ?? "").replace(/\n+$/, "").replace(/\n\n-- \nAnna(?:\n\n[^\n]+ UTC, <[^\n]+>:\n[^]*)?$/, ""),
      ),
    transmitted: async (customer) =>
      world.sent.filter(({ to }) => to.includes(addressOf(customer))).map(({ parsed }) => parsed.text ?? ""),
    received: async (customer) =>
      mailsTo(customer)
        .flatMap(({ parsed }) => parsed.attachments)
        .map((file) => ({ name: file.filename ?? "", mediaType: file.contentType, bytes: file.content })),
    answersOne: true,
    misbehave(how) {
      switch (how) {
        case "refuse":
          world.fail({ kind: "refuse", code: 550, text: "5.1.1 no such mailbox" });
          return;
        case "limit":
          world.fail({ kind: "refuse", code: 451, text: "4.7.1 try again later" });
          return;
        case "hang_up_after_commit":
          world.fail({ kind: "hang_up_after_commit" });
          return;
        case "hang_up":
          world.fail({ kind: "hang_up" });
          return;
        case "unreachable":
          void world.smtpAway().then(() => setTimeout(() => void world.smtpBack(), awayMs));
      }
    },
    async away() {
      world.imapAway();
      await world.smtpAway();
    },
    async back() {
      world.imapBack();
      await world.smtpBack();
    },
    close: () => world.close(),
  };
}
