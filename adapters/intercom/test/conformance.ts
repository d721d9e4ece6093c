import { htmlText } from "#channels/text/html-text.ts";
import type { ConformanceTarget, CustomerMessage, FakePlatform } from "#test/support/channels/conformance-target.ts";
import type { Notification } from "./support/fake-intercom.ts";
import { startFakeIntercom } from "./support/fake-intercom.ts";

const target: ConformanceTarget = { channel: "intercom", cannot: {}, start };
export default target;

/** Longer than a refused connection takes. */
const awayMs = 300;

async function start(): Promise<FakePlatform> {
  const intercom = await startFakeIntercom();
  const threads = new Map<string, string>();
  const delivered = new Map<string, Notification>();

  /** A message keeps its part id across deliveries. */
  function notificationOf({ customer, id, text, files }: CustomerMessage): Notification {
    const known = delivered.get(id);
    if (known !== undefined) return known;
    const thread = threads.get(customer);
    const { conversation, notification } = intercom.write({
      contact: customer,
      text,
      ...(thread === undefined ? {} : { conversation: thread }),
      ...(files === undefined ? {} : { files }),
    });
    threads.set(customer, conversation);
    delivered.set(id, notification);
    return notification;
  }

  const ours = (customer: string) => {
    const conversation = intercom.conversations.get(threads.get(customer) ?? "");
    return (conversation?.parts ?? []).filter(
      ({ author, part_type: type }) => author.id === intercom.bot.id && type === "comment",
    );
  };

  return {
    config: {
      access_token: intercom.token,
      client_secret: intercom.clientSecret,
      app_id: intercom.appId,
      admin_id: intercom.bot.id,
      base_url: intercom.url,
    },
    secrets: () => [intercom.token, intercom.clientSecret],
    retryAfterMs: 17_000,
    async connect({ webhookUrl, now }) {
      intercom.connect({ webhookUrl, now });
    },
    deliver: async (message) => (await intercom.deliver(notificationOf(message))) === 200,
    async forge({ customer, text }) {
      const thread = threads.get(customer) ?? "1";
      const author = { type: "user", id: customer, name: customer, email: "" };
      const part = { id: "999999999999", part_type: "comment", body: text, created_at: 1, author };
      const item = { id: thread, created_at: 1, updated_at: 1, conversation_parts: { conversation_parts: [part] } };
      const notification = intercom.notification("conversation.user.replied", item);
      const statuses = [
        await intercom.deliver(notification, { secret: "a secret of somebody else" }),
        await intercom.deliver(notification, { signature: "" }),
        await intercom.deliver(notification, { signature: "sha1=" }),
      ];
      return statuses.includes(200);
    },
    async echo(customer) {
      const thread = threads.get(customer);
      for (const notification of intercom.notifications.splice(0)) {
        const { item } = notification["data"] as { readonly item: { readonly id?: string } };
        if (item.id === thread) await intercom.deliver(notification);
      }
    },
    shown: async (customer) =>
      ours(customer)
        // The agent's name precedes the text.
        .map(({ body }) => htmlText(body ?? "").text.replace(/^Anna[^\n]*:\n/, "")),
    async received(customer) {
      const files = ours(customer).flatMap((part) =>
        part.files.map((file) => ({ ...file, url: part.fileUrl(file.id) })),
      );
      return Promise.all(
        files.map(async ({ name, mediaType, url }) => {
          const response = await fetch(url);
          return { name, mediaType, bytes: Buffer.from(await response.arrayBuffer()) };
        }),
      );
    },
    misbehave(how) {
      switch (how) {
        case "refuse":
          intercom.fail({ kind: "error", status: 422, code: "parameter_invalid", message: "body is invalid" });
          return;
        case "limit":
          intercom.fail({ kind: "limit", seconds: 17 });
          return;
        case "hang_up_after_commit":
          intercom.fail({ kind: "hang_up_after_commit" });
          return;
        case "hang_up":
          intercom.fail({ kind: "hang_up_before_commit" });
          return;
        case "unreachable":
          void intercom.goAway().then(() => setTimeout(() => void intercom.comeBack(), awayMs));
      }
    },
    away: () => intercom.goAway(),
    back: () => intercom.comeBack(),
    close: () => intercom.close(),
  };
}
