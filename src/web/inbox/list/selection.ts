import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type { ListItem } from "#http/inbox/wire.ts";
import { bulkMax } from "#http/inbox/wire.ts";
import type { BulkChange } from "#web/inbox/store/api.ts";
import { api } from "#web/inbox/store/api.ts";
import type { ListState } from "#web/inbox/store/list-state.ts";
import type { Notices } from "#web/shared/ui/notices.ts";
import { shortName } from "#web/inbox/ui/labels.ts";
import { focusRow } from "./focus.ts";

/** Why one of several conversations was not changed. */
interface BulkRefusal {
  readonly customer: string;
  readonly reason: string;
}

/** The conversations of the list that are chosen, to be changed at once. `on.resolved`: some were resolved. */
export function createSelection(
  list: ListState,
  notices: Notices,
  on: { readonly resolved: () => void; readonly refresh: () => void },
) {
  const isOpen = signal(false);
  const ids = signal<ReadonlySet<string>>(new Set());
  const refusals = signal<readonly BulkRefusal[]>([]);
  const items = computed(() => list.items.value.filter(({ id }) => ids.value.has(id)));
  let isBusy = false;
  /** The chosen conversations were changed since choosing began. */
  let hasActed = false;
  /** The conversation chosen last: a range begins with it. */
  let last: string | undefined;
  /** Counts how often choosing began: the outcome of a change is not shown in a bar that was opened since. */
  let round = 0;

  function open(): void {
    hasActed = false;
    round += 1;
    isOpen.value = true;
  }

  function close(): void {
    last = undefined;
    batch(() => {
      isOpen.value = false;
      ids.value = new Set();
      refusals.value = [];
    });
  }

  /** Closes the bar. A focus that would be lost moves to the list. */
  function stop(): void {
    const hasFocus = document.activeElement?.matches(".bulk *, input.pick") === true;
    close();
    if (hasFocus) focusRow(1);
  }

  function choose(more: readonly string[]): void {
    const chosen = new Set([...ids.value, ...more]);
    if (chosen.size > bulkMax) notices.problem(`At most ${bulkMax} conversations at once.`);
    ids.value = new Set([...chosen].slice(0, bulkMax));
  }

  // A search or a link shows another list.
  effect(() => {
    void [list.view.value, list.query.value];
    untracked(close);
  });
  // A conversation that left the list is not seen any more, and nothing is done with it.
  effect(() => {
    if (list.load.value !== "ready") return;
    const listed = new Set(list.items.value.map(({ id }) => id));
    const before = untracked(() => ids.value);
    const kept = new Set([...before].filter((id) => listed.has(id)));
    if (kept.size === before.size) return;
    ids.value = kept;
    if (hasActed && kept.size === 0 && untracked(() => refusals.value.length === 0)) stop();
  });

  /** Shows the outcome of a change that `asked` was meant for. Returns whether all were changed. */
  async function run(change: BulkChange, done: string, asked: readonly ListItem[]): Promise<boolean> {
    const begun = round;
    const results = await api.bulk(change, asked);
    const customers = new Map(asked.map(({ id, customer }) => [id, customer]));
    const refused = results.flatMap(({ id, refused: reason }) =>
      reason === null ? [] : [{ customer: shortName(customers.get(id) ?? id), reason }],
    );
    const count = results.length - refused.length;
    const text = count > 0 ? `${conversations(count)} ${done}.` : "";
    const isHere = isOpen.value && round === begun;
    if (count > 0 && change.action === "resolve") on.resolved();
    if (refused.length > 0 && !isHere)
      notices.problem(`${conversations(refused.length)} could not be changed. ${text}`);
    else if (text !== "") notices.done(text);
    if (!isHere) return false;
    hasActed = true;
    refusals.value = refused;
    return refused.length === 0;
  }

  return {
    isOpen,
    ids,
    items,
    refusals,
    toggleBar: () => (isOpen.value ? stop() : open()),
    /** Returns false when nothing was being chosen. */
    stop(): boolean {
      if (!isOpen.value) return false;
      stop();
      return true;
    },
    /** `through`: with all from the one chosen before to this one. */
    toggle(id: string, { through = false } = {}): void {
      if (!isOpen.value) open();
      const order = list.items.value.map((item) => item.id);
      const from = through && last !== undefined ? order.indexOf(last) : -1;
      if (ids.value.has(id)) ids.value = new Set([...ids.value].filter((each) => each !== id));
      else if (from === -1) choose([id]);
      else {
        const [first, final] = [from, order.indexOf(id)].toSorted((a, b) => a - b);
        choose(order.slice(first, (final ?? 0) + 1));
      }
      last = id;
    },
    chooseAll: () => choose(list.items.value.map(({ id }) => id)),
    /** Changes each conversation only if it is still as it was listed. Refused ones stay chosen, with the reason. */
    async change(change: BulkChange, done: string, asked = items.value): Promise<boolean> {
      if (isBusy || asked.length === 0) return false;
      isBusy = true;
      refusals.value = [];
      try {
        return await run(change, done, asked);
      } catch (error) {
        notices.report(error);
        return false;
      } finally {
        isBusy = false;
        on.refresh();
      }
    },
  };
}

export const conversations = (count: number): string => `${count} ${count === 1 ? "conversation" : "conversations"}`;
