import { lookup } from "node:dns/promises";
import type { AdapterModule } from "#channels/contract.ts";
import { serverOf } from "#channels/http/guarded-connect.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { AllowPrivate } from "#outbound/addresses.ts";
import { createAddressCheck, privateAddress } from "#outbound/addresses.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { ChannelSettings, StoredSettings } from "./account-settings.ts";
import { openedSettings } from "./account-settings.ts";

/** Refuses servers that only the operator may choose. Throws Problem `invalid_parameter`. */
export async function requirePublicServers(
  allowPrivate: AllowPrivate,
  module: Pick<AdapterModule, "addresses">,
  settings: ChannelSettings,
): Promise<void> {
  const refused = await refusedServer(allowPrivate, module, settings);
  if (refused !== undefined) throw new Problem("invalid_parameter", `settings.${refused.setting}: ${refused.message}`);
}

/** The first setting with a server that only the operator may choose. */
export async function refusedServer(
  allowPrivate: AllowPrivate,
  { addresses = [] }: Pick<AdapterModule, "addresses">,
  settings: ChannelSettings,
): Promise<{ readonly setting: string; readonly message: string } | undefined> {
  const isAllowed = createAddressCheck(allowPrivate);
  for (const setting of addresses) {
    const server = settings[setting];
    if (typeof server !== "string") continue;
    for (const address of await addressesOf(server)) {
      if (isAllowed(address)) continue;
      return { setting, message: privateAddress(address) };
    }
  }
  return undefined;
}

/** The same for a stored account. Those of the configuration file may use any server. */
export async function requirePublicAccount(
  {
    secrets,
    load,
    allowPrivate,
  }: { readonly secrets: Secrets; readonly load: LoadAdapter; readonly allowPrivate: AllowPrivate },
  row: StoredSettings & { readonly managed_by: string; readonly channel: Channel },
): Promise<void> {
  if (row.managed_by !== "dashboard") return;
  const settings = openedSettings(secrets, row);
  const module = await load(row.channel, settings);
  if (module !== undefined) await requirePublicServers(allowPrivate, module, settings);
}

/** A name that cannot be resolved is not refused: its connection fails with a better message. */
async function addressesOf(server: string): Promise<readonly string[]> {
  const host = serverOf(server);
  if (host === "") return [];
  try {
    const found = await lookup(host, { all: true, order: "verbatim" });
    return found.map(({ address }) => address);
  } catch {
    return [];
  }
}
