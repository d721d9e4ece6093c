import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  sms: { label: "SMS", publicAddress: "required", traits: ["plain-text", "reroute"] },
  whatsapp: { label: "WhatsApp", publicAddress: "required", traits: ["reroute"] },
};
