import { rebuildSearch, searchDoesNotGoOutside } from "#admin/installation/search.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { counted } from "#domain/plural.ts";
import { systemClock } from "#runtime/clock.ts";
import { readArguments } from "./terminal/arguments.ts";
import type { Command } from "./command.ts";
import { withServices } from "./with-services.ts";

/** Queues a calibration of the embedding server's model, also where none is due. */
export const searchCalibrate: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace"]);
  const workspaceId = given.optional("workspace");
  return withServices(config, async ({ store, calibrateAgain }) => {
    if (calibrateAgain === undefined)
      throw new Error("there is nothing to calibrate: EMBEDDING_PROVIDER names no embedding server");
    const only = workspaceId === undefined ? undefined : (await requireWorkspace(store, workspaceId)).id;
    const queued = await calibrateAgain(only);
    output.result({ queued }, [
      `Queued for ${counted(queued.length, "workspace")}. The running server does it; "parley doctor" shows the result.`,
    ]);
    return 0;
  });
};

/** Queues the work for the server that runs on this database, or for the next one that starts. */
export const searchRebuild: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace"]);
  const workspaceId = given.optional("workspace");
  if (config.typesense === undefined) throw searchDoesNotGoOutside();
  return withServices(config, async ({ store }) => {
    const only = workspaceId === undefined ? undefined : (await requireWorkspace(store, workspaceId)).id;
    const queued = await rebuildSearch(store, systemClock, only);
    output.result({ queued }, [
      `Queued for ${queued.length} ${queued.length === 1 ? "workspace" : "workspaces"}. The running server does it, and searches go on meanwhile; "parley doctor" tells how far it is.`,
    ]);
    return 0;
  });
};
