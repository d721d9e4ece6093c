import { Type } from "typebox";
import { manualDocuments, removeManual } from "#admin/installation/manual.ts";
import { administratorOf, editOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";

const ids = Type.Array(Type.String());

const listSchema = {
  tags: ["Administration"],
  operationId: "listManualDocuments",
  summary: "List the documents that are the built-in manual",
  response: adminResponses({ 200: Type.Object({ document_ids: ids }, { title: "ManualDocuments" }) }, []),
};

const removeSchema = {
  tags: ["Administration"],
  operationId: "removeManual",
  summary: "Remove the built-in manual; answers no longer come from it",
  response: adminResponses({ 200: Type.Object({ removed: ids }, { title: "RemovedManual" }) }, []),
};

/** The pages of the manual that the first start added. */
export function manualRoutes(app: App, { store, clock, documents }: Resources): void {
  app.get("/documents/manual", { config: { least: "viewer" }, schema: listSchema }, async (request) => {
    const found = await manualDocuments({ store, documents }, administratorOf(request).workspaceId);
    return { document_ids: found.map(({ id }) => id) };
  });

  app.delete("/documents/manual", { schema: removeSchema }, async (request) => ({
    removed: [...(await removeManual({ store, documents, clock }, editOf(request)))],
  }));
}
