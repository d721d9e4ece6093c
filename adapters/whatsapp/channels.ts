import type { ChannelDescriptions } from "#channels/catalog.ts";

export const channels: ChannelDescriptions = {
  whatsappcloud: { label: "WhatsApp (Cloud API)", publicAddress: "required", traits: ["reroute"] },
};
