import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import { accessTokenRoutes, agentAccessTokenRoutes } from "./access-tokens.ts";
import { avatarRoutes } from "./avatar.ts";
import { meRoute } from "./me.ts";
import { profileRoutes } from "./profile.ts";
import { secondFactorRoutes } from "./second-factor.ts";
import { sessionRoutes } from "./sessions.ts";

/** The calling agent's own account, and credentials of colleagues. */
export function accountRoutes(app: App, resources: Resources): void {
  meRoute(app, resources);
  profileRoutes(app, resources);
  avatarRoutes(app, resources);
  sessionRoutes(app, resources);
  secondFactorRoutes(app, resources);
  accessTokenRoutes(app, resources);
  agentAccessTokenRoutes(app, resources);
}
