import { action, signal } from "@preact/signals";
import type { Counts, ListItem, View, WaitingOrder } from "#http/inbox/wire.ts";
import { keepUnchanged } from "./unchanged.ts";

export type ListState = ReturnType<typeof createListState>;

/** The list of conversations. */
export function createListState(waitingOrder: WaitingOrder) {
  const state = {
    view: signal<View>("unassigned"),
    query: signal(""),
    /** The order of the views of waiting conversations. */
    order: signal(waitingOrder),
    items: signal<readonly ListItem[]>([]),
    nextCursor: signal<string | null>(null),
    load: signal<"loading" | "ready" | "failed">("loading"),
    counts: signal<Counts | undefined>(undefined),
  };
  const { view, query, order, items, nextCursor, load } = state;

  return {
    ...state,
    /** Empties the list until another one is loaded. */
    begin: action((change: { readonly view?: View; readonly query?: string; readonly order?: WaitingOrder }) => {
      view.value = change.view ?? view.value;
      query.value = change.query ?? query.value;
      order.value = change.order ?? order.value;
      items.value = [];
      nextCursor.value = null;
      load.value = "loading";
    }),
    loaded: action((loaded: readonly ListItem[], cursor: string | null) => {
      // Between two pages a conversation can move to the top: it is shown once.
      const distinct = [...new Map(loaded.map((item) => [item.id, item])).values()];
      items.value = keepUnchanged(items.value, distinct);
      nextCursor.value = cursor;
      load.value = "ready";
    }),
    /** The conversation that is opened when this one is resolved. */
    neighbour(id: string): string | undefined {
      const at = items.value.findIndex((item) => item.id === id);
      return (items.value[at + 1] ?? items.value[at - 1])?.id;
    },
  };
}
