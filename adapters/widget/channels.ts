import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  widget: { label: "Website chat", traits: ["builtin", "chat"] },
  hosted: { label: "Chat page", traits: ["builtin", "chat"] },
};
