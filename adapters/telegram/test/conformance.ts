import type { ConformanceTarget, CustomerMessage, FakePlatform } from "#test/support/channels/conformance-target.ts";
import { startFakeTelegram } from "./support/fake-telegram.ts";
import { messageUpdate, reactionUpdate } from "./support/updates.ts";

const target: ConformanceTarget = { channel: "telegram", cannot: {}, start };
export default target;

/** Longer than a refused connection takes. */
const awayMs = 300;

async function start(): Promise<FakePlatform> {
  const telegram = await startFakeTelegram();
  const chats = new Map<string, number>();
  const messages = new Map<string, number>();
  const written = new Map<number, string>();
  let webhookUrl = "";
  const numberOf = (map: Map<string, number>, name: string, first: number): number => {
    const known = map.get(name) ?? first + map.size;
    map.set(name, known);
    return known;
  };
  const chatOf = (customer: string) => numberOf(chats, customer, 5_000_000_000);

  async function post(update: object, secret: string): Promise<boolean> {
    const response = await fetch(webhookUrl, {
      method: "POST",
      headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret },
      body: JSON.stringify(update),
    });
    await response.text();
    return response.ok;
  }
  // Each delivery has a new update id; a repeated delivery has the same message id.
  const updateOf = ({ customer, id, text, files = [], answers }: CustomerMessage) => {
    const at = { chatId: chatOf(customer), messageId: numberOf(messages, id, 1) };
    written.set(at.messageId, text);
    const [file] = files;
    const answered = answers === undefined ? undefined : newest(customer, answers);
    if (answered !== undefined) {
      const { messageId, text: said } = answered;
      return messageUpdate({ ...at, text, more: { reply_to_message: { message_id: messageId, text: said } } });
    }
    if (file === undefined) return messageUpdate({ ...at, text });
    const document = { file_id: telegram.keep(file.bytes), file_name: file.name, mime_type: file.mediaType };
    return messageUpdate({ ...at, more: { document, caption: text } });
  };

  const newest = (customer: string, text: string) =>
    telegram.shown.findLast((each) => each.chatId === chatOf(customer) && each.text.includes(text));

  return {
    config: { token: telegram.token, transport: "webhook", base_url: telegram.url },
    secrets: () => [telegram.token, telegram.token.split(":")[1] ?? "", telegram.webhook?.secret ?? ""],
    retryAfterMs: 17_000,
    async connect(program) {
      ({ webhookUrl } = program);
    },
    connected: () => telegram.webhook !== undefined,
    deliver: (message) => post(updateOf(message), telegram.webhook?.secret ?? ""),
    forge: (message) => post(updateOf(message), "a-secret-of-somebody-else"),
    async echo(customer) {
      for (const { chatId, messageId, text } of telegram.shown.filter((each) => each.chatId === chatOf(customer))) {
        const from = { id: telegram.botId, is_bot: true, first_name: "Parley" };
        await post(messageUpdate({ chatId, messageId, text, from }), telegram.webhook?.secret ?? "");
      }
    },
    shown: async (customer) =>
      telegram.shown
        .filter(({ chatId }) => chatId === chatOf(customer))
        // An agent's message begins with the agent's name.
        .map(({ text }) => text.replace(/^Anna[^\n]*:\n/, "")),
    received: async (customer) =>
      telegram.shown.flatMap(({ chatId, file }) => (chatId === chatOf(customer) && file !== undefined ? [file] : [])),
    answersOne: true,
    async answered(customer, text) {
      const isIt = (call: Readonly<Record<string, unknown>>): boolean =>
        Number(call["chat_id"]) === chatOf(customer) && String(call["text"]).includes(text);
      const answered = telegram.calls("sendMessage").findLast(isIt)?.["reply_parameters"];
      return written.get((answered as { readonly message_id?: number } | undefined)?.message_id ?? 0);
    },
    async react(customer, text, emoji) {
      const at = newest(customer, text);
      if (at !== undefined) await post(reactionUpdate(at, [], [emoji]), telegram.webhook?.secret ?? "");
    },
    reactions: (customer) =>
      [...telegram.reactions].flatMap(([at, emoji]) => (at.startsWith(`${chatOf(customer)}:`) ? [emoji] : [])),
    misbehave(how) {
      switch (how) {
        case "refuse":
          telegram.fail("sendMessage", {
            kind: "error",
            code: 403,
            description: "Forbidden: bot was blocked by the user",
          });
          return;
        case "limit":
          telegram.fail("sendMessage", {
            kind: "error",
            code: 429,
            description: "Too Many Requests: retry after 17",
            parameters: { retry_after: 17 },
          });
          return;
        case "hang_up_after_commit":
          telegram.fail("sendMessage", { kind: "hang_up_after_commit" });
          return;
        case "hang_up":
          telegram.fail("sendMessage", { kind: "hang_up" });
          return;
        case "unreachable":
          void telegram.goAway().then(() => setTimeout(() => void telegram.comeBack(), awayMs));
      }
    },
    refuseChange: () =>
      telegram.fail("editMessageText", {
        kind: "error",
        code: 400,
        description: "Bad Request: message can't be edited",
      }),
    away: () => telegram.goAway(),
    back: () => telegram.comeBack(),
    close: () => telegram.close(),
  };
}
