import type { SiteRoute, SiteSocket, SiteUploads } from "#channels/contract.ts";
import { parseWorkspaceId } from "#domain/ids.ts";
import { channels as channelNames, isChat } from "#domain/conversation/message.ts";
import type { Sites, Webhook } from "#http/dependencies.ts";
import type { ChannelRegistry, Opened } from "./registry.ts";
import type { Metrics } from "#metrics/metrics.ts";

/** Finds what an account serves over HTTP. */
export function createSites(registry: ChannelRegistry, metrics: Pick<Metrics, "seen">): Sites {
  return {
    async page(path, query) {
      const workspaceId = query["workspace"] === undefined ? undefined : parseWorkspaceId(query["workspace"]);
      const channel = channelNames.find((name) => name === query["channel"]) ?? "widget";
      const opened =
        workspaceId === undefined ? await registry.anySite("widget") : await registry.site(workspaceId, channel);
      return routeOf(opened, path);
    },
    async workspacePage(workspaceId, path) {
      return routeOf(await registry.site(workspaceId, "hosted"), path);
    },
    async socket(workspaceId, channel, path): Promise<SiteSocket | undefined> {
      if (!isChat(channel)) return undefined;
      const inbound = (await registry.site(workspaceId, channel))?.adapter.inbound;
      if (inbound?.kind !== "site" || inbound.socket?.path !== path) return undefined;
      metrics.seen(channel, "transport");
      return inbound.socket;
    },
    async uploads(workspaceId, channel, path): Promise<SiteUploads | undefined> {
      if (!isChat(channel)) return undefined;
      const inbound = (await registry.site(workspaceId, channel))?.adapter.inbound;
      return inbound?.kind === "site" && inbound.uploads?.path === path ? inbound.uploads : undefined;
    },
    async webhook(channel, accountId): Promise<Webhook | undefined> {
      const opened = await registry.open(accountId);
      const inbound = opened?.adapter.inbound;
      if (opened?.account.channel !== channel || inbound?.kind !== "webhook") return undefined;
      metrics.seen(channel, "transport");
      return inbound;
    },
  };
}

function routeOf(opened: Opened | undefined, path: string): SiteRoute | undefined {
  const inbound = opened?.adapter.inbound;
  if (inbound?.kind !== "site") return undefined;
  return inbound.routes.find((route) =>
    route.path.endsWith("/*") ? path.startsWith(route.path.slice(0, -1)) : route.path === path,
  );
}
