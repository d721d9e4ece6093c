import type { ClientDependencies, ProviderClient } from "./contract.ts";

/** Loads the flow at its first use: most installations have no provider, and the library takes memory. */
export function createProviderClient(dependencies: ClientDependencies): ProviderClient {
  let flow: Promise<ProviderClient> | undefined;
  const load = (): Promise<ProviderClient> =>
    (flow ??= import("./openid-flow.ts").then(({ createOpenidFlow }) => createOpenidFlow(dependencies)));
  return {
    begin: async (provider, callback) => (await load()).begin(provider, callback),
    finish: async (provider, returned, challenge) => (await load()).finish(provider, returned, challenge),
    check: async (provider) => (await load()).check(provider),
  };
}
