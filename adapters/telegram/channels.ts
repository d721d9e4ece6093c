import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  telegram: { label: "Telegram", publicAddress: "optional", traits: ["reroute"] },
};
