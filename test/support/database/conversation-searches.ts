import { pino } from "pino";
import { afterAll } from "vitest";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Reader } from "#database/contract.ts";
import { createConversationSearch } from "#database/search/open.ts";
import type { OutsideSearch } from "#database/search/typesense/search.ts";
import { createTypesenseSearch } from "#database/search/typesense/search.ts";
import type { OpenStore } from "#database/open.ts";
import { claimLanes, dueLanes } from "#database/queries/outbox.ts";
import type { TypesenseOptions } from "#database/search/typesense/client.ts";
import { createTypesense } from "#database/search/typesense/client.ts";
import type { TestDatabase } from "./databases.ts";
import { eachDatabase } from "./databases.ts";
import type { TestTypesense } from "../typesense/typesense-server.ts";
import { startTypesense } from "../typesense/typesense-server.ts";

export interface TestSearch {
  readonly engine: "database" | "typesense";
  /** Opens the search on this store; `read`: another reader. */
  on(store: OpenStore, read?: Reader): Promise<ConversationSearch>;
  /** Runs the search's pending work. */
  settle(store: OpenStore): Promise<void>;
}

const inTheDatabase: TestSearch = {
  engine: "database",
  on: async (store, read = store.read) => createConversationSearch({ dialect: store.dialect, read }),
  settle: async () => undefined,
};

/**
 * Runs one suite on every search: in each database, and in Typesense with each database. For Typesense see
 * `test/support/typesense/typesense-server.ts`.
 */
export function eachSearch(name: string, suite: (open: () => Promise<TestDatabase>, search: TestSearch) => void): void {
  eachDatabase(name, (open) => suite(open, inTheDatabase));
  eachDatabase(`${name} in Typesense`, (open) => suite(open, inTypesense()));
}

function inTypesense(): TestSearch {
  let server: TestTypesense | undefined;
  afterAll(() => server?.close());
  const on = async (store: OpenStore, read: Reader = store.read): Promise<OutsideSearch> => {
    server ??= await startTypesense();
    return typesenseOn({ ...store, read }, server.options);
  };
  return { engine: "typesense", on, settle: async (store) => settle(store, await on(store)) };
}

async function typesenseOn(store: OpenStore, options: TypesenseOptions): Promise<OutsideSearch> {
  return createTypesenseSearch({
    store,
    base: createConversationSearch(store),
    typesense: await createTypesense(options),
    clock: { now: () => Date.now(), timer: () => () => undefined },
    log: pino({ level: "silent" }),
    // No worker: `settle` runs the work.
    wake: { notify: () => undefined },
  });
}

/** Runs the search's work until none is due. */
async function settle(store: OpenStore, search: OutsideSearch): Promise<void> {
  for (;;) {
    const now = Date.now();
    const lanes = await dueLanes(store.read, now, { except: [], limit: 500 });
    const own = lanes.filter((lane) => lane.startsWith("search:"));
    if (own.length === 0) return;
    const lease = { id: "ses_test", until: now + 60_000 };
    const rows = await store.write((tx) => claimLanes(tx, own, lease, now));
    for (const group of Map.groupBy(rows, (row) => row.lane).values())
      await search.work.run(group.map(search.work.read), new AbortController().signal);
  }
}
