import { newWorkspaceId } from "#domain/ids.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import type { Documents, NewDocument } from "#knowledge/documents/documents.ts";
import { createDocuments } from "#knowledge/documents/documents.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** For documents that are not fetched. */
export const noFetch: GuardedFetch = {
  fetch: () => Promise.reject(new Error("fetches are disabled in this test")),
  close: async () => undefined,
};

export function steppingClock(start = Date.UTC(2026, 0, 1)): Clock & { advance(ms: number): void } {
  let now = start;
  return {
    now: () => now,
    timer: () => () => undefined,
    advance(ms) {
      now += ms;
    },
  };
}

export async function newWorkspace(store: Store): Promise<string> {
  const id = newWorkspaceId();
  await store.write((tx) =>
    tx
      .insertInto("workspaces")
      .values({
        id,
        name: "Test",
        plan: "business",
        identity_secret: "",
        settings: "{}",
        knowledge_version: 0,
        created_at: 0,
        deleted_at: null,
      })
      .execute(),
  );
  return id;
}

/** A knowledge base that indexes documents at once, without a worker. */
export interface TestKnowledge {
  readonly documents: Documents;
  add(workspaceId: string, fileName: string, text: string, more?: Partial<NewDocument>): Promise<string>;
}

export function testKnowledge(store: Store, clock: Clock = steppingClock()): TestKnowledge {
  const documents = createDocuments({ store, clock, log: silentLog, fetch: noFetch });
  return {
    documents,
    async add(workspaceId, fileName, text, more = {}) {
      const { id } = await documents.add({ workspaceId, fileName, bytes: Buffer.from(text), ...more });
      await documents.process(id);
      return id;
    },
  };
}
