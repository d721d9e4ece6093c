import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  intercom: { label: "Intercom", publicAddress: "optional", traits: ["platform-status", "reroute"] },
};
