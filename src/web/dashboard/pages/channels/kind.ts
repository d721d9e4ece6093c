import { api } from "#web/dashboard/api.ts";
import type { ChannelKind } from "./types.ts";

/** The channel's settings. `provider`: empty for that of accounts that name none. */
export const readKind = (channel: string, provider: string): Promise<ChannelKind> =>
  api.get<ChannelKind>(
    `channels/kinds/${encodeURIComponent(channel)}${provider === "" ? "" : `?${new URLSearchParams({ provider }).toString()}`}`,
  );
