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
  /**
   * Present where several adapters can serve the channel. An account chooses by its setting `provider`, which the schema
   * of each of them declares. Label, traits and address of the channel are those of the default one.
   */
  readonly provider?: Provider;
}

/** A company that carries a channel's messages. */
export interface Provider {
  readonly name: string;
  readonly label: string;
  /** Serves the accounts whose settings name no provider. One of a channel's has it. */
  readonly isDefault?: true;
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
  /** The default one first. Empty for the API, which the program serves itself. */
  readonly adapters: readonly KnownAdapter[];
}

interface KnownAdapter {
  /** Below adapters/. */
  readonly folder: string;
  readonly description: ChannelDescription;
}

/** The name is a part of addresses, of metrics and of search tokens. */
const namePattern = /^[a-z][a-z0-9]{1,19}$/;

const known: ReadonlyMap<Channel, KnownChannel> = await discover();

async function discover(): Promise<ReadonlyMap<Channel, KnownChannel>> {
  const found = new Map<Channel, KnownChannel>([
    ["api", { label: "API", traits: ["builtin", "complete-messages"], adapters: [] }],
  ]);
  const adapters = fileURLToPath(new URL("../../adapters/", import.meta.url));
  for (const path of globSync("{*,*/*}/channels.ts", { cwd: adapters }).toSorted()) {
    const folder = path.slice(0, -"/channels.ts".length).replaceAll("\\", "/");
    const { channels: declared } = (await import(/* @vite-ignore */ `../../adapters/${folder}/channels.ts`)) as {
      readonly channels: ChannelDescriptions;
    };
    for (const [channel, description] of Object.entries(declared)) {
      if (!namePattern.test(channel)) throw new Error(`adapters/${folder}: "${channel}" is no name of a channel`);
      found.set(channel, withAdapter(channel, found.get(channel), { folder, description }));
    }
  }
  return found;
}

function withAdapter(channel: Channel, others: KnownChannel | undefined, adapter: KnownAdapter): KnownChannel {
  const { folder, description } = adapter;
  if (others === undefined) return { ...description, adapters: [adapter] };
  const isApart = (other: Provider | undefined, own: Provider | undefined): boolean =>
    other !== undefined && own !== undefined && other.name !== own.name && !(other.isDefault && own.isDefault);
  const isFree = others.adapters.every((other) => isApart(other.description.provider, description.provider));
  if (!isFree || others.adapters.length === 0) {
    throw new Error(`adapters/${folder}: another adapter serves the channel ${channel}`);
  }
  return description.provider?.isDefault === true
    ? { ...description, adapters: [adapter, ...others.adapters] }
    : { ...others, adapters: [...others.adapters, adapter] };
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

/** The providers of a channel among which accounts choose, the default one first. Empty where there is no choice. */
export const providersOf = (channel: Channel): readonly Provider[] =>
  known.get(channel)?.adapters.flatMap(({ description: { provider } }) => provider ?? []) ?? [];

/**
 * The folder of the adapter that serves an account with these settings. Undefined where none does. A channel without
 * providers has one adapter, whose schema refuses the setting.
 */
export function adapterFolder(channel: Channel, { provider }: { readonly provider?: unknown }): string | undefined {
  const adapters = known.get(channel)?.adapters ?? [];
  if (provider === undefined || providersOf(channel).length === 0) return adapters[0]?.folder;
  return adapters.find(({ description }) => description.provider?.name === provider)?.folder;
}

/** The reason for the administrator why no adapter serves such an account, beginning with the setting. */
export function noAdapter(channel: Channel): { readonly setting: string; readonly message: string } {
  const names = providersOf(channel).map(({ name }) => name);
  return names.length === 0
    ? { setting: "channel", message: `this version connects to no ${channel}` }
    : { setting: "provider", message: `provider: use ${names.join(" or ")}` };
}
