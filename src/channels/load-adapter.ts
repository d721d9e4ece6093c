import type { AdapterModule } from "./contract.ts";
import type { Channel } from "#domain/conversation/message.ts";

/** The adapter that serves a channel; undefined where none does. */
export type LoadAdapter = (channel: Channel) => Promise<AdapterModule> | undefined;

/** Which folder of adapters/ serves a channel. The API is served by the program itself. */
const folderOf: Readonly<Partial<Record<Channel, string>>> = {
  widget: "widget",
  hosted: "widget",
  slack: "slack",
  telegram: "telegram",
  discord: "discord",
  email: "email",
  intercom: "intercom",
  sms: "twilio/messaging",
  whatsapp: "twilio/messaging",
  voice: "twilio/voice",
};

/** Adapters that no account uses are never loaded. */
export const loadAdapter: LoadAdapter = (channel) => {
  const folder = folderOf[channel];
  if (folder === undefined) return undefined;
  return import(/* @vite-ignore */ `../../adapters/${folder}/index.ts`).then(
    (loaded: { readonly default: AdapterModule }) => loaded.default,
  );
};
