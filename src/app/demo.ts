import type { WebResponse } from "#channels/contract.ts";
import type { Config } from "#config/environment.ts";
import type { Store } from "#database/contract.ts";
import { demoPage } from "#web/demo/page.ts";

/** Only installations on SQLite, which people use to try the program out, have a demo page. */
export const hasDemo = ({ databaseUrl }: Config): boolean => databaseUrl.startsWith("sqlite:");

/** The demo shows the first workspace. */
export async function renderDemo(store: Store): Promise<WebResponse> {
  const row = await store.read
    .selectFrom("workspaces")
    .select("id")
    .where("deleted_at", "is", null)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined)
    return { status: 404, body: "There is no workspace yet. Make one with: parley workspace create --name Support\n" };
  return {
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: demoPage({ workspaceId: row.id }),
  };
}
