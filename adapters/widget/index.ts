import type { AdapterModule } from "#channels/contract.ts";
import type { WidgetConfig } from "./config.ts";
import { createLimits, widgetConfig } from "./config.ts";
import { siteRoutes } from "./routes.ts";
import { createSocketBytes } from "./connection-bytes.ts";
import { openSockets } from "./connection.ts";
import { createUploads } from "./files.ts";

/** Counts the sockets of all accounts in this process. */
const socketBytes = createSocketBytes();

/** The chat widget on a company's own pages (`widget`), and the chat page that we host (`hosted`). */
const widget: AdapterModule<WidgetConfig> = {
  channels: ["widget", "hosted"],
  config: widgetConfig,
  secrets: [],
  create(account, host) {
    const limits = createLimits(account.config, host);
    const sockets = openSockets(account, host, limits, socketBytes);
    return {
      capabilities: {
        textMax: null,
        typing: true,
        receipts: true,
        idempotentSend: true,
        fileBytesMax: host.fileBytesMax,
      },
      inbound: {
        kind: "site",
        routes: siteRoutes(account, host),
        socket: sockets.socket,
        uploads: createUploads(account, host, limits),
      },
      render: (message) => [{ text: message.markdown, payload: null }],
      // The message is in the thread's history already; browsers read it there, those that come later as well.
      async send(_part, context) {
        host.announce(context.thread);
        return { externalId: context.messageId, state: "sent" };
      },
      // The history has the new text as soon as this is done, and browsers are told of it then.
      edit: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      close: () => sockets.close(),
    };
  },
};

export default widget;
