import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  discord: { label: "Discord", traits: ["reroute"] },
};
