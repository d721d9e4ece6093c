import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  email: { label: "E-mail", traits: ["follow-up", "complete-messages"] },
};
