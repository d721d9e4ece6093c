import type { SitePost, SiteRoute, SiteSocket } from "#channels/contract.ts";
import { parseWorkspaceId } from "#domain/ids.ts";
import { channels, isChat } from "#channels/catalog.ts";
import type { Sites, Webhook } from "#http/dependencies.ts";
import type { OpenAccount } from "./open-account.ts";
import type { ChannelRegistry } from "./registry.ts";
import { isPaused } from "./registry.ts";
import type { Metrics } from "#metrics/metrics.ts";

/** Finds what an account serves over HTTP. */
export function createSites(registry: ChannelRegistry, metrics: Pick<Metrics, "seen">): Sites {
  return {
    async page(path, query) {
      const workspaceId = query["workspace"] === undefined ? undefined : parseWorkspaceId(query["workspace"]);
      const channel = channels.find((name) => name === query["channel"]) ?? "widget";
      const opened =
        workspaceId === undefined ? await registry.anySite("widget") : await registry.site(workspaceId, channel);
      return routeOf(opened, path);
    },
    async workspacePage(workspaceId, path, query) {
      const opened = await registry.site(workspaceId, "hosted");
      // The page's routes also give the widget its appearance, without which a website shows no chat.
      const shown = query["channel"] === "widget" ? await registry.site(workspaceId, "widget") : opened;
      return shown?.paused === true ? pausedPage : routeOf(opened, path);
    },
    async socket(workspaceId, channel, path): Promise<SiteSocket | undefined> {
      if (!isChat(channel)) return undefined;
      const inbound = runningSite(await registry.site(workspaceId, channel));
      if (inbound?.socket?.path !== path) return undefined;
      metrics.seen(channel, "transport");
      return inbound.socket;
    },
    async post(workspaceId, channel, path): Promise<SitePost | undefined> {
      if (!isChat(channel)) return undefined;
      const inbound = runningSite(await registry.site(workspaceId, channel));
      return inbound?.posts?.find((post) => post.path === path);
    },
    async webhook(channel, accountId): Promise<Webhook | undefined> {
      const opened = await registry.open(accountId);
      const inbound = opened?.adapter.inbound;
      if (opened?.account.channel !== channel || inbound?.kind !== "webhook") return undefined;
      metrics.seen(channel, "transport");
      const { relay } = inbound;
      if (opened.paused && relay === undefined) return pausedWebhook;
      return {
        ...inbound,
        async receive(request) {
          const release = registry.hold(opened);
          try {
            return opened.paused ? ((await relay?.(request)) ?? isPaused) : await inbound.receive(request);
          } finally {
            release();
          }
        },
      };
    },
  };
}

const pausedWebhook: Webhook = { refuse: () => isPaused, receive: async () => isPaused };

const pausedPage: SiteRoute = {
  path: "",
  handle: () => ({
    status: 404,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
    body: "This chat is closed at the moment.\n",
  }),
};

function runningSite(opened: OpenAccount | undefined) {
  const inbound = opened?.adapter.inbound;
  return inbound?.kind === "site" && opened?.paused === false ? inbound : undefined;
}

function routeOf(opened: OpenAccount | undefined, path: string): SiteRoute | undefined {
  const inbound = opened?.adapter.inbound;
  if (inbound?.kind !== "site") return undefined;
  return inbound.routes.find((route) =>
    route.path.endsWith("/*") ? path.startsWith(route.path.slice(0, -1)) : route.path === path,
  );
}
