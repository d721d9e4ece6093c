import type { ChannelHost } from "#channels/contract.ts";

type Facet = "state" | "threads" | "files" | "people";
type PartialHost = Partial<Omit<ChannelHost, Facet>> & { readonly [F in Facet]?: Partial<ChannelHost[F]> };

const silent = (): undefined => undefined;

/** A host with these members alone, for an adapter's own functions. Whatever else the function asks for fails. */
export function hostWith(given: PartialHost): ChannelHost {
  const { state = {}, threads = {}, files = {}, people = {}, ...rest } = given;
  const host: PartialHost = {
    log: { debug: silent, info: silent, warn: silent, error: silent },
    ...rest,
    state,
    threads,
    files,
    people,
  };
  return host as ChannelHost;
}
