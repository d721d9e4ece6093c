import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Channel } from "#domain/conversation/message.ts";

/**
 * The channels of this installation: those that `adapters/<folder>/channels.ts` declare, and the API. They are read once,
 * when the process starts. No platform's SDK is loaded for that.
 */

/** Exported as `channels` by `adapters/<folder>/channels.ts`, which must not import anything but types. */
export type ChannelDescriptions = Readonly<Record<Channel, ChannelDescription>>;

export interface ChannelDescription {
  /** For people, such as in the inbox. */
  readonly label: string;
  readonly traits?: readonly ChannelTrait[];
  /** Whether the platform has to reach this server at a public https address. Default: no. */
  readonly publicAddress?: "required" | "optional";
}

export type ChannelTrait =
  /** Every workspace has one account of it from its creation; the configuration file declares none. */
  | "builtin"
  /** Visitors chat on a web page: they may sign in as a user of the company, and may leave the page. */
  | "chat"
  /** One message says all, such as a mail. On other channels customers send several short messages in a row. */
  | "complete-messages"
  /** An account can carry the agents' desk. */
  | "desk"
  /** An account can carry replies to visitors who left the page. */
  | "follow-up"
  /** A reply arrives without its formatting. */
  | "plain-text"
  /** The platform shows the people who work on it whether a conversation is open, closed or snoozed. */
  | "platform-status"
  /** A reply that the customer's own channel cannot deliver may be sent to a thread of theirs here. */
  | "reroute";

interface KnownChannel extends ChannelDescription {
  /** Below adapters/; undefined for the API, which the program serves itself. */
  readonly folder: string | undefined;
}

/** The name is a part of addresses, of metrics and of search tokens. */
const namePattern = /^[a-z][a-z0-9]{1,19}$/;

const known: ReadonlyMap<Channel, KnownChannel> = await discover();

async function discover(): Promise<ReadonlyMap<Channel, KnownChannel>> {
  const found = new Map<Channel, KnownChannel>([
    ["api", { label: "API", traits: ["builtin", "complete-messages"], folder: undefined }],
  ]);
  const adapters = fileURLToPath(new URL("../../adapters/", import.meta.url));
  for (const path of globSync("{*,*/*}/channels.ts", { cwd: adapters }).toSorted()) {
    const folder = path.slice(0, -"/channels.ts".length).replaceAll("\\", "/");
    const { channels: declared } = (await import(/* @vite-ignore */ `../../adapters/${folder}/channels.ts`)) as {
      readonly channels: ChannelDescriptions;
    };
    for (const [channel, description] of Object.entries(declared)) {
      if (!namePattern.test(channel)) throw new Error(`adapters/${folder}: "${channel}" is no name of a channel`);
      if (found.has(channel)) throw new Error(`adapters/${folder}: another adapter serves the channel ${channel}`);
      found.set(channel, { ...description, folder });
    }
  }
  return found;
}

export const channels: readonly Channel[] = [...known.keys()].toSorted();

/** A channel whose adapter was removed is called by its name. */
export const channelLabel = (channel: Channel): string => known.get(channel)?.label ?? channel;

export const hasTrait = (channel: Channel, trait: ChannelTrait): boolean =>
  known.get(channel)?.traits?.includes(trait) === true;

export const isChat = (channel: Channel): boolean => hasTrait(channel, "chat");

export const channelsWith = (trait: ChannelTrait): readonly Channel[] =>
  channels.filter((channel) => hasTrait(channel, trait));

export const publicAddressOf = (channel: Channel): "required" | "optional" | "no" =>
  known.get(channel)?.publicAddress ?? "no";

/** Undefined where no adapter serves the channel. */
export const adapterFolder = (channel: Channel): string | undefined => known.get(channel)?.folder;
