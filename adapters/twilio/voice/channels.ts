import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  voice: { label: "Phone call", traits: ["complete-messages", "plain-text"], publicAddress: "required" },
};
