import { readFile } from "node:fs/promises";
import { applyConfig } from "#admin/export/config/apply-config.ts";
import { exportConfig } from "#admin/export/config/export-config.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { listWorkspaces } from "#admin/workspaces/workspaces.ts";
import { counted } from "#domain/plural.ts";
import { systemClock as clock } from "#runtime/clock.ts";
import type { Command } from "../command.ts";
import { UsageError, readArguments } from "../terminal/arguments.ts";
import { withServices } from "../with-services.ts";

/** Writes what the dashboard owns as YAML, without secrets. */
export const configExport: Command = ({ argv, output, config }) => {
  const workspaceId = readArguments(argv, ["workspace"]).optional("workspace");
  return withServices(config, async ({ store, secrets }) => {
    const ids =
      workspaceId === undefined
        ? (await listWorkspaces(store)).map(({ id }) => id)
        : [(await requireWorkspace(store, workspaceId)).id];
    const { yaml, variables } = await exportConfig({ read: store.read, secrets }, ids);
    output.result({ yaml, variables: [...variables.keys()] }, [yaml.trimEnd()]);
    return 0;
  });
};

/** Makes the dashboard's state as a file says. */
export const configApply: Command = ({ argv, output, config, env }) => {
  const given = readArguments(argv, [], ["prune"]);
  const [file] = given.words;
  if (file === undefined) throw new UsageError("use: parley config apply FILE [--prune]");
  return withServices(config, async ({ store, secrets }) => {
    const content = await readFile(file, "utf8");
    const applied = await applyConfig(
      { store, clock, secrets, allowPrivate: config.file.allowPrivate ?? false },
      file,
      content,
      { env, prune: given.flag("prune") },
    );
    output.result({ workspaces: applied }, [
      `Applied ${file} to ${counted(applied.length, "workspace")}: ${applied.map(({ name }) => name).join(", ")}`,
    ]);
    return 0;
  });
};
