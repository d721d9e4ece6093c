import { readFile, readdir } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "#engine/ports.ts";
import type { App } from "../app.ts";
import type { Config } from "../config/environment.ts";
import { createAgent, createLoginToken } from "./agents.ts";
import { createKey } from "./keys.ts";
import { createWorkspace, listWorkspaces } from "./workspaces.ts";

export interface Welcome {
  readonly workspaceId: string;
  readonly key: string;
  readonly loginLink: string;
}

const manual = new URL("../../docs/", import.meta.url);
const ownName = "Support";
const operator = { email: "operator@localhost", name: "Operator", role: "admin" } as const;

/**
 * Makes a new installation usable at once: a workspace that has read the manual, an operator who can sign in, and an API
 * key. Null where there is an operator already. It can be interrupted anywhere: the operator, which marks the end, is
 * made last. `reading` is called before what takes its time.
 */
export async function firstStart(
  { core }: Pick<App, "core">,
  config: Config,
  clock: Clock,
  reading: () => void = () => undefined,
): Promise<Welcome | null> {
  const { store, secrets, documents } = core;
  const agents = await store.read.selectFrom("agents").select("id").limit(1).execute();
  if (agents.length > 0) return null;
  const workspaceId = await firstWorkspace();
  const { key } = await createKey(store, clock, { workspaceId, name: "first key" });
  const agent = await createAgent(store, clock, { workspaceId, ...operator });
  return {
    workspaceId,
    key,
    loginLink: `${config.publicUrl}/inbox/login/${await createLoginToken(store, clock, agent.id)}`,
  };

  /** The operator's own, when there is one already; else one that has read the manual. */
  async function firstWorkspace(): Promise<string> {
    const [known, second] = await listWorkspaces(store);
    const keys = await store.read.selectFrom("api_keys").select("id").limit(1).execute();
    // Without a key it was made by a first start that did not get to its end.
    const begun = known?.name === ownName && second === undefined && keys.length === 0;
    if (known !== undefined && !begun) return known.id;
    const id = known?.id ?? (await createWorkspace({ store, clock, secrets }, { name: ownName })).id;
    reading();
    for (const { fileName, bytes } of await manualPages()) {
      const document = await documents.add({ workspaceId: id, fileName, bytes });
      await documents.process(document.id);
    }
    return id;
  }
}

async function manualPages(): Promise<readonly { readonly fileName: string; readonly bytes: Buffer }[]> {
  const folder = fileURLToPath(manual);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".md")).toSorted();
  return Promise.all(
    names.map(async (name) => ({ fileName: basename(name), bytes: await readFile(`${folder}/${name}`) })),
  );
}
