import type { View } from "#http/inbox/wire.ts";
import { views } from "#http/inbox/wire.ts";

/** The address of a view, or of a conversation in it. */
export const hashOf = (view: View, id?: string): string => (id === undefined ? `#/${view}` : `#/${view}/${id}`);

export function parseHash(hash: string): { readonly view: View | undefined; readonly id: string | undefined } {
  const [, name, id] = /^#\/([a-z]+)(?:\/(conv_[0-9a-z]{26}))?$/.exec(hash) ?? [];
  return { view: views.find((view) => view === name), id };
}
