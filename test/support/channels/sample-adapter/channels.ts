import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  sample: { label: "Sample chat", traits: ["reroute"] },
};
