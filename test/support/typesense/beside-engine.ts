import { expect, vi } from "vitest";
import type { TestApp } from "../http/app.ts";

/** Moves the clock on until it is so: work that waits for the clock goes on meanwhile. */
export async function soonIn(app: TestApp, check: () => unknown): Promise<void> {
  await vi.waitFor(
    async () => {
      app.clock.advance(250);
      await check();
    },
    { timeout: 15_000, interval: 20 },
  );
}

/** What the program says of its search engine. */
export async function searchEngineState(
  app: TestApp,
): Promise<{ readonly state?: string; readonly cause?: string | null }> {
  const { status, text } = await app.get("/health/ready", { key: null });
  expect(status).toBe(200);
  const { dependencies } = JSON.parse(text) as {
    readonly dependencies: readonly { readonly name: string; readonly state: string; readonly cause: string | null }[];
  };
  return dependencies.find(({ name }) => name === "search engine") ?? {};
}

/** The outbox's work of this kind that is not done yet. */
export const workOf = (app: TestApp, kind: string) =>
  app.store.read.selectFrom("outbox").selectAll().where("kind", "=", kind).execute();
