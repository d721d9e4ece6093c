import type { ListItem, WaitingOrder } from "#http/inbox/wire.ts";
import { setServerTime } from "#web/shared/ui/time.ts";
import { api } from "./api.ts";
import { createDelayed, listEveryMs } from "./delayed.ts";
import type { ListState } from "./list-state.ts";
import type { Notices } from "#web/shared/ui/notices.ts";

const searchDelayMs = 250;
const refreshDelayMs = 120;

/** Keeps the list as the server has it. */
export function createListSync(list: ListState, { report }: Pick<Notices, "report">) {
  let pages = 1;
  /** Counts the loads: a later one makes an earlier one void. */
  let run = 0;
  let searchTimer: ReturnType<typeof setTimeout> | undefined;
  let refreshedAt = 0;

  /** Fetches as many pages as are shown. */
  async function load(): Promise<void> {
    run += 1;
    const current = run;
    try {
      const items: ListItem[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < pages && (page === 0 || cursor !== undefined); page += 1) {
        const got = await fetchPage(list, cursor);
        if (current !== run) return;
        setServerTime(got.now);
        items.push(...got.items);
        cursor = got.nextCursor ?? undefined;
      }
      list.loaded(items, cursor ?? null);
    } catch {
      if (current === run) list.load.value = "failed";
    }
  }

  function begin(change: Parameters<ListState["begin"]>[0]): void {
    pages = 1;
    list.begin(change);
    void load();
  }

  async function loadCounts(): Promise<void> {
    try {
      list.counts.value = await api.counts();
    } catch {
      // The list already says that the server cannot be reached.
    }
  }

  const refresh = createDelayed(
    () => {
      refreshedAt = Date.now();
      void load();
      void loadCounts();
    },
    () => Math.max(refreshDelayMs, refreshedAt + listEveryMs() - Date.now()),
  );

  return {
    load,
    loadCounts,
    /** Loads another list. */
    begin,
    /** Loads the list and the counts again, no more often than {@link listEveryMs}. */
    refresh,
    search(query: string): void {
      clearTimeout(searchTimer);
      searchTimer = setTimeout(() => query !== list.query.value && begin({ query }), searchDelayMs);
    },
    /** Sorts the views of waiting conversations, here and wherever this agent signs in. */
    orderBy(order: WaitingOrder): void {
      if (order === list.order.value) return;
      begin({ order });
      api.setWaitingOrder(order).catch(report);
    },
    async more(): Promise<void> {
      const cursor = list.nextCursor.value;
      if (cursor === null || list.load.value === "failed") return load();
      const current = run;
      try {
        const got = await fetchPage(list, cursor);
        pages += 1;
        // The list was loaded again meanwhile, so this is no page of it.
        if (current !== run) return await load();
        list.loaded([...list.items.value, ...got.items], got.nextCursor);
      } catch (error) {
        report(error);
      }
    },
  };
}

const fetchPage = ({ view, query, order }: ListState, cursor: string | undefined) =>
  api.list(view.value, query.value, cursor === undefined ? { order: order.value } : { order: order.value, cursor });
