import { expect } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import type { TestApp } from "../http/app.ts";

/** Moves the clock until the check passes; other work continues meanwhile. */
export async function advanceUntilPasses(app: TestApp, check: () => unknown): Promise<void> {
  await eventually(async () => {
    app.clock.advance(250);
    await check();
  });
}

/** The program's own report on its search engine. */
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

/** Pending outbox rows of this kind. */
export const workOf = (app: TestApp, kind: string) =>
  app.store.read.selectFrom("outbox").selectAll().where("kind", "=", kind).execute();
