import { createHash } from "node:crypto";
import type {
  ConformanceTarget,
  CustomerMessage,
  FakePlatform,
  SentFile,
} from "#test/support/channels/conformance-target.ts";
import { startFakeCloudApi } from "./support/fake-cloud-api.ts";

const target: ConformanceTarget = { channel: "whatsapp", cannot: {}, start };
export default target;

/** Longer than a refused connection takes. */
const awayMs = 300;

async function start(): Promise<FakePlatform> {
  const meta = await startFakeCloudApi();
  const numbers = new Map<string, string>();
  const numberOf = (customer: string): string => {
    const known = numbers.get(customer) ?? `1555100${String(numbers.size).padStart(4, "0")}`;
    numbers.set(customer, known);
    return known;
  };
  const kept = new Map<SentFile, string>();
  const mediaOf = (file: SentFile): string => {
    const known = kept.get(file) ?? meta.keep(file.bytes, file.mediaType);
    kept.set(file, known);
    return known;
  };
  let now = () => Date.now();
  const written = new Map<string, string>();
  const deliveryOf = ({ customer, id, text, files = [], answers }: CustomerMessage): object => {
    const from = numberOf(customer);
    const answered = answers === undefined ? undefined : newest(customer, answers);
    const [file] = files;
    const content =
      file === undefined
        ? { type: "text", text: { body: text } }
        : {
            type: "document",
            document: { id: mediaOf(file), mime_type: file.mediaType, filename: file.name, caption: text },
          };
    const wamid = `wamid.${createHash("md5").update(id).digest("base64")}`;
    written.set(wamid, text);
    const context = answered === undefined ? {} : { context: { from: "15550783881", id: answered.id } };
    return meta.delivery({
      contacts: [{ profile: { name: customer }, wa_id: from }],
      messages: [{ from, id: wamid, timestamp: String(Math.floor(now() / 1_000)), ...context, ...content }],
    });
  };
  const takenFor = (customer: string) => meta.taken.filter(({ to }) => to === numberOf(customer));
  const messagesTo = (customer: string) => takenFor(customer).filter(({ type }) => type !== "reaction");

  const newest = (customer: string, text: string) => messagesTo(customer).findLast(({ body }) => body.includes(text));

  return {
    config: meta.settings,
    secrets: () => [meta.accessToken, meta.appSecret],
    retryAfterMs: 17_000,
    async connect(program) {
      now = () => program.now();
      meta.connect(program);
    },
    connected: () => meta.number.webhook !== undefined,
    deliver: async (message) => (await meta.post(deliveryOf(message))) === 200,
    forge: async (message) => (await meta.post(deliveryOf(message), "a secret of somebody else")) === 200,
    // Besides a report, only messages of the WhatsApp Business app are delivered, as another field.
    async echo(customer) {
      for (const { id, to, body } of messagesTo(customer)) {
        await meta.report(id, "sent");
        const echoes = [{ from: "15550783881", to, id, timestamp: "1", type: "text", text: { body } }];
        const text = JSON.stringify(meta.delivery({ message_echoes: echoes }));
        await meta.post(text.replace('"field":"messages"', '"field":"smb_message_echoes"'));
      }
    },
    shown: async (customer) =>
      messagesTo(customer)
        // The agent's name precedes the text.
        .map(({ body }) => body.replace(/^\*?Anna[^\n]*:\*?\n/, "")),
    received: async (customer) => messagesTo(customer).flatMap(({ file }) => file ?? []),
    answersOne: true,
    async answered(customer, text) {
      const { message_id: id = "" } = (newest(customer, text)?.request["context"] ?? {}) as {
        readonly message_id?: string;
      };
      return written.get(id);
    },
    async react(customer, text, emoji) {
      const reaction = { message_id: newest(customer, text)?.id, emoji };
      await meta.write(numberOf(customer), "", { type: "reaction", text: undefined, reaction });
    },
    reactions(customer) {
      // A later reaction to a message replaces the one before.
      const all = takenFor(customer).flatMap(({ request: { reaction } }) =>
        reaction === undefined ? [] : [reaction as { readonly message_id: string; readonly emoji: string }],
      );
      const shown = new Map(all.map(({ message_id: id, emoji }) => [id, emoji]));
      return [...shown.values()].filter((emoji) => emoji !== "");
    },
    misbehave(how) {
      switch (how) {
        case "refuse":
          meta.fail({ kind: "error", code: 131_026, details: "Message undeliverable" });
          return;
        case "limit":
          meta.fail({ kind: "error", status: 429, code: 130_429, details: "Rate limit hit", retryAfterS: 17 });
          return;
        case "hang_up_after_commit":
        case "hang_up":
          meta.fail({ kind: how });
          return;
        case "unreachable":
          void meta.goAway().then(() => setTimeout(() => void meta.comeBack(), awayMs));
      }
    },
    away: () => meta.goAway(),
    back: () => meta.comeBack(),
    close: () => meta.close(),
  };
}
