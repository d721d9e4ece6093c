import { hostWith } from "#test/support/channels/partial-host.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Mail } from "../mime/mail.ts";
import { runConnection } from "../connection.ts";
import type { EmailConfig } from "../config.ts";
import type { MailWorld } from "./support/mail-world.ts";
import { letter, startMailWorld } from "./support/mail-world.ts";

let world: MailWorld;
beforeAll(async () => {
  world = await startMailWorld();
});
afterAll(() => world.close());

/** Each call reads on from the stored position. Ends when `take` aborts or the connection breaks. */
function reader(take: (mail: Mail, stop: () => void) => Promise<void>) {
  const kept = new Map<string, string>();
  const refused = new Map<string, number>();
  const host = hostWith({
    state: {
      get: async (name) => kept.get(name) ?? null,
      set: async (name, value) => void kept.set(name, value),
    },
    clock: {
      now: () => Date.now(),
      timer(ms: number, then: () => void) {
        const timer = setTimeout(then, ms / 400);
        return () => clearTimeout(timer);
      },
    },
  });
  const { address, dovecot } = world;
  return async (stopping = new AbortController()): Promise<void> => {
    const events = {
      async take(mail: Mail) {
        await take(mail, () => stopping.abort());
        return { kind: "noted" as const };
      },
    };
    const credentials = async () => ({ kind: "password" as const, user: address, password: dovecot.password });
    const config = world.config as unknown as EmailConfig;
    await runConnection({ host, config, events, refused, credentials }, stopping.signal);
  };
}

/** Reads until the connection idles. Returns a function that ends it. */
async function listening(read: (stopping: AbortController) => Promise<void>): Promise<() => Promise<void>> {
  const stopping = new AbortController();
  const reading = read(stopping);
  await expect.poll(() => world.listening()).toBe(true);
  return async () => {
    stopping.abort();
    await reading;
    await expect.poll(() => world.listening()).toBe(false);
  };
}

describe("reading a mailbox", () => {
  // Sent mails get no keyword, like all mails on servers without keywords, such as Microsoft's.
  for (const end of ["the server ends the connection", "the program is stopped"]) {
    it(`takes the next mails later if ${end} while one is stored`, async () => {
      const texts = [1, 2, 3, 4, 5].map((i) => `${end} ${i}`);
      const taken: string[] = [];
      const read = reader(async ({ subject }, stop) => {
        taken.push(subject);
        if (subject !== texts[1] || taken.filter((each) => each === subject).length > 1) return;
        if (end === "the program is stopped") return stop();
        await world.imapHangUp();
      });
      const readAll = async (): Promise<void> => (await listening(read))();
      await readAll();
      await world.dovecot.look(world.user, async (client) => {
        for (const subject of texts)
          await client.append("Sent", letter({ from: world.address, to: "a@x.example", subject, text: subject }));
      });
      await read().catch(() => undefined);
      expect(taken).toEqual(texts.slice(0, 2));
      await readAll();
      expect([...new Set(taken)]).toEqual(texts);
    });
  }

  it("reads a mail completely if the server reports too large a size", async () => {
    const taken: Mail[] = [];
    const read = reader(async (mail) => void taken.push(mail));
    world.guessSizes(40_000);
    const stop = await listening(read);
    await world.deliver(letter({ from: "a@x.example", to: world.address, text: "All of it." }));
    await expect.poll(() => taken).toHaveLength(1);
    await stop();
    expect(taken[0]).toMatchObject({ texts: [{ text: "All of it." }], lacks: null });
  });

  for (const there of ["no mail", "an old mail", "a new mail"]) {
    it(`takes no old mail that is moved back, after connecting with ${there} in the folder`, async () => {
      const yearsAgo = (years: number): Date => new Date(Date.now() - years * 365 * 86_400_000);
      const put = (subject: string, at: Date): Promise<unknown> =>
        world.dovecot.look(world.user, (client) =>
          client.append("INBOX", letter({ from: "a@x.example", to: world.address, subject, text: subject }), [], at),
        );
      await world.dovecot.look(world.user, async (client) => {
        await client.mailboxOpen("INBOX");
        await client.messageDelete("1:*");
      });
      if (there !== "no mail") await put("there before", there === "an old mail" ? yearsAgo(2) : new Date());
      const taken: string[] = [];
      const read = reader(async ({ subject }) => void taken.push(subject));
      const stop = await listening(read);
      await put("put back", yearsAgo(1));
      await put("new", new Date());
      await expect.poll(() => taken).toContain("new");
      await stop();
      expect(taken).toEqual(["new"]);
    });
  }

  it("continues after a mail that the server cannot return, and takes its headers", async () => {
    const taken: Mail[] = [];
    const read = reader(async (mail) => void taken.push(mail));
    const stop = await listening(read);
    const mailOf = (subject: string): string =>
      letter({ from: "a@x.example", to: world.address, subject, text: "Words." });
    world.refuseMails(1);
    await world.deliver(mailOf("refused for a moment"));
    await expect.poll(() => taken).toHaveLength(1);
    world.refuseMails(8);
    await world.deliver(mailOf("damaged"));
    await world.deliver(mailOf("behind it"));
    await expect.poll(() => taken).toHaveLength(3);
    await stop();
    expect(taken.map(({ subject, texts, lacks }) => [subject, texts[0]?.text, lacks])).toEqual([
      ["refused for a moment", "Words.", null],
      ["damaged", undefined, "The text of this e-mail could not be read: the mail server cannot give it."],
      ["behind it", "Words.", null],
    ]);
  });

  it("continues after a mail on which the server closes the connection, and skips no other mail", async () => {
    const taken: Mail[] = [];
    const read = reader(async (mail) => void taken.push(mail));
    await (
      await listening(read)
    )();
    const mailOf = (subject: string): string =>
      letter({ from: "a@x.example", to: world.address, subject, text: "Words." });
    await world.deliver(mailOf("damaged"));
    await world.deliver(mailOf("behind it"));
    const stopping = new AbortController();
    // Reconnecting is the host's task.
    async function readOn(): Promise<void> {
      while (!stopping.signal.aborted) await read(stopping).catch(() => undefined);
    }
    world.refuseMails(8, "by hanging up");
    const reading = readOn();
    await expect.poll(() => taken).toHaveLength(2);
    world.refuseMails(7, "by hanging up");
    await world.deliver(mailOf("refused for a while"));
    await expect.poll(() => taken).toHaveLength(3);
    stopping.abort();
    await reading;
    expect(taken.map(({ subject, texts, lacks }) => [subject, texts[0]?.text, lacks])).toEqual([
      ["damaged", undefined, "The text of this e-mail could not be read: the mail server cannot give it."],
      ["behind it", "Words.", null],
      ["refused for a while", "Words.", null],
    ]);
  });
});
