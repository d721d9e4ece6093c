import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  whatsapp: {
    label: "WhatsApp",
    publicAddress: "required",
    traits: ["reroute"],
    provider: { name: "meta", label: "Meta Cloud API" },
  },
};
