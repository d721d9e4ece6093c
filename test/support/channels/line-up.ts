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
import widget, { variants as sites } from "#adapters/widget/test/conformance.ts";
import { apiTarget } from "../http/api-customer.ts";
import type { ConformanceTarget, FakePlatform } from "./conformance-target.ts";
import type { DeskWorld } from "../desk/world.ts";

/** One of the contract's channels, and who plays its platform. */
export interface LineUp {
  readonly channel: Channel;
  /** As people call it. */
  readonly name: string;
  readonly target: ConformanceTarget;
  /**
   * Nobody hears titles of documents: who looks at the conversation sees them. A call that is over is not gone on with:
   * whoever calls again begins another conversation, of the same customer.
   */
  readonly spoken?: true;
}

function variant(of: Readonly<Record<string, ConformanceTarget>>, name: string): ConformanceTarget {
  const found = of[name];
  if (found === undefined) throw new Error(`there is no variant ${name}`);
  return found;
}

/** Every channel on which customers can write: what goes over all channels goes over these. */
export const lineUp: readonly LineUp[] = [
  { channel: "widget", name: "Website widget", target: widget },
  { channel: "hosted", name: "Chat page", target: variant(sites, "hosted page") },
  { channel: "telegram", name: "Telegram", target: telegram },
  { channel: "slack", name: "Slack", target: slack },
  { channel: "discord", name: "Discord", target: discord },
  { channel: "sms", name: "SMS", target: sms },
  { channel: "whatsapp", name: "WhatsApp", target: variant(twilio, "WhatsApp") },
  { channel: "voice", name: "Telephone", target: redialing, spoken: true },
  { channel: "email", name: "E-mail", target: email },
  { channel: "intercom", name: "Intercom", target: intercom },
  { channel: "api", name: "API", target: apiTarget },
];

/** Where messages are counted on their way. Of callers it matters whether their call is on. */
export const countedLineUp: readonly LineUp[] = lineUp.flatMap((each) =>
  each.channel === "voice"
    ? [
        { ...each, name: "Telephone, on the line" },
        { ...each, name: "Telephone, messages left", target: leavingMessages },
      ]
    : [each],
);

/** What every workspace has from its beginning, and no account in the file. */
export const builtin: ReadonlySet<Channel> = new Set<Channel>(["widget", "hosted", "api"]);

/** A channel whose platform runs. */
export interface Line extends LineUp {
  /** Of the account in the file. */
  readonly account: string;
  readonly platform: FakePlatform;
}

/** Starts the platforms of all channels; those that need a program which is not installed here are left out. */
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

/** A configuration file with an account for each of these channels, and the desk's own. JSON is YAML. */
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

/** Limits are there to stop one visitor, and here all of them are one program. */
export const openLimits = {
  connections_per_minute: 1_000_000,
  sockets_per_address: 1_000_000,
  messages_per_minute: 1_000_000,
  messages_per_minute_address: 1_000_000,
};

/** What the bot answers from, for questions about shipping and the warranty. */
export const handbook = `# Handbook of the Harbour Lamp Shop

## Returns
You can return a lamp within 30 days of delivery. The refund reaches your card within five working days.

## Shipping
Shipping inside the country takes two working days and costs 4 euros.

## Warranty
Every lamp has a warranty of three years.
`;
