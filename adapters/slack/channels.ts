import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  slack: { label: "Slack", publicAddress: "optional", traits: ["desk", "reroute"] },
};
