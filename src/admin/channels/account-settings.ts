import { hash } from "node:crypto";
import type { AdapterModule } from "#channels/contract.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { Secrets } from "#runtime/secrets.ts";

export type ChannelSettings = Readonly<Record<string, unknown>>;

export interface SplitSettings {
  readonly open: ChannelSettings;
  readonly secret: ChannelSettings;
}

/** Separates the settings from the secrets, which are encrypted. */
export function splitSettings({ secrets }: Pick<AdapterModule, "secrets">, settings: ChannelSettings): SplitSettings {
  const isSecret = ([key]: readonly [string, unknown]): boolean => secrets.includes(key);
  const entries = Object.entries(settings);
  return {
    open: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secret: Object.fromEntries(entries.filter(isSecret)),
  };
}

export interface StoredSettings {
  readonly config: string;
  readonly credentials: string | null;
}

export function sealedSettings(secrets: Pick<Secrets, "seal">, { open, secret }: SplitSettings): StoredSettings {
  return {
    config: JSON.stringify(open),
    credentials: Object.keys(secret).length === 0 ? null : secrets.seal(JSON.stringify(secret)),
  };
}

/** All settings of a stored account. Throws if the secrets were encrypted with another key. */
export function openedSettings(secrets: Pick<Secrets, "open">, stored: StoredSettings): ChannelSettings {
  const secret = stored.credentials === null ? {} : (JSON.parse(secrets.open(stored.credentials)) as ChannelSettings);
  return { ...(JSON.parse(stored.config) as ChannelSettings), ...secret };
}

/** The hash of a bot, a number or the like that only one account may use. Null where accounts can share everything. */
export function identityHash(channel: Channel, module: AdapterModule, settings: ChannelSettings): string | null {
  const identity = module.identity?.(settings);
  return identity === undefined ? null : hash("sha256", `${channel}\n${identity.key}`);
}
