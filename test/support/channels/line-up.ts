import { parse } from "yaml";
import type { Channel } from "#domain/conversation/message.ts";
import discord from "#adapters/discord/test/conformance.ts";
import email from "#adapters/email/test/conformance.ts";
import intercom from "#adapters/intercom/test/conformance.ts";
import slack from "#adapters/slack/test/conformance.ts";
import telegram from "#adapters/telegram/test/conformance.ts";
import sms, { variants as twilio } from "#adapters/twilio/messaging/test/conformance.ts";
import { redialing } from "#adapters/twilio/voice/test/conformance.ts";
import { leavingMessages } from "#adapters/twilio/voice/test/left-messages.ts";
import whatsapp from "#adapters/whatsapp/test/conformance.ts";
import widget, { variants as sites } from "#adapters/widget/test/conformance.ts";
import { apiTarget } from "../http/api-customer.ts";
import type { ConformanceTarget, FakePlatform } from "./conformance-target.ts";
import type { DeskWorld } from "../desk/world.ts";

/** A channel and the target that plays its platform. */
export interface LineUp {
  readonly channel: Channel;
  /** The name that the documentation uses. */
  readonly name: string;
  readonly target: ConformanceTarget;
  /**
   * The channel is a telephone call. Titles of documents are not read out, only shown in the conversation. A new call
   * starts a new conversation of the same customer.
   */
  readonly isCall?: true;
}

function variant(of: Readonly<Record<string, ConformanceTarget>>, name: string): ConformanceTarget {
  const found = of[name];
  if (found === undefined) throw new Error(`there is no variant ${name}`);
  return found;
}

/** Every channel on which customers can write. */
export const lineUp: readonly LineUp[] = [
  { channel: "widget", name: "Website widget", target: widget },
  { channel: "hosted", name: "Chat page", target: variant(sites, "hosted page") },
  { channel: "telegram", name: "Telegram", target: telegram },
  { channel: "slack", name: "Slack", target: slack },
  { channel: "discord", name: "Discord", target: discord },
  { channel: "sms", name: "SMS", target: sms },
  { channel: "whatsapp", name: "WhatsApp", target: variant(twilio, "WhatsApp") },
  { channel: "whatsapp", name: "WhatsApp at Meta", target: whatsapp },
  { channel: "voice", name: "Telephone", target: redialing, isCall: true },
  { channel: "email", name: "E-mail", target: email },
  { channel: "intercom", name: "Intercom", target: intercom },
  { channel: "api", name: "API", target: apiTarget },
];

/**
 * The channels whose messages are counted. Telephone calls are counted twice: during the call, and for messages left.
 */
export const countedLineUp: readonly LineUp[] = lineUp.flatMap((each) =>
  each.channel === "voice"
    ? [
        { ...each, name: "Telephone, on the line" },
        { ...each, name: "Telephone, messages left", target: leavingMessages },
      ]
    : [each],
);

/** Channels that every workspace has without an account in the file. */
export const builtin: ReadonlySet<Channel> = new Set<Channel>(["widget", "hosted", "api"]);

/** A channel with a running platform. */
export interface Line extends LineUp {
  /** The name of the account in the file. */
  readonly account: string;
  readonly platform: FakePlatform;
}

/** Starts the platforms of all channels, without those whose program is not installed. */
export async function startLines(channels: readonly LineUp[]): Promise<readonly Line[]> {
  const there = channels.filter(({ target }) => target.missing === undefined);
  return Promise.all(
    there.map(async (each) => ({
      ...each,
      account: `customers-${each.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`,
      platform: await each.target.start(),
    })),
  );
}

interface FileShape {
  readonly workspaces: readonly { readonly channels: readonly { readonly name: string }[] }[];
}

/** A configuration file with an account for each of these channels and the desk's own. JSON is YAML. */
export function fileWith(desk: Pick<DeskWorld, "yaml">, lines: readonly Line[], name: string): string {
  const { workspaces } = parse(desk.yaml) as FileShape;
  const accounts = lines
    .filter(({ channel }) => !builtin.has(channel))
    .map(({ channel, account, platform }) => ({ name: account, channel, ...platform.config }));
  const [first, ...others] = workspaces.map((workspace) => ({
    ...workspace,
    name,
    plan: "enterprise",
    channels: [...workspace.channels.filter((each) => each.name === "slack"), ...accounts],
  }));
  return JSON.stringify({ workspaces: [first, ...others] });
}

/** Limits that one visitor does not reach: all customers of the tests share an address. */
export const openLimits = {
  connections_per_minute: 1_000_000,
  sockets_per_address: 1_000_000,
  messages_per_minute: 1_000_000,
  messages_per_minute_address: 1_000_000,
};

/** The document that the bot answers from: questions about shipping and the warranty. */
export const handbook = `# Handbook of the Harbour Lamp Shop

## Returns
You can return a lamp within 30 days of delivery. The refund reaches your card within five working days.

## Shipping
Shipping inside the country takes two working days and costs 4 euros.

## Warranty
Every lamp has a warranty of three years.
`;
