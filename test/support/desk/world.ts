import type { FakeEphemeral } from "#adapters/slack/test/support/fake-web-api.ts";
import {
  changedEvent,
  deletedEvent,
  envelopeOf,
  messageEvent,
  reactionEvent,
} from "#adapters/slack/test/support/events.ts";
import { shownText } from "#adapters/slack/test/support/fake-messages.ts";
import type { FakeMessage } from "#adapters/slack/test/support/fake-messages.ts";
import type { FakeSlack } from "#adapters/slack/test/support/fake-slack.ts";
import { startFakeSlack } from "#adapters/slack/test/support/fake-slack.ts";
import type { FakeTelegram } from "#adapters/telegram/test/support/fake-telegram.ts";
import { startFakeTelegram } from "#adapters/telegram/test/support/fake-telegram.ts";
import { messageUpdate, reactionUpdate } from "#adapters/telegram/test/support/updates.ts";

/** The program as the platforms see it. */
export interface ProgramAddress {
  readonly url: string;
  /** The time of its clock. */
  now(): number;
  /** Moves the clock until unacknowledged deliveries are sent again. */
  wait?(): Promise<void>;
  /** Ids of the accounts, by name. */
  readonly accounts: { readonly telegram: string; readonly slack: string };
}

export interface Written {
  readonly channel: string;
  readonly user: string;
  readonly ts: string;
  readonly text: string;
  readonly threadTs?: string;
}

/** A company's Slack and its Telegram bot. Customers write on both; agents work in a Slack channel. */
export interface DeskWorld {
  readonly slack: FakeSlack;
  readonly telegram: FakeTelegram;
  /** The program's configuration file. */
  readonly yaml: string;
  reach(program: ProgramAddress): void;
  /** A customer writes; the delivery is repeated until it is acknowledged, as Telegram does. */
  telegramSays(
    chatId: number,
    messageId: number,
    text: string,
    more?: Readonly<Record<string, unknown>>,
  ): Promise<void>;
  /** Delivers the event of a message anywhere in Slack. */
  slackDelivers(message: Written & { readonly more?: Readonly<Record<string, unknown>> }): Promise<void>;
  /** A customer writes a direct message to the app. */
  slackSays(user: string, text: string): Promise<void>;
  /** An agent writes in a thread of a desk channel. */
  writes(user: string, threadTs: string, text: string, more?: object, channel?: string): Promise<Written>;
  /** Delivers the event of this message late, or again. */
  writesLate(written: Written): Promise<void>;
  /** A person reacts to a post in the desk channel, or takes it back. `name`: Slack's own, such as `heart`. */
  reacts(user: string, post: Pick<FakeMessage, "channel" | "ts">, name: string, isAdded?: boolean): Promise<void>;
  /** A customer's reactions to a message change. */
  telegramReacts(chatId: number, messageId: number, before: readonly string[], after: readonly string[]): Promise<void>;
  edits(written: Written, text: string, at?: string): Promise<void>;
  removes(written: Written): Promise<void>;
  /** An agent clicks a button of a message, or selects `option` of a list. */
  clicks(
    user: string,
    message: Pick<FakeMessage, "channel" | "ts" | "threadTs" | "blocks">,
    action: string,
    option?: string,
  ): Promise<Response>;
  /** An agent clicks a button of an ephemeral message. */
  clicksPrivately(user: string, ephemeral: FakeEphemeral, action: string): Promise<Response>;
  submits(
    user: string,
    view: Readonly<Record<string, unknown>>,
    value: Readonly<Record<string, unknown>>,
  ): Promise<Response>;
  /** An agent uses the shortcut on a message. */
  shortcut(
    user: string,
    message: Pick<Written, "channel" | "ts" | "threadTs">,
    callback?: "parley_message" | "parley_reply",
  ): Promise<Response>;
  command(user: string, text: string): Promise<Response>;
  /** The cards in a desk channel, oldest first. */
  cards(channel?: string): readonly FakeMessage[];
  /** The thread below a card as people read it, agents' messages included. */
  thread(card: FakeMessage): readonly string[];
  telegramSees(chatId: number): readonly string[];
  slackSees(user: string): readonly string[];
  whispers(user: string): readonly FakeEphemeral[];
  close(): Promise<void>;
}

export const deskChannel = "C0DESK001";
/** The channel of a team, where conversations about invoices are shown. */
export const billingChannel = "C0BILLING";
export const mia = "U0MIA0001";
export const ben = "U0BEN0001";

export interface DeskOptions {
  readonly mirror?: "escalated" | "every";
  readonly replyMode?: "implicit" | "explicit";
  /** Whether the billing team has a channel of its own. */
  readonly hasBilling?: boolean;
  /** How Slack delivers events. */
  readonly transport?: "webhook" | "socket";
}

export async function openDeskWorld(options: DeskOptions = {}): Promise<DeskWorld> {
  const slack = await startFakeSlack();
  const telegram = await startFakeTelegram();
  slack.channels.set(deskChannel, { id: deskChannel, kind: "channel", name: "support", archived: false, member: true });
  const { hasBilling = false } = options;
  if (hasBilling) {
    const channel = { id: billingChannel, kind: "channel", name: "billing", archived: false, member: true } as const;
    slack.channels.set(billingChannel, channel);
  }
  const { teamId } = slack;
  const zone = { timeZone: "Europe/Berlin" };
  slack.users.set(mia, { id: mia, name: "Mia Meyer", teamId, email: "Mia@shop.example", ...zone });
  slack.users.set(ben, { id: ben, name: "Ben Bauer", teamId, email: "ben@shop.example", ...zone });
  const isSocket = options.transport === "socket";
  let program: ProgramAddress | undefined;
  let clicks = 0;

  function reached(): ProgramAddress {
    if (program === undefined) throw new Error("the program has no address yet");
    return program;
  }

  async function postSlack(body: string, contentType: string): Promise<Response> {
    const { url, now, accounts } = reached();
    return fetch(`${url}/channels/slack/${accounts.slack}`, {
      method: "POST",
      headers: { "content-type": contentType, ...slack.sign(body, now()) },
      body,
    });
  }

  const wait = (): Promise<void> => reached().wait?.() ?? new Promise((resolve) => setTimeout(resolve, 50));

  /** Returns the acknowledgement over the socket as the response that HTTP would have had. */
  async function pushSlack(type: string, payload: unknown): Promise<Response> {
    const { acknowledged, reply } = await slack.push(type, payload);
    return new Response(reply === undefined ? "" : JSON.stringify(reply), { status: acknowledged ? 200 : 503 });
  }

  /** Slack delivers a click once. A click without an effect is repeated, as people do. */
  async function pushInTime(type: string, payload: unknown): Promise<Response> {
    for (let i = 0; i < 200; i += 1) {
      const response = await pushSlack(type, payload);
      if (response.ok) return response;
      await wait();
    }
    throw new Error("the click was never acknowledged");
  }

  /** Repeats the delivery until it is acknowledged, as Slack does. */
  async function until200(send: () => Promise<Response>): Promise<void> {
    for (let i = 0; i < 1_200; i += 1) {
      const response = await send().catch(() => undefined);
      await response?.text().catch(() => "");
      if (response?.ok === true) return;
      await wait();
    }
    throw new Error("the delivery was never acknowledged");
  }

  const sendEvent = (event: object): Promise<void> => {
    const envelope = envelopeOf(slack, event as Readonly<Record<string, unknown>>);
    if (isSocket) return until200(() => pushSlack("events_api", envelope));
    return until200(() => postSlack(JSON.stringify(envelope), "application/json"));
  };

  const sendUpdate = (update: object): Promise<void> =>
    until200(async () =>
      fetch(`${reached().url}/channels/telegram/${reached().accounts.telegram}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-telegram-bot-api-secret-token": telegram.webhook?.secret ?? "",
        },
        body: JSON.stringify(update),
      }),
    );

  const postForm = (form: Readonly<Record<string, string>>): Promise<Response> =>
    postSlack(new URLSearchParams(form).toString(), "application/x-www-form-urlencoded");

  const interact = (payload: object): Promise<Response> =>
    isSocket ? pushInTime("interactive", payload) : postForm({ payload: JSON.stringify(payload) });

  const userOf = (id: string) => ({ id, team_id: slack.teamId, username: id });

  function keep({ channel, user, ts, text, threadTs }: Written): void {
    slack.messages.push({
      channel,
      ts,
      threadTs,
      user,
      text,
      blocks: [],
      metadata: undefined,
      files: [],
      deleted: false,
    });
  }

  function actionIn(blocks: readonly unknown[], action: string) {
    for (const block of blocks as readonly { block_id?: string; elements?: readonly { action_id?: string }[] }[]) {
      if (block.elements?.some((each) => each.action_id === action) === true) return block.block_id;
    }
    throw new Error(`there is no button ${action}: ${JSON.stringify(blocks)}`);
  }

  const clicked = (
    user: string,
    at: { readonly channel: string; readonly ts: string; readonly threadTs: string | undefined },
    blocks: readonly unknown[],
    action: string,
    option?: string,
    responseUrl?: string,
  ): Promise<Response> =>
    interact({
      ...(responseUrl === undefined ? {} : { response_url: responseUrl }),
      type: "block_actions",
      user: userOf(user),
      team: { id: slack.teamId },
      trigger_id: `trigger-${(clicks += 1)}`,
      container: { type: "message", message_ts: at.ts, channel_id: at.channel, thread_ts: at.threadTs },
      channel: { id: at.channel, name: "support" },
      message: { ts: at.ts, thread_ts: at.threadTs, bot_id: slack.botId, text: "" },
      actions: [
        {
          type: option === undefined ? "button" : "static_select",
          action_id: action,
          block_id: actionIn(blocks, action),
          action_ts: slack.nextTs(),
          ...(option === undefined ? {} : { selected_option: { value: option } }),
        },
      ],
    });

  return {
    slack,
    telegram,
    yaml: [
      "workspaces:",
      "  - name: Shop",
      "    channels:",
      "      - name: telegram",
      "        channel: telegram",
      `        token: "${telegram.token}"`,
      "        transport: webhook",
      `        base_url: ${telegram.url}`,
      "      - name: slack",
      "        channel: slack",
      `        bot_token: ${slack.botToken}`,
      isSocket ? `        app_token: ${slack.appToken}` : `        signing_secret: ${slack.signingSecret}`,
      `        base_url: ${slack.url}`,
      "    desk:",
      "      kind: slack",
      "      account: slack",
      `      channel: ${deskChannel}`,
      ...(hasBilling ? [`      team_channels: [{tags: [Billing], channel: ${billingChannel}}]`] : []),
      `      mirror: ${options.mirror ?? "escalated"}`,
      `      reply_mode: ${options.replyMode ?? "implicit"}`,
      "    rules:",
      "      - name: gifts",
      "        when: {tagged: gift}",
      "        then: [{note: Wrap it nicely.}, {assign: ben@shop.example}]",
      ...(hasBilling
        ? [
            "      - name: invoices",
            "        when: {message: customer}",
            "        if: {words: invoice}",
            "        then: [{tag: billing}]",
          ]
        : []),
      "",
    ].join("\n"),
    reach(given) {
      program = given;
      slack.follow(given.now);
    },
    telegramSays: (chatId, messageId, text, more) =>
      sendUpdate(messageUpdate({ chatId, messageId, ...(more === undefined ? { text } : { more }) })),
    telegramReacts: (chatId, messageId, before, after) =>
      sendUpdate(reactionUpdate({ chatId, messageId }, before, after)),
    reacts: (user, { channel, ts }, name, isAdded) =>
      sendEvent(reactionEvent(slack, { channel, ts, user, at: slack.nextTs() }, name, isAdded)),
    slackDelivers: (message) => sendEvent(messageEvent(slack, message)),
    async slackSays(user, text) {
      const channel = user.replace(/^U/, "D");
      slack.channels.set(channel, { id: channel, kind: "im", name: user, archived: false, member: true });
      await sendEvent(messageEvent(slack, { channel, user, ts: slack.nextTs(), text }));
    },
    async writes(user, threadTs, text, more = {}, channel = deskChannel) {
      const written = { channel, user, ts: slack.nextTs(), text, threadTs };
      keep(written);
      await sendEvent(messageEvent(slack, { ...written, more: more as Readonly<Record<string, unknown>> }));
      return written;
    },
    writesLate: (written) => sendEvent(messageEvent(slack, written)),
    edits: (written, text, at = slack.nextTs()) => sendEvent(changedEvent(slack, { ...written, text }, at)),
    removes: (written) => sendEvent(deletedEvent(slack, written, slack.nextTs())),
    clicks: (user, message, action, option) => clicked(user, message, message.blocks, action, option),
    clicksPrivately: (user, { channel, threadTs, blocks }, action) =>
      clicked(
        user,
        { channel, ts: slack.nextTs(), threadTs },
        blocks,
        action,
        undefined,
        slack.responseUrl(`question-${threadTs}`),
      ),
    submits: (user, view, value) =>
      interact({
        type: "view_submission",
        user: userOf(user),
        team: { id: slack.teamId },
        view: { ...view, id: `V${(clicks += 1)}`, state: { values: { value: { value } } } },
      }),
    shortcut: (user, { channel, ts, threadTs }, callback = "parley_message") =>
      interact({
        type: "message_action",
        callback_id: callback,
        user: userOf(user),
        team: { id: slack.teamId },
        trigger_id: `trigger-${(clicks += 1)}`,
        channel: { id: channel },
        message: { ts, thread_ts: threadTs, user },
      }),
    command(user, text) {
      const form = {
        command: "/parley",
        text,
        team_id: slack.teamId,
        channel_id: deskChannel,
        user_id: user,
        trigger_id: `trigger-${(clicks += 1)}`,
        response_url: slack.responseUrl(`r${clicks}`),
      };
      return isSocket ? pushInTime("slash_commands", form) : postForm(form);
    },
    cards: (channel = deskChannel) =>
      slack.messages.filter(
        (each) => each.channel === channel && each.threadTs === undefined && !each.deleted && each.user === undefined,
      ),
    thread: (card) =>
      slack.messages
        .filter((each) => each.channel === card.channel && each.threadTs === card.ts && !each.deleted)
        .map((each) => (each.user === undefined ? shownText(each) : `${each.user}: ${each.text}`)),
    telegramSees: (chatId) => telegram.shown.filter((each) => each.chatId === chatId).map(({ text }) => text),
    slackSees: (user) => slack.shown(user.replace(/^U/, "D")).map(({ text }) => text),
    whispers: (user) => slack.ephemerals.filter((each) => each.user === user),
    async close() {
      await slack.close();
      await telegram.close();
    },
  };
}
