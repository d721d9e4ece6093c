import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Problem } from "#domain/problem.ts";
import type { Store } from "#database/contract.ts";

const derive = promisify<string, Buffer, number, Buffer>(scrypt);

const passwordMin = 10;
const passwordMax = 500;

/** Throws Problem invalid_parameter. */
export function requirePassword(password: string): void {
  if (password.length < passwordMin) {
    throw new Problem("invalid_parameter", `password: use at least ${passwordMin} characters`);
  }
  if (password.length > passwordMax) {
    throw new Problem("invalid_parameter", `password: use at most ${passwordMax} characters`);
  }
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return `${salt.toString("base64")}:${(await derive(password, salt, 32)).toString("base64")}`;
}

/** `stored`: of {@link hashPassword}. */
export async function passwordMatches(stored: string, given: string): Promise<boolean> {
  const [salt = "", expected = ""] = stored.split(":");
  const derived = await derive(given, Buffer.from(salt, "base64"), 32);
  return timingSafeEqual(derived, Buffer.from(expected, "base64"));
}

export interface PasswordAgent {
  readonly id: string;
  /** Name of the workspace, with its id where another has the same name. */
  readonly workspace: string;
}

/** Maximum of accounts checked per attempt: each takes tens of milliseconds of a processor. */
const accountsMax = 50;

/**
 * The agents with this address and password, one in each workspace, ordered by the workspace's name. An unknown address
 * takes as long as one that is known in one workspace.
 */
export async function checkPassword(store: Store, email: string, password: string): Promise<readonly PasswordAgent[]> {
  const rows = await store.read
    .selectFrom("agents")
    .innerJoin("workspaces", "workspaces.id", "agents.workspace_id")
    .select(["agents.id", "agents.password", "workspaces.name", "workspaces.id as workspaceId"])
    .where("agents.email", "=", email.trim().toLowerCase())
    .where("agents.password", "is not", null)
    .where("workspaces.deleted_at", "is", null)
    .orderBy("workspaces.name")
    .orderBy("agents.id")
    .limit(accountsMax)
    .execute();
  const nobody = {
    id: "",
    name: "",
    workspaceId: "",
    password: `${Buffer.alloc(16).toString("base64")}:${Buffer.alloc(32).toString("base64")}`,
  };
  const found: (typeof rows)[number][] = [];
  for (const row of rows.length === 0 ? [nobody] : rows) {
    if ((await passwordMatches(row.password ?? "", password)) && row.id !== "") found.push(row);
  }
  const isShared = (name: string): boolean => found.filter((row) => row.name === name).length > 1;
  return found.map(({ id, name, workspaceId }) => ({
    id,
    workspace: isShared(name) ? `${name} (${workspaceId})` : name,
  }));
}
