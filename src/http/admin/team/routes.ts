import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import { agentRoutes } from "./agents.ts";
import { invitationRoutes } from "./invitations.ts";
import { passwordLinkRoutes } from "./password-links.ts";
import { agentSessionRoutes } from "./sessions.ts";
import { teamRoutes } from "./teams.ts";

/** The people of a workspace. */
export function peopleRoutes(app: App, resources: Resources): void {
  agentRoutes(app, resources);
  invitationRoutes(app, resources);
  passwordLinkRoutes(app, resources);
  agentSessionRoutes(app, resources);
  teamRoutes(app, resources);
}
