import type {
  ConformanceTarget,
  CustomerMessage,
  FakePlatform,
  Program,
} from "#test/support/channels/conformance-target.ts";
import { startFakeDiscord } from "./support/fake-discord.ts";
import { plainText } from "./support/plain-text.ts";

const target: ConformanceTarget = {
  channel: "discord",
  cannot: {
    forged: "messages come by a socket that the program has opened to Discord: nobody else can deliver",
  },
  start,
};
export default target;

/** Longer than a refused connection takes. */
const awayMs = 300;
const storedMs = 3_000;

async function start(): Promise<FakePlatform> {
  const discord = await startFakeDiscord();
  const ids = new Map<string, string>();
  let program: Program | undefined;

  const idOf = (id: string): string => {
    const known = ids.get(id) ?? discord.newId();
    ids.set(id, known);
    return known;
  };
  async function until(reached: () => Promise<boolean> | boolean, ms: number): Promise<boolean> {
    const end = performance.now() + ms;
    while (performance.now() < end) {
      if (await reached()) return true;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return false;
  }
  /** The program drops a connection when the clock jumps by hours, and reconnects a little later. */
  async function connected(): Promise<void> {
    for (let turn = 0; turn < 20 && !(await until(() => discord.connected(), 1_000)); turn += 1) await program?.tick();
  }
  /** The gateway has no acknowledgement, so the database is read instead. */
  async function deliver({ customer, id, text, files = [], answers }: CustomerMessage): Promise<boolean> {
    await connected();
    const answered = answers === undefined ? undefined : newest(customer, answers);
    discord.write({
      ...(answered === undefined ? {} : { answers: answered }),
      channelId: discord.direct(customer),
      from: customer,
      text,
      id: idOf(id),
      files: files.map(({ name, mediaType: type, bytes }) => ({ name, type, bytes })),
    });
    const stored = async () => (await program?.stored(`message:${idOf(id)}`).catch(() => false)) === true;
    for (let turn = 0; turn < 10; turn += 1) {
      if (await until(stored, storedMs)) return true;
      // The connection was closing: Discord resends the message when the session is resumed.
      if (discord.connected()) return false;
      await connected();
    }
    return false;
  }

  const newest = (customer: string, text: string) =>
    discord
      .messages(discord.direct(customer))
      .findLast(({ author, content }) => author.bot === true && plainText(content).includes(text));

  return {
    config: { token: discord.token, base_url: discord.url },
    secrets: () => [discord.token],
    retryAfterMs: 17_000,
    async connect(to) {
      program = to;
    },
    connected: () => discord.connected(),
    deliver,
    async write({ customer, id, text }) {
      discord.write({ channelId: discord.direct(customer), from: customer, text, id: idOf(id) });
    },
    forge: async () => false,
    async echo(customer) {
      const own = discord.messages(discord.direct(customer)).filter(({ author }) => author.bot === true);
      for (const message of own) discord.dispatch("MESSAGE_CREATE", { ...message, channel_type: 1 });
    },
    shown: async (customer) =>
      discord
        .messages(discord.direct(customer))
        .filter(({ author }) => author.bot === true)
        // An agent's message begins with the agent's name.
        .map(({ content }) => plainText(content).replace(/^Anna[^\n]*:\n/, "")),
    received: async (customer) =>
      discord
        .messages(discord.direct(customer))
        .filter(({ author }) => author.bot === true)
        .flatMap(({ attachments }) => attachments)
        .map((file) => ({ name: file.filename, mediaType: file.content_type, bytes: discord.bytesOf(file) })),
    answersOne: true,
    async answered(customer, text) {
      const sent = discord
        .calls("POST /channels/:id/messages")
        .findLast((call) => String(call["content"]).includes(text));
      const { message_id: id } = (sent?.["message_reference"] ?? {}) as { readonly message_id?: string };
      return discord.messages(discord.direct(customer)).find((each) => each.id === id)?.content;
    },
    async react(customer, text, emoji) {
      const message = newest(customer, text);
      if (message !== undefined) discord.react(message, customer, emoji);
    },
    reactions: (customer) => discord.messages(discord.direct(customer)).flatMap(({ id }) => discord.reactions(id)),
    misbehave(how) {
      switch (how) {
        case "refuse":
          discord.fail({ kind: "error", status: 403, code: 50_007, message: "Cannot send messages to this user" });
          return;
        case "limit":
          discord.fail({ kind: "limit", retryAfterS: 17 });
          return;
        case "hang_up_after_commit":
          discord.fail({ kind: "hang_up_after_commit" });
          return;
        case "hang_up":
          discord.fail({ kind: "hang_up" });
          return;
        case "unreachable":
          void discord.goAway().then(() => setTimeout(() => void discord.comeBack(), awayMs));
      }
    },
    refuseChange: () => discord.failChange({ kind: "error", status: 404, code: 10_008, message: "Unknown Message" }),
    away: () => discord.goAway(),
    async back() {
      await discord.comeBack();
      await connected();
    },
    close: () => discord.close(),
  };
}
