import { manualDocuments } from "#admin/installation/manual.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { UsageError, readArguments } from "#cli/terminal/arguments.ts";
import type { Command } from "#cli/command.ts";
import { withServices } from "#cli/with-services.ts";
import { red, table } from "#cli/terminal/output.ts";

export const documentsList: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "status"]);
  const workspaceId = given.required("workspace");
  const statuses = ["pending", "processing", "indexed", "failed"] as const;
  const status = statuses.find((name) => name === given.optional("status"));
  if (given.optional("status") !== undefined && status === undefined)
    throw new UsageError(`--status is one of ${statuses.join(", ")}`);
  return withServices(config, async ({ store, documents }) => {
    const workspace = await requireWorkspace(store, workspaceId);
    const rows = [];
    let cursor: string | undefined;
    for (;;) {
      const page = await documents.list(workspace.id, {
        limit: 100,
        ...(status === undefined ? {} : { status }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      rows.push(...page.documents);
      if (!page.hasMore) break;
      cursor = page.nextCursor;
    }
    output.result(
      rows,
      table(
        ["id", "title", "status", "pages", "passages", "error"],
        rows.map((row) => [row.id, row.title, row.status, row.pages, row.chunks, row.error]),
      ),
    );
    return 0;
  });
};

export const documentsRemove: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace"], ["manual"]);
  const workspaceId = given.required("workspace");
  const ofManual = given.flag("manual");
  if ((given.words.length === 0) !== ofManual)
    throw new UsageError("use: parley documents remove --workspace W ID…, or --manual");
  return withServices(config, async (core) => {
    const { store, documents } = core;
    const workspace = await requireWorkspace(store, workspaceId);
    const ids = ofManual ? (await manualDocuments(core, workspace.id)).map(({ id }) => id) : given.words;
    const removed: string[] = [];
    const unknown: string[] = [];
    for (const id of ids) ((await documents.remove(workspace.id, id)) ? removed : unknown).push(id);
    output.result({ removed, unknown }, [
      `Removed ${removed.length}.`,
      ...unknown.map((id) => red(`There is no document ${id} in this workspace.`)),
    ]);
    return unknown.length === 0 ? 0 : 1;
  });
};
