import { adapterFolder } from "./catalog.ts";
import type { AdapterModule } from "./contract.ts";
import type { Channel } from "#domain/conversation/message.ts";

/** The adapter that serves an account with these settings; undefined where none does. */
export type LoadAdapter = (
  channel: Channel,
  settings: { readonly provider?: unknown },
) => Promise<AdapterModule> | undefined;

/** Called when an account first needs the adapter: it loads the platform's SDK. */
export const loadAdapter: LoadAdapter = (channel, settings) => {
  const folder = adapterFolder(channel, settings);
  if (folder === undefined) return undefined;
  return import(/* @vite-ignore */ `../../adapters/${folder}/index.ts`).then(
    (loaded: { readonly default: AdapterModule }) => loaded.default,
  );
};
