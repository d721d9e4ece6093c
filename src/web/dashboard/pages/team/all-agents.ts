import { api } from "#web/dashboard/api.ts";
import type { Agent } from "./types.ts";

/** All agents: people are chosen from them, so a part of the list is not enough. */
export async function allAgents(): Promise<readonly Agent[]> {
  const all: Agent[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = cursor === undefined ? { limit: 100 } : { limit: 100, cursor };
    const { items, next } = await api.page<Agent>("agents", "agents", query);
    all.push(...items);
    cursor = next;
  }
  return all;
}
