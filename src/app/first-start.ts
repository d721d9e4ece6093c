import { hash } from "node:crypto";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import type { App } from "./app.ts";
import type { Config } from "#config/environment.ts";
import { createAgent } from "#admin/team/agents.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import { createKey } from "#admin/api-keys.ts";
import { manual, manualPages } from "#admin/installation/manual.ts";
import { createWorkspace, listWorkspaces } from "#admin/workspaces/workspaces.ts";

export interface Welcome {
  readonly workspaceId: string;
  readonly key: string;
  readonly loginLink: string;
  /** A workspace of the configuration file does not. */
  readonly readsManual: boolean;
}

const ownName = "Support";
/** There is one workspace of this kind at most, whoever makes it. */
const ownKind = hash("sha256", "the first start");
const adminEmail = { email: "operator@localhost", name: "Operator", role: "admin" } as const;

/**
 * Makes a new installation usable at once: a workspace that has read the manual, an operator who can sign in, and an API
 * key. Null where there is an operator already. It can be interrupted anywhere: the operator, which marks the end, is
 * made last. Of several processes that begin at once, the one that makes the operator has done it, and greets.
 * `reading` is called before what takes its time. `retrying` runs each step, and may repeat it.
 */
export async function firstStart(
  { services }: Pick<App, "services">,
  config: Config,
  clock: Clock,
  {
    pages = manual,
    reading = () => undefined,
    retrying = (step) => step(),
  }: {
    readonly pages?: URL;
    readonly reading?: () => void;
    readonly retrying?: <T>(step: () => Promise<T>) => Promise<T>;
  } = {},
): Promise<Welcome | null> {
  const { store, secrets, documents } = services;
  const agents = await retrying(() => store.read.selectFrom("agents").select("id").limit(1).execute());
  if (agents.length > 0) return null;
  const { workspaceId, readsManual } = await retrying(firstWorkspace);
  const { id: keyId, key } = await retrying(() => createKey(store, clock, { workspaceId, name: "first key" }));
  const agent = await retrying(() => createAdmin(workspaceId));
  if (agent === null) {
    // The key was never shown.
    await retrying(() => store.write((tx) => tx.deleteFrom("api_keys").where("id", "=", keyId).execute()));
    return null;
  }
  const token = await retrying(() => createLoginToken(store, clock, agent.id));
  return { workspaceId, key, loginLink: `${config.publicUrl}/inbox/login/${token}`, readsManual };

  async function createAdmin(id: string): Promise<{ readonly id: string } | null> {
    try {
      return await createAgent(store, clock, { workspaceId: id, ...adminEmail });
    } catch (error) {
      if (error instanceof Problem && isDuplicate(error.cause)) return null;
      throw error;
    }
  }

  /** The operator's own, when there is one already; else one that has read the manual. */
  async function firstWorkspace(): Promise<Pick<Welcome, "workspaceId" | "readsManual">> {
    const [known, second] = await listWorkspaces(store);
    const keys = await store.read.selectFrom("api_keys").select("id").limit(1).execute();
    // Without a key it was made by a first start that did not get to its end.
    const begun = known?.name === ownName && second === undefined && keys.length === 0;
    if (known !== undefined && !begun) return { workspaceId: known.id, readsManual: false };
    const id = known?.id ?? (await ownWorkspace());
    if (id === undefined) return firstWorkspace();
    reading();
    for (const { fileName, bytes } of await manualPages(pages)) {
      const document = await documents.add({ workspaceId: id, fileName, bytes });
      await documents.process(document.id);
    }
    return { workspaceId: id, readsManual: true };
  }

  /** Undefined where another process did it first. */
  async function ownWorkspace(): Promise<string | undefined> {
    try {
      return (await createWorkspace({ store, clock, secrets }, { name: ownName, declaredAs: ownKind })).id;
    } catch (error) {
      if (isDuplicate(error)) return undefined;
      throw error;
    }
  }
}
