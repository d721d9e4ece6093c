import type { ChannelHost } from "#channels/contract.ts";
import type { DeskHost } from "#channels/desk/contract.ts";
import type { SlackApi } from "../client.ts";
import type { DeskListeners } from "../deliveries/listeners.ts";
import type { Users } from "../messages/users.ts";
import type { DeskAgents } from "./agents.ts";
import { answerCommand } from "./commands.ts";
import { listenToInteractions } from "./interactions.ts";
import { createThreadMessages } from "./thread-messages.ts";

export interface ListenerDependencies {
  readonly api: SlackApi;
  readonly host: Pick<ChannelHost, "clock" | "log">;
  readonly desk: DeskHost;
  readonly people: DeskAgents;
  readonly users: Users;
}

export function createDeskListeners(dependencies: ListenerDependencies): DeskListeners {
  const { api, host, desk, people } = dependencies;
  let workspaceUrl: string | undefined;
  return {
    event: createThreadMessages(dependencies),
    listen(app) {
      listenToInteractions(app, dependencies);
      app.command(/^/, async ({ context, ack }) => {
        workspaceUrl ??= await urlOf(api);
        await ack(await answerCommand({ host, desk, people, workspaceUrl: () => workspaceUrl }, context.command));
      });
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
