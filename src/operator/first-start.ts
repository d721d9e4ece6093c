import { readFile, readdir } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "#engine/ports.ts";
import type { App } from "../app.ts";
import type { Config } from "../config.ts";
import { createAgent, createLoginToken } from "./agents.ts";
import { createKey } from "./keys.ts";
import { createWorkspace, listWorkspaces } from "./workspaces.ts";

export interface Welcome {
  readonly workspaceId: string;
  readonly key: string;
  readonly loginLink: string;
}

const manual = new URL("../../docs/", import.meta.url);
const operator = { email: "operator@localhost", name: "Operator", role: "admin" } as const;

/**
 * Makes a new installation usable at once: a workspace that has read the manual, an operator who can sign in, and an API
 * key. Null where there is an operator already. It can be interrupted anywhere: the operator, which marks the end, is
 * made last.
 */
export async function firstStart({ core }: Pick<App, "core">, config: Config, clock: Clock): Promise<Welcome | null> {
  const { store, secrets, documents } = core;
  const agents = await store.read.selectFrom("agents").select("id").limit(1).execute();
  if (agents.length > 0) return null;
  const [known] = await listWorkspaces(store);
  const workspaceId = known?.id ?? (await createWorkspace({ store, clock, secrets }, { name: "Support" })).id;
  for (const { fileName, bytes } of await manualPages()) {
    const document = await documents.add({ workspaceId, fileName, bytes });
    await documents.process(document.id);
  }
  const { key } = await createKey(store, clock, { workspaceId, name: "first key" });
  const agent = await createAgent(store, clock, { workspaceId, ...operator });
  return { workspaceId, key, loginLink: `${config.publicUrl}/inbox/login/${await createLoginToken(store, clock, agent.id)}` };
}

async function manualPages(): Promise<readonly { readonly fileName: string; readonly bytes: Buffer }[]> {
  const folder = fileURLToPath(manual);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".md")).toSorted();
  return Promise.all(names.map(async (name) => ({ fileName: basename(name), bytes: await readFile(`${folder}/${name}`) })));
}
