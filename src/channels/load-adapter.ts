import { adapterFolder } from "./catalog.ts";
import type { AdapterModule } from "./contract.ts";
import type { Channel } from "#domain/conversation/message.ts";

/** The adapter that serves a channel; undefined where none does. */
export type LoadAdapter = (channel: Channel) => Promise<AdapterModule> | undefined;

/** Called when an account first needs the adapter: it loads the platform's SDK. */
export const loadAdapter: LoadAdapter = (channel) => {
  const folder = adapterFolder(channel);
  if (folder === undefined) return undefined;
  return import(/* @vite-ignore */ `../../adapters/${folder}/index.ts`).then(
    (loaded: { readonly default: AdapterModule }) => loaded.default,
  );
};
