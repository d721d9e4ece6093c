import type { ChannelHost } from "#channels/contract.ts";
import type { DeskHost } from "#channels/desk/contract.ts";
import type { SlackApi } from "../client.ts";
import type { DeskRoutes } from "../deliveries/interactions.ts";
import type { Users } from "../messages/users.ts";
import type { DeskAgents } from "./agents.ts";
import { answerCommand } from "./commands.ts";
import { createInteractions } from "./interactions.ts";
import { createThreadMessages } from "./thread-messages.ts";

export interface RouteDependencies {
  readonly api: SlackApi;
  readonly host: Pick<ChannelHost, "clock" | "log">;
  readonly desk: DeskHost;
  readonly people: DeskAgents;
  readonly users: Users;
}

/** Handles agents' actions in the desk channel. Each method resolves when the action is stored. */
export function createDeskRoutes(dependencies: RouteDependencies): DeskRoutes {
  const { api, host, desk, people } = dependencies;
  let workspaceUrl: string | undefined;
  return {
    ...createThreadMessages(dependencies),
    interaction: createInteractions(dependencies),
    async command(command) {
      workspaceUrl ??= await urlOf(api);
      return answerCommand({ host, desk, people, workspaceUrl: () => workspaceUrl }, command);
    },
  };
}

/** Undefined when Slack does not answer: lists then link to the inbox. */
async function urlOf(api: SlackApi): Promise<string | undefined> {
  try {
    return (await api.within(500).auth.test()).url;
  } catch {
    return undefined;
  }
}
