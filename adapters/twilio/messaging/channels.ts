import type { ChannelDescriptions } from "#channels/catalog.ts";

const provider = { name: "twilio", label: "Twilio", isDefault: true } as const;

export const channels: ChannelDescriptions = {
  sms: { label: "SMS", publicAddress: "required", traits: ["plain-text", "reroute"], provider },
  whatsapp: { label: "WhatsApp", publicAddress: "required", traits: ["reroute"], provider },
};
