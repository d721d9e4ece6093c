import { hostWith } from "#test/support/channels/partial-host.ts";
import type { ChannelAdapter } from "#channels/contract.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import type { Letter, MailWorld, SentMail, TokenWorld } from "./mail-world.ts";
import { letter, startMailWorld } from "./mail-world.ts";

/**
 * Awaits a promise that needs the program's IMAP connection, and advances the clock while there is none: after a jump of
 * the clock the program drops its lease and retries every few seconds.
 */
export async function whileConnecting<T>(
  pending: Promise<T>,
  listening: () => boolean,
  pass: () => Promise<void>,
): Promise<T> {
  let settled = false;
  const done = (): void => void (settled = true);
  pending.then(done, done);
  for (let quiet = 0; !settled; quiet += 1) {
    if (listening()) quiet = 0;
    // Between two commands the connection does not idle either.
    if (quiet >= 50) {
      await pass();
      quiet = 0;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return pending;
}

/** The program with an account on its own mailbox, and people who write to it. */
export interface MailBench {
  /** The program's address. */
  readonly url: string;
  readonly world: MailWorld;
  readonly bench: EngineBench;
  /** Delivers a customer's mail and waits until it is taken. */
  write(mail: Omit<Letter, "to"> & { readonly to?: string }): Promise<void>;
  taken(messageId: string, patienceMs?: number): Promise<boolean>;
  /** The conversation that has this customer's text. */
  conversationWith(text: string): Promise<string>;
  reply(conversationId: string, content: string): Promise<string>;
  /** The mails sent to this address, once all work is done. */
  mailsTo(address: string): Promise<readonly SentMail[]>;
  /** Advances the time until the program waits for mails. */
  connected(): Promise<void>;
  /** Another adapter on the same mailbox, with additional settings. */
  adapter(settings?: object): Promise<ChannelAdapter>;
  close(): Promise<void>;
}

export async function openMailBench(
  config: object = {},
  options: BenchOptions = {},
  tokens?: TokenWorld,
): Promise<MailBench> {
  const world = await startMailWorld(tokens);
  const bench = await openBench(newSqlite, {
    // The mail server uses real time, so the clock starts there: new mails must not predate the account.
    clock: createHandMovedClock(Date.now()),
    ...options,
    account: { channel: "email", load: loadAdapter, config: { ...world.config, ...config } },
  });
  const url = await bench.app.listen();
  const mailBench: MailBench = {
    url,
    world,
    bench,
    async write(mail) {
      const to = mail.to ?? world.address;
      await world.deliver(letter({ dmarc: "pass", ...mail, to }), to);
      if (!(await mailBench.taken(mail.id ?? ""))) throw new Error(`the mail ${mail.id} was not taken`);
    },
    taken: (messageId, patienceMs = 40_000) =>
      whileConnecting(world.taken(messageId, patienceMs), world.listening, () => bench.advance(6_000)),
    async conversationWith(text) {
      const row = await bench.store.read
        .selectFrom("messages")
        .select("conversation_id")
        .where("content", "=", text)
        .where("role", "=", "user")
        .executeTakeFirst();
      if (row === undefined) throw new Error(`nobody has written "${text}"`);
      return row.conversation_id;
    },
    async reply(conversationId, content) {
      const { workspaceId } = bench;
      const authorEmail = "anna@test.example";
      const { messageId } = await bench.engine.reply({
        workspaceId,
        conversationId,
        content,
        authorEmail,
        actor: anna,
      });
      await bench.settle();
      return messageId;
    },
    async mailsTo(address) {
      await bench.settle();
      return world.sent.filter(({ to }) => to.includes(address));
    },
    async connected() {
      const waits = bench.until("the program waits for mails", world.listening, 20_000);
      await whileConnecting(waits, world.listening, () => bench.advance(6_000));
    },
    async adapter(settings = {}) {
      const module = await loadAdapter("email", {});
      const account = { id: "a", workspaceId: bench.workspaceId, channel: "email" as const, name: "mail" };
      const host = hostWith({
        signToken: (value) => value,
        clock: bench.clock,
        state: {
          isKept: true,
          getSecret: async () => null,
          setSecret: async () => undefined,
          get: async () => null,
          compareAndSet: async () => true,
        },
      });
      const made = module?.create({ ...account, config: { ...world.config, ...config, ...settings } }, host);
      if (made === undefined) throw new Error("no adapter serves e-mail");
      return made;
    },
    async close() {
      await bench.close();
      await world.close();
    },
  };
  await mailBench.connected();
  return mailBench;
}
