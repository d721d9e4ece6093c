import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { requireWorkspace } from "../operator/keys.ts";
import { UsageError, readArguments } from "./arguments.ts";
import type { Command } from "./commands.ts";
import { withCore } from "./open.ts";
import { green, red, table } from "./output.ts";

/** Adds files and waits until each is indexed or has failed. */
export const documentsAdd: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "audience"]);
  const workspaceId = given.required("workspace");
  const audience = (given.optional("audience") ?? "").split(",").filter((tag) => tag !== "");
  const files = given.words;
  if (files.length === 0) throw new UsageError("use: parley documents add --workspace W FILE…");
  return withCore(config, async ({ store, documents }) => {
    const workspace = await requireWorkspace(store, workspaceId);
    const outcomes = [];
    for (const [i, file] of files.entries()) {
      const outcome = await addOne(file);
      outcomes.push(outcome);
      const mark = outcome.status === "indexed" ? green("✓") : red("✗");
      const what = outcome.status === "indexed" ? `${outcome.chunks} passages` : outcome.error;
      output.progress(`[${i + 1}/${files.length}] ${mark} ${file}: ${what}`);
    }
    const indexed = outcomes.filter(({ status }) => status === "indexed").length;
    output.result(outcomes, [`${indexed} of ${files.length} indexed.`]);
    return indexed === files.length ? 0 : 1;

    async function addOne(file: string) {
      try {
        const added = await documents.add({
          workspaceId: workspace.id,
          fileName: basename(file),
          bytes: await readFile(file),
          audience,
        });
        await documents.process(added.id);
        const done = await documents.get(workspace.id, added.id);
        return {
          file,
          id: added.id,
          status: done?.status ?? "failed",
          chunks: done?.chunks ?? 0,
          error: done?.error ?? null,
        };
      } catch (error) {
        return {
          file,
          id: null,
          status: "failed",
          chunks: 0,
          error: error instanceof Error ? error.message : "unknown failure",
        };
      }
    }
  });
};

export const documentsList: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "status"]);
  const workspaceId = given.required("workspace");
  const statuses = ["pending", "processing", "indexed", "failed"] as const;
  const status = statuses.find((name) => name === given.optional("status"));
  if (given.optional("status") !== undefined && status === undefined)
    throw new UsageError(`--status is one of ${statuses.join(", ")}`);
  return withCore(config, async ({ store, documents }) => {
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
        ["id", "title", "status", "passages", "error"],
        rows.map((row) => [row.id, row.title, row.status, row.chunks, row.error]),
      ),
    );
    return 0;
  });
};

export const documentsRemove: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace"]);
  const workspaceId = given.required("workspace");
  if (given.words.length === 0) throw new UsageError("use: parley documents remove --workspace W ID…");
  return withCore(config, async ({ store, documents }) => {
    const workspace = await requireWorkspace(store, workspaceId);
    const removed: string[] = [];
    const unknown: string[] = [];
    for (const id of given.words) ((await documents.remove(workspace.id, id)) ? removed : unknown).push(id);
    output.result({ removed, unknown }, [
      `Removed ${removed.length}.`,
      ...unknown.map((id) => red(`There is no document ${id} in this workspace.`)),
    ]);
    return unknown.length === 0 ? 0 : 1;
  });
};
