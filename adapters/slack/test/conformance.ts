import type {
  ConformanceTarget,
  CustomerMessage,
  FakePlatform,
  Program,
} from "#test/support/channels/conformance-target.ts";
import { envelopeOf, messageEvent, reactionEvent } from "./support/events.ts";
import { emojiNamed, nameOfEmoji } from "../messages/emoji.ts";
import { startFakeSlack } from "./support/fake-slack.ts";
import { describeFile } from "./support/fake-web-api.ts";

const target: ConformanceTarget = { channel: "slack", cannot: {}, start: () => start("webhook") };
export default target;

export const variants: Readonly<Record<string, ConformanceTarget>> = {
  "Socket Mode": { channel: "slack", cannot: {}, start: () => start("socket") },
};

/** Longer than a refused connection takes. */
const awayMs = 300;

/** The time for which Slack keeps deliveries for an app that is not connected. */
const patienceMs = 20_000;
/** The program connects again by its own clock, which only a test moves. */
const tickMs = 1_000;

async function start(transport: "webhook" | "socket"): Promise<FakePlatform> {
  const slack = await startFakeSlack();
  const customers = new Map<string, string>();
  const stamps = new Map<string, string>();
  let webhookUrl = "";
  let now = (): number => 0;
  let tick: Program["tick"] | undefined;

  const channelOf = (customer: string): string => {
    const known = customers.get(customer);
    if (known !== undefined) return known;
    const number = String(customers.size + 1).padStart(6, "0");
    slack.users.set(`U${number}`, { id: `U${number}`, name: customer, teamId: slack.teamId });
    slack.channels.set(`D${number}`, {
      id: `D${number}`,
      kind: "im",
      name: `U${number}`,
      archived: false,
      member: true,
    });
    customers.set(customer, `D${number}`);
    return `D${number}`;
  };

  function keep(channel: string, ts: string, text: string): void {
    const user = channel.replace("D", "U");
    const message = { channel, ts, text, user, threadTs: undefined, blocks: [], metadata: undefined, files: [] };
    slack.messages.push({ ...message, deleted: false });
  }

  /** Each delivery has a new event id; a repeated delivery has the same time stamp. */
  function eventOf({ customer, id, text, files = [] }: CustomerMessage): object {
    const channel = channelOf(customer);
    const ts = stamps.get(id) ?? slack.nextTs();
    if (!stamps.has(id)) keep(channel, ts, text);
    stamps.set(id, ts);
    const shared = files.map(({ name, mediaType, bytes }) =>
      describeFile(slack.addFile({ name, mimetype: mediaType, bytes }), slack.url),
    );
    const more = shared.length === 0 ? {} : { subtype: "file_share", files: shared };
    return envelopeOf(slack, messageEvent(slack, { channel, user: channel.replace("D", "U"), ts, text, more }));
  }

  async function post(event: object, secret = slack.signingSecret): Promise<boolean> {
    const body = JSON.stringify(event);
    const response = await fetch(webhookUrl, {
      method: "POST",
      headers: { "content-type": "application/json", ...slack.sign(body, now(), secret) },
      body,
    });
    await response.text();
    return response.ok;
  }

  /** Pushes an event until it is acknowledged: Slack resends unacknowledged events over the next socket. */
  async function push(event: object): Promise<boolean> {
    const end = performance.now() + patienceMs;
    let tickAt = performance.now() + tickMs;
    for (;;) {
      const { acknowledged, closed } = await slack.push("events_api", event);
      if (closed !== true || performance.now() > end) return acknowledged;
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (performance.now() < tickAt) continue;
      await tick?.();
      tickAt = performance.now() + tickMs;
    }
  }
  const deliver = (event: object): Promise<boolean> => (transport === "socket" ? push(event) : post(event));

  return {
    config: {
      bot_token: slack.botToken,
      base_url: slack.url,
      ...(transport === "socket" ? { app_token: slack.appToken } : { signing_secret: slack.signingSecret }),
    },
    secrets: () => [slack.botToken, transport === "socket" ? slack.appToken : slack.signingSecret],
    retryAfterMs: 17_000,
    async connect(program) {
      ({ webhookUrl, now, tick } = program);
      slack.follow(now);
    },
    ...(transport === "socket" ? { connected: () => slack.sockets() > 0 } : {}),
    deliver: (message) => deliver(eventOf(message)),
    // Only Slack can send over the socket, so the forgery uses the webhook's address.
    forge: (message) => post(eventOf(message), "0123456789abcdef0123456789abcdef"),
    async echo(customer) {
      for (const { channel, ts, text } of slack.shown(channelOf(customer))) {
        const own = { channel, user: slack.botUserId, ts, text, more: { bot_id: slack.botId, app_id: slack.appId } };
        await deliver(envelopeOf(slack, messageEvent(slack, own)));
      }
    },
    shown: async (customer) =>
      slack
        .shown(channelOf(customer))
        // An agent's message begins with the agent's name.
        .map(({ text }) => text.replace(/^Anna[^\n]*:\n/, "")),
    received: async (customer) =>
      slack
        .shown(channelOf(customer))
        .flatMap(({ message }) =>
          message.files.map(({ name, mimetype, bytes }) => ({ name, mediaType: mimetype, bytes })),
        ),
    async react(customer, text, emoji) {
      const channel = channelOf(customer);
      const ts = slack.shown(channel).findLast((each) => each.text.includes(text))?.ts ?? "";
      const to = { channel, ts, user: channel.replace("D", "U"), at: slack.nextTs() };
      await deliver(envelopeOf(slack, reactionEvent(slack, to, nameOfEmoji(emoji) ?? "")));
    },
    reactions: (customer) =>
      slack.reactions.flatMap(({ channel, name }) => (channel === channelOf(customer) ? [emojiNamed(name)] : [])),
    misbehave(how) {
      switch (how) {
        case "refuse":
          slack.fail("chat.postMessage", { kind: "error", error: "is_archived" });
          return;
        case "limit":
          slack.fail("chat.postMessage", { kind: "limit", seconds: 17 });
          return;
        case "hang_up_after_commit":
          slack.fail("chat.postMessage", { kind: "hang_up_after_commit" });
          return;
        case "hang_up":
          slack.fail("chat.postMessage", { kind: "hang_up" });
          return;
        case "unreachable":
          void slack.goAway().then(() => setTimeout(() => void slack.comeBack(), awayMs));
      }
    },
    refuseChange: () => slack.fail("chat.update", { kind: "error", error: "edit_window_closed" }),
    away: () => slack.goAway(),
    back: () => slack.comeBack(),
    close: () => slack.close(),
  };
}
